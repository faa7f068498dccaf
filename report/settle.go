package report

import (
	"math"
	"slices"
	"strings"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

// mostBlocks is the number of blocks beyond which more of them is no advice.
const mostBlocks = 2000

// settlements are the advices for all claims that are not decided, claims with the same advice
// together.
func (f *Findings) settlements() []pair {
	var rows []pair
	for _, c := range f.claims() {
		text := c.settle()
		if text == "" {
			continue
		}
		i := slices.IndexFunc(rows, func(p pair) bool { return p.Text == text })
		if i < 0 {
			rows = append(rows, pair{c.v.ID, text})
			continue
		}
		rows[i].Name += ", " + c.v.ID
	}
	return rows
}

// settle says what would settle a claim that is neither PASS nor FAIL; empty for those.
func (c claim) settle() string {
	switch c.v.Reason {
	case assay.Straddles, assay.Underpowered:
		return c.settleBlocks()
	case assay.Incomplete:
		return "Execute the rest of the plan: assay run goes on where it stopped."
	case assay.UnequalVoids:
		return "Find out why one side is spoilt more often, remove the cause, and measure anew."
	case assay.Vacuous:
		if slices.ContainsFunc(c.v.Notes, func(note string) bool { return strings.Contains(note, grade.RefusedByGates) }) {
			return "Make the gates hold. Where a gate checks what a level claims, make the level true, or name it after what is there."
		}
		return "Choose cells in which the trials end ok and the measure can vary."
	case assay.AxisGap:
		return "Measure levels between the two (refine), or state the claim for one of the two levels."
	case assay.AxisEdge:
		return "Extend " + orWord(c.h.Along, "the axis") + " beyond its present end."
	case assay.Censored:
		return "Measure where nothing has to be stopped, or claim something that a stopped trial answers."
	case assay.NotTestableHere:
		return "Execute the experiment on a machine that has what the claim needs."
	case assay.NoEffect:
		return "Make the level take effect, or use the achieved values as the levels."
	case assay.Regimes:
		return "Find the condition that separates the two regimes and make it a factor."
	case assay.Confounded:
		return "Compare cells that differ in one term only."
	case assay.CrossSession:
		return "Execute both sides in one session."
	case assay.BadInstrument:
		return "Repair the instrument until its own check comes out, and measure anew."
	case assay.AboveCeiling:
		return "Check units and what is really measured, or the limit."
	}
	if name, ok := guardName(string(c.v.Reason)); ok {
		return "Remove what the guard " + name + " saw and measure anew; loosening the guard now would make the verdict exploratory."
	}
	return ""
}

// settleBlocks estimates how many blocks would take the interval off the bound if the estimate
// stayed where it is: the width of an interval on a median falls with the square root of the
// number of blocks.
func (c claim) settleBlocks() string {
	const onBound = "The estimate lies on the bound itself; more blocks alone will hardly settle it. State how much of a difference matters (same, with a margin)."
	if c.bracket() || c.v.Estimate == nil || c.v.Low == nil || c.v.High == nil || c.v.Blocks == 0 {
		return "More blocks would narrow the interval."
	}
	bounds := c.bounds(Scale{Factor: 1})
	factor := 1.0
	for _, b := range bounds {
		distance := math.Abs(*c.v.Estimate - b)
		reach := *c.v.Estimate - *c.v.Low
		if b > *c.v.Estimate {
			reach = *c.v.High - *c.v.Estimate
		}
		if distance == 0 {
			return onBound
		}
		factor = max(factor, (reach/distance)*(reach/distance))
	}
	need := math.Ceil(float64(c.v.Blocks) * factor * 1.2) // an estimate of an estimate: a fifth more
	switch {
	case need > mostBlocks:
		return onBound
	case factor == 1:
		return "More blocks would narrow the interval."
	}
	return "Roughly " + group(need, 0) + " blocks instead of " + group(float64(c.v.Blocks), 0) +
		" would, if the estimate stays where it is; they must be registered beforehand."
}

func orWord(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
