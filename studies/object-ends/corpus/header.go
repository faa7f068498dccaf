package corpus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Where the fields of a header lie. They are spread over it on purpose: the last one that counts lies
// 17.7 KiB deep, so that a reader which fetches less than the header cannot succeed.
const (
	atMagic     = 0
	atVersion   = 4
	atFileID    = 64
	atWidth     = 1032
	atHeight    = 1036
	atPixel     = 4100
	atDirection = 9001
	atMask      = 18124
)

const (
	headerMagic = 0x53444e45 // "ENDS", little endian
	version     = 1
)

// ErrCorrupt says that bytes are no file of this format.
var ErrCorrupt = errors.New("corrupt")

// A Header is what the first 32 KiB of a file say.
type Header struct {
	FileID    uint64
	Width     uint32  // pixels
	Height    uint32  // pixels
	PixelSize float64 // micrometres
	Direction uint8   // 0 to 7, eighths of a turn
	Mask      uint32  // one bit a channel that is there
}

// Channels returns the number of channels: the ones in the mask.
func (h Header) Channels() int { return bits.OnesCount32(h.Mask) }

// Middle returns the bytes between header and footer, or an error when no file can be that large.
func (h Header) Middle() (int64, error) {
	high, low := bits.Mul64(uint64(h.Width)*uint64(h.Height), uint64(h.Channels()))
	if high != 0 || low > math.MaxInt64-2*End {
		return 0, fmt.Errorf("size middle of %d x %d x %d: %w", h.Width, h.Height, h.Channels(), ErrCorrupt)
	}
	return int64(low), nil
}

// FooterIn decides by the size of a file whether it has a footer. A size that fits neither way is ErrCorrupt.
func (h Header) FooterIn(size int64) (bool, error) {
	middle, err := h.Middle()
	switch {
	case err != nil:
		return false, err
	case size == End+middle+End:
		return true, nil
	case size == End+middle:
		return false, nil
	}
	return false, fmt.Errorf("size file %d: got %d bytes, want %d or %d: %w",
		h.FileID, size, End+middle, End+middle+End, ErrCorrupt)
}

// Header returns the header of a file.
func (c Corpus) Header(id uint64) Header {
	channels := 2 << (c.draw(id, forChannels) % 3) // 2, 4 or 8
	// Any run of that many ones, turned by a drawn number of places, has the right count.
	mask := bits.RotateLeft32(1<<channels-1, int(c.draw(id, forMask)%32))
	return Header{
		FileID:    id,
		Width:     uint32(c.Tier.Side * 4 / channels),
		Height:    uint32(c.Tier.Side),
		PixelSize: 0.05 + float64(c.draw(id, forPixel)%10_000)/10_000,
		Direction: uint8(c.draw(id, forDirection) % 8),
		Mask:      mask,
	}
}

// putHeader writes the header into the first End bytes of b. What no field uses is not zero, so that a
// reader which looks beside a field finds a wrong value there.
func putHeader(b []byte, h Header) {
	b = b[:End]
	fill(b, h.FileID*37, fillerPeriod)
	order := binary.LittleEndian
	order.PutUint32(b[atMagic:], headerMagic)
	order.PutUint16(b[atVersion:], version)
	order.PutUint64(b[atFileID:], h.FileID)
	order.PutUint32(b[atWidth:], h.Width)
	order.PutUint32(b[atHeight:], h.Height)
	order.PutUint64(b[atPixel:], math.Float64bits(h.PixelSize))
	b[atDirection] = h.Direction
	order.PutUint32(b[atMask:], h.Mask)
}

// DecodeHeader reads a header from the first End bytes of a file. It never panics, whatever b is.
func DecodeHeader(b []byte) (Header, error) {
	if len(b) < End {
		return Header{}, fmt.Errorf("decode header: got %d bytes, want %d: %w", len(b), End, ErrCorrupt)
	}
	order := binary.LittleEndian
	if got := order.Uint32(b[atMagic:]); got != headerMagic {
		return Header{}, fmt.Errorf("decode header: got magic %#x, want %#x: %w", got, headerMagic, ErrCorrupt)
	}
	if got := order.Uint16(b[atVersion:]); got != version {
		return Header{}, fmt.Errorf("decode header: got version %d, want %d: %w", got, version, ErrCorrupt)
	}
	h := Header{
		FileID:    order.Uint64(b[atFileID:]),
		Width:     order.Uint32(b[atWidth:]),
		Height:    order.Uint32(b[atHeight:]),
		PixelSize: math.Float64frombits(order.Uint64(b[atPixel:])),
		Direction: b[atDirection],
		Mask:      order.Uint32(b[atMask:]),
	}
	if _, err := h.Middle(); err != nil {
		return Header{}, fmt.Errorf("decode header: %w", err)
	}
	return h, nil
}
