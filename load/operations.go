package load

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/parquet-go/parquet-go"
)

// OperationsFile is where every operation stands, if that was asked for.
const OperationsFile = "operations.parquet"

// A Row is one operation of the window in operations.parquet. Times count from the beginning of
// the window. Operations that were never sent, or had no outcome, have no row.
type Row struct {
	Operation  int64  `parquet:"operation"`
	IntendedNS int64  `parquet:"intended_ns"`
	SentNS     int64  `parquet:"sent_ns"`
	DoneNS     int64  `parquet:"done_ns"`
	Outcome    string `parquet:"outcome,dict"` // ok, timed_out, or a class of error
}

func rowOf(op *Operation, class Class, done time.Duration) Row {
	outcome := "ok"
	if class != 0 {
		outcome = classNames[class]
	}
	return Row{Operation: op.Index, IntendedNS: int64(op.intended), SentNS: int64(op.sent), DoneNS: int64(done), Outcome: outcome}
}

// rowGroup is how many rows are held before they go to the file: it bounds the memory.
const rowGroup = 1 << 17

// rowWriter streams rows to a Parquet file.
type rowWriter struct {
	file *os.File
	rows *parquet.GenericWriter[Row]
	held int
}

func newRowWriter(dir string) (*rowWriter, error) {
	f, err := os.Create(filepath.Join(dir, OperationsFile))
	if err != nil {
		return nil, fmt.Errorf("create operations: %w", err)
	}
	return &rowWriter{file: f, rows: parquet.NewGenericWriter[Row](f, parquet.Compression(&parquet.Zstd))}, nil
}

func (w *rowWriter) write(rows []Row) error {
	n, err := w.rows.Write(rows)
	if w.held += n; err == nil && w.held >= rowGroup {
		w.held = 0
		err = w.rows.Flush()
	}
	if err != nil {
		return fmt.Errorf("write operations: %w", err)
	}
	return nil
}

func (w *rowWriter) close() error {
	err := w.rows.Close()
	if closeErr := w.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("close operations: %w", err)
	}
	return nil
}
