package corpus

// Periods of the filling. Both are primes, so that no misalignment by a power of two, and no other file,
// looks right.
const (
	pixelPeriod  = 251
	fillerPeriod = 241
)

// fill sets b[i] = (offset + i) mod period.
func fill(b []byte, offset uint64, period int) {
	first := min(period, len(b))
	value := int(offset % uint64(period))
	for i := range first {
		b[i] = byte(value)
		if value++; value == period {
			value = 0
		}
	}
	// The rest repeats: each copy doubles what is there, in whole periods.
	for done := first; done < len(b); done *= 2 {
		copy(b[done:], b[:done])
	}
}

// Object returns the bytes of a file, in the room of into where that suffices.
func (c Corpus) Object(id uint64, into []byte) []byte {
	size := int(c.Size(id))
	if cap(into) < size {
		into = make([]byte, size)
	}
	b := into[:size]
	putHeader(b, c.Header(id))
	fill(b[End:End+c.Tier.Middle()], id*31, pixelPeriod)
	if c.HasFooter(id) {
		c.putFooter(b[size-End:], id)
	}
	return b
}
