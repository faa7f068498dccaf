package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Mistake is one thing wrong with an experiment file, at its place.
type Mistake struct {
	File    string
	Line    int // counted from 1
	Column  int // in characters, counted from 1
	Message string
	// Try is a line that would be right, where one can be given; it is advice, and no part of Error.
	Try string
}

func (m Mistake) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Column, m.Message)
}

// Mistakes are all mistakes of a file in the order of their places.
type Mistakes []Mistake

// Error has one line a mistake.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i := range m {
		lines[i] = m[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Advised is Error with a line "try: …" behind each mistake that has advice.
func (m Mistakes) Advised() string {
	var lines []string
	for i := range m {
		lines = append(lines, m[i].Error())
		if m[i].Try != "" {
			lines = append(lines, "try: "+m[i].Try)
		}
	}
	return strings.Join(lines, "\n")
}

// sorted is m in line order without repetitions.
func (m Mistakes) sorted() Mistakes {
	out := slices.Clone(m)
	slices.SortStableFunc(out, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	seen := map[Mistake]bool{}
	return slices.DeleteFunc(out, func(m Mistake) bool {
		again := seen[m]
		seen[m] = true
		return again
	})
}

// nearest is the name among known that got was probably meant to be; ok is false where none is near.
func nearest(got string, known []string) (name string, ok bool) {
	best := len(got)/3 + 2
	for _, k := range known {
		d := distance(strings.ToLower(got), strings.ToLower(k))
		if d < best && d < max(len(k), len(got)) {
			name, best, ok = k, d, true
		}
	}
	return name, ok
}

// distance is the optimal string alignment distance: insertions, deletions, replacements and swaps
// of neighbours (Damerau, CACM 7(3), 1964).
func distance(a, b string) int {
	const longest = 64 // names are short; beyond that nothing is near
	if len(a) > longest || len(b) > longest {
		return longest
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}

// suggest is "; did you mean X?" or, where nothing is near, the list of what is known.
func suggest(got string, known []string) string {
	if name, ok := nearest(got, known); ok {
		return "; did you mean " + name + "?"
	}
	known = slices.Clone(known)
	slices.Sort(known)
	const most = 24
	switch {
	case len(known) == 0:
		return ""
	case len(known) > most:
		return "; known: " + strings.Join(known[:most], " ") + " …"
	}
	return "; known: " + strings.Join(known, " ")
}
