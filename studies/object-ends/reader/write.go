package reader

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/assaybench/assay/studies/object-ends/corpus"
)

// rowGroup is how many rows are flushed at once.
const rowGroup = 1000

// A writer writes rows to a Parquet file, which is valid once the writer is closed.
type writer struct {
	file    *os.File
	parquet *parquet.GenericWriter[corpus.Row]
	pending int // rows since the last flush
	flushes int64
	flushed time.Duration
}

// shard returns the file of writer i of several: rows.parquet, rows-1.parquet, …
func shard(path string, i int) string {
	if i == 0 {
		return path
	}
	ending := filepath.Ext(path)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, ending), i, ending)
}

func newWriter(path string) (*writer, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write rows: %w", err)
	}
	return &writer{file: file, parquet: parquet.NewGenericWriter[corpus.Row](file)}, nil
}

// write adds a row.
func (w *writer) write(row corpus.Row) error {
	if _, err := w.parquet.Write([]corpus.Row{row}); err != nil {
		return fmt.Errorf("write row of file %d: %w", row.FileID, err)
	}
	if w.pending++; w.pending == rowGroup {
		return w.flush()
	}
	return nil
}

func (w *writer) flush() error {
	begin := time.Now()
	if err := w.parquet.Flush(); err != nil {
		return fmt.Errorf("flush rows: %w", err)
	}
	w.flushed += time.Since(begin)
	w.flushes++
	w.pending = 0
	return nil
}

// close flushes what is pending and makes the file valid.
func (w *writer) close() error {
	if w.pending > 0 {
		if err := w.flush(); err != nil {
			_ = w.file.Close()
			return err
		}
	}
	if err := w.parquet.Close(); err != nil {
		_ = w.file.Close()
		return fmt.Errorf("close rows: %w", err)
	}
	if err := w.file.Close(); err != nil {
		return fmt.Errorf("close rows: %w", err)
	}
	return nil
}

// merge copies the rows of the Parquet files in parts into one, row group by row group.
func merge(path string, parts []string) error {
	w, err := newWriter(path)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := w.copy(part); err != nil {
			_ = w.file.Close()
			return fmt.Errorf("merge %s: %w", part, err)
		}
	}
	return w.close()
}

func (w *writer) copy(part string) error {
	file, err := os.Open(part)
	if err != nil {
		return err
	}
	defer file.Close()
	status, err := file.Stat()
	if err != nil {
		return err
	}
	rows, err := parquet.OpenFile(file, status.Size())
	if err != nil {
		return err
	}
	for _, group := range rows.RowGroups() {
		if _, err := w.parquet.WriteRowGroup(group); err != nil {
			return err
		}
	}
	return nil
}
