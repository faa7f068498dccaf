package corpus

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"
)

// A Schema says what of a file goes into its row.
type Schema string

// The schemas: about 200 bytes a row, and 33 KiB with both arrays of the footer, whole.
const (
	Scalar Schema = "scalar"
	Full   Schema = "full"
)

// A Row is what the study wants of a file.
type Row struct {
	FileID    uint64    `parquet:"file_id"`
	Path      string    `parquet:"path"`
	Size      int64     `parquet:"size"` // bytes
	Width     uint32    `parquet:"width"`
	Height    uint32    `parquet:"height"`
	Channels  uint32    `parquet:"channels"`
	Mask      uint32    `parquet:"mask"`
	Direction uint32    `parquet:"direction"`
	PixelSize float64   `parquet:"pixel_size"`
	HasFooter bool      `parquet:"has_footer"`
	Points    uint32    `parquet:"points"`
	SumX      float64   `parquet:"sum_x"`
	SumY      float64   `parquet:"sum_y"`
	MinX      float32   `parquet:"min_x"`
	MaxX      float32   `parquet:"max_x"`
	MinY      float32   `parquet:"min_y"`
	MaxY      float32   `parquet:"max_y"`
	X         []float32 `parquet:"x"` // none in the scalar schema
	Y         []float32 `parquet:"y"`
}

// Bytes returns the room that a row takes while it is held, about.
func (r Row) Bytes() int64 { return 136 + int64(len(r.Path)) + 4*int64(len(r.X)+len(r.Y)) }

// NewRow makes the row of a file from its decoded ends. A file without a footer has footer nil.
// The row keeps no part of the footer.
func NewRow(schema Schema, path string, size int64, h Header, footer *Footer) Row {
	row := Row{
		FileID: h.FileID, Path: path, Size: size,
		Width: h.Width, Height: h.Height, Channels: uint32(h.Channels()), Mask: h.Mask,
		Direction: uint32(h.Direction), PixelSize: h.PixelSize, HasFooter: footer != nil,
	}
	if footer == nil {
		return row
	}
	row.Points = uint32(footer.Count)
	row.SumX, row.MinX, row.MaxX = summary(footer.X[:footer.Count])
	row.SumY, row.MinY, row.MaxY = summary(footer.Y[:footer.Count])
	if schema == Full {
		row.X, row.Y = slices.Clone(footer.X), slices.Clone(footer.Y)
	}
	return row
}

// summary returns sum, least and greatest of the values; zeros for none.
func summary(values []float32) (sum float64, least, greatest float32) {
	if len(values) == 0 {
		return 0, 0, 0
	}
	least, greatest = values[0], values[0]
	for _, v := range values {
		sum += float64(v)
		least, greatest = min(least, v), max(greatest, v)
	}
	return sum, least, greatest
}

// Row rebuilds the row of a file from the closed forms, without the file.
func (c Corpus) Row(schema Schema, id uint64) Row {
	var footer *Footer
	if c.HasFooter(id) {
		f := c.Footer(id, Footer{})
		footer = &f
	}
	return NewRow(schema, Key(id), c.Size(id), c.Header(id), footer)
}

// Difference returns in words where the rows differ, bit by bit, or "".
func (r Row) Difference(want Row) string {
	got, expected := r.fields(), want.fields()
	for i, name := range fieldNames() {
		if got[i] != expected[i] {
			return fmt.Sprintf("%s differs", name)
		}
	}
	switch {
	case r.Path != want.Path:
		return fmt.Sprintf("path: got %q, want %q", r.Path, want.Path)
	case !slices.EqualFunc(r.X, want.X, sameBits):
		return "x differs"
	case !slices.EqualFunc(r.Y, want.Y, sameBits):
		return "y differs"
	}
	return ""
}

func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

const fieldCount = 16

// fields returns the numbers of the row as bits, in the order of fieldNames.
func (r Row) fields() [fieldCount]uint64 {
	var footer uint64
	if r.HasFooter {
		footer = 1
	}
	narrow := func(v float32) uint64 { return uint64(math.Float32bits(v)) }
	return [fieldCount]uint64{
		r.FileID, uint64(r.Size), uint64(r.Width), uint64(r.Height), uint64(r.Channels), uint64(r.Mask),
		uint64(r.Direction), math.Float64bits(r.PixelSize), footer, uint64(r.Points),
		math.Float64bits(r.SumX), math.Float64bits(r.SumY),
		narrow(r.MinX), narrow(r.MaxX), narrow(r.MinY), narrow(r.MaxY),
	}
}

func fieldNames() [fieldCount]string {
	return [fieldCount]string{
		"file_id", "size", "width", "height", "channels", "mask", "direction", "pixel_size", "has_footer",
		"points", "sum_x", "sum_y", "min_x", "max_x", "min_y", "max_y",
	}
}

// A Digest is a hash of one row.
type Digest [sha256.Size]byte

// Digest hashes the row: its numbers, its path and its arrays, each with its length.
func (r Row) Digest() Digest {
	b := make([]byte, 0, 256+len(r.Path)+4*(len(r.X)+len(r.Y)))
	order := binary.LittleEndian
	for _, field := range r.fields() {
		b = order.AppendUint64(b, field)
	}
	b = order.AppendUint64(b, uint64(len(r.Path)))
	b = append(b, r.Path...)
	for _, values := range [][]float32{r.X, r.Y} {
		b = order.AppendUint64(b, uint64(len(values)))
		for _, v := range values {
			b = order.AppendUint32(b, math.Float32bits(v))
		}
	}
	return sha256.Sum256(b)
}

// A Sum hashes rows that are added in the order of their file ids.
type Sum struct{ hash hash.Hash }

// NewSum returns the sum of no rows.
func NewSum() Sum { return Sum{sha256.New()} }

// Add adds a row by its digest.
func (s Sum) Add(d Digest) { s.hash.Write(d[:]) }

// String returns the hash in hexadecimal.
func (s Sum) String() string { return hex.EncodeToString(s.hash.Sum(nil)) }

// Oracle returns the hash of the first files rows, which every right reader of the corpus arrives at.
func (c Corpus) Oracle(schema Schema, files int) string {
	sum := NewSum()
	for id := range uint64(files) {
		sum.Add(c.Row(schema, id).Digest())
	}
	return sum.String()
}
