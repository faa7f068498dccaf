package assay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// A Value is what a measure gives for one trial: a number, or a text that only compares for
// equality. An infinite number is null on disk, since JSON has none.
type Value struct {
	Number float64
	Text   string
	IsText bool
}

// Num is a numeric value.
func Num(x float64) Value { return Value{Number: x} }

// Txt is a text value.
func Txt(s string) Value { return Value{Text: s, IsText: true} }

func (v Value) String() string {
	if v.IsText {
		return v.Text
	}
	return strconv.FormatFloat(v.Number, 'g', -1, 64)
}

// MarshalJSON writes a number, a string, or null for a number that is not finite.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.IsText {
		return json.Marshal(v.Text)
	}
	if math.IsInf(v.Number, 0) || math.IsNaN(v.Number) {
		return []byte("null"), nil
	}
	if v.Number == math.Trunc(v.Number) && math.Abs(v.Number) < 1<<53 {
		return strconv.AppendInt(nil, int64(v.Number), 10), nil
	}
	return json.Marshal(v.Number)
}

// UnmarshalJSON reads a number, a string, a boolean (as the text true or false), or null as +Inf.
func (v *Value) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	switch {
	case len(b) == 0:
		return fmt.Errorf("value: nothing there")
	case b[0] == '"':
		v.IsText = true
		return json.Unmarshal(b, &v.Text)
	case bytes.Equal(b, []byte("null")):
		*v = Num(math.Inf(1))
	case bytes.Equal(b, []byte("true")), bytes.Equal(b, []byte("false")):
		*v = Txt(string(b))
	default:
		x, err := strconv.ParseFloat(string(b), 64)
		if err != nil {
			return fmt.Errorf("value %s: want a number, a string or null", b)
		}
		*v = Num(x)
	}
	return nil
}
