package report

import (
	"encoding/json"
	"io"
	"math"
	"slices"
)

// A Timing is what was measured of one command: one element a trial in each list, seconds.
type Timing struct {
	Command              string
	Parameters           map[string]string
	Walls, Users, System []float64
	RSS                  []int64 // peak resident memory in bytes; nil if not known
	Exits                []int
}

// hyperfineEntry bears hyperfine's names; what a list without numbers leaves unknown is null.
type hyperfineEntry struct {
	Command    string            `json:"command"`
	Mean       *float64          `json:"mean"`
	SD         *float64          `json:"stddev"`
	Median     *float64          `json:"median"`
	User       *float64          `json:"user"`
	System     *float64          `json:"system"`
	Min        *float64          `json:"min"`
	Max        *float64          `json:"max"`
	Times      []float64         `json:"times"`
	RSS        []int64           `json:"memory_usage_byte,omitempty"`
	Exits      []int             `json:"exit_codes"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// Hyperfine writes timings in the form of hyperfine's --export-json, for the programs that read it.
// Means and standard deviations are there because the form has them; no verdict rests on them.
func Hyperfine(w io.Writer, timings []Timing) error {
	out := struct {
		Entries []hyperfineEntry `json:"results"`
	}{Entries: []hyperfineEntry{}}
	for _, t := range timings {
		e := hyperfineEntry{Command: t.Command, Times: t.Walls, RSS: t.RSS, Exits: t.Exits, Parameters: t.Parameters,
			Mean: mean(t.Walls), SD: deviation(t.Walls), User: mean(t.Users), System: mean(t.System)}
		if e.Times == nil {
			e.Times = []float64{}
		}
		if e.Exits == nil {
			e.Exits = []int{}
		}
		if n := len(t.Walls); n > 0 {
			sorted := slices.Sorted(slices.Values(t.Walls))
			e.Min, e.Max = &sorted[0], &sorted[n-1]
			median := (sorted[(n-1)/2] + sorted[n/2]) / 2
			e.Median = &median
		}
		out.Entries = append(out.Entries, e)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

func mean(xs []float64) *float64 {
	if len(xs) == 0 {
		return nil
	}
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	sum /= float64(len(xs))
	return &sum
}

// deviation is the standard deviation with n - 1; nil below two numbers.
func deviation(xs []float64) *float64 {
	if len(xs) < 2 {
		return nil
	}
	m, sum := *mean(xs), 0.0
	for _, x := range xs {
		sum += (x - m) * (x - m)
	}
	sum = math.Sqrt(sum / float64(len(xs)-1))
	return &sum
}
