package spec

import (
	"slices"
	"time"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// workload reads what one trial of the filler's cell does.
func (f *filler) workload(root *object) assay.Workload {
	var w assay.Workload
	if c := f.command(root, ""); c != nil {
		w.Command = c
	}
	if n := root.get("load"); n != nil {
		w.Load = f.load(n)
	}
	w.Targets = f.readTargets(root.get("target"))
	w.Probes = f.readProbes(root.get("probes"))
	w.Kills = f.kills(root.get("kill"))
	f.watchable(root.get("kill"), &w)
	w.Events = f.events(root.get("events"))
	w.Hooks.Prepare = f.commands(root.get("prepare"), "prepare")
	w.Hooks.Conclude = f.commands(root.get("conclude"), "conclude")
	if n := root.get("cap"); n != nil {
		w.Cap = f.positive(n, "cap")
	}
	if n := root.get("hung"); n != nil {
		w.Hung = f.hung(n)
	}
	if n := root.get("expect_stall"); n != nil {
		w.ExpectStall = f.expectStall(n)
	}
	return w
}

func (f *filler) hung(n *yaml.Node) assay.HungRule {
	o, ok := f.object(n, "hung", "hung")
	if !ok {
		return assay.HungRule{}
	}
	h := assay.HungRule{Progress: "stdout"}
	if n := o.need("after", ": the time without progress"); n != nil {
		h.After = f.positive(n, "hung: after")
	}
	if n := o.get("progress"); n != nil {
		if h.Progress, ok = f.string(n, "hung: progress"); ok && h.Progress != "stdout" && h.Progress != "stderr" {
			h.Progress = f.absolute(h.Progress)
		}
	}
	o.close()
	return h
}

// expectStall reports whether a stall is expected in this cell: in all for true, else in those that
// a pattern matches.
func (f *filler) expectStall(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return f.yes(n, "expect_stall")
	}
	found := false
	for _, c := range f.items(n, "expect_stall", true) {
		patterns, ok := f.patterns(c, "expect_stall")
		found = found || ok && slices.ContainsFunc(patterns, f.cell.Matches)
	}
	return found
}

func (f *filler) events(n *yaml.Node) []assay.Event {
	var list []assay.Event
	for _, c := range f.items(n, "events", true) {
		o, ok := f.object(c, "event", "events")
		if !ok {
			continue
		}
		e := assay.Event{To: "command"}
		if n := o.need("at", ": the time from the start of the trial"); n != nil {
			e.At = f.duration(n, "events: at")
		}
		if n := o.need("signal", ": STOP, CONT, KILL, TERM, …"); n != nil {
			e.Signal = f.choice(n, "events: signal", "STOP", "CONT", "KILL", "TERM", "INT", "HUP", "USR1", "USR2", "QUIT", "RESTART")
		}
		if n := o.get("to"); n != nil {
			known := f.targets
			if !f.loaded {
				known = append(slices.Clone(known), "command")
			}
			e.To = f.choice(n, "events: to", known...)
		} else if f.loaded {
			o.need("to", ": the target that gets the signal")
		}
		if n := o.get("for"); n != nil {
			e.For = f.positive(n, "events: for")
			if e.Signal != "STOP" {
				f.onceAt(n, "events: for belongs to STOP: the time until it goes on")
			}
		}
		o.close()
		list = append(list, e)
	}
	return list
}

func (f *filler) kills(n *yaml.Node) []assay.KillRule {
	var list []assay.KillRule
	for _, c := range f.items(n, "kill", true) {
		o, ok := f.object(c, "kill", "kill")
		if !ok {
			continue
		}
		var k assay.KillRule
		if n := o.need("when", ": the condition, with over"); n != nil {
			k.When = f.killCondition(n)
		}
		if n := o.get("cool_down"); n != nil {
			k.CoolDown = f.duration(n, "kill: cool_down")
		}
		if n := o.get("skip_above"); n != nil {
			factor, _ := f.factorName(n, "kill: skip_above")
			k.SkipAbove = factor.Name
		}
		o.close()
		list = append(list, k)
	}
	return list
}

func (f *filler) killCondition(n *yaml.Node) assay.Condition {
	s, ok := f.string(n, "kill: when")
	if !ok {
		return assay.Condition{}
	}
	c, ok := f.condition(n, s, "kill: when", during)
	if ok && c.Over == 0 {
		f.onceAt(n, "kill: when: the window is missing; write it behind the bound: %s over 5s", c)
	}
	return c
}

func (f *filler) readProbes(n *yaml.Node) []assay.Probe {
	var list []assay.Probe
	for _, e := range f.entries(n, "probes", assay.IsIdent) {
		what := "probe " + e.name
		o, ok := f.object(e.value, "probe", what)
		if !ok {
			continue
		}
		p := assay.Probe{Name: e.name, Rate: 1, Timeout: 5 * time.Second}
		switch key, n := o.one("read", "http", "tcp"); key {
		case "read":
			p.Read = f.path(n, what+": read")
			p.Bytes = 64 << 10
		case "http":
			p.HTTP, _ = f.string(n, what+": http")
			f.checkURL(n, p.HTTP, what+": http")
		case "tcp":
			p.TCP, _ = f.string(n, what+": tcp")
			f.checkAddress(n, p.TCP, what+": tcp")
		}
		if n := o.get("bytes"); n != nil {
			p.Bytes = f.bytes(n, what+": bytes")
		}
		if n := o.get("rate"); n != nil {
			p.Rate = f.seldom(n, what+": rate")
		}
		if n := o.get("timeout"); n != nil {
			p.Timeout = f.positive(n, what+": timeout")
		}
		o.close()
		list = append(list, p)
	}
	return list
}

// watchable refuses kill rules on probes that are never performed during a trial.
func (f *filler) watchable(n *yaml.Node, w *assay.Workload) {
	for _, k := range w.Kills {
		for _, p := range w.Probes {
			if k.When.Measure.Name == "rtt" && k.When.Measure.Object == p.Name && p.Rate == 0 {
				f.onceAt(n, "kill: probe %s is for gates only (rate 0/s); a kill rule needs it during the trial", p.Name)
			}
		}
	}
}

// seldom is the rate of a probe; 0/s is never, except for gates.
func (f *filler) seldom(n *yaml.Node, what string) float64 {
	if s, ok := f.string(n, what); ok {
		if q, err := assay.ParseQuantity(s); err == nil && q.Unit.Dim.PerSecond && q.Number == 0 {
			return 0
		}
	}
	return f.perSecond(n, what)
}
