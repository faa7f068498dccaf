package driver

import (
	"encoding/csv"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
)

// A mixture says which of n things each operation gets. They take turns, or are drawn by weight.
type mixture struct {
	n    int
	upTo []float64 // the weights, cumulated; nil where they take turns
	seed uint64
}

func newMixture(n int, weights []float64, seed uint64) mixture {
	m := mixture{n: n, seed: seed}
	whole := 0.0
	for _, w := range weights {
		whole += w
		m.upTo = append(m.upTo, whole)
	}
	return m
}

// pick is which thing the operation of that index gets. The choice depends on the seed and the index
// alone, so that concurrency does not change it.
func (m *mixture) pick(index int64) int {
	switch {
	case m.n == 1:
		return 0
	case m.upTo == nil:
		return int(index % int64(m.n))
	}
	u := float64(mix(m.seed, uint64(index))>>11) * 0x1p-53 * m.upTo[m.n-1]
	return min(m.n-1, sort.Search(m.n, func(k int) bool { return m.upTo[k] > u }))
}

// weighted reads lines of name,weight from a CSV file, whose first line may be a heading: what and
// the word weight. What is not named is not sent.
func weighted(path, what string) (names []string, weights []float64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read weights: %w", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("read weights %s: %w", path, err)
	}
	for i, row := range rows {
		if i == 0 && len(row) == 2 && row[0] == what && row[1] == "weight" {
			continue
		}
		if len(row) != 2 {
			return nil, nil, fmt.Errorf("%s:%d: got %d fields, want %s,weight", path, i+1, len(row), what)
		}
		w, err := strconv.ParseFloat(strings.TrimSpace(row[1]), 64)
		if err != nil || !(w > 0) || w > 1e12 {
			return nil, nil, fmt.Errorf("%s:%d: weight %q: want a number above 0", path, i+1, row[1])
		}
		names, weights = append(names, row[0]), append(weights, w)
	}
	if len(names) == 0 {
		return nil, nil, fmt.Errorf("read weights: %s names no %ss", path, what)
	}
	return names, weights, nil
}

// mix turns a seed and a counter into 64 well-mixed bits (SplitMix64: Steele, Lea and Flood,
// OOPSLA 2014).
func mix(seed, counter uint64) uint64 {
	z := seed + (counter+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
