// Package corpus is the files that the study reads: their format, the closed forms that fill them, the
// manifest, and what a right reader must have found in them.
//
// A file has a header of 32 KiB at its beginning, a middle of width x height x channels bytes, and, nine
// times in ten, a footer of 32 KiB at its end. A reader that wants a file's row needs the two ends only.
// Every byte is a function of (seed, file id), so a row can be rebuilt without the file and compared
// exactly, and a corpus is the same on every store and on every day.
//
// The package has no effects.
package corpus

import "fmt"

// End is the length of a header and of a footer in bytes.
const End = 32 << 10

// A Tier is a size of file.
type Tier struct {
	Name  string
	Side  int // height of the middle in pixels; its width is Side*4/channels
	bytes int // of the middle
}

// Tiers returns the sizes: small is 125 KiB on average, medium 1.06 MiB, large 32 MiB.
func Tiers() []Tier {
	return []Tier{
		{Name: "small", Side: 128, bytes: 128 * 128 * 4},
		{Name: "medium", Side: 512, bytes: 512 * 512 * 4},
		{Name: "large", Side: 2880, bytes: 2880 * 2880 * 4},
	}
}

// TierNamed returns the tier of that name.
func TierNamed(name string) (Tier, error) {
	for _, tier := range Tiers() {
		if tier.Name == name {
			return tier, nil
		}
	}
	return Tier{}, fmt.Errorf("choose tier %q: want small, medium or large", name)
}

// Middle returns the length of the part that nobody needs, in bytes.
func (t Tier) Middle() int { return t.bytes }

// A Corpus is files 0 to Objects-1 of a tier under a seed.
type Corpus struct {
	Seed    uint64
	Tier    Tier
	Objects int
}

// Bucket returns the name of the bucket that holds the corpus.
func (c Corpus) Bucket() string { return "corpus-" + c.Tier.Name }

// present is the share of files with a footer, in tenths.
const present = 9

// draw returns a number that depends on seed, file and what it is for, and on nothing else: the finalizer
// of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014, figure 14) over the three.
func (c Corpus) draw(id uint64, purpose uint64) uint64 {
	z := c.Seed*0x9e3779b97f4a7c15 + id*0xd1342543de82ef95 + purpose*0xbf58476d1ce4e5b9
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// What a draw is for.
const (
	forFooter uint64 = iota + 1
	forChannels
	forMask
	forPixel
	forDirection
	forPoints
)

// HasFooter reports whether the file carries a footer.
func (c Corpus) HasFooter(id uint64) bool { return c.draw(id, forFooter)%10 < present }

// Size returns the length of the file in bytes.
func (c Corpus) Size(id uint64) int64 {
	size := int64(End + c.Tier.Middle())
	if c.HasFooter(id) {
		size += End
	}
	return size
}

// Key returns the name of the file in its bucket.
func Key(id uint64) string { return fmt.Sprintf("objects/%04d/%08d.bin", id/1000, id) }
