// Package study carries the study out, from nothing: it builds the programs, fills the store, executes
// every experiment by assay, grades it, and writes the figures of RESULTS.md from the folders alone.
package study

// An Entry is an experiment of the study.
type Entry struct {
	Name  string // experiments/NAME.yaml
	Asks  string // the situations of the campaign that it is about
	Again bool   // executed in a second session too
}

// Entries are the experiments in the order in which they are executed.
func Entries() []Entry {
	return []Entry{
		{"sweep-fast", "T2.2, T2.3, T2.4, T2.16", true},
		{"sweep-gap", "T2.2", false},
		{"sweep-slow", "T2.2, T2.16", true},
		{"bytes", "T2.1", false},
		{"flip-rtt", "T2.1", true},
		{"flip-bandwidth", "T2.1", true},
		{"ladder", "T2.13", false},
		{"buffer", "T2.5, T2.6, T2.14", false},
		{"processes", "T2.11", false},
		{"leak", "T2.8", false},
		{"pool", "T2.9", false},
		{"faults", "T2.10, T2.12", false},
		{"claimed-link", "T2.15", false},
	}
}

// Refused is the experiment that compares cells which differ in several terms (T2.7). Check refuses it.
const Refused = "mixed"

// Folders within the study's own.
const (
	workFolder        = ".work" // programs and corpus; not kept
	experimentsFolder = "experiments"
	resultsFolder     = "results"
)
