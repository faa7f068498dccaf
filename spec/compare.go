package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// sides reads of and to and refuses comparisons that move more than one term.
func (c *claim) sides() {
	of, to := c.o.get("of"), c.o.get("to")
	if of == nil || to == nil {
		c.good = false
		return
	}
	var okOf, okTo bool
	c.h.Of, okOf = c.cell(of, c.what+": of")
	c.h.To, okTo = c.cell(to, c.what+": to")
	if !okOf || !okTo {
		c.good = false
		return
	}
	onlyOf, onlyTo := c.h.Of.Without(keys(c.h.To)...), c.h.To.Without(keys(c.h.Of)...)
	switch {
	case len(onlyOf)+len(onlyTo) > 0:
		c.mistake(to, "%s: of and to must name the same factors; %s stands on one side only", c.what, strings.Join(append(keys(onlyOf), keys(onlyTo)...), ", "))
		c.good = false
	case c.h.Of.Key() == c.h.To.Key():
		c.mistake(to, "%s: of and to are the same; they must differ in one term", c.what)
		c.good = false
	default:
		c.oneTerm()
	}
	for _, name := range keys(c.h.At) {
		if _, both := c.h.Of[name]; both {
			c.mistake(c.o.keys["at"], "%s: at and of both name %s; a factor stands in one of them", c.what, name)
			c.good = false
		}
	}
}

func keys(c assay.Cell) []string { return slices.Sorted(maps.Keys(c)) }

// oneTerm checks that of and to differ in one term, or in one opaque level.
func (c *claim) oneTerm() {
	moved := c.movedTerms(c.h.To, c.h.Of)
	differing := differingFactors(c.h.Of, c.h.To)
	if len(differing) == 1 && c.opaque(differing[0]) {
		c.h.Unattributed = true
		return
	}
	switch len(moved) {
	case 1:
	case 0:
		c.mistake(c.o.get("to"), "%s: of and to set the same terms; they must differ in one", c.what)
		c.good = false
	default:
		c.try(c.o.get("of"), "", "%s: of and to differ in %d terms (%s), so a %s cannot say which one did it; compare one at a time: %s",
			c.what, len(moved), strings.Join(moved, ", "), c.h.Kind, strings.Join(c.answers(differing, moved), "; or "))
		c.good = false
	}
}

func differingFactors(a, b assay.Cell) []string {
	var names []string
	for _, name := range keys(a) {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	return names
}

func (c *claim) opaque(factor string) bool {
	f, _ := c.factor(factor)
	of, _ := f.Level(c.h.Of[factor])
	to, _ := f.Level(c.h.To[factor])
	return of.Opaque || to.Opaque
}

// movedTerms are the terms in which two cells differ.
func (r *reader) movedTerms(from, to assay.Cell) []string {
	a, _ := assay.Terms(r.e.Factors, from)
	b, _ := assay.Terms(r.e.Factors, to)
	both := maps.Clone(a)
	maps.Copy(both, b)
	var moved []string
	for _, term := range slices.Sorted(maps.Keys(both)) {
		if a[term] != b[term] {
			moved = append(moved, term)
		}
	}
	return moved
}

// answers are the comparisons of one term that would answer, as far as possible in cells that the
// design has.
func (c *claim) answers(factors, moved []string) []string {
	var list []string
	if len(factors) == 1 {
		return c.between(factors[0], moved)
	}
	for _, name := range factors {
		one := assay.Cell{name: c.h.Of[name]}
		if len(c.movedTerms(c.h.To, c.h.To.With(one))) > 1 {
			continue // a bundle that moves several terms by itself
		}
		best := c.h.To
		for _, held := range []assay.Cell{c.h.To, c.h.Of} {
			if c.inDesign(held.With(one)) && c.inDesign(held.With(assay.Cell{name: c.h.To[name]})) {
				best = held
				break
			}
		}
		of, to := best.With(one), best.With(assay.Cell{name: c.h.To[name]})
		text := fmt.Sprintf("of: %s to: %s", braces(of), braces(to))
		if !c.inDesign(of) || !c.inDesign(to) {
			text += " (to be added to the design)"
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		list = append(list, "add levels that move one term each")
	}
	return list
}

// between are comparisons within one factor whose bundled levels move several terms.
func (c *claim) between(name string, moved []string) []string {
	f, _ := c.factor(name)
	var list []string
	for _, pair := range [][2]string{{"of", c.h.Of[name]}, {"to", c.h.To[name]}} {
		for _, l := range f.Levels {
			one := assay.Cell{name: l.Text}
			other := assay.Cell{name: pair[1]}
			if l.Opaque || len(c.movedTerms(one, other)) != 1 {
				continue
			}
			of, to := other, one
			if pair[0] == "to" {
				of, to = one, other
			}
			list = append(list, fmt.Sprintf("of: %s to: %s", braces(of), braces(to)))
		}
	}
	if len(list) > 0 {
		return list
	}
	from, _ := f.Level(c.h.To[name])
	goal, _ := f.Level(c.h.Of[name])
	for _, term := range moved {
		sets := maps.Clone(from.Sets)
		if value, ok := goal.Sets[term]; ok && sets != nil {
			sets[term] = value
			list = append(list, fmt.Sprintf("add the level {level: %s-%s, sets: %s} and compare it with %s", from.Text, term, braces(sets), from.Text))
		}
	}
	if len(list) == 0 {
		list = append(list, "add levels that move one term each")
	}
	return list
}

func braces(c assay.Cell) string {
	var list []string
	for _, name := range keys(c) {
		list = append(list, name+": "+c[name])
	}
	return "{" + strings.Join(list, ", ") + "}"
}

func (c *claim) inDesign(pattern assay.Cell) bool {
	full := c.h.At.With(pattern)
	return slices.ContainsFunc(c.cells(), func(cell assay.Cell) bool { return cell.Matches(full) })
}

// expanded gives the hypothesis, or one for each level of each:, as far as the design has cells
// for it.
func (c *claim) expanded() []assay.Hypothesis {
	n := c.o.get("each")
	if n == nil {
		if !c.good {
			return nil
		}
		if why := c.untestable(c.h); why != "" {
			c.mistake(c.place(), "%s: %s", c.what, why)
		}
		return []assay.Hypothesis{c.h}
	}
	f, ok := c.factorName(n, c.what+": each")
	if !ok || !c.good {
		return nil
	}
	_, inAt := c.h.At[f.Name]
	_, inOf := c.h.Of[f.Name]
	if inAt || inOf || c.h.Along == f.Name {
		c.mistake(n, "%s: each goes through the levels of %s, so %s cannot stand in of, to, at or along", c.what, f.Name, f.Name)
		return nil
	}
	if len(f.Levels) > maxNames {
		c.mistake(n, "%s: each has %d levels to go through; at most %d", c.what, len(f.Levels), maxNames)
		return nil
	}
	var list []assay.Hypothesis
	why := ""
	for _, l := range f.Levels {
		h := c.h
		h.ID, h.From = c.h.ID+"["+l.Text+"]", c.h.ID
		h.At = c.h.At.With(assay.Cell{f.Name: l.Text})
		if w := c.untestable(h); w != "" {
			why = w
			continue
		}
		list = append(list, h)
	}
	if len(list) == 0 {
		c.mistake(n, "%s: %s", c.what, why)
	}
	return list
}

// untestable says why the design has no cells for h, or nothing.
func (c *claim) untestable(h assay.Hypothesis) string {
	cells := c.cells()
	if c.unsure || len(cells) == 0 || h.Kind == assay.LadderKind {
		return ""
	}
	matches := func(p assay.Cell) bool {
		return slices.ContainsFunc(cells, func(cell assay.Cell) bool { return cell.Matches(p) })
	}
	if !matches(h.At) {
		return "no cell of the design has " + h.At.Key()
	}
	switch h.Kind {
	case assay.Ratio, assay.Difference, assay.Same:
		for _, side := range []assay.Cell{h.Of, h.To} {
			if !matches(h.At.With(side)) {
				return "no cell of the design has " + h.At.With(side).Key()
			}
		}
		for _, cell := range cells {
			if cell.Matches(h.At.With(h.Of)) && c.has(cell.With(h.To)) {
				return ""
			}
		}
		return fmt.Sprintf("no two cells of the design have %s and %s and are else the same", h.Of.Key(), h.To.Key())
	case assay.Knee, assay.Highest, assay.Trend, assay.Line:
		if most := longestAxis(cells, h.At, h.Along); most < 2 {
			return fmt.Sprintf("along %s the design has %d level with all else the same; an axis needs at least 2", h.Along, most)
		}
	}
	return ""
}

// has reports whether the design has exactly that cell.
func (r *reader) has(c assay.Cell) bool {
	if r.keys == nil {
		r.keys = map[string]bool{}
		for _, cell := range r.cells() {
			r.keys[cell.Key()] = true
		}
	}
	return r.keys[c.Key()]
}

// longestAxis is the greatest number of cells that match at and differ in one factor only.
func longestAxis(cells []assay.Cell, at assay.Cell, along string) int {
	count := map[string]int{}
	most := 0
	for _, cell := range cells {
		if cell.Matches(at) {
			key := cell.Without(along).Key()
			count[key]++
			most = max(most, count[key])
		}
	}
	return most
}

// place is where a mistake about the hypothesis as a whole stands.
func (c *claim) place() *yaml.Node {
	for _, key := range []string{"of", "along", "at", string(c.h.Kind)} {
		if n := c.o.keys[key]; n != nil {
			return n
		}
	}
	return c.o.node
}
