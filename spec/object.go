package spec

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// An object is a mapping with known keys. Keys are known by being asked for: what nobody has asked
// for when the object is closed is a mistake.
type object struct {
	r      *reader
	node   *yaml.Node
	kind   string // as in the schema's $defs
	what   string // for messages
	asked  []string
	values map[string]*yaml.Node
	keys   map[string]*yaml.Node
}

// object reads n as a mapping. It is never nil; where n is no mapping, that is a mistake and the
// object is empty and not ok.
func (r *reader) object(n *yaml.Node, kind, what string) (o *object, ok bool) {
	o = &object{r: r, node: n, kind: kind, what: what, values: map[string]*yaml.Node{}, keys: map[string]*yaml.Node{}}
	if r.broken[n] {
		return o, false
	}
	if n.Kind != yaml.MappingNode {
		r.mistake(n, "%s: want keys with values, got %s", what, describe(n))
		return o, false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if _, twice := o.keys[key.Value]; twice || r.broken[key] {
			continue // reported by inspect
		}
		o.keys[key.Value], o.values[key.Value] = key, n.Content[i+1]
	}
	for _, key := range slices.Collect(maps.Values(o.keys)) {
		// expect:"> 1" is a mistake of its own; expect is not missing on top of that.
		if name, _, ok := cutGlued(key, o.values[key.Value]); ok && o.keys[name] == nil {
			o.keys[name] = key
		}
	}
	return o, true
}

// get is the value of key, nil where the key is absent, empty or broken.
func (o *object) get(key string) *yaml.Node {
	o.ask(key)
	n := o.values[key]
	switch {
	case n == nil || o.r.broken[n]:
		return nil
	case isEmpty(n):
		o.r.mistake(o.keys[key], "%s has no value", key)
		return nil
	}
	return n
}

func (o *object) ask(key string) {
	if !slices.Contains(o.asked, key) {
		o.asked = append(o.asked, key)
		o.r.know(o.kind, key)
	}
}

// has reports whether the key is written, with or without a value.
func (o *object) has(key string) bool {
	o.ask(key)
	return o.keys[key] != nil
}

// need is get, with a mistake where the key is not written.
func (o *object) need(key, why string) *yaml.Node {
	n := o.get(key)
	if n == nil && o.keys[key] == nil {
		o.r.mistake(o.node, "%s: %s is missing%s", o.what, key, why)
	}
	return n
}

// one is the only one of the keys that is written; several are a mistake, and so is none.
func (o *object) one(keys ...string) (key string, n *yaml.Node) {
	var found []string
	for _, k := range keys {
		if o.has(k) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 0:
		o.r.mistake(o.node, "%s: want one of %s", o.what, strings.Join(keys, ", "))
		return "", nil
	case 1:
		return found[0], o.get(found[0])
	}
	o.r.mistake(o.keys[found[1]], "%s: %s cannot stand together; keep one", o.what, strings.Join(found, " and "))
	return "", nil
}

// close reports the keys that nobody asked for.
func (o *object) close() {
	for i := 0; i+1 < len(o.node.Content) && o.node.Kind == yaml.MappingNode; i += 2 {
		key, value := o.node.Content[i], o.node.Content[i+1]
		if slices.Contains(o.asked, key.Value) || o.r.broken[key] {
			continue
		}
		if o.r.full() {
			return
		}
		o.unknown(key, value, i)
	}
}

func (o *object) unknown(key, value *yaml.Node, i int) {
	name, glued, _ := strings.Cut(key.Value, ":")
	flow := o.node.Style&yaml.FlowStyle != 0
	switch {
	case isEmpty(value) && glued != "" && slices.Contains(o.asked, name):
		o.r.try(key, name+": "+glued, "%q: a space is missing after the colon", key.Value)
	case isEmpty(value) && flow && i > 0 && strings.Contains(key.Value, " "):
		before := o.node.Content[i-2].Value
		whole := o.node.Content[i-1].Value + ", " + key.Value
		o.r.try(o.node.Content[i-1], before+": "+strconv.Quote(whole),
			"%s: the comma before %q ends the text here; put the whole text in quotes", before, key.Value)
	default:
		o.r.mistake(key, "%s: unknown key %q%s", o.what, key.Value, suggest(key.Value, o.asked))
	}
}

// isEmpty reports whether n is "key:" with nothing behind it.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Value == "" && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	}
	if isEmpty(n) {
		return "nothing"
	}
	return "the text " + strconv.Quote(shorten(n.Value))
}

func shorten(s string) string {
	const most = 60
	if len([]rune(s)) > most {
		return string([]rune(s)[:most]) + "…"
	}
	return s
}

// An entry is a name of the user's choice with what it stands for.
type entry struct {
	name       string
	key, value *yaml.Node
}

// maxNames bounds the factors, measures, hypotheses and the like of one file.
const maxNames = 1000

// anyText accepts every name that is not blank.
func anyText(s string) bool { return strings.TrimSpace(s) != "" }

// entries are the names under n, in the file's order. The names must be valid, which is to say
// identifiers in most places.
func (r *reader) entries(n *yaml.Node, what string, valid func(string) bool) []entry {
	if n == nil || r.broken[n] {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		r.mistake(n, "%s: want names with what they stand for, got %s", what, describe(n))
		return nil
	}
	if len(n.Content)/2 > maxNames {
		r.mistake(n, "%s: %d names; at most %d", what, len(n.Content)/2, maxNames)
		return nil
	}
	var list []entry
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if r.broken[key] || seen[key.Value] || !r.validName(key, value, what, valid) {
			continue
		}
		seen[key.Value] = true
		list = append(list, entry{key.Value, key, value})
	}
	return list
}

func (r *reader) validName(key, value *yaml.Node, what string, valid func(string) bool) bool {
	if name, glued, ok := strings.Cut(key.Value, ":"); ok && isEmpty(value) && assay.IsIdent(name) {
		r.try(key, name+": "+glued, "%q: a space is missing after the colon", key.Value)
		return false
	}
	if !valid(key.Value) {
		r.mistake(key, "%s: %q cannot be a name; want letters, digits and _, not starting with a digit", what, shorten(key.Value))
		return false
	}
	if isEmpty(value) {
		r.mistake(key, "%s: %s has no value", what, key.Value)
		return false
	}
	return !r.broken[value]
}

// items are the elements of the list n; a single value counts as a list of one where alone is set.
func (r *reader) items(n *yaml.Node, what string, alone bool) []*yaml.Node {
	if n == nil || r.broken[n] {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		if alone {
			return []*yaml.Node{n}
		}
		r.mistake(n, "%s: want a list, got %s", what, describe(n))
		return nil
	}
	var list []*yaml.Node
	for _, c := range n.Content {
		if isEmpty(c) {
			r.mistake(c, "%s: an element of the list is empty", what)
			continue
		}
		if !r.broken[c] {
			list = append(list, c)
		}
	}
	return list
}

// text is n as it stands in the source, whatever type YAML sees in it.
func (r *reader) text(n *yaml.Node, what string) (string, bool) {
	if n == nil || r.broken[n] {
		return "", false
	}
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 && isEmpty(n.Content[1]) && assay.IsIdent(n.Content[0].Value) {
		whole := "{" + n.Content[0].Value + "}"
		r.try(n, strconv.Quote(whole), "%s: YAML reads %s as keys with values; put it in quotes", what, whole)
		return "", false
	}
	if n.Kind != yaml.ScalarNode {
		r.mistake(n, "%s: want a text, got %s", what, describe(n))
		return "", false
	}
	if n.Style&yaml.FoldedStyle != 0 && n.Value == "" {
		r.mistake(n, "%s: YAML reads > as the start of a folded text, and none follows; put the value in quotes", what)
		return "", false
	}
	return n.Value, true
}

// texts are the elements of a list of texts.
func (r *reader) texts(n *yaml.Node, what string, alone bool) []string {
	var list []string
	for _, c := range r.items(n, what, alone) {
		if s, ok := r.text(c, what); ok {
			list = append(list, s)
		}
	}
	return list
}

// integer is n as a whole number of at least low.
func (r *reader) integer(n *yaml.Node, what string, low int) (int, bool) {
	s, ok := r.text(n, what)
	if !ok {
		return 0, false
	}
	v, err := wholeNumber(s, low)
	if err != nil {
		r.mistake(n, "%s: %v", what, err)
		return 0, false
	}
	return v, true
}

func wholeNumber(s string, low int) (int, error) {
	v, err := strconv.Atoi(strings.TrimSpace(s))
	const most = 1 << 30
	if err != nil || v < low || v > most {
		return 0, fmt.Errorf("want a whole number of at least %d, got %q", low, shorten(s))
	}
	return v, nil
}

// yes is n as true or false.
func (r *reader) yes(n *yaml.Node, what string) bool {
	s, ok := r.text(n, what)
	switch {
	case !ok || s == "false":
		return false
	case s != "true":
		r.mistake(n, "%s: want true or false, got %q", what, shorten(s))
	}
	return s == "true"
}

// word is n as one of the given words.
func (r *reader) word(n *yaml.Node, what string, words ...string) string {
	s, ok := r.text(n, what)
	if ok && !slices.Contains(words, s) {
		r.mistake(n, "%s: want %s, got %q%s", what, strings.Join(words, " or "), shorten(s), hint(s, words))
		return ""
	}
	return s
}

func hint(got string, known []string) string {
	if name, ok := nearest(got, known); ok {
		return "; did you mean " + name + "?"
	}
	return ""
}
