package driver

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	assay "github.com/assaybench/assay"
)

// payloads are the bodies that a load sends: none, one, or a mix that is fixed by a seed.
type payloads struct {
	bodies []body
	// upTo holds the cumulated weights of a weighted mix; nil where bodies take turns.
	upTo []float64
	seed uint64
}

// A body is literal bytes, or a template in which {operation} is left.
type body struct {
	bytes    []byte
	template assay.Template
	open     bool
}

func newPayloads(b assay.Body, values map[string]string, seed uint64) (*payloads, error) {
	p := &payloads{seed: seed}
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
	whole := 0.0
	for i, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read body: %w", err)
		}
		p.bodies = append(p.bodies, body{bytes: content})
		if weights != nil {
			whole += weights[i]
			p.upTo = append(p.upTo, whole)
		}
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
		return weightedFiles(b)
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

// weightedFiles reads lines of file,weight. Every file of the folder may be named once; one that
// is not named is not sent.
func weightedFiles(b assay.Body) (names []string, weights []float64, err error) {
	f, err := os.Open(b.Weights)
	if err != nil {
		return nil, nil, fmt.Errorf("read weights: %w", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("read weights %s: %w", b.Weights, err)
	}
	for i, row := range rows {
		if i == 0 && len(row) == 2 && row[0] == "file" && row[1] == "weight" {
			continue
		}
		if len(row) != 2 {
			return nil, nil, fmt.Errorf("%s:%d: got %d fields, want file,weight", b.Weights, i+1, len(row))
		}
		w, err := strconv.ParseFloat(strings.TrimSpace(row[1]), 64)
		if err != nil || !(w > 0) || w > 1e12 {
			return nil, nil, fmt.Errorf("%s:%d: weight %q: want a number above 0", b.Weights, i+1, row[1])
		}
		names, weights = append(names, filepath.Join(b.Path, row[0])), append(weights, w)
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("read weights: %s names no files", b.Weights)
	}
	return names, weights, nil
}

// of is which body the operation of that index sends, and its place among the bodies. The choice
// depends on the seed and the index alone, so that concurrency does not change it.
func (p *payloads) of(index int64) (*body, int) {
	i := 0
	switch n := len(p.bodies); {
	case n == 1:
	case p.upTo == nil:
		i = int(index % int64(n))
	default:
		u := float64(mix(p.seed, uint64(index))>>11) * 0x1p-53 * p.upTo[n-1]
		i = min(n-1, sort.Search(n, func(k int) bool { return p.upTo[k] > u }))
	}
	return &p.bodies[i], i
}

// mix turns a seed and a counter into 64 well-mixed bits (SplitMix64: Steele, Lea and Flood,
// OOPSLA 2014).
func mix(seed, counter uint64) uint64 {
	z := seed + (counter+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// expand fills {operation} in, the only name that fill has left.
func expand(t assay.Template, index int64) (string, error) {
	return t.Expand(map[string]string{operationName: strconv.FormatInt(index, 10)})
}
