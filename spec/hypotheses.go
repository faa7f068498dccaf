package spec

import (
	"slices"
	"strings"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// A form is what a kind of hypothesis is written with, beside claim, each, at, needs,
// depends and censoring.
type form struct {
	kind     assay.Kind
	required []string
	optional []string
}

func forms() []form {
	return []form{
		{assay.Ratio, []string{"of", "to", "expect"}, nil},
		{assay.Difference, []string{"of", "to", "expect"}, nil},
		{assay.Absolute, []string{"expect"}, nil},
		{assay.Same, []string{"of", "to", "margin"}, nil},
		{assay.Knee, []string{"along", "margin", "expect"}, nil},
		{assay.Highest, []string{"meets", "expect"}, []string{"along"}},
		{assay.Trend, []string{"along", "expect"}, nil},
		{assay.Line, []string{"along"}, []string{"slope", "intercept"}},
		{assay.Identical, nil, nil},
		{assay.LadderKind, []string{"measure", "largest"}, nil},
	}
}

func kindNames() []string {
	var names []string
	for _, f := range forms() {
		names = append(names, string(f.kind))
	}
	return names
}

// fieldNames are all keys that belong to some kinds of hypothesis only.
func fieldNames() []string {
	var names []string
	for _, f := range forms() {
		names = append(append(names, f.required...), f.optional...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// A claim is a hypothesis under construction.
type claim struct {
	*reader
	o    *object
	what string
	h    assay.Hypothesis
	unit assay.Unit // of the measure
	good bool
}

func (r *reader) readHypotheses(n *yaml.Node) {
	entries := r.entries(n, "hypotheses", isName)
	var names []string
	for _, e := range entries {
		names = append(names, e.name)
	}
	for _, e := range entries {
		o, ok := r.object(e.value, "hypothesis", "hypothesis "+e.name)
		if !ok {
			continue
		}
		c := &claim{reader: r, o: o, what: "hypothesis " + e.name, good: true}
		c.h.ID = e.name
		c.read()
		c.depends(c.o.get("depends"), e.name, names)
		c.o.close()
		list := c.expanded()
		if len(r.e.Hypotheses)+len(list) > maxNames {
			r.mistake(e.key, "hypothesis %s: with each: expanded there are more than %d hypotheses", e.name, maxNames)
			return
		}
		for _, h := range list {
			if h.Claim == "" {
				h.Claim = Rule(h)
			}
			r.e.Hypotheses = append(r.e.Hypotheses, h)
		}
	}
}

func (c *claim) read() {
	for _, key := range slices.Concat(kindNames(), fieldNames(), []string{"claim", "each", "at", "needs", "depends", "censoring"}) {
		c.o.ask(key)
	}
	if n := c.o.get("claim"); n != nil {
		c.h.Claim, _ = c.text(n, c.what+": claim")
	}
	key, n := c.o.one(kindNames()...)
	if n == nil {
		c.good = false
		return
	}
	c.h.Kind = assay.Kind(key)
	c.checkKeys()
	c.head(n)
	if at := c.o.get("at"); at != nil {
		c.h.At, _ = c.cell(at, c.what+": at")
	}
	c.fields()
	if n := c.o.get("needs"); n != nil {
		if s, ok := c.text(n, c.what+": needs"); ok {
			if cond, ok := c.condition(n, s, c.what+": needs", judged); ok {
				c.h.Needs = &cond
			}
		}
	}
	if n := c.o.get("censoring"); n != nil {
		c.h.Censoring = c.word(n, c.what+": censoring", "accepted") == "accepted"
	}
}

// checkKeys holds the keys against the form of the kind.
func (c *claim) checkKeys() {
	i := slices.IndexFunc(forms(), func(f form) bool { return f.kind == c.h.Kind })
	f := forms()[i]
	for _, key := range f.required {
		if !c.o.has(key) {
			c.mistake(c.o.keys[string(c.h.Kind)], "%s: %s %s hypothesis needs %s%s", c.what, article(c.h.Kind), c.h.Kind, key, example(key))
			c.good = false
		}
	}
	for _, key := range fieldNames() {
		if c.o.has(key) && !slices.Contains(f.required, key) && !slices.Contains(f.optional, key) {
			c.mistake(c.o.keys[key], "%s: %s does not belong to %s %s hypothesis; it takes %s", c.what, key,
				article(c.h.Kind), c.h.Kind, strings.Join(append(slices.Concat(f.required, f.optional), "at", "each", "needs"), ", "))
			c.good = false
		}
	}
	if c.h.Kind == assay.Line && !c.o.has("slope") && !c.o.has("intercept") {
		c.mistake(c.o.keys["line"], "%s: a line hypothesis needs slope, intercept or both: what is expected of them", c.what)
		c.good = false
	}
}

func article(k assay.Kind) string {
	if k == assay.Identical {
		return "an"
	}
	return "a"
}

// example shows how a key is written.
func example(key string) string {
	switch key {
	case "expect":
		return `, such as expect: "> 1.05"`
	case "margin":
		return ", such as margin: 5%"
	case "of", "to":
		return ": the levels compared, such as " + key + ": {reader: stream}"
	case "along":
		return ": the factor along which it is looked for"
	case "meets":
		return `: the conditions, such as meets: ["errors < 1%"]`
	case "largest":
		return ": the rung that is claimed to be the largest, such as largest: {fetch: parallel}"
	}
	return ""
}

// head reads the value of the kind's own key.
func (c *claim) head(n *yaml.Node) {
	what := c.what + ": " + string(c.h.Kind)
	s, ok := c.text(n, what)
	if !ok {
		c.good = false
		return
	}
	switch c.h.Kind {
	case assay.Highest:
		f, ok := c.factorName(n, what)
		c.h.Along, c.good = f.Name, c.good && ok
		return
	case assay.LadderKind:
		c.h.Ladder = s
		if m := c.o.get("measure"); m != nil {
			c.measured(m, c.what+": measure")
		}
		return
	}
	c.measured(n, what)
}

func (c *claim) measured(n *yaml.Node, what string) {
	s, ok := c.text(n, what)
	if !ok {
		c.good = false
		return
	}
	c.h.Measure, c.unit, ok = c.reference(n, s, what, judged)
	c.good = c.good && ok
}

// fields reads the keys that belong to the kind. Keys of other kinds are mistakes already.
func (c *claim) fields() {
	switch c.h.Kind {
	case assay.Ratio:
		c.sides()
		c.expect("expect", &c.h.Expect, assay.Unit{Scale: 1}, "a ratio")
	case assay.Difference:
		c.sides()
		c.expect("expect", &c.h.Expect, c.unit, c.h.Measure.String())
	case assay.Absolute:
		c.expect("expect", &c.h.Expect, c.unit, c.h.Measure.String())
	case assay.Same:
		c.sides()
		c.margin()
	case assay.Knee:
		c.margin()
		c.expect("expect", &c.h.Expect, c.axis(), c.h.Along)
	case assay.Highest:
		c.meets()
		c.expect("expect", &c.h.Expect, c.axis(), c.h.Along)
	case assay.Trend:
		c.axis()
		if n := c.o.get("expect"); n != nil {
			c.h.Direction = c.word(n, c.what+": expect", "up", "down", "none")
		}
	case assay.Line:
		c.axis()
		c.expect("slope", &c.h.Slope, c.unit, c.h.Measure.String())
		c.expect("intercept", &c.h.Intercept, c.unit, c.h.Measure.String())
	case assay.LadderKind:
		c.rungs()
	}
}

func (c *claim) margin() {
	if n := c.o.get("margin"); n != nil {
		c.h.Margin, _ = c.share(n, c.what+": margin", false)
	}
}

// expect reads an expectation against something in unit u.
func (c *claim) expect(key string, e *assay.Expectation, u assay.Unit, of string) {
	n := c.o.get(key)
	s, ok := c.text(n, c.what+": "+key)
	if !ok {
		return
	}
	var err error
	if *e, err = assay.ParseExpectation(s); err != nil {
		c.mistake(n, "%s: %s: %v", c.what, key, err)
		return
	}
	if c.good {
		c.comparable(n, of, u, e.Bound, c.what+": "+key)
		if e.IsRange {
			c.comparable(n, of, u, e.High, c.what+": "+key)
		}
	}
}

// axis reads along and gives the unit of its levels.
func (c *claim) axis() assay.Unit {
	plain := assay.Unit{Scale: 1}
	if n := c.o.get("along"); n != nil {
		f, ok := c.factorName(n, c.what+": along")
		if ok && c.h.Kind == assay.Highest && f.Name != c.h.Along {
			c.mistake(n, "%s: along says %s and highest says %s; one is enough", c.what, f.Name, c.h.Along)
		}
		c.h.Along, c.good = f.Name, c.good && ok
	}
	f, ok := c.factor(c.h.Along)
	if !ok || len(f.Levels) == 0 {
		return plain
	}
	if _, held := c.h.At[f.Name]; held {
		c.mistake(c.o.get("at"), "%s: %s cannot be the axis and be held at a level", c.what, f.Name)
		c.good = false
	}
	q, err := assay.ParseQuantity(f.Levels[0].Text)
	if text, ok := uneven(f); ok && c.h.Kind != assay.Trend {
		c.mistake(c.place(), "%s: the axis of a %s needs numbers of one kind; factor %s has the level %q", c.what, c.h.Kind, f.Name, text)
		c.good = false
	}
	if err != nil {
		return plain
	}
	if u, err := assay.ParseUnit(f.Unit); q.Bare && f.Unit != "" && err == nil {
		return u
	}
	return q.Unit
}

// uneven is the first level that does not read as a number of the same kind as the first.
func uneven(f assay.Factor) (text string, ok bool) {
	var dim assay.Dimension
	for i, l := range f.Levels {
		q, err := assay.ParseQuantity(l.Text)
		if err != nil || i > 0 && q.Unit.Dim != dim {
			return l.Text, true
		}
		dim = q.Unit.Dim
	}
	return "", false
}

func (c *claim) meets() {
	n := c.o.get("meets")
	for _, m := range c.items(n, c.what+": meets", true) {
		s, ok := c.text(m, c.what+": meets")
		if !ok {
			continue
		}
		if cond, ok := c.condition(m, s, c.what+": meets", judged); ok {
			c.h.Meets = append(c.h.Meets, cond)
		}
	}
	if n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		c.mistake(n, "%s: meets is empty; without conditions every level meets them", c.what)
	}
}

func (c *claim) rungs() {
	i := slices.IndexFunc(c.e.Ladders, func(l assay.Ladder) bool { return l.Name == c.h.Ladder })
	if i < 0 {
		var names []string
		for _, l := range c.e.Ladders {
			names = append(names, l.Name)
		}
		c.mistake(c.o.keys["ladder"], "%s: no ladder is named %q in the design%s", c.what, shorten(c.h.Ladder), suggest(c.h.Ladder, names))
		c.good = false
		return
	}
	n := c.o.get("largest")
	largest, ok := c.cell(n, c.what+": largest")
	if !ok {
		return
	}
	c.h.Largest = largest
	var added []string
	for _, a := range c.e.Ladders[i].Added {
		if a.Key() == largest.Key() {
			return
		}
		added = append(added, a.Key())
	}
	c.mistake(n, "%s: largest: %s is no rung of %s; its rungs are %s", c.what, largest, c.h.Ladder, strings.Join(added, ", "))
}
