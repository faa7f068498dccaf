package spec

import (
	"slices"
	"strings"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// reserved are names that mean something else already.
func reserved(name string) bool {
	return slices.Contains([]string{"block", "trial", "seed", "cpus", "unset"}, name)
}

func cutGlued(key, value *yaml.Node) (name, rest string, ok bool) {
	name, rest, ok = strings.Cut(key.Value, ":")
	return name, rest, ok && isEmpty(value) && assay.IsIdent(name)
}

func (r *reader) readFactors(n *yaml.Node) {
	for _, e := range r.entries(n, "factors", assay.IsIdent) {
		if reserved(e.name) {
			r.mistake(e.key, "factors: %s is a built-in name; choose another", e.name)
			continue
		}
		if _, held := r.fixed()[e.name]; held {
			r.mistake(e.key, "factors: %s stands under fixed as well; it cannot both vary and be held", e.name)
		}
		f := assay.Factor{Name: e.name}
		what := "factor " + e.name
		levels := e.value
		if e.value.Kind == yaml.MappingNode {
			o, _ := r.object(e.value, "factor", what)
			levels = o.need("levels", "")
			f.Unit, _ = r.text(o.get("unit"), what+": unit")
			if a := o.get("achieved"); a != nil {
				f.Achieved = r.achieved(a, what+": achieved")
			}
			o.close()
		}
		if levels != nil {
			f.Levels = r.levels(levels, e, what)
		}
		r.e.Factors = append(r.e.Factors, f)
	}
	r.checkTerms(n)
}

func (r *reader) levels(n *yaml.Node, e entry, what string) []assay.Level {
	if n.Kind == yaml.ScalarNode {
		r.try(n, e.name+": ["+n.Value+"]", "%s: want a list of levels, got %s; what does not vary belongs under fixed", what, describe(n))
		return []assay.Level{{Text: n.Value}} // so that other places may still name it
	}
	var levels []assay.Level
	seen := map[string]bool{}
	for _, c := range r.items(n, what, false) {
		l, ok := r.level(c, what)
		if !ok {
			continue
		}
		if seen[l.Text] {
			r.mistake(c, "%s: level %s stands twice", what, l.Text)
			continue
		}
		seen[l.Text] = true
		levels = append(levels, l)
	}
	if len(levels) == 0 && len(n.Content) == 0 {
		r.mistake(n, "%s: the list of levels is empty", what)
	}
	return levels
}

func (r *reader) level(n *yaml.Node, what string) (assay.Level, bool) {
	var l assay.Level
	var ok bool
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 && isEmpty(n.Content[1]) && assay.IsIdent(n.Content[0].Value) {
		_, ok = r.text(n, what) // {name}: says what to quote
		return l, ok
	}
	if n.Kind != yaml.MappingNode {
		l.Text, ok = r.text(n, what)
		return l, ok && r.plainLevel(n, l.Text, what)
	}
	o, _ := r.object(n, "level", what+": level")
	l.Text, ok = r.text(o.need("level", ""), what+": level")
	l.If, _ = r.text(o.get("if"), what+": if")
	if s := o.get("sets"); s != nil {
		r.sets(s, &l, what+": sets")
	}
	o.close()
	return l, ok && r.plainLevel(n, l.Text, what)
}

func (r *reader) plainLevel(n *yaml.Node, text, what string) bool {
	if strings.TrimSpace(text) == "" || strings.Contains(text, "\n") {
		r.mistake(n, "%s: a level is one line of text that is not blank", what)
		return false
	}
	return true
}

func (r *reader) sets(n *yaml.Node, l *assay.Level, what string) {
	if n.Kind == yaml.ScalarNode {
		l.Opaque = n.Value == "opaque"
		if !l.Opaque {
			r.mistake(n, "%s: want the terms that the level moves, such as {sizes: manifest}, or opaque, got %q", what, shorten(n.Value))
		}
		return
	}
	l.Sets = map[string]string{}
	for _, e := range r.entries(n, what, assay.IsIdent) {
		if s, ok := r.text(e.value, what+": "+e.name); ok {
			l.Sets[e.name] = s
		}
	}
}

// checkTerms refuses terms that would stand for two things at once.
func (r *reader) checkTerms(n *yaml.Node) {
	owner := map[string]string{}
	for _, f := range r.e.Factors {
		for _, l := range f.Levels {
			for term := range l.Sets {
				_, isFactor := r.factor(term)
				_, isFixed := r.fixed()[term]
				other, taken := owner[term]
				switch {
				case isFactor && term != f.Name:
					r.mistake(n, "factor %s: level %s sets %s, which is a factor of its own", f.Name, l.Text, term)
				case isFixed:
					r.mistake(n, "factor %s: level %s sets %s, which stands under fixed", f.Name, l.Text, term)
				case reserved(term):
					r.mistake(n, "factor %s: level %s sets %s, which is a built-in name", f.Name, l.Text, term)
				case taken && other != f.Name:
					r.mistake(n, "factor %s: level %s sets %s, which factor %s sets too", f.Name, l.Text, term, other)
				}
				owner[term] = f.Name
			}
		}
	}
}

func (r *reader) achieved(n *yaml.Node, what string) *assay.Achieved {
	o, ok := r.object(n, "achieved", what)
	if !ok {
		return nil
	}
	a := &assay.Achieved{AtLeast: 1}
	a.Source, _ = r.source(o, what)
	if s := o.get("at_least"); s != nil {
		a.AtLeast, _ = r.share(s, what+": at_least", true)
	}
	o.close()
	return a
}

// share is n as a part of one, in (0, 1), or in (0, 1] where whole is set.
func (r *reader) share(n *yaml.Node, what string, whole bool) (float64, bool) {
	s, ok := r.text(n, what)
	if !ok {
		return 0, false
	}
	q, err := assay.ParseQuantity(s)
	v := q.Base()
	if err != nil || q.Unit.Dim != (assay.Dimension{}) || !(v > 0) || v > 1 || v == 1 && !whole {
		r.mistake(n, "%s: want a share between 0 and 1, such as 5%% or 0.05, got %q", what, shorten(s))
		return 0, false
	}
	return v, true
}
