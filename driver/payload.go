package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	assay "github.com/assaybench/assay"
)

// payloads are the bodies that a load sends: none, one, or a mix that is fixed by a seed.
type payloads struct {
	bodies []body
	mixture
}

// A body is literal bytes, or a template in which {operation} is left.
type body struct {
	bytes    []byte
	template assay.Template
	open     bool
}

func newPayloads(b assay.Body, values map[string]string, seed uint64) (*payloads, error) {
	p := &payloads{mixture: mixture{n: 1, seed: seed}}
	if b.Path == "" {
		t, open, err := fill(b.Text, values)
		if err != nil {
			return nil, fmt.Errorf("body: %w", err)
		}
		text, err := expand(t, 0)
		p.bodies = []body{{bytes: []byte(text), template: t, open: open}}
		return p, err
	}
	names, weights, err := bodyFiles(b)
	if err != nil {
		return nil, err
	}
	p.mixture = newMixture(len(names), weights, seed)
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read body: %w", err)
		}
		p.bodies = append(p.bodies, body{bytes: content})
	}
	return p, nil
}

// bodyFiles lists the files of a body in order of their names, with their weights if it has any.
func bodyFiles(b assay.Body) (names []string, weights []float64, err error) {
	stat, err := os.Stat(b.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("read body: %w", err)
	}
	if !stat.IsDir() {
		return []string{b.Path}, nil, nil
	}
	if b.Weights != "" {
		if names, weights, err = weighted(b.Weights, "file"); err != nil {
			return nil, nil, err
		}
		for i := range names {
			names[i] = filepath.Join(b.Path, names[i])
		}
		return names, weights, nil
	}
	entries, err := os.ReadDir(b.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("read bodies: %w", err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, filepath.Join(b.Path, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("read bodies: folder %s holds no files", b.Path)
	}
	return names, nil, nil
}

// of is which body the operation of that index sends, and its place among the bodies.
func (p *payloads) of(index int64) (*body, int) {
	i := p.pick(index)
	return &p.bodies[i], i
}

// content is the body of one operation.
func (b *body) content(index int64) ([]byte, error) {
	if !b.open {
		return b.bytes, nil
	}
	text, err := expand(b.template, index)
	return []byte(text), err
}

// expand fills {operation} in, the only name that fill has left.
func expand(t assay.Template, index int64) (string, error) {
	return t.Expand(map[string]string{operationName: strconv.FormatInt(index, 10)})
}
