package grade

import (
	"maps"
	"slices"

	"github.com/assaybench/assay"
)

// A cellIndex finds the number of a cell without making its key anew for each of many trials.
type cellIndex struct {
	names []string // the factors, sorted
	at    map[string]int
	key   []byte
}

func newCellIndex(cells []assay.Cell) cellIndex {
	x := cellIndex{at: make(map[string]int, len(cells))}
	for i, c := range cells {
		if c == nil {
			continue
		}
		if i == 0 {
			x.names = slices.Sorted(maps.Keys(c))
		}
		x.at[c.Key()] = i
	}
	return x
}

// find is the cell's index, -1 for one that is not there.
func (x *cellIndex) find(c assay.Cell) int {
	i, ok := 0, false
	if x.write(c) {
		i, ok = x.at[string(x.key)]
	} else {
		i, ok = x.at[c.Key()]
	}
	if !ok {
		return -1
	}
	return i
}

// write puts c.Key() into the buffer, if c has the factors that cells have.
func (x *cellIndex) write(c assay.Cell) bool {
	x.key = x.key[:0]
	for i, name := range x.names {
		level, ok := c[name]
		if !ok {
			return false
		}
		if i > 0 {
			x.key = append(x.key, ' ')
		}
		x.key = append(append(append(x.key, name...), '='), level...)
	}
	return len(c) == len(x.names)
}
