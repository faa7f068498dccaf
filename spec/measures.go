package spec

import (
	"regexp"
	"slices"
	"strings"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

func (r *reader) readMeasures(n *yaml.Node) {
	entries := r.entries(n, "measures", assay.IsIdent)
	for _, e := range entries {
		if b, ok := assay.BuiltinMeasure(e.name); ok && !b.Yields && (r.loaded || !b.Load) {
			r.mistake(e.key, "measures: %s is a built-in measure and cannot be declared; choose another name", e.name)
		}
		r.declared = append(r.declared, e.name)
		r.measures[e.name] = assay.Measure{Name: e.name}
	}
	for _, e := range entries {
		m := r.measure(e)
		r.measures[e.name] = m
		r.e.Measures = append(r.e.Measures, m)
	}
}

func (r *reader) measure(e entry) assay.Measure {
	m := assay.Measure{Name: e.name}
	what := "measure " + e.name
	o, ok := r.object(e.value, "measure", what)
	if !ok {
		return m
	}
	if n := o.get("max"); n != nil {
		r.greatest(&m, o, n, what)
	} else {
		m.Source, _ = r.source(o, what)
	}
	if o.ask("along"); o.keys["along"] != nil && o.keys["max"] == nil {
		r.mistake(o.keys["along"], "%s: along belongs to max: the greatest value along a factor", what)
	}
	if n := o.get("unit"); n != nil {
		m.Unit = r.unit(n, what)
	} else if m.MaxOf.Name == "" {
		m.Unit = assay.Unit{Scale: 1}
	}
	if n := o.get("better"); n != nil {
		m.Better = assay.Better(r.word(n, what+": better", string(assay.More), string(assay.Lower)))
	}
	if n := o.get("oracle"); n != nil {
		if s, ok := r.text(n, what+": oracle"); ok {
			m.Oracle = &assay.Oracle{Want: s}
			if s == "first" {
				m.Oracle = &assay.Oracle{First: true}
			}
		}
	}
	if n := o.get("per"); n != nil {
		f, _ := r.factorName(n, what+": per")
		if m.Oracle == nil {
			r.mistake(n, "%s: per belongs to oracle: one right output for each level of a factor", what)
		} else {
			m.Oracle.Per = f.Name
		}
	}
	o.close()
	return m
}

func (r *reader) unit(n *yaml.Node, what string) assay.Unit {
	s, ok := r.text(n, what+": unit")
	u, err := assay.ParseUnit(s)
	if ok && err != nil {
		r.mistake(n, "%s: %v", what, err)
	}
	return u
}

// greatest reads {max: MEASURE, along: FACTOR}: one number a block.
func (r *reader) greatest(m *assay.Measure, o *object, n *yaml.Node, what string) {
	for _, key := range []string{"json", "regex", "benchfmt", "delta", "reduce", "from"} {
		if o.has(key) {
			r.mistake(o.keys[key], "%s: max and %s cannot stand together; keep one", what, key)
		}
	}
	if along := o.need("along", ": the factor whose levels are gone through"); along != nil {
		f, _ := r.factorName(along, what+": along")
		m.Along = f.Name
	}
	s, ok := r.text(n, what+": max")
	if !ok {
		return
	}
	if ref, u, ok := r.reference(n, s, what+": max", judged); ok {
		m.MaxOf, m.Unit = ref, u
		if ref.Name == m.Name {
			r.mistake(n, "%s: a measure cannot be the greatest of itself", what)
		}
	}
}

// source reads where a value is found: one of json, regex, benchfmt, delta, with reduce and from.
func (r *reader) source(o *object, what string) (assay.Source, bool) {
	var s assay.Source
	key, n := o.one("json", "regex", "benchfmt", "delta")
	text, ok := r.text(n, what+": "+key)
	switch key {
	case "json":
		s.JSON = text
		if ok && (text == "" || strings.HasPrefix(text, ".") || strings.Count(text, "[") != strings.Count(text, "]")) {
			r.mistake(n, "%s: json: want a path such as files_per_s or batches[*].ns, got %q", what, shorten(text))
		}
	case "regex":
		s.Regex = text
		r.checkRegex(n, text, what)
	case "benchfmt":
		s.Benchfmt = text
	case "delta":
		s.Delta = text
		r.checkDelta(n, text, what)
	}
	if n := o.get("reduce"); n != nil {
		s.Reduce, _ = r.text(n, what+": reduce")
		words := []string{"mean", "median", "min", "max", "sum", "sd", "p99", "first", "last"}
		if !assay.IsStat(s.Reduce) && s.Reduce != "first" && s.Reduce != "last" {
			r.mistake(n, "%s: reduce: want mean, median, min, max, sum, sd, pNN, first or last, got %q%s", what, shorten(s.Reduce), hint(s.Reduce, words))
		}
	} else if strings.Contains(s.JSON, "[*]") {
		r.mistake(o.node, "%s: the path %s gives several values; say under reduce which one counts, such as median", what, s.JSON)
	}
	if n := o.get("from"); n != nil {
		s.From = r.from(n, what+": from")
	}
	return s, ok
}

// from is stdout, stderr or a file, whose name may hold substitutions.
func (r *reader) from(n *yaml.Node, what string) assay.Template {
	text, ok := r.text(n, what)
	if !ok {
		return assay.Template{}
	}
	t := assay.ParseTemplate(text)
	r.checkNames(n, t, what)
	if text == "stdout" || text == "stderr" {
		return t
	}
	return r.within(t)
}

// checkNames refuses names in t that no cell gives a value to.
func (r *reader) checkNames(n *yaml.Node, t assay.Template, what string) {
	for _, s := range r.e.Settings {
		if _, ok := r.fillerFor(s).fillText(n, t.String(), what); !ok {
			return
		}
	}
}

func (r *reader) checkRegex(n *yaml.Node, text, what string) {
	if n == nil {
		return
	}
	re, err := regexp.Compile(text)
	switch {
	case err != nil:
		r.mistake(n, "%s: regex: %s", what, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	case re.NumSubexp() == 0:
		r.mistake(n, "%s: regex: want a group in parentheses around the number, such as 'rate=(\\d+)'", what)
	}
}

var promCall = regexp.MustCompile(`^prom\(\s*([A-Za-z_][A-Za-z0-9_]*)\s*,\s*(.+?)\s*\)$`)

func (r *reader) checkDelta(n *yaml.Node, text, what string) {
	if n == nil {
		return
	}
	m := promCall.FindStringSubmatch(text)
	switch {
	case m == nil:
		r.mistake(n, "%s: delta: want prom(TARGET, METRIC), got %q", what, shorten(text))
	case !slices.Contains(r.targets, m[1]):
		r.mistake(n, "%s: delta: no target is named %q%s", what, m[1], suggest(m[1], r.targets))
	}
}

// A place is where a measure is referred to; it decides which measures make sense.
type place int

const (
	before place = iota // gates
	during              // kill rules
	judged              // guards, hypotheses and all that is judged afterwards
)

// reference reads a measure and checks that it exists and is known at that place.
func (r *reader) reference(n *yaml.Node, text, what string, p place) (assay.MeasureRef, assay.Unit, bool) {
	ref, err := assay.ParseMeasureRef(text)
	if err != nil {
		r.mistake(n, "%s: %v", what, err)
		return ref, assay.Unit{}, false
	}
	return r.resolve(n, ref, what, p)
}

// resolve checks a measure that has been read and gives its unit.
func (r *reader) resolve(n *yaml.Node, ref assay.MeasureRef, what string, p place) (assay.MeasureRef, assay.Unit, bool) {
	if ref.Name == "completed_per_s" && r.loaded { // as the load verb calls it
		ref.Name = "rate"
	}
	b, ok := assay.BuiltinMeasure(ref.Name)
	if m, declared := r.measures[ref.Name]; declared && !b.OfObject(ref) {
		return ref, m.Unit, r.resolveDeclared(n, ref, what, p)
	}
	if !ok {
		known := append(slices.Clone(r.declared), assay.BuiltinNames()...)
		r.onceAt(n, "%s: no measure is named %q%s", what, shorten(ref.Name), hint(ref.Name, known))
		return ref, b.Unit, false
	}
	if b.Load && !r.loaded {
		r.onceAt(n, "%s: %s is measured with load only; this experiment executes a command", what, ref.Name)
		return ref, b.Unit, false
	}
	return ref, b.Unit, r.timely(n, ref, what, p) && r.resolveObject(n, ref, b, what, p)
}

func (r *reader) resolveDeclared(n *yaml.Node, ref assay.MeasureRef, what string, p place) bool {
	switch {
	case p == before:
		r.onceAt(n, "%s: %s is known after the trial only; a gate needs what can be read before it, such as load1, temp or resident(FILE)", what, ref.Name)
	case p == during:
		r.onceAt(n, "%s: %s is known after the trial only; a kill rule needs what can be watched during it", what, ref.Name)
	case ref.Stat != "":
		r.onceAt(n, "%s: %s gives one number a trial, so %s of it means nothing; declare reduce: %s in the measure instead", what, ref.Name, ref.Stat, ref.Stat)
	case ref.Object != "":
		r.onceAt(n, "%s: %s is a declared measure and takes no (%s)", what, ref.Name, shorten(ref.Object))
	default:
		return true
	}
	return false
}

// timely refuses built-in measures that are not known at that place.
func (r *reader) timely(n *yaml.Node, ref assay.MeasureRef, what string, p place) bool {
	atEnd := slices.Contains([]string{"wall", "user", "system", "exit", "delivered", "span", "agree", "recovery"}, ref.Name)
	ofOperations := slices.Contains([]string{"response_time", "service_time", "lag"}, ref.Name)
	b, _ := assay.BuiltinMeasure(ref.Name)
	switch {
	case p == before && (atEnd || b.Load):
		r.onceAt(n, "%s: %s is known after the trial only; a gate needs what can be read before it, such as load1, temp or resident(FILE)", what, ref.Name)
	case p == during && atEnd:
		r.onceAt(n, "%s: %s is known after the trial only; a kill rule needs what can be watched during it", what, ref.Name)
	case p == during && slices.Contains([]string{"restarts", "cold_start", "calibration", "clock_tick", "resident", "disk_free"}, ref.Name):
		r.onceAt(n, "%s: %s is not watched during a trial; a kill rule needs what is: a probe, the load's own times and errors, or what an object or the machine uses", what, ref.Name)
	case ofOperations && ref.Stat == "":
		r.onceAt(n, "%s: %s has a value for each operation; say which, such as p99(%s)", what, ref.Name, ref.Name)
	case ref.Stat != "" && slices.Contains([]string{"wall", "user", "system", "exit", "clock_tick"}, ref.Name):
		r.onceAt(n, "%s: %s is one number a trial, so %s of it means nothing", what, ref.Name, ref.Stat)
	default:
		return true
	}
	return false
}

// resolveObject checks what stands in parentheses behind a built-in measure.
func (r *reader) resolveObject(n *yaml.Node, ref assay.MeasureRef, b assay.Builtin, what string, p place) bool {
	if ref.Object == "" {
		switch ref.Name {
		case "restarts", "resident", "rtt", "recovery", "agree", "bandwidth":
			r.onceAt(n, "%s: %s needs what it is of, such as %s(%s)", what, ref.Name, ref.Name, exampleObject(ref.Name))
			return false
		}
		return true
	}
	if !b.Object {
		r.onceAt(n, "%s: %s takes no (%s)", what, ref.Name, shorten(ref.Object))
		return false
	}
	known := r.targets
	switch ref.Name {
	case "rtt":
		known = r.probes
	case "bandwidth":
		if p != before {
			return true // of a probe, or a ceiling measured on this machine
		}
		known = r.probes
	case "rss_peak", "rss_anon", "cpu", "threads":
		if !r.loaded {
			known = append(slices.Clone(known), "command")
		}
	case "restarts", "recovery":
	case "agree":
		return r.agreeing(n, ref.Object, what)
	default:
		return true
	}
	if slices.Contains(known, ref.Object) {
		return true
	}
	kind := "target"
	if ref.Name == "rtt" || ref.Name == "bandwidth" {
		kind = "probe"
	}
	r.onceAt(n, "%s: no %s is named %q%s", what, kind, shorten(ref.Object), suggest(ref.Object, known))
	return false
}

func exampleObject(name string) string {
	switch name {
	case "rtt":
		return "PROBE"
	case "resident":
		return "FILE"
	case "agree":
		return "MEASURE, MEASURE"
	}
	return "TARGET"
}

// agreeing checks the two measures of agree(a, b).
func (r *reader) agreeing(n *yaml.Node, object, what string) bool {
	a, b, ok := strings.Cut(object, ",")
	if !ok {
		r.onceAt(n, "%s: agree compares two measures: agree(a, b)", what)
		return false
	}
	_, _, okA := r.reference(n, a, what, judged)
	_, _, okB := r.reference(n, b, what, judged)
	return okA && okB
}
