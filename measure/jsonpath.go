package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/assaybench/assay"
)

// findJSON selects values by a path: RFC 9535, whose leading $ and . may be left out.
func findJSON(path string, output []byte) ([]assay.Value, error) {
	p, err := jsonpath.Parse(rooted(path))
	if err != nil {
		return nil, fmt.Errorf("not a path such as rate, a.b[0].c or batches[*].ns: %w", err)
	}
	doc, err := document(output)
	if err != nil {
		return nil, err
	}
	nodes := p.Select(doc)
	if len(nodes) == 0 {
		return nil, fmt.Errorf("nothing there; the document has %s", outline(doc))
	}
	values := make([]assay.Value, len(nodes))
	for i, n := range nodes {
		if values[i], err = jsonValue(n); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func rooted(path string) string {
	switch {
	case strings.HasPrefix(path, "$"):
		return path
	case strings.HasPrefix(path, "["):
		return "$" + path
	}
	return "$." + path
}

// document is the JSON of an output: the whole output if it is one JSON text, else its last line
// that is a JSON object. A program may so print logs, progress, or a row for every pass.
func document(output []byte) (any, error) {
	if doc, err := decode(output); err == nil {
		return doc, nil
	}
	for rest := bytes.TrimSpace(output); len(rest) > 0; {
		i := bytes.LastIndexByte(rest, '\n')
		line := bytes.TrimSpace(rest[i+1:])
		if len(line) > 0 && line[0] == '{' {
			if doc, err := decode(line); err == nil {
				return doc, nil
			}
		}
		rest = rest[:max(i, 0)]
	}
	return nil, fmt.Errorf("no JSON: neither the whole output nor a line of it is a JSON object; there is %s", excerpt(output))
}

func decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // an integer above 2^53 used as a text keeps its digits
	var doc any
	if err := d.Decode(&doc); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON text")
	}
	return doc, nil
}

func jsonValue(n any) (assay.Value, error) {
	switch n := n.(type) {
	case json.Number:
		return textValue(n.String())
	case string:
		return assay.Txt(n), nil
	case bool:
		return assay.Txt(fmt.Sprint(n)), nil
	case nil:
		return assay.Value{}, errors.New("it is null")
	case []any:
		return assay.Value{}, fmt.Errorf("it is an array of %d; want a number or a string, such as by [*] with a reduce", len(n))
	}
	return assay.Value{}, fmt.Errorf("it is an object with %s; want a number or a string", outline(n))
}

// outline names the first members of a document, for an error.
func outline(doc any) string {
	const most = 12
	switch doc := doc.(type) {
	case map[string]any:
		names := sortedKeys(doc)
		if len(names) == 0 {
			return "no members"
		}
		if len(names) > most {
			return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
		}
		return strings.Join(names, ", ")
	case []any:
		return fmt.Sprintf("an array of %d", len(doc))
	}
	return fmt.Sprintf("only %v", doc)
}
