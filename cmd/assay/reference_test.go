package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/assaybench/assay/spec"
)

var update = flag.Bool("update", false, "write the generated part of docs/file.md anew")

// docs/file.md says of every key what the schema says: its lower part is made from the schema.
func TestFileReferenceFollowsTheSchema(t *testing.T) {
	const path = "../../docs/file.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(page), "<!-- generated")
	if !ok {
		t.Fatalf("%s has no mark behind which it is generated", path)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- generated")
	mark, _, _ := strings.Cut(rest, "\n")
	want := head + "<!-- generated" + mark + "\n\n" + reference(t)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != want {
		t.Errorf("%s (%v) does not say what the schema says; rewrite it with -update", path, err)
	}
}

// reference is the schema as Markdown: a table of the file's keys, and a section for each thing that
// a key refers to.
func reference(t *testing.T) string {
	t.Helper()
	var doc yaml.Node // JSON is YAML, and a node keeps the order of keys
	if err := yaml.Unmarshal(spec.Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	schema := node{doc.Content[0]}
	var b strings.Builder
	b.WriteString("## Keys of the file\n\n")
	schema.table(&b)
	for name, def := range schema.at("$defs").pairs() {
		if slices.Contains(plainTypes(), name) {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", name, def.text("description"))
		switch {
		case def.at("properties").Node != nil:
			b.WriteString("\n")
			def.table(&b)
		default:
			fmt.Fprintf(&b, "\nWritten as %s.\n", def.shape())
		}
		def.forms(&b)
	}
	return b.String()
}

// plainTypes are definitions that are said in a word wherever they stand.
func plainTypes() []string { return []string{"text", "identifier"} }

// A node is a JSON value of the schema; its zero value is what is not there.
type node struct{ *yaml.Node }

func (n node) at(key string) node {
	for name, value := range n.pairs() {
		if name == key {
			return value
		}
	}
	return node{}
}

func (n node) text(key string) string {
	if v := n.at(key); v.Node != nil {
		return v.Value
	}
	return ""
}

func (n node) pairs() func(yield func(string, node) bool) {
	return func(yield func(string, node) bool) {
		if n.Node == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, node{n.Content[i+1]}) {
				return
			}
		}
	}
}

// list are the elements of a list, or the one value that stands for it.
func (n node) list() (values []node) {
	switch {
	case n.Node == nil:
	case n.Kind == yaml.SequenceNode:
		for _, e := range n.Content {
			values = append(values, node{e})
		}
	default:
		values = append(values, n)
	}
	return values
}

// table is one row for each key of an object.
func (n node) table(b *strings.Builder) {
	b.WriteString("| key | value | meaning |\n|---|---|---|\n")
	var required []string
	for _, r := range n.at("required").list() {
		required = append(required, r.Value)
	}
	for key, value := range n.at("properties").pairs() {
		meaning := value.text("description")
		if meaning == "" {
			meaning = value.referred()
		}
		if slices.Contains(required, key) {
			meaning = "Required. " + meaning
		}
		if d := value.text("default"); d != "" && !strings.Contains(meaning, d) {
			meaning += " Default: `" + d + "`."
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", key, cellText(value.shape()), cellText(strings.TrimSpace(meaning)))
	}
}

// referred is the first sentence of what a value without words of its own refers to, as a pointer.
func (n node) referred() string {
	if name := n.ref(); name != "" {
		return "See [" + name + "](#" + name + ")."
	}
	return ""
}

func cellText(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func (n node) ref() string { return strings.TrimPrefix(n.text("$ref"), "#/$defs/") }

// forms says which keys go together.
func (n node) forms(b *strings.Builder) {
	var forms []string
	for _, one := range n.at("oneOf").list() {
		var keys []string
		for _, r := range one.at("required").list() {
			keys = append(keys, "`"+r.Value+"`")
		}
		if len(keys) > 0 {
			forms = append(forms, strings.Join(keys, " with "))
		}
	}
	if len(forms) > 1 {
		fmt.Fprintf(b, "\nExactly one of %s.\n", strings.Join(forms, "; "))
	}
}

// shape says in words what a value looks like.
func (n node) shape() string {
	if enum := n.at("enum").list(); len(enum) > 0 {
		var words []string
		for _, e := range enum {
			if w := "`" + e.Value + "`"; !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		return strings.Join(words, " or ")
	}
	switch name := n.ref(); name {
	case "":
	case "text":
		return "text"
	case "identifier":
		return "name"
	default:
		return "[" + name + "](#" + name + ")"
	}
	for _, either := range []string{"anyOf", "oneOf"} {
		var shapes []string
		for _, one := range n.at(either).list() {
			if s := one.shape(); s != "" && !slices.Contains(shapes, s) {
				shapes = append(shapes, s)
			}
		}
		if len(shapes) > 0 {
			return strings.Join(shapes, " or ")
		}
	}
	return n.typed()
}

// typed is the shape of a value that names its type.
func (n node) typed() string {
	var types []string
	for _, t := range n.at("type").list() {
		types = append(types, t.Value)
	}
	switch {
	case slices.Contains(types, "array"):
		return "list of " + n.at("items").shape()
	case slices.Contains(types, "object"):
		return n.mapping()
	case slices.Contains(types, "integer"):
		return "whole number"
	case slices.Contains(types, "string") && len(types) == 2 && slices.Contains(types, "number"):
		return "number or text"
	case slices.Contains(types, "string"):
		return "text"
	case slices.Contains(types, "boolean"):
		return "`true` or `false`"
	case slices.Contains(types, "number"):
		return "number"
	}
	return ""
}

func (n node) mapping() string {
	if n.at("properties").Node != nil {
		var keys []string
		for key, value := range n.at("properties").pairs() {
			keys = append(keys, "`"+key+":` "+value.shape())
		}
		return "{" + strings.Join(keys, ", ") + "}"
	}
	if value := n.at("additionalProperties").shape(); value != "" {
		return "names, each with " + value
	}
	return "mapping"
}
