package reader

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"github.com/assaybench/assay/studies/object-ends/corpus"
)

// A Gate says whether the rows in the Parquet files are those of the corpus: every file once, every field
// equal to the one rebuilt from the closed forms.
type Gate struct {
	Passed        bool   `json:"passed"`
	Rows          int    `json:"rows"`
	FirstMismatch string `json:"first_mismatch"` // of the lowest file id; "" when there is none
}

// A judge holds rows against a corpus.
type judge struct {
	corpus corpus.Corpus
	schema corpus.Schema
	gate   Gate
	seen   []bool
	digest []corpus.Digest // by file id, where seen
	lowest uint64          // file id of the first mismatch
}

// judgeRows reads Parquet files back and holds them against the first files of the corpus. It returns the
// hash of the rows that are there, in the order of file ids, as well.
func judgeRows(c corpus.Corpus, schema corpus.Schema, files int, paths []string) (Gate, string, error) {
	j := &judge{corpus: c, schema: schema, seen: make([]bool, files), digest: make([]corpus.Digest, files)}
	for _, path := range paths {
		if err := j.read(path); err != nil {
			return Gate{}, "", fmt.Errorf("judge rows of %s: %w", path, err)
		}
	}
	sum := corpus.NewSum()
	for id, seen := range j.seen {
		if !seen {
			j.mismatch(uint64(id), "missing")
			continue
		}
		sum.Add(j.digest[id])
	}
	j.gate.Passed = j.gate.FirstMismatch == ""
	return j.gate, sum.String(), nil
}

// read holds the rows of one file against the corpus.
func (j *judge) read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	status, err := file.Stat()
	if err != nil {
		return err
	}
	opened, err := parquet.OpenFile(file, status.Size())
	if err != nil {
		return err
	}
	rows := parquet.NewGenericReader[corpus.Row](opened)
	defer rows.Close()
	batch := make([]corpus.Row, 16)
	for {
		n, err := rows.Read(batch)
		for _, row := range batch[:n] {
			j.hold(row)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (j *judge) hold(row corpus.Row) {
	j.gate.Rows++
	switch id := row.FileID; {
	case id >= uint64(len(j.seen)):
		j.mismatch(id, "not of the corpus")
	case j.seen[id]:
		j.mismatch(id, "written twice")
	default:
		j.seen[id] = true
		j.digest[id] = row.Digest()
		if difference := row.Difference(j.corpus.Row(j.schema, id)); difference != "" {
			j.mismatch(id, difference)
		}
	}
}

// mismatch keeps the one of the lowest file id.
func (j *judge) mismatch(id uint64, what string) {
	if j.gate.FirstMismatch == "" || id < j.lowest {
		j.lowest = id
		j.gate.FirstMismatch = fmt.Sprintf("file %d: %s", id, what)
	}
}
