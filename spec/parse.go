package spec

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// maxBytes bounds an experiment file: a file that a person wrote and can read.
const maxBytes = 1 << 20

// parse turns the text into YAML nodes. What is wrong with the YAML itself comes back as mistakes;
// where the text can be mended without doubt about what was meant, the nodes are there all the
// same, so that the other mistakes of the file can be found in the same go. A nil node means that
// nothing more can be said.
func (r *reader) parse(text []byte) *yaml.Node {
	if len(text) > maxBytes {
		r.in(1, 1, "", "the file has %d bytes; an experiment file has at most %d: keep data in files of their own and name them under inputs", len(text), maxBytes)
		return nil
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !r.readable(text) {
		return nil
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
	r.lines = strings.Split(string(text), "\n")
	doc, err := load(text)
	if err != nil {
		if doc, err = r.mend(err); err != nil {
			return nil
		}
	}
	if len(doc.Content) == 0 {
		r.at(1, 1, "experiment: NAME", "the file says nothing; an experiment needs experiment and one of command, load")
		return nil
	}
	root := doc.Content[0]
	r.inspect(root)
	if root.Kind == yaml.ScalarNode && isEmpty(root) {
		r.at(1, 1, "experiment: NAME", "the file says nothing; an experiment needs experiment and one of command, load")
		return nil
	}
	return root
}

func load(text []byte) (*yaml.Node, error) {
	var doc yaml.Node
	err := yaml.Load(text, &doc)
	var several *yaml.LoadErrors
	if errors.As(err, &several) && strings.Contains(err.Error(), "no documents") {
		return &yaml.Node{Kind: yaml.DocumentNode}, nil
	}
	return &doc, err
}

// readable reports whether text is UTF-8 text without control characters.
func (r *reader) readable(text []byte) bool {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		r.at(1, 1, "", "the file is in UTF-16; save it as UTF-8")
		return false
	}
	line, column := 1, 1
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			r.at(line, column, "", "byte 0x%02x is not UTF-8 text; is this an experiment file?", text[i])
			return false
		case c < ' ' && c != '\t' && c != '\n' && c != '\r', c == 0x7f:
			r.at(line, column, "", "control character 0x%02x cannot stand in an experiment file; is this a binary file?", c)
			return false
		}
		i += size
		column++
		if c == '\n' {
			line, column = line+1, 1
		}
	}
	return true
}

// inspect finds what no experiment file may hold anywhere: keys that stand twice, keys that are no
// texts, aliases, anchors and tags. Nodes that say nothing reliable are marked as broken.
func (r *reader) inspect(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		r.try(n, "'*"+n.Value+"'", "*%s is an alias in YAML, which experiment files do not use; put a text that starts with * in quotes", n.Value)
		r.broken[n] = true
		return
	case n.Anchor != "":
		r.try(n, "'&"+n.Anchor+"'", "&%s is an anchor in YAML, which experiment files do not use; write the value out, or put a text that starts with & in quotes", n.Anchor)
		r.broken[n] = true
	case n.Style&yaml.TaggedStyle != 0 && strings.HasPrefix(n.Tag, "!"):
		whole := n.Tag + " " + n.Value
		r.try(n, "'"+whole+"'", "%s is a tag in YAML, which experiment files do not use; put a text that starts with ! in quotes", n.Tag)
		r.broken[n] = true
	}
	if n.Kind == yaml.MappingNode {
		r.inspectKeys(n)
	}
	for _, c := range n.Content {
		r.inspect(c)
	}
}

func (r *reader) inspectKeys(n *yaml.Node) {
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			r.mistake(key, "a key must be a plain text; put a text with braces or brackets in quotes")
			r.broken[key] = true
			continue
		}
		if key.Value == "<<" {
			r.mistake(key, "<< merges keys in YAML, which experiment files do not use; write the keys out")
			r.broken[key] = true
			continue
		}
		if line, twice := first[key.Value]; twice {
			r.mistake(key, "key %q stands twice; it is also on line %d", key.Value, line)
			continue
		}
		first[key.Value] = key.Line
	}
}
