package spec

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// A filler reads the parts of the file in which {identifier} may stand, for one cell. Outside of
// cells (setup, cleanup) it has no values.
type filler struct {
	*reader
	cell   assay.Cell
	values map[string]string
	// left are the built-ins that the engine fills in later.
	left []string
}

func (r *reader) fillerFor(s assay.Setting) *filler {
	return &filler{reader: r, cell: s.Cell, values: s.Values, left: []string{"block", "trial", "seed"}}
}

// onceAt is a mistake that would else be repeated for every cell.
func (r *reader) onceAt(n *yaml.Node, format string, args ...any) {
	place := [2]int{n.Line, n.Column}
	if !r.seen[place] {
		r.seen[place] = true
		r.mistake(n, format, args...)
	}
}

// fill is the text of n with the cell's values put in. Names that nobody knows are mistakes.
func (f *filler) fill(n *yaml.Node, what string) (assay.Template, bool) {
	s, ok := f.once(n, what)
	if !ok {
		return assay.Template{}, false
	}
	return f.fillText(n, s, what)
}

// once is text, with at most one mistake a place.
func (f *filler) once(n *yaml.Node, what string) (string, bool) {
	if n == nil || f.seen[[2]int{n.Line, n.Column}] {
		return "", false
	}
	s, ok := f.text(n, what)
	if !ok {
		f.seen[[2]int{n.Line, n.Column}] = true
	}
	return s, ok
}

func (f *filler) fillText(n *yaml.Node, s, what string) (assay.Template, bool) {
	t := assay.ParseTemplate(s)
	good := true
	names := t.Names()
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if f.full() {
			return assay.Template{}, false
		}
		if _, ok := f.values[name]; !ok && !slices.Contains(f.left, name) {
			f.unknownName(n, name, what)
			good = false
		}
	}
	return t.Fill(f.values), good
}

func (f *filler) unknownName(n *yaml.Node, name, what string) {
	known := slices.Concat(f.factorNames(), f.terms(), keys(f.fixed()), f.left)
	for _, d := range f.derived {
		known = append(known, d.name)
	}
	if slices.Contains(f.failed, name) {
		return // its own mistake is reported
	}
	switch {
	case slices.Contains(known, name) && f.cell == nil:
		f.named(n, name, "%s: {%s} has no value here, outside of the trials", what, name)
	case slices.Contains(known, name):
		f.named(n, name, "%s: {%s} has no value in the cell %s", what, name, f.cell)
	case slices.Contains([]string{"block", "trial", "seed"}, name):
		f.named(n, name, "%s: {%s} has no value here", what, name)
	case name == "cpus":
		f.named(n, name, "%s: cpus is known in derived expressions only; derive a name from it and write that", what)
	default:
		f.named(n, name, "%s: {%s} is no factor, derived name or built-in%s; literal braces are written {{ and }}", what, name, suggest(name, known))
	}
}

// named reports {name} at its own place within n, once for all cells.
func (f *filler) named(n *yaml.Node, name, format string, args ...any) {
	line, column := n.Line, n.Column
	if line <= len(f.lines) {
		text := f.lines[line-1]
		from := min(len(text), max(0, column-1))
		if i := strings.Index(text[from:], "{"+name+"}"); i >= 0 {
			column = utf8.RuneCountInString(text[:from+i]) + 1
		}
	}
	if place := [2]int{line, column}; !f.seen[place] {
		f.seen[place] = true
		f.in(line, column, "", format, args...)
	}
}

// string is the text of n in this cell, complete: it cannot depend on the block or the trial.
func (f *filler) string(n *yaml.Node, what string) (string, bool) {
	later := f.left
	f.left = nil
	t, ok := f.fill(n, what)
	f.left = later
	if !ok {
		return "", false
	}
	s, err := t.Expand(nil)
	return s, err == nil
}

// mean reports a text that does not mean what it should.
func (f *filler) mean(n *yaml.Node, what string, err error) {
	in := ""
	if s := n.Value; strings.Contains(s, "{") && f.cell != nil {
		in = " in the cell " + f.cell.String()
	}
	f.onceAt(n, "%s%s: %v", what, in, err)
}

func (f *filler) duration(n *yaml.Node, what string) time.Duration {
	s, ok := f.string(n, what)
	if !ok {
		return 0
	}
	d, err := assay.ParseDuration(s)
	if err == nil && d < 0 {
		f.onceAt(n, "%s: want a time that is not negative, got %s", what, s)
		return 0
	}
	if err != nil {
		f.mean(n, what, err)
	}
	return d
}

// positive is a duration of more than nothing.
func (f *filler) positive(n *yaml.Node, what string) time.Duration {
	d := f.duration(n, what)
	if n != nil && d == 0 {
		f.onceAt(n, "%s: want a time of more than 0", what)
	}
	return d
}

// perSecond is n as an arrival rate.
func (f *filler) perSecond(n *yaml.Node, what string) float64 {
	s, ok := f.string(n, what)
	if !ok {
		return 0
	}
	q, err := assay.ParseQuantity(s)
	switch {
	case err != nil:
		f.mean(n, what, err)
	case !q.Unit.Dim.PerSecond:
		f.onceAt(n, "%s: want a rate such as 100/s, got %q", what, shorten(s))
	case !(q.Base() > 0):
		f.onceAt(n, "%s: want a rate above 0, got %q", what, shorten(s))
	default:
		return q.Base()
	}
	return 0
}

func (f *filler) bytes(n *yaml.Node, what string) int {
	s, ok := f.string(n, what)
	if !ok {
		return 0
	}
	q, err := assay.ParseQuantity(s)
	if err != nil {
		f.mean(n, what, err)
		return 0
	}
	isSize := q.Unit.Dim == (assay.Dimension{Base: "B"}) || q.Bare
	if v := q.Base(); isSize && v >= 1 && v < 1<<40 {
		return int(v)
	}
	f.onceAt(n, "%s: want a size such as 64KiB, got %q", what, shorten(s))
	return 0
}

func (f *filler) count(n *yaml.Node, what string, low int) int {
	s, ok := f.string(n, what)
	if !ok {
		return 0
	}
	v, err := wholeNumber(s, low)
	if err != nil {
		f.mean(n, what, err)
	}
	return v
}

func (f *filler) choice(n *yaml.Node, what string, words ...string) string {
	s, ok := f.string(n, what)
	if ok && !slices.Contains(words, s) {
		f.onceAt(n, "%s: want %s, got %q%s", what, strings.Join(words, " or "), shorten(s), hint(s, words))
		return ""
	}
	return s
}

// path is n as an absolute path; relative ones start at the file's folder.
func (f *filler) path(n *yaml.Node, what string) string {
	s, ok := f.string(n, what)
	if !ok {
		return ""
	}
	return f.absolute(s)
}

func (r *reader) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.dir, path)
}

// within is a template of a path with the file's folder in front of a relative one.
func (r *reader) within(t assay.Template) assay.Template {
	if s, err := t.Expand(nil); err == nil {
		return literal(r.absolute(s))
	}
	if s := t.String(); !filepath.IsAbs(s) {
		return assay.ParseTemplate(literal(r.dir).String() + "/" + s)
	}
	return t
}

// literal is a template that stands for s, whatever braces s holds.
func literal(s string) assay.Template {
	return assay.ParseTemplate(strings.NewReplacer("{", "{{", "}", "}}").Replace(s))
}

// env reads environment variables. One whose value is unset is removed.
func (f *filler) env(n *yaml.Node, what string) []assay.EnvVar {
	var list []assay.EnvVar
	for _, e := range f.entries(n, what, assay.IsIdent) {
		t, ok := f.fill(e.value, what+": "+e.name)
		if !ok {
			continue
		}
		v := assay.EnvVar{Name: e.name, Value: t}
		if s, err := t.Expand(nil); err == nil && s == "unset" {
			v = assay.EnvVar{Name: e.name, Unset: true}
		}
		list = append(list, v)
	}
	return list
}

// templates fills every text of a mapping of free names, such as headers.
func (f *filler) templates(n *yaml.Node, what string) map[*yaml.Node]assay.Template {
	list := map[*yaml.Node]assay.Template{}
	if n == nil {
		return list
	}
	if n.Kind != yaml.MappingNode {
		f.onceAt(n, "%s: want names with values, got %s", what, describe(n))
		return list
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if t, ok := f.fill(n.Content[i+1], what+": "+n.Content[i].Value); ok {
			list[n.Content[i]] = t
		}
	}
	return list
}
