package stat

import "math"

// A Knee is what blocks say of where a curve along an axis stops rising.
type Knee struct {
	// Within says of each level whether it is shown within the margin of every other level.
	Within []bool
	// Beaten says of each level whether some other level is shown to beat it by more than the margin.
	Beaten []bool
	// High is the smallest level shown within the margin of every other, Low the largest one below it
	// that is shown beaten: the knee lies in (Low, High]. Either is -1 when there is none.
	Low, High int
}

// Declines reports whether a level above High is shown beaten by more than the margin.
func (k Knee) Declines() bool {
	for l := k.High + 1; k.High >= 0 && l < len(k.Beaten); l++ {
		if k.Beaten[l] {
			return true
		}
	}
	return false
}

// KneeBracket brackets the smallest level that is within the margin of the best. blocks[b][l] is the
// logarithm of block b's value at level l, levels in order of the axis, turned so that more is
// better; margin is a log ratio too (-ln(1 - 0.05) for 5%). Levels are compared within a block only,
// by [SignInterval] on the differences:
//
//   - within: of each of the other levels, the interval at this confidence says that it leads by less
//     than the margin. All must say so, so no correction is due (an intersection-union test; Berger
//     1982), and the chance that too small a level passes is half of 1 - confidence;
//   - beaten: of one of the other levels, the interval says that it leads by more. Any may say so, so
//     1 - confidence is divided by the number of levels.
//
// NaN is a level without a value: its pairs drop out. Two values of -Inf (or +Inf) in one block are
// taken against whatever is to be shown. With fewer than two levels nothing is.
func KneeBracket(blocks [][]float64, margin, confidence float64) Knee {
	levels := 0
	for _, block := range blocks {
		levels = max(levels, len(block))
	}
	k := Knee{Within: make([]bool, levels), Beaten: make([]bool, levels), Low: -1, High: -1}
	if levels < 2 || math.IsNaN(margin) || !validConfidence(confidence) {
		return k
	}
	divided := 1 - (1-confidence)/float64(levels)
	for l := range levels {
		k.Within[l] = true
		for other := range levels {
			if other == l {
				continue
			}
			_, high, ok := SignInterval(leads(blocks, other, l, math.Inf(1)), confidence)
			k.Within[l] = k.Within[l] && ok && high < margin
			low, _, ok := SignInterval(leads(blocks, other, l, math.Inf(-1)), divided)
			k.Beaten[l] = k.Beaten[l] || ok && low > margin
		}
	}
	k.bracket()
	return k
}

// bracket sets Low and High from Within and Beaten.
func (k *Knee) bracket() {
	for l, within := range k.Within {
		if within {
			k.High = l
			break
		}
	}
	for l := range max(k.High, 0) {
		if k.Beaten[l] {
			k.Low = l
		}
	}
}

// KneeMinBlocks is the smallest number of blocks with which [KneeBracket] can show a level beaten.
func KneeMinBlocks(levels int, confidence float64) int {
	return MinBlocks(1 - (1-confidence)/float64(max(levels, 1)))
}

// leads is by how much level a leads level b in each block that has both; equal infinities lead by
// the value that unknown says.
func leads(blocks [][]float64, a, b int, unknown float64) []float64 {
	var out []float64
	for _, block := range blocks {
		if a >= len(block) || b >= len(block) || math.IsNaN(block[a]) || math.IsNaN(block[b]) {
			continue
		}
		lead := block[a] - block[b]
		if math.IsNaN(lead) {
			lead = unknown
		}
		out = append(out, lead)
	}
	return out
}
