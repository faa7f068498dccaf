package corpus

import (
	"bytes"
	"errors"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawCorpus draws a corpus and a file of it. The large tier is left out: nothing about it differs but time.
func drawCorpus(t *rapid.T) (Corpus, uint64) {
	c := Corpus{
		Seed:    rapid.Uint64().Draw(t, "seed"),
		Tier:    rapid.SampledFrom(Tiers()[:2]).Draw(t, "tier"),
		Objects: 1 << 20,
	}
	return c, rapid.Uint64Range(0, 1<<40).Draw(t, "file")
}

// The row that is decoded from a file's bytes is the one that is rebuilt without them.
func TestDecodedRowsEqualRebuiltOnes(t *testing.T) {
	var room []byte
	rapid.Check(t, func(t *rapid.T) {
		c, id := drawCorpus(t)
		schema := rapid.SampledFrom([]Schema{Scalar, Full}).Draw(t, "schema")
		room = c.Object(id, room)
		row, err := decode(room, schema, id)
		if err != nil {
			t.Fatal(err)
		}
		if difference := row.Difference(c.Row(schema, id)); difference != "" {
			t.Fatal(difference)
		}
		if row.Digest() != c.Row(schema, id).Digest() {
			t.Fatal("equal rows have two digests")
		}
		if int64(len(room)) != c.Size(id) {
			t.Fatalf("got %d bytes, the manifest says %d", len(room), c.Size(id))
		}
	})
}

// decode makes a file's row as a reader of all its bytes does.
func decode(file []byte, schema Schema, id uint64) (Row, error) {
	h, err := DecodeHeader(file[:min(End, len(file))])
	if err != nil {
		return Row{}, err
	}
	has, err := h.FooterIn(int64(len(file)))
	if err != nil || !has {
		return NewRow(schema, Key(id), int64(len(file)), h, nil), err
	}
	footer, err := DecodeFooter(file[len(file)-End:], h.FileID, Footer{})
	return NewRow(schema, Key(id), int64(len(file)), h, &footer), err
}

// The middle is the published closed form, byte by byte, and shifting it by any power of two up to its
// length shows, as does the middle of another file.
func TestMiddleShowsEveryMisalignment(t *testing.T) {
	c := Corpus{Seed: 42, Tier: Tiers()[0], Objects: 10}
	middle := func(id uint64) []byte { return c.Object(id, nil)[End : End+c.Tier.Middle()] }
	for _, id := range []uint64{0, 1, 7, 250, 251, 9999} {
		for i, b := range middle(id) {
			if want := byte((id*31 + uint64(i)) % 251); b != want {
				t.Fatalf("file %d byte %d: got %d, want %d", id, i, b, want)
			}
		}
	}
	for shift := 1; shift < c.Tier.Middle(); shift *= 2 {
		if m := middle(3); bytes.Equal(m[shift:], m[:len(m)-shift]) {
			t.Errorf("a shift by %d does not show", shift)
		}
	}
	if bytes.Equal(middle(3), middle(4)) {
		t.Error("another file does not show")
	}
}

func TestSizesDecideAboutFooters(t *testing.T) {
	h := Header{Width: 128, Height: 128, Mask: 0b1111}
	const middle = 128 * 128 * 4
	for _, tc := range []struct {
		name string
		size int64
		want bool
		fail bool
	}{
		{name: "footer", size: End + middle + End, want: true},
		{name: "none", size: End + middle},
		{name: "a byte short of none", size: End + middle - 1, fail: true},
		{name: "a byte over none", size: End + middle + 1, fail: true},
		{name: "a byte over the footer", size: End + middle + End + 1, fail: true},
		{name: "empty", size: 0, fail: true},
		{name: "negative", size: -1, fail: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := h.FooterIn(tc.size)
			if errors.Is(err, ErrCorrupt) != tc.fail || got != tc.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// A header claims more than any file holds: the product of its sizes does not fit, which must not wrap
// around to a size that does.
func TestImpossibleSizesAreCorrupt(t *testing.T) {
	h := Header{Width: 1 << 31, Height: 1 << 30, Mask: 0xff} // 2^64 bytes
	if _, err := h.FooterIn(End); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v, want corrupt", err)
	}
}

// What the study's arithmetic needs: the share of footers, the channel counts, the mean sizes of the tiers.
func TestCorpusIsTheOneOfThePlan(t *testing.T) {
	const files = 10_000
	for _, tc := range []struct {
		tier string
		mean float64 // KiB, footer in nine of ten
	}{{"small", 124.8}, {"medium", 1084.8}, {"large", 32460.8}} {
		tier, err := TierNamed(tc.tier)
		if err != nil {
			t.Fatal(err)
		}
		c := Corpus{Seed: 42, Tier: tier, Objects: files}
		var footers, size float64
		channels := map[int]int{}
		for id := range uint64(files) {
			if c.HasFooter(id) {
				footers++
			}
			size += float64(c.Size(id))
			h := c.Header(id)
			channels[h.Channels()]++
			if middle, err := h.Middle(); err != nil || middle != int64(tier.Middle()) {
				t.Fatalf("%s file %d: middle of %d bytes (%v), want %d", tc.tier, id, middle, err, tier.Middle())
			}
		}
		if share := footers / files; math.Abs(share-0.9) > 0.01 {
			t.Errorf("%s: footers in %v of the files, want 0.9", tc.tier, share)
		}
		if mean := size / files / 1024; math.Abs(mean-tc.mean) > 1 {
			t.Errorf("%s: mean size %v KiB, want %v", tc.tier, mean, tc.mean)
		}
		for _, count := range []int{2, 4, 8} {
			if channels[count] < files/4 {
				t.Errorf("%s: %d channels in %d files of %d", tc.tier, count, channels[count], files)
			}
		}
	}
	if _, err := TierNamed("huge"); err == nil {
		t.Error("a tier that is not there was found")
	}
}

// The corpus is the same on every day: these hashes stand in scorecards, so changing them is changing the study.
func TestOracleStays(t *testing.T) {
	small, medium := Tiers()[0], Tiers()[1]
	for _, tc := range []struct {
		corpus Corpus
		schema Schema
		want   string
	}{
		{Corpus{Seed: 42, Tier: medium, Objects: 300}, Scalar, "1b0a11df68b2c194098fe6a4f4176bb73fa7d3c87ac3445a39f71c160c69f8f1"},
		{Corpus{Seed: 42, Tier: medium, Objects: 300}, Full, "861caec73a5bf99875e271b16f6f4ade621882c447895334be725df7693b4c92"},
		{Corpus{Seed: 42, Tier: small, Objects: 300}, Scalar, "489a793067604d4593950df6e269ff6923b3ed9a5e5209e85e822b803ab621ae"},
	} {
		if got := tc.corpus.Oracle(tc.schema, tc.corpus.Objects); got != tc.want {
			t.Errorf("%s %s: got %s, want %s", tc.corpus.Tier.Name, tc.schema, got, tc.want)
		}
	}
}

// Each field of a row counts: changing any one of them is a difference and another digest.
func TestEveryFieldCounts(t *testing.T) {
	c := Corpus{Seed: 42, Tier: Tiers()[0], Objects: 10}
	id := uint64(0)
	for !c.HasFooter(id) {
		id++
	}
	whole := c.Row(Full, id)
	changes := map[string]func(*Row){
		"file_id": func(r *Row) { r.FileID++ }, "size": func(r *Row) { r.Size++ }, "width": func(r *Row) { r.Width++ },
		"height": func(r *Row) { r.Height++ }, "channels": func(r *Row) { r.Channels++ }, "mask": func(r *Row) { r.Mask++ },
		"direction": func(r *Row) { r.Direction++ }, "pixel_size": func(r *Row) { r.PixelSize++ },
		"has_footer": func(r *Row) { r.HasFooter = false }, "points": func(r *Row) { r.Points++ },
		"sum_x": func(r *Row) { r.SumX++ }, "sum_y": func(r *Row) { r.SumY++ }, "min_x": func(r *Row) { r.MinX++ },
		"max_x": func(r *Row) { r.MaxX++ }, "min_y": func(r *Row) { r.MinY++ }, "max_y": func(r *Row) { r.MaxY++ },
		"path": func(r *Row) { r.Path += "x" },
		"x":    func(r *Row) { r.X = append([]float32{r.X[0] + 1}, r.X[1:]...) },
		"y":    func(r *Row) { r.Y = r.Y[:len(r.Y)-1] },
	}
	for name, change := range changes {
		row := whole
		change(&row)
		if difference := row.Difference(whole); !strings.HasPrefix(difference, name) {
			t.Errorf("%s changed: got difference %q", name, difference)
		}
		if row.Digest() == whole.Digest() {
			t.Errorf("%s changed: the digest did not", name)
		}
	}
}

func TestManifestReadsBackAsWritten(t *testing.T) {
	c := Corpus{Seed: 7, Tier: Tiers()[0], Objects: 500}
	var b bytes.Buffer
	if err := WriteManifest(&b, c.Manifest()); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(b.String(), "\n")
	if want := `{"path":"objects/0000/00000000.bin","size":131072,"has_footer":true,"file_id":0}`; first != want {
		t.Errorf("got line %s, want %s", first, want)
	}
	got, err := ReadManifest(&b)
	if err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(c.Manifest(), got); difference != "" {
		t.Error(difference)
	}
	if _, err := ReadManifest(strings.NewReader(first + "\n{\"path\":\"\"}\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v, want an error in line 2", err)
	}
}

func TestMasksHaveTheirChannels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, id := drawCorpus(t)
		h := c.Header(id)
		if bits.OnesCount32(h.Mask) != h.Channels() || h.Direction > 7 || h.PixelSize <= 0 {
			t.Fatalf("got header %+v", h)
		}
	})
}

// Whatever the bytes are, decoding returns a row or ErrCorrupt. Inputs are patches of a right file, cut
// to a length, since nothing else gets past the magic.
func FuzzDecode(f *testing.F) {
	c := Corpus{Seed: 42, Tier: Tiers()[0], Objects: 10}
	for id := range uint64(5) {
		f.Add(id, uint16(atWidth), []byte{1, 2, 3, 4}, uint16(End), c.Size(id))
	}
	f.Add(uint64(1), uint16(atCount), []byte{0xff, 0xff, 0xff, 0xff}, uint16(End), int64(0))
	f.Add(uint64(0), uint16(atCount), []byte{0xe7, 0x0f, 0, 0}, uint16(End), int64(0)) // one point too many
	f.Add(uint64(1), uint16(atMask), []byte{0xff, 0xff, 0xff, 0xff}, uint16(End), int64(-1))
	f.Add(uint64(2), uint16(0), []byte{}, uint16(100), int64(0))
	header, footer := make([]byte, End), make([]byte, End)
	f.Fuzz(func(t *testing.T, id uint64, at uint16, patch []byte, length uint16, size int64) {
		putHeader(header, c.Header(id))
		c.putFooter(footer, id)
		copy(header[at%End:], patch)
		copy(footer[at%End:], patch)
		cut := min(int(length), End)
		h, err := DecodeHeader(header[:cut])
		if err == nil {
			_, err = h.FooterIn(size)
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("header: got %v, want ErrCorrupt", err)
		}
		got, err := DecodeFooter(footer[:cut], id, Footer{})
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("footer: got %v, want ErrCorrupt", err)
		}
		if len(got.X) != len(got.Y) || got.Count > len(got.X) {
			t.Errorf("footer: got %d of %d and %d points", got.Count, len(got.X), len(got.Y))
		}
		NewRow(Full, "", size, h, &got).Digest()
	})
}
