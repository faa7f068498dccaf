package spec

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
	"go.yaml.in/yaml/v4"
)

// A derivation is a derived name with its expression. Expressions are those of expr-lang/expr, cut
// down to arithmetic, comparisons, c ? x : y and the functions min max floor ceil round. Words in
// them are factors, terms and derived names, cpus, or, as texts, levels of some factor and unset.
type derivation struct {
	name    string
	node    *yaml.Node
	names   []string // that it needs
	program *vm.Program
}

// maxExpression bounds the text of an expression.
const maxExpression = 1000

func expressionFunctions() []string { return []string{"min", "max", "floor", "ceil", "round"} }

func (r *reader) readDerived(n *yaml.Node) {
	entries := r.entries(n, "derived", assay.IsIdent)
	var names []string
	for _, e := range entries {
		_, isFactor := r.factor(e.name)
		_, isFixed := r.fixed()[e.name]
		if isFactor || isFixed || reserved(e.name) || slices.Contains(r.terms(), e.name) {
			r.mistake(e.key, "derived: %s is the name of a factor, a term, something fixed or a built-in already", e.name)
			continue
		}
		names = append(names, e.name)
	}
	var list []derivation
	for _, e := range entries {
		text, ok := r.text(e.value, "derived: "+e.name)
		if !ok || !slices.Contains(names, e.name) {
			continue
		}
		if d, ok := r.expression(e.value, text, "derived: "+e.name, names); ok {
			d.name = e.name
			list = append(list, d)
			continue
		}
		r.failed = append(r.failed, e.name)
	}
	r.derived = r.ordered(list)
	for i := range r.e.Settings {
		s := &r.e.Settings[i]
		r.derive(s.Cell, s.Values)
	}
}

// expression compiles text; derived are the derived names that it may use.
func (r *reader) expression(n *yaml.Node, text, what string, derived []string) (derivation, bool) {
	d := derivation{node: n}
	if len(text) > maxExpression {
		r.mistake(n, "%s: the expression has %d characters; at most %d", what, len(text), maxExpression)
		return d, false
	}
	tree, err := parser.Parse(text)
	if err != nil {
		r.mistake(n, "%s: %s", what, why(err))
		return d, false
	}
	v := &words{}
	ast.Walk(&tree.Node, v)
	if v.foreign != "" {
		r.mistake(n, "%s: %s cannot stand in an expression; want numbers, names, + - * / %% **, comparisons, c ? x : y, and the functions %s",
			what, v.foreign, strings.Join(expressionFunctions(), " "))
		return d, false
	}
	known := slices.Concat(r.factorNames(), r.terms(), keys(r.fixed()))
	known = append(append(known, derived...), "cpus", "unset")
	good := true
	for _, w := range v.names {
		if !slices.Contains(known, w) && !r.isLevel(w) {
			r.mistake(n, "%s: %s is no factor, derived name or level%s", what, w, suggest(w, append(known, expressionFunctions()...)))
			good = false
		}
	}
	d.names = v.names
	// Without expr.Env every name is of type any: a factor can be a number in one cell and a text
	// in the next.
	if d.program, err = expr.Compile(text); good && err != nil {
		r.mistake(n, "%s: %s", what, why(err))
		return d, false
	}
	return d, good
}

var exprPlace = regexp.MustCompile(` \(\d+:\d+\)$`)

// why is what expr says of an expression, without its place in the expression and its drawing.
func why(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	line = exprPlace.ReplaceAllString(line, "")
	if line == "unexpected token EOF" {
		return "the expression ends too early"
	}
	return shorten(line)
}

func (r *reader) isLevel(word string) bool {
	return slices.ContainsFunc(r.e.Factors, func(f assay.Factor) bool {
		_, ok := f.Level(word)
		return ok
	})
}

// words collects the names in an expression and the first construct that is not allowed.
type words struct {
	names   []string
	foreign string
}

// Visit looks at one node of the expression.
func (w *words) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		w.names = append(w.names, n.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.StringNode, *ast.BoolNode, *ast.ConditionalNode:
	case *ast.UnaryNode:
		w.allow(n.Operator, "+", "-", "!", "not")
	case *ast.BinaryNode:
		w.allow(n.Operator, "+", "-", "*", "/", "%", "**", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "and", "or")
	case *ast.BuiltinNode:
		w.allow(n.Name, expressionFunctions()...)
	case *ast.CallNode:
		name := "a call"
		if id, ok := n.Callee.(*ast.IdentifierNode); ok {
			name = id.Value + "()"
		}
		w.refuse(name)
	default:
		w.refuse(strings.TrimPrefix(fmt.Sprintf("a %T", n), "a *ast."))
	}
}

func (w *words) allow(got string, allowed ...string) {
	if !slices.Contains(allowed, got) {
		w.refuse(got)
	}
}

func (w *words) refuse(what string) {
	if w.foreign == "" {
		w.foreign = what
	}
}

// ordered puts each derivation behind those that it needs.
func (r *reader) ordered(list []derivation) []derivation {
	var out []derivation
	waiting := map[string]bool{}
	for _, d := range list {
		waiting[d.name] = true
	}
	needs := func(name string) bool { return waiting[name] }
	for len(list) > 0 {
		i := slices.IndexFunc(list, func(d derivation) bool { return !slices.ContainsFunc(d.names, needs) })
		if i < 0 {
			r.mistake(list[0].node, "derived: %s needs itself, by way of %s", list[0].name, strings.Join(list[0].names, ", "))
			for _, d := range list {
				r.failed = append(r.failed, d.name)
			}
			return out
		}
		waiting[list[i].name] = false
		out = append(out, list[i])
		list = slices.Delete(list, i, i+1)
	}
	return out
}

// derive adds the derived names to the values of one cell.
func (r *reader) derive(c assay.Cell, values map[string]string) {
	for _, d := range r.derived {
		v, err := r.evaluate(d, values)
		if err != nil {
			r.onceAt(d.node, "derived: %s in the cell %s: %v", d.name, c, err)
			if !slices.Contains(r.failed, d.name) {
				r.failed = append(r.failed, d.name)
			}
			continue
		}
		values[d.name] = v
	}
}

// evaluate gives the value of an expression in a cell, as text.
func (r *reader) evaluate(d derivation, values map[string]string) (string, error) {
	env := map[string]any{}
	for _, f := range r.e.Factors {
		for _, l := range f.Levels {
			if assay.IsIdent(l.Text) {
				env[l.Text] = l.Text
			}
		}
	}
	env["cpus"], env["unset"] = r.host.CPUs, "unset"
	for name, text := range values {
		env[name] = numberOr(text)
	}
	for _, name := range d.names {
		if _, ok := env[name]; !ok {
			return "", fmt.Errorf("%s has no value here", name)
		}
	}
	out, err := expr.Run(d.program, env)
	if err != nil {
		return "", errors.New(why(err))
	}
	switch v := out.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", fmt.Errorf("the value is not a finite number")
		}
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	}
	return "", fmt.Errorf("the value is neither a number nor a text")
}

// numberOr is text as a number if it reads as one, else as itself.
func numberOr(text string) any {
	if v, err := strconv.Atoi(text); err == nil {
		return v
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v
	}
	return text
}
