// Package spec reads an experiment file: YAML text in, an [assay.Experiment] out in which every cell
// is expanded, or all mistakes of the file at once with their places. It has no effects; what
// depends on the machine comes in by [Host].
package spec

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// A Host is what the machine-dependent parts of a file need to know.
type Host struct {
	// CPUs is what cpus stands for in derived expressions.
	CPUs int
	// Available reports whether the shell command of a level's if: succeeds; nil: all of them do.
	Available func(shellCommand string) bool
	// Unbuilt are top-level keys to refuse as not built yet.
	Unbuilt []string
	// Added are cells that the file's refine rule has added to its design; their new levels join the
	// factors.
	Added []assay.Cell
}

// The values of keys that a file leaves out. Where a key is missing here, leaving it out means none.
const (
	defaultBlocks  = 12
	defaultRetries = 2
	defaultPasses  = 1
)

// Read reads the experiment file text. Its name is the path printed in messages, and relative paths
// in the file start at its folder. The error is of type [Mistakes]: every mistake found, in line
// order.
//
// A file without seed: has one that follows from the experiment's name, so that the same file gives
// the same plan everywhere.
func Read(name string, text []byte, host Host) (*assay.Experiment, error) {
	r := newReader(name, host)
	e := r.read(text)
	if r.full() {
		r.mistakes = append(r.mistakes, Mistake{File: name, Line: max(1, len(r.lines)), Column: 1,
			Message: fmt.Sprintf("there are more mistakes; %d are listed", maxMistakes)})
	}
	if len(r.mistakes) > 0 {
		return nil, r.mistakes.sorted()
	}
	return e, nil
}

func newReader(name string, host Host) *reader {
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		dir = filepath.Dir(name) // without a working directory: as good as can be said
	}
	return &reader{
		name: name, dir: dir, host: host,
		broken: map[*yaml.Node]bool{}, known: map[string]map[string]bool{},
		measures: map[string]assay.Measure{}, seen: map[[2]int]bool{},
		e: &assay.Experiment{Blocks: defaultBlocks, Retries: defaultRetries, Passes: defaultPasses},
	}
}

func (r *reader) read(text []byte) *assay.Experiment {
	n := r.parse(text)
	if n == nil {
		return nil
	}
	root, ok := r.object(n, "experiment", "experiment file")
	if !ok {
		return nil
	}
	r.unbuilt(root)
	r.head(root)
	r.work(root)
	before := len(r.mistakes)
	r.readFactors(root.get("factors"))
	cells := r.readDesign(root.get("base"), root.get("design"), root.get("exclude"))
	r.unsure = len(r.mistakes) > before
	r.settle(append(cells, r.added()...))
	r.readDerived(root.get("derived"))
	r.readMeasures(root.get("measures"))
	r.fillCells(root)
	r.readGates(root.get("gates"))
	r.readGuards(root.get("guards"))
	r.readCeilings(root.get("ceilings"))
	r.readHypotheses(root.get("hypotheses"))
	r.readInstrument(root.get("instrument"))
	r.readRefine(root.get("refine"))
	r.readCited(root.get("cited"))
	root.close()
	return r.e
}

// unbuilt refuses the keys that the rest of the program cannot carry out yet.
func (r *reader) unbuilt(root *object) {
	for _, key := range r.host.Unbuilt {
		if n := root.keys[key]; n != nil {
			r.mistake(n, "%q is not built yet", key)
			r.broken[root.values[key]] = true // not read any further
		}
	}
}

// head reads the keys that say what the experiment is and how large.
func (r *reader) head(root *object) {
	if n := root.need("experiment", ": the name of the experiment"); n != nil {
		r.e.Name = r.word1(n, "experiment")
	}
	r.e.Question, _ = r.text(root.get("question"), "question")
	for _, e := range r.entries(root.get("fixed"), "fixed", anyText) {
		if s, ok := r.text(e.value, "fixed: "+e.name); ok {
			r.e.Fixed = append(r.e.Fixed, assay.Named{Name: e.name, Text: s})
		}
	}
	for _, e := range r.entries(root.get("machine"), "machine", filepath.IsAbs) {
		if s, ok := r.text(e.value, "machine: "+e.name); ok {
			r.e.Machine = append(r.e.Machine, assay.Named{Name: e.name, Text: s})
		}
	}
	r.blocks(root.get("blocks"))
	if n := root.get("retries"); n != nil {
		r.e.Retries, _ = r.integer(n, "retries", 0)
	}
	if n := root.get("warmup"); n != nil {
		r.e.Warmup, _ = r.integer(n, "warmup", 0)
	}
	if n := root.get("passes"); n != nil {
		r.e.Passes, _ = r.integer(n, "passes", 1)
	}
	sum := sha256.Sum256([]byte(r.e.Name))
	r.e.Seed = binary.BigEndian.Uint64(sum[:]) >> 11 // 53 bits: a JSON number holds it exactly
	if n := root.get("seed"); n != nil {
		r.seed(n)
	}
}

// blocks reads a number, or {looks: [8, 16, 24]}.
func (r *reader) blocks(n *yaml.Node) {
	const most = 100_000
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		b, ok := r.integer(n, "blocks", 1)
		if ok && b > most {
			r.mistake(n, "blocks: at most %d, got %d", most, b)
		}
		r.e.Blocks = min(b, most)
		return
	}
	o, _ := r.object(n, "blocks", "blocks")
	looks := o.need("looks", ": the numbers of blocks after which verdicts are formed")
	for _, c := range r.items(looks, "looks", false) {
		v, ok := r.integer(c, "looks", 1)
		if !ok {
			continue
		}
		if k := len(r.e.Looks); v > most || k > 0 && v <= r.e.Looks[k-1] {
			r.mistake(c, "looks: want numbers of blocks that increase and are at most %d, such as [8, 16, 24]; got %d", most, v)
			continue
		}
		r.e.Looks = append(r.e.Looks, v)
	}
	if len(r.e.Looks) > 0 {
		r.e.Blocks = r.e.Looks[len(r.e.Looks)-1]
	}
	o.close()
}

// work finds out whether trials execute a command or a load, and which targets and probes there are.
func (r *reader) work(root *object) {
	_, load := root.keys["load"]
	_, command := root.keys["command"]
	r.loaded = load && !command
	switch {
	case load && command:
		r.mistake(root.keys["load"], "command and load cannot stand together: a trial executes one or the other; a server goes under target")
	case !load && !command:
		r.mistake(root.node, "experiment file: want one of command, load: what a trial executes")
	}
	for _, key := range surroundings() {
		if n := root.keys[key]; n != nil && load {
			r.mistake(n, "%s belongs to command; with load, give it to the target", key)
		}
	}
	// Their names are known even where the keys are refused as not built yet.
	r.targets = namesUnder(root.values["target"])
	r.probes = namesUnder(root.values["probes"])
}

// surroundings are the keys of a program beside its command.
func surroundings() []string {
	return []string{"shell", "env", "stdin", "cpus", "nice", "limits"}
}

func namesUnder(n *yaml.Node) []string {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	var names []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		names = append(names, n.Content[i].Value)
	}
	return names
}

// fillCells reads what trials do, once for each cell, and what is done once a run.
func (r *reader) fillCells(root *object) {
	for _, key := range []string{"command", "shell", "env", "stdin", "cpus", "nice", "limits", "load", "target", "probes",
		"kill", "events", "prepare", "conclude", "cap", "hung", "expect_stall", "inputs"} {
		root.ask(key)
	}
	for i := range r.e.Settings {
		s := &r.e.Settings[i]
		f := r.fillerFor(*s)
		s.Workload = f.workload(root)
		for _, n := range r.items(root.get("inputs"), "inputs", true) {
			if p := f.path(n, "inputs"); p != "" && !slices.Contains(r.e.Inputs, p) {
				r.e.Inputs = append(r.e.Inputs, p)
			}
		}
	}
	once := &filler{reader: r, values: r.fixed(), left: []string{"seed"}}
	r.e.Setup = once.commands(root.get("setup"), "setup")
	r.e.Clean = once.commands(root.get("cleanup"), "cleanup")
}
