package reader

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/assaybench/assay/studies/object-ends/corpus"
	"github.com/assaybench/assay/studies/object-ends/store"
)

// A fetcher reads one file at a time. It belongs to one goroutine; its room is used again for every file.
type fetcher struct {
	setting *Setting
	client  *store.Client
	flights *gauge

	header, tail []byte
	footer       corpus.Footer
	gets         []int64
	decode       time.Duration
}

// A flight is one file on its way: in flight while any of its requests has a connection.
type flight struct {
	fetcher *fetcher
	open    atomic.Int32
}

func (f *flight) sent() {
	if f.open.Add(1) == 1 {
		f.fetcher.flights.add(1)
	}
}

func (f *flight) done() {
	if f.open.Add(-1) == 0 {
		f.fetcher.flights.add(-1)
	}
}

// read fetches what the setting says of a file and makes its row.
func (f *fetcher) read(ctx context.Context, entry corpus.Entry) (corpus.Row, error) {
	way := &flight{fetcher: f}
	if f.setting.Sizes == ByHead && f.setting.Fault != PixelsAsFooter {
		size, err := f.size(ctx, way, entry)
		if err != nil {
			return corpus.Row{}, err
		}
		entry.Size = size
	}
	fetch := f.ends
	if f.setting.Read == Whole {
		fetch = f.whole
	}
	header, tail, err := fetch(ctx, way, entry)
	if err != nil {
		return corpus.Row{}, err
	}
	begin := time.Now()
	row, err := f.row(entry, header, tail)
	f.decode += time.Since(begin)
	return row, err
}

// row decodes the ends. A tail that the sizes say is pixels is not looked at.
func (f *fetcher) row(entry corpus.Entry, header, tail []byte) (corpus.Row, error) {
	h, err := corpus.DecodeHeader(header)
	if err != nil {
		return corpus.Row{}, err
	}
	if h.FileID != entry.FileID {
		return corpus.Row{}, fmt.Errorf("decode header: got file %d, want %d: %w", h.FileID, entry.FileID, corpus.ErrCorrupt)
	}
	has, err := h.FooterIn(entry.Size)
	if err != nil {
		return corpus.Row{}, err
	}
	if f.setting.Fault == PixelsAsFooter && !has {
		corpus.SealFooter(tail, entry.FileID)
		has = true
	}
	if !has {
		return corpus.NewRow(corpus.Schema(f.setting.Schema), entry.Path, entry.Size, h, nil), nil
	}
	if f.footer, err = corpus.DecodeFooter(tail, h.FileID, f.footer); err != nil {
		return corpus.Row{}, err
	}
	return corpus.NewRow(corpus.Schema(f.setting.Schema), entry.Path, entry.Size, h, &f.footer), nil
}

// ends fetches header and footer. Serially, the header says whether there is a footer. In parallel the
// manifest says it; where only the size is known, the tail is fetched whatever it is.
func (f *fetcher) ends(ctx context.Context, way *flight, entry corpus.Entry) (header, tail []byte, err error) {
	atTail := max(entry.Size-corpus.End, 0)
	all := f.setting.Fault == PixelsAsFooter
	if f.setting.Fetch == Serial {
		if f.header, err = f.get(ctx, way, entry, 0, f.header); err != nil {
			return nil, nil, err
		}
		has, err := f.footerIn(entry)
		if err != nil || !(has || all) {
			return f.header, nil, err
		}
		f.tail, err = f.get(ctx, way, entry, atTail, f.tail)
		return f.header, f.tail, err
	}
	if !(all || entry.HasFooter || f.setting.Sizes == ByHead) {
		f.header, err = f.get(ctx, way, entry, 0, f.header)
		return f.header, nil, err
	}
	return f.both(ctx, way, entry, atTail)
}

// footerIn reports by the fetched header whether the file has a footer.
func (f *fetcher) footerIn(entry corpus.Entry) (bool, error) {
	h, err := corpus.DecodeHeader(f.header)
	if err != nil {
		return false, err
	}
	return h.FooterIn(entry.Size)
}

// both fetches the two ends at once.
func (f *fetcher) both(ctx context.Context, way *flight, entry corpus.Entry, atTail int64) (header, tail []byte, err error) {
	type end struct {
		b    []byte
		took int64
		err  error
	}
	other := make(chan end, 1)
	go func() {
		b, took, err := f.ranged(ctx, way, entry, atTail, f.tail)
		other <- end{b, took, err}
	}()
	f.header, err = f.get(ctx, way, entry, 0, f.header)
	second := <-other
	f.tail = second.b
	f.gets = append(f.gets, second.took)
	if err == nil {
		err = second.err
	}
	return f.header, f.tail, err
}

// get fetches one end into the room of into, and notes how long that took.
func (f *fetcher) get(ctx context.Context, way *flight, entry corpus.Entry, offset int64, into []byte) ([]byte, error) {
	b, took, err := f.ranged(ctx, way, entry, offset, into)
	f.gets = append(f.gets, took)
	return b, err
}

// ranged fetches one end and returns how long that took in nanoseconds. A planted fault fetches a block
// and counts the end.
func (f *fetcher) ranged(ctx context.Context, way *flight, entry corpus.Entry, offset int64, into []byte) ([]byte, int64, error) {
	length := min(corpus.End, entry.Size-offset)
	if f.setting.Fault == CountRequested {
		block := min(length+f.setting.ReadAhead, entry.Size-offset)
		b, took, err := f.span(ctx, way, entry, offset, block, into)
		if err != nil {
			return nil, took, err
		}
		f.client.Counters.Body.Add(length - block)
		return b[:length], took, nil
	}
	return f.span(ctx, way, entry, offset, length, into)
}

// span fetches length bytes from offset on.
func (f *fetcher) span(ctx context.Context, way *flight, entry corpus.Entry, offset, length int64, into []byte) ([]byte, int64, error) {
	begin := time.Now()
	b, err := f.client.Range(ctx, f.setting.Bucket, entry.Path, offset, length, into, store.Watch{Sent: way.sent, Done: way.done})
	took := time.Since(begin).Nanoseconds()
	if err != nil {
		return into, took, fmt.Errorf("read %s: %w", entry.Path, err)
	}
	return b, took, nil
}

// size asks for the size of a file.
func (f *fetcher) size(ctx context.Context, way *flight, entry corpus.Entry) (int64, error) {
	size, err := f.client.Size(ctx, f.setting.Bucket, entry.Path, store.Watch{Sent: way.sent, Done: way.done})
	if err == nil && size < corpus.End {
		err = fmt.Errorf("got %d bytes: %w", size, corpus.ErrCorrupt)
	}
	if err != nil {
		return 0, fmt.Errorf("size %s: %w", entry.Path, err)
	}
	return size, nil
}

// whole reads as a buffered file client does: open, read the header, seek to the end, read the footer.
// Each read that the block in hand does not answer fetches what was asked for and the read-ahead.
func (f *fetcher) whole(ctx context.Context, way *flight, entry corpus.Entry) (header, tail []byte, err error) {
	block := min(corpus.End+f.setting.ReadAhead, entry.Size)
	var took int64
	f.header, took, err = f.span(ctx, way, entry, 0, block, f.header)
	f.gets = append(f.gets, took)
	if err != nil {
		return nil, nil, err
	}
	has, err := f.footerIn(entry)
	if err != nil || !(has || f.setting.Fault == PixelsAsFooter) {
		return f.header, nil, err
	}
	atTail := max(entry.Size-corpus.End, 0)
	if block == entry.Size {
		return f.header, f.header[atTail:], nil
	}
	f.tail, took, err = f.span(ctx, way, entry, atTail, entry.Size-atTail, f.tail)
	f.gets = append(f.gets, took)
	return f.header, f.tail, err
}
