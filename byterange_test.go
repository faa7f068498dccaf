package assay

import "testing"

func TestByteRangesWithinAnObject(t *testing.T) {
	for _, c := range []struct {
		text              string
		size, first, last int64
	}{
		{"0-65535", 100_000, 0, 65_535},
		{"0-65535", 1_000, 0, 999},
		{"5-5", 10, 5, 5},
		{"100-", 1_000, 100, 999},
		{"-64", 1_000, 936, 999},
		{"-64", 10, 0, 9},
	} {
		r, err := ParseByteRange(c.text)
		if err != nil {
			t.Errorf("ParseByteRange(%q) = %v", c.text, err)
		}
		if first, last := r.Within(c.size); first != c.first || last != c.last {
			t.Errorf("%s within %d bytes is %d to %d, want %d to %d", c.text, c.size, first, last, c.first, c.last)
		}
	}
	if first, last := ByteRange("").Within(7); first != 0 || last != 6 {
		t.Errorf("no range within 7 bytes is %d to %d, want 0 to 6", first, last)
	}
	for _, text := range []string{"", "-", "-0", "5", "7-3", "a-b", "1-2-3", "0-64KiB", "-9223372036854775808", "+1-2"} {
		if r, err := ParseByteRange(text); err == nil {
			t.Errorf("ParseByteRange(%q) = %q, want an error", text, r)
		}
	}
}
