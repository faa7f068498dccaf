package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assaybench/assay"
)

// scorecard is every claim of every session.
func (r *Results) scorecard() string {
	t := newTable("experiment", "session", "", "claim", "verdict", "reason", "estimate", "interval or bracket", "blocks")
	for _, e := range Entries() {
		for _, s := range r.Sessions {
			f := r.Of(s, e.Name)
			if f == nil {
				continue
			}
			for _, v := range f.Judgement.Verdicts.Hypotheses {
				estimate := "–"
				if v.Estimate != nil {
					estimate = number(*v.Estimate)
				}
				t.row(e.Name, s, v.ID, v.Claim, string(v.Verdict), string(v.Reason), estimate, span(v), fmt.Sprint(v.Blocks))
			}
		}
	}
	return t.String()
}

// recommendations is the map: how many in flight on which link.
func (r *Results) recommendations() string {
	t := newTable(append([]string{"link", "in flight"}, r.each(func(s string) string { return "knee, session " + s })...)...)
	for _, l := range []struct{ name, link string }{{"sweep-fast", "loopback, no delay"}, {"sweep-slow", "10 ms, 1 Gbit/s"}} {
		f := r.First(l.name)
		if f == nil {
			continue
		}
		n := "–"
		for _, a := range f.Judgement.Advice {
			if a.Factor == "inflight" && a.Suggested != "" {
				n = "**" + a.Suggested + "**"
			}
		}
		t.row(append([]string{l.link, n}, r.each(func(s string) string { return bracketOf(r.Of(s, l.name), "H1", knee) })...)...)
	}
	return t.String() + r.agreement("sweep-fast", "sweep-slow")
}

// each is a text for each session.
func (r *Results) each(say func(session string) string) []string {
	var list []string
	for _, s := range r.Sessions {
		list = append(list, say(s))
	}
	return list
}

func bracketOf(f *Folder, id string, say func(assay.Verdict) string) string {
	if f == nil {
		return "not executed"
	}
	return say(f.Verdict(id))
}

// agreement says of experiments that were executed in two sessions whether their brackets overlap.
func (r *Results) agreement(names ...string) string {
	if len(r.Sessions) < 2 {
		return "\nOne session so far: agreement is not shown.\n"
	}
	var b strings.Builder
	b.WriteString("\n")
	for _, name := range names {
		a, c := r.Of(r.Sessions[0], name), r.Of(r.Sessions[1], name)
		if a == nil || c == nil {
			continue
		}
		word := "agree"
		if !Agree(a.Verdict("H1"), c.Verdict("H1")) {
			word = "**do not agree**"
		}
		fmt.Fprintf(&b, "%s: the brackets of sessions %s and %s %s.\n", name, r.Sessions[0], r.Sessions[1], word)
	}
	return b.String()
}

// sweeps are rate and tail by what is in flight.
func (r *Results) sweeps() string {
	t := newTable("link", "in flight", "files/s", "p99 of a GET", "trials")
	for _, name := range []string{"sweep-fast", "sweep-slow"} {
		f := r.First(name)
		if f == nil {
			continue
		}
		at := assay.Cell{}
		if name == "sweep-fast" {
			at["tier"] = "medium"
		}
		for _, level := range f.levels("inflight") {
			cell := at.With(assay.Cell{"inflight": level})
			t.row(strings.TrimPrefix(name, "sweep-"), level, number(f.Median(cell, "rate")), scaled(f.Median(cell, "tail"), 1e6, "ms"), fmt.Sprint(len(f.Trials(cell))))
		}
	}
	return t.String()
}

// levels are those of a factor in the order of its axis, added ones among them.
func (f *Folder) levels(factor string) []string {
	for i := range f.Experiment.Factors {
		if f.Experiment.Factors[i].Name != factor {
			continue
		}
		order := f.Experiment.Factors[i].Order()
		return slices.DeleteFunc(order, func(level string) bool { return len(f.Trials(assay.Cell{factor: level})) == 0 })
	}
	return nil
}

// binds is what the processes took of their cores at 8 in flight, for both sizes of file.
func (r *Results) binds() string {
	f := r.First("sweep-fast")
	if f == nil {
		return ""
	}
	t := newTable("tier", "files/s", "store, cores of 1", "reader, cores of 1")
	for _, tier := range []string{"medium", "small"} {
		cell := assay.Cell{"inflight": "8", "tier": tier}
		t.row(tier, number(f.Median(cell, "rate")), number(f.Median(cell, "cpu_cores(store)")), number(f.cores(cell)))
	}
	v := f.Verdict("H3")
	return t.String() + fmt.Sprintf("\nSame rate for both: %s (%s), ratio %s.\n", v.Verdict, v.Reason, span(v))
}

// cores is the processor time of the reader over the wall time of its reading.
func (f *Folder) cores(cell assay.Cell) float64 {
	var shares []float64
	for _, trial := range f.Trials(cell) {
		var out struct {
			CPU  float64 `json:"cpu_ns"`
			Wall float64 `json:"wall_ns"`
		}
		if err := f.Output(trial.Trial, &out); err == nil && out.Wall > 0 {
			shares = append(shares, out.CPU/out.Wall)
		}
	}
	return median(shares)
}

// bytes are the comparisons of whole files and their ends, with the regime that each was executed in.
func (r *Results) bytes() string {
	f := r.First("bytes")
	if f == nil {
		return ""
	}
	t := newTable("round trip", "bandwidth, as set", "bandwidth, measured", "whole, files/s", "ends, files/s", "verdict", "reason", "note")
	for _, h := range f.Experiment.Hypotheses {
		if h.Kind != assay.Ratio {
			continue
		}
		v := f.Verdict(h.ID)
		t.row(h.At["rtt"], h.At["bandwidth"], scaled(f.Median(h.At, "bandwidth_bytes_per_s(bulk)"), 1e6, "MB/s"),
			number(f.Median(h.At.With(h.To), "rate")), number(f.Median(h.At.With(h.Of), "rate")), string(v.Verdict), string(v.Reason), first(v.Notes))
	}
	return t.String()
}

func first(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return notes[0]
}

// flips are the brackets of the round trip and the bandwidth at which whole files take the lead.
func (r *Results) flips() string {
	t := newTable(append([]string{"axis", "held", "predicted", "claimed beforehand"}, r.each(func(s string) string { return "session " + s })...)...)
	for _, l := range []struct{ name, axis, held, predicted string }{
		{"flip-rtt", "round trip", "1 Gbit/s", scaled(float64(predictedRTT()), 1e6, "ms")},
		{"flip-bandwidth", "bandwidth", "10 ms", scaled(predictedBandwidth(), 1e6, "MB/s")},
	} {
		f := r.First(l.name)
		if f == nil {
			continue
		}
		claimed := f.Experiment.Hypotheses[0].Expect.String()
		t.row(append([]string{l.axis, l.held, l.predicted, claimed}, r.each(func(s string) string {
			g := r.Of(s, l.name)
			if g == nil {
				return "not executed"
			}
			v := g.Verdict("H1")
			return fmt.Sprintf("%s, %s (%s)", flip(v), v.Verdict, v.Reason)
		})...)...)
	}
	return t.String() + r.agreement("flip-rtt", "flip-bandwidth")
}

// model is what the two terms say beside what was measured.
func (r *Results) model() string {
	t := newTable("axis", "level", "gain of ends, measured", "model", "measured over model", "trials")
	for _, l := range []struct{ name, factor string }{{"flip-rtt", "rtt"}, {"flip-bandwidth", "bandwidth"}} {
		f := r.First(l.name)
		if f == nil {
			continue
		}
		for _, level := range f.levels(l.factor) {
			cell := assay.Cell{l.factor: level}
			t.row(l.factor, level, number(f.Median(cell, "gain")), number(f.Median(cell, "model")), number(f.Median(cell, "offmodel")), fmt.Sprint(len(f.Trials(cell))))
		}
	}
	return t.String()
}

// ladder is the factor of each term on both links.
func (r *Results) ladder() string {
	f := r.First("ladder")
	if f == nil {
		return ""
	}
	var b strings.Builder
	for i, id := range []string{"H1", "H2"} {
		v := f.Verdict(id)
		fmt.Fprintf(&b, "%s: %s is the largest term: %s (%s).\n\n", []string{"Without delay", "With 10 ms"}[i], f.Experiment.Hypotheses[i].Largest, v.Verdict, v.Reason)
		for _, n := range v.Notes {
			if strings.Contains(n, ": factor ") {
				fmt.Fprintf(&b, "- %s\n", n)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
