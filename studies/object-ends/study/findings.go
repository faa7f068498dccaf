package study

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/store"
	"github.com/assaybench/assay/studies/object-ends/pair"
)

// What the two-term model was given before any trial of the flips: of a file, how many requests and
// bytes the ends take more or less than the whole, and what a request takes beside the round trip.
const (
	moreRequests = 0.9
	fewerBytes   = 1.048e6
	service      = 700 * time.Microsecond
)

func predictedRTT() time.Duration { return pair.FlipRTT(moreRequests, fewerBytes, 125e6, service) }

func predictedBandwidth() float64 {
	return pair.FlipBandwidth(moreRequests, fewerBytes, pair.Model{RTT: 10 * time.Millisecond, Service: service})
}

// buffer is what a large buffer does before a slow writer, with both denominators.
func (r *Results) buffer() string {
	f := r.First("buffer")
	if f == nil {
		return ""
	}
	t := newTable("rows", "buffer", "files/s", "fill", "drain", "held at the peak", "resident at the peak")
	for _, schema := range []string{"scalar", "full"} {
		for _, size := range []string{"100", "10000"} {
			cell := assay.Cell{"schema": schema, "buffer": size}
			t.row(schema, size, number(f.Median(cell, "rate")), scaled(f.Median(cell, "fill"), 1e9, "s"), scaled(f.Median(cell, "drain"), 1e9, "s"),
				scaled(f.Median(cell, "held"), 1e6, "MB"), scaled(f.Median(cell, "memory"), 1e6, "MB"))
		}
	}
	var b strings.Builder
	b.WriteString(t.String() + "\n")
	for _, v := range f.Judgement.Verdicts.Hypotheses {
		fmt.Fprintf(&b, "- %s %s: %s (%s), ratio %s", v.ID, v.Claim, v.Verdict, v.Reason, span(v))
		for _, n := range v.Notes {
			if strings.Contains(n, "of the second") || strings.Contains(n, "testable where") {
				b.WriteString("; " + n)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// depth is how many rows waited over time, in one trial of each buffer.
func (r *Results) depth() string {
	f := r.First("buffer")
	if f == nil {
		return ""
	}
	type sample struct {
		At   int64 `json:"t_ns"`
		Rows int   `json:"rows"`
	}
	var b strings.Builder
	b.WriteString("```\nrows waiting, every 100 ms (one bar: 10 rows)\n")
	for _, size := range []string{"100", "10000"} {
		trials := f.Trials(assay.Cell{"buffer": size, "schema": "scalar"})
		if len(trials) == 0 {
			continue
		}
		var out struct {
			Depth []sample `json:"depth"`
		}
		if err := f.Output(trials[0].Trial, &out); err != nil {
			continue
		}
		fmt.Fprintf(&b, "buffer %s (trial %d)\n", size, trials[0].Trial)
		for _, d := range out.Depth {
			fmt.Fprintf(&b, "%5.1f s %4d %s\n", float64(d.At)/1e9, d.Rows, strings.Repeat("#", (d.Rows+9)/10))
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// processes are rate and processor time by the number of processes.
func (r *Results) processes() string {
	f := r.First("processes")
	if f == nil {
		return ""
	}
	t := newTable("processes", "files/s", "store, cores", "readers, cores", "p of one")
	one := f.Median(assay.Cell{"processes": "1"}, "rate")
	for _, n := range f.levels("processes") {
		cell := assay.Cell{"processes": n}
		t.row(n, number(f.Median(cell, "rate")), number(f.Median(cell, "cpu_cores(store)")), number(f.cores(cell)), number(f.Median(cell, "rate")/one))
	}
	var b strings.Builder
	b.WriteString(strings.Replace(t.String(), "p of one", "times one process", 1) + "\n")
	for _, remark := range f.Judgement.Remarks {
		b.WriteString("- " + remark + "\n")
	}
	return b.String()
}

// leak is how the trials of the two clients ended, and what the leaking one was doing.
func (r *Results) leak() string {
	f := r.First("leak")
	if f == nil {
		return ""
	}
	t := newTable("client", "trials", "ok", "hung", "first pass, files/s")
	for _, client := range []string{"tidy", "leaking"} {
		counts := map[assay.Outcome]int{}
		var rates []float64
		trials := f.Trials(assay.Cell{"client": client})
		for _, trial := range trials {
			counts[trial.Outcome]++
			var out struct {
				Rate float64 `json:"files_per_s"`
			}
			if f.Output(trial.Trial, &out) == nil {
				rates = append(rates, out.Rate)
			}
		}
		t.row(client, fmt.Sprint(len(trials)), fmt.Sprint(counts[assay.OK]), fmt.Sprint(counts[assay.Hung]), number(median(rates)))
	}
	var b strings.Builder
	b.WriteString(t.String() + "\n")
	leaking := f.Trials(assay.Cell{"client": "leaking"})
	if len(leaking) == 0 {
		return b.String()
	}
	one := leaking[0]
	for _, n := range one.Notes {
		if strings.HasPrefix(n, "accumulation") {
			fmt.Fprintf(&b, "Trial %d: %s.\n", one.Trial, n)
		}
	}
	if dump := f.Dump(one.Trial, "client"); dump != "" {
		fmt.Fprintf(&b, "\n```\n%s```\n", dump)
	}
	return b.String()
}

// Dump is what an object was doing when a trial hung, as the trial's folder has it.
func (f *Folder) Dump(trial int, object string) string {
	for _, in := range []string{"", "pass2"} {
		text, err := os.ReadFile(filepath.Join(store.TrialPath(f.Dir, trial), in, "hung.txt"))
		if err != nil {
			continue
		}
		var b strings.Builder
		inside := false
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, " ") {
				inside = strings.HasPrefix(line, object+":")
			}
			if inside {
				b.WriteString(line)
			}
		}
		if b.Len() > 0 {
			return b.String()
		}
	}
	return ""
}

// voids are the situations in which a figure must not be used, with the reason that was recorded.
func (r *Results) voids() string {
	t := newTable("experiment", "cell", "trials", "ended", "why, as recorded in the first")
	for _, name := range []string{"pool", "faults", "claimed-link"} {
		f := r.First(name)
		if f == nil {
			continue
		}
		for _, s := range f.Experiment.Settings {
			ended, why, n := map[string]int{}, "", 0
			for _, trial := range f.Contents.Trials {
				if trial.Cell.Key() != s.Cell.Key() || trial.Warmup {
					continue
				}
				n++
				word := string(trial.Outcome)
				if !trial.Valid && trial.Outcome == assay.OK {
					word = "void"
				}
				ended[word]++
				if why == "" {
					why = strings.Join(append(append(append([]string{}, trial.VoidBy...), trial.RefusedBy...), trial.Notes...), "; ")
				}
			}
			t.row(name, s.Cell.Key(), fmt.Sprint(n), tally(ended), why)
		}
	}
	return t.String()
}

func tally(counts map[string]int) string {
	var parts []string
	for _, word := range []string{"ok", "void", "failed", "hung", "refused", "crashed", "capped", "killed"} {
		if counts[word] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[word], word))
		}
	}
	return strings.Join(parts, ", ")
}

// deviations are the levels that were added under the registered rule, and amendments.
func (r *Results) deviations() string {
	var b strings.Builder
	for _, s := range r.Sessions {
		for _, e := range Entries() {
			f := r.Of(s, e.Name)
			if f == nil {
				continue
			}
			plan := f.Contents.Registration.CurrentPlan()
			for _, c := range plan.Cells[plan.Main():] {
				fmt.Fprintf(&b, "- session %s, %s: %s was added by the registered rule (refine).\n", s, e.Name, c.Cell)
			}
			for _, a := range f.Contents.Registration.Amendments {
				if a.Reason != "" && !strings.Contains(a.Reason, "refine") {
					fmt.Fprintf(&b, "- session %s, %s: amended %s: %s\n", s, e.Name, a.Time.Format("2006-01-02"), a.Reason)
				}
			}
		}
	}
	if b.Len() == 0 {
		return "None.\n"
	}
	return b.String()
}

// machine is where each session was executed.
func (r *Results) machine() string {
	t := newTable("session", "first trial", "commit", "machine")
	for _, s := range r.Sessions {
		for _, e := range Entries() {
			f := r.Of(s, e.Name)
			if f == nil || len(f.Contents.Trials) == 0 {
				continue
			}
			commit := f.Contents.Registration.Commit
			t.row(s, f.Contents.Trials[0].StartedAt.Format("2006-01-02 15:04 MST"), commit[:min(12, len(commit))], machineOf(f))
			break
		}
	}
	return t.String()
}

func machineOf(f *Folder) string {
	if len(f.Contents.Host.Sessions) == 0 {
		return "–"
	}
	fingerprint := f.Contents.Host.Sessions[0].Fingerprint
	var parts []string
	for _, part := range []struct{ key, unit string }{{"cpu_model", ""}, {"cpu_threads", " threads"}, {"memory_gib", " GiB"}, {"os", ""}, {"kernel", ""}} {
		if v, ok := fingerprint[part.key]; ok {
			word, _, _ := strings.Cut(v, " #")
			parts = append(parts, word+part.unit)
		}
	}
	return strings.Join(parts, ", ")
}
