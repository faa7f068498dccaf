package spec

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

const defaultPatience = time.Minute // for a target to become ready

func (f *filler) readTargets(n *yaml.Node) []assay.Target {
	var list []assay.Target
	for _, e := range f.entries(n, "target", assay.IsIdent) {
		if t, ok := f.target(e); ok {
			list = append(list, t)
		}
	}
	return list
}

func (f *filler) target(e entry) (assay.Target, bool) {
	what := "target " + e.name
	t := assay.Target{Name: e.name, Fresh: "experiment"}
	o, ok := f.object(e.value, "target", what)
	if !ok {
		return t, false
	}
	if n := o.get("external"); n != nil {
		t.External = f.external(n, what+": external")
		for _, key := range append(surroundings(), "command", "fresh", "starts", "supervise") {
			if o.has(key) {
				f.onceAt(o.keys[key], "%s: %s and external cannot stand together: an external target is started by somebody else", what, key)
			}
		}
	} else {
		o.need("command", ": what starts it (or external, for one that somebody else starts)")
	}
	t.Command = f.command(o, what)
	if n := o.get("ready"); n != nil {
		t.Ready = f.ready(n, what+": ready")
	}
	if n := o.get("fresh"); n != nil {
		f.fresh(&t, n, what+": fresh")
	}
	if n := o.get("starts"); n != nil {
		t.Starts = f.count(n, what+": starts", 1)
	}
	f.after(&t, o.get("after"), what+": after")
	if n := o.get("supervise"); n != nil {
		t.Supervise = f.supervise(n, what+": supervise")
	}
	if n := o.get("prometheus"); n != nil {
		t.Prometheus, _ = f.string(n, what+": prometheus")
		f.checkURL(n, t.Prometheus, what+": prometheus")
	}
	o.close()
	return t, true
}

func (f *filler) external(n *yaml.Node, what string) *assay.External {
	o, ok := f.object(n, "external", what)
	if !ok {
		return nil
	}
	x := &assay.External{}
	switch key, n := o.one("pid", "port", "cgroup"); key {
	case "pid":
		x.PID = f.count(n, what+": pid", 1)
	case "port":
		if x.Port = f.count(n, what+": port", 1); x.Port > 65535 {
			f.onceAt(n, "%s: want a port from 1 to 65535, got %s", what, strconv.Itoa(x.Port))
		}
	case "cgroup":
		x.Cgroup, _ = f.string(n, what+": cgroup")
	}
	o.close()
	return x
}

func (f *filler) ready(n *yaml.Node, what string) assay.Ready {
	r := assay.Ready{Patience: defaultPatience}
	o, ok := f.object(n, "ready", what)
	if !ok {
		return r
	}
	switch key, n := o.one("http", "tcp", "log", "command"); key {
	case "http":
		r.HTTP, _ = f.string(n, what+": http")
		f.checkURL(n, r.HTTP, what+": http")
	case "tcp":
		r.TCP, _ = f.string(n, what+": tcp")
		f.checkAddress(n, r.TCP, what+": tcp")
	case "log":
		r.Log, _ = f.string(n, what+": log")
		if _, err := regexp.Compile(r.Log); err != nil {
			f.mean(n, what+": log", err)
		}
	case "command":
		if n != nil {
			r.Command = f.hook(n, what+": command")
		}
	}
	if n := o.get("patience"); n != nil {
		r.Patience = f.positive(n, what+": patience")
	}
	o.close()
	return r
}

// fresh reads trial, block, experiment, or the factors on whose change a target is restarted.
func (f *filler) fresh(t *assay.Target, n *yaml.Node, what string) {
	if n.Kind != yaml.SequenceNode {
		t.Fresh = f.choice(n, what, "trial", "block", "experiment")
		return
	}
	t.Fresh = ""
	for _, c := range f.items(n, what, false) {
		if factor, ok := f.factorName(c, what); ok {
			t.FreshOn = append(t.FreshOn, factor.Name)
		}
	}
}

// after reads the targets that must be ready before this one is started.
func (f *filler) after(t *assay.Target, n *yaml.Node, what string) {
	for _, c := range f.items(n, what, true) {
		s, ok := f.text(c, what)
		if !ok {
			continue
		}
		// Only an earlier target can come first, which also rules out circles.
		if i := slices.Index(f.targets, s); i < 0 || i >= slices.Index(f.targets, t.Name) {
			f.onceAt(c, "%s: no target before this one is named %q%s", what, shorten(s), suggest(s, f.targets))
			continue
		}
		t.After = append(t.After, s)
	}
}

func (f *filler) supervise(n *yaml.Node, what string) *assay.Supervise {
	o, ok := f.object(n, "supervise", what)
	if !ok {
		return nil
	}
	s := &assay.Supervise{Timeout: time.Second, Period: 10 * time.Second, Failures: 3, Do: "restart"}
	if n := o.need("http", ": the URL of the health check"); n != nil {
		s.HTTP, _ = f.string(n, what+": http")
		f.checkURL(n, s.HTTP, what+": http")
	}
	if n := o.get("timeout"); n != nil {
		s.Timeout = f.positive(n, what+": timeout")
	}
	if n := o.get("period"); n != nil {
		s.Period = f.positive(n, what+": period")
	}
	if n := o.get("failures"); n != nil {
		s.Failures = f.count(n, what+": failures", 1)
	}
	if n := o.get("do"); n != nil {
		s.Do = f.choice(n, what+": do", "restart")
	}
	o.close()
	return s
}
