package corpus

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Points is the number of values that each array of a footer has room for.
const Points = 4070

// Where the fields of a footer lie.
const (
	atFooterMagic = 0
	atEcho        = 8
	atCount       = 16
	atX           = 64
	atY           = atX + 4*Points
)

const footerMagic = 0x53444e4554414f46 // "FOATENDS", little endian

// A Footer is what the last 32 KiB of a file say, where it has a footer.
type Footer struct {
	FileID uint64    // the header's, once more
	Count  int       // of the values that count, at most Points; the rest of the arrays is filled like them
	X, Y   []float32 // Points values each
}

// points returns how many values of a file's arrays count, 1 to Points.
func (c Corpus) points(id uint64) int { return 1 + int(c.draw(id, forPoints)%Points) }

// pointX and pointY are the closed forms of the arrays. All values are exact in a float32.
func pointX(id uint64, i int) float32 { return float32((id*17+uint64(i)*3)%4093) / 8 }
func pointY(id uint64, i int) float32 { return float32((id*29+uint64(i)*7)%8191)/16 - 100 }

// Footer returns the footer of a file that has one, with the arrays in the room of into.
func (c Corpus) Footer(id uint64, into Footer) Footer {
	f := Footer{FileID: id, Count: c.points(id), X: slices.Grow(into.X[:0], Points), Y: slices.Grow(into.Y[:0], Points)}
	for i := range Points {
		f.X = append(f.X, pointX(id, i))
		f.Y = append(f.Y, pointY(id, i))
	}
	return f
}

// putFooter writes the footer of a file into the first End bytes of b. The values that do not count are not
// zero, so that a wrong count is a wrong row.
func (c Corpus) putFooter(b []byte, id uint64) {
	b = b[:End]
	fill(b, id*41, fillerPeriod)
	order := binary.LittleEndian
	order.PutUint64(b[atFooterMagic:], footerMagic)
	order.PutUint64(b[atEcho:], id)
	order.PutUint32(b[atCount:], uint32(c.points(id)))
	for i := range Points {
		order.PutUint32(b[atX+4*i:], math.Float32bits(pointX(id, i)))
		order.PutUint32(b[atY+4*i:], math.Float32bits(pointY(id, i)))
	}
}

// SealFooter writes over the first bytes of b what makes DecodeFooter take it for the footer of the file:
// the fault of a reader that looks at neither size nor magic.
func SealFooter(b []byte, id uint64) {
	binary.LittleEndian.PutUint64(b[atFooterMagic:], footerMagic)
	binary.LittleEndian.PutUint64(b[atEcho:], id)
	binary.LittleEndian.PutUint32(b[atCount:], Points)
}

// DecodeFooter reads the footer of file id from the last End bytes of a file, with the arrays in the room
// of into. It never panics, whatever b is.
func DecodeFooter(b []byte, id uint64, into Footer) (Footer, error) {
	if len(b) < End {
		return Footer{}, fmt.Errorf("decode footer: got %d bytes, want %d: %w", len(b), End, ErrCorrupt)
	}
	order := binary.LittleEndian
	if got := order.Uint64(b[atFooterMagic:]); got != footerMagic {
		return Footer{}, fmt.Errorf("decode footer: got magic %#x, want %#x: %w", got, uint64(footerMagic), ErrCorrupt)
	}
	if got := order.Uint64(b[atEcho:]); got != id {
		return Footer{}, fmt.Errorf("decode footer: got file %d, want %d: %w", got, id, ErrCorrupt)
	}
	count := order.Uint32(b[atCount:])
	if count > Points {
		return Footer{}, fmt.Errorf("decode footer: got %d points, want at most %d: %w", count, Points, ErrCorrupt)
	}
	f := Footer{FileID: id, Count: int(count), X: slices.Grow(into.X[:0], Points), Y: slices.Grow(into.Y[:0], Points)}
	x, y := b[atX:atX+4*Points], b[atY:atY+4*Points]
	for i := range Points {
		f.X = append(f.X, math.Float32frombits(order.Uint32(x[4*i:])))
		f.Y = append(f.Y, math.Float32frombits(order.Uint32(y[4*i:])))
	}
	return f, nil
}
