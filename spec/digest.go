package spec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// Digest identifies what an experiment file says: the SHA-256, in hexadecimal, of its canonical
// form. That form is JSON in which every scalar is its text, keys are sorted, and factors are a list,
// since their order decides the order of the cells. Comments, spacing, quoting, block or flow style,
// and the order of keys elsewhere change nothing; any value and the order of levels do.
func Digest(text []byte) (string, error) {
	c, err := canonical(text)
	if err != nil {
		return "", err
	}
	b, err := encode(c)
	if err != nil {
		return "", fmt.Errorf("digest experiment: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v) // sorts the keys of maps
	return b.Bytes(), err
}

// canonical is the file as maps, slices and strings. Only mistakes of the YAML itself are errors.
func canonical(text []byte) (any, error) {
	r := newReader("experiment", Host{})
	n := r.parse(text)
	if n == nil || len(r.mistakes) > 0 {
		return nil, fmt.Errorf("digest experiment: %w", r.mistakes.sorted())
	}
	v := plain(n)
	if top, ok := v.(map[string]any); ok {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i].Value; key == "factors" && n.Content[i+1].Kind == yaml.MappingNode {
				top[key] = inOrder(n.Content[i+1])
			}
		}
	}
	return v, nil
}

func plain(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plain(n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, plain(c))
		}
		return list
	}
	if isEmpty(n) {
		return nil
	}
	return n.Value
}

// A pair is a key whose place among its neighbours matters.
type pair struct {
	Name  string
	Value any
}

func inOrder(n *yaml.Node) []pair {
	list := []pair{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		list = append(list, pair{n.Content[i].Value, plain(n.Content[i+1])})
	}
	return list
}

// Changes are the keys whose values differ between two experiment files, such as
// "hypotheses.H1.expect" or "kill[0].when". There are none if and only if the digests are equal.
func Changes(old, new []byte) ([]string, error) {
	a, err := canonical(old)
	if err != nil {
		return nil, err
	}
	b, err := canonical(new)
	if err != nil {
		return nil, err
	}
	var changes []string
	differ("", a, b, &changes)
	slices.Sort(changes)
	return changes, nil
}

func differ(path string, a, b any, changes *[]string) {
	if equal(a, b) {
		return
	}
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			differInKeys(path, x, y, changes)
			return
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) && slices.ContainsFunc(x, isMap) {
			for i := range x {
				differ(path+"["+strconv.Itoa(i)+"]", x[i], y[i], changes)
			}
			return
		}
	case []pair:
		if y, ok := b.([]pair); ok {
			differInOrder(path, x, y, changes)
			return
		}
	}
	*changes = append(*changes, path)
}

func isMap(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

func differInKeys(path string, a, b map[string]any, changes *[]string) {
	both := maps.Clone(a)
	maps.Copy(both, b)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		x, okA := a[key]
		y, okB := b[key]
		whole := join(path, key)
		if okA && okB {
			differ(whole, x, y, changes)
			continue
		}
		*changes = append(*changes, whole)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// differInOrder names the pairs that differ, or the whole where only their order does.
func differInOrder(path string, a, b []pair, changes *[]string) {
	before := len(*changes)
	byName := func(list []pair) map[string]any {
		m := map[string]any{}
		for _, p := range list {
			m[p.Name] = p.Value
		}
		return m
	}
	differInKeys(path, byName(a), byName(b), changes)
	if len(*changes) == before {
		*changes = append(*changes, path)
	}
}

func equal(a, b any) bool {
	x, errA := encode(a)
	y, errB := encode(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
