package stat

import (
	"math"
	"sort"
)

// A Probe is one trial of a search: a level, and whether the conditions were met there (Confirmed),
// missed (Refuted) or neither (Undecided).
type Probe struct {
	At   float64
	Says Decision
}

// A Search looks for the highest level that meets conditions, along an axis on which they are met
// below some level and missed above it. It holds the rules only; what was seen is in the probes, so
// that a search can be resumed, and checked, from its record.
type Search struct {
	Start       float64 // first level, above 0
	Least, Most float64 // levels not to go below or above; a Most of 0 is none
	Width       float64 // goal: the bracket's high end over its low end, less 1; 0 is 0.05
	Agree       int     // by how many more probes than against it each end must be shown; 0 is 2
	Repeats     int     // probes after which a level that stays open is worked around; 0 is 5
}

// A Bracket is what a search knows: the highest level held to meet the conditions (0: none) and the
// lowest held to miss them (+Inf: none).
type Bracket struct {
	Low, High float64
	Done      bool    // nothing more would be learnt within the rules
	Next      float64 // level to probe next, when not done
}

// Next is the bracket after the probes so far and the level to try next.
//
// Each level's standing is its met probes less its missed ones. The bracket lies where levels below
// have most for them and levels above most against them; levels between which that is a draw, such as
// undecided ones, are inside. So a wrong probe is one vote: neighbours outvote it and the bracket
// moves back, where a bisection by the last sign would be misled for good. Both ends must be shown by
// Agree more probes than stand against them before the search is done: if a probe at a level on the
// wrong side errs with chance α, two in a row do with α². Outwards it doubles and halves; inwards it
// takes the geometric middle.
func (s Search) Next(probes []Probe) Bracket {
	s = s.withDefaults()
	levels := standings(probes)
	if len(levels) == 0 {
		return Bracket{High: math.Inf(1), Next: s.clamp(s.Start)}
	}
	below, above := boundary(levels) // levels[:below] meet, levels[above:] miss
	b := Bracket{High: math.Inf(1)}
	if below > 0 {
		b.Low = levels[below-1].at
	}
	if above < len(levels) {
		b.High = levels[above].at
	}
	open := levels[below:above]
	if b.Low > 0 && b.High <= b.Low*(1+s.Width) {
		b.Next, b.Done = s.confirm(levels[below-1], levels[above])
		return b
	}
	if next, ok := s.fewest(open); ok {
		b.Next = next
		return b
	}
	switch {
	case below == 0 && s.atLeast(levels[0].at):
		b.Next, b.Done = levels[0].at, levels[0].net <= -s.Agree || levels[0].count >= 2*s.Repeats
	case below == 0:
		b.Next = s.clamp(levels[0].at / 2)
	case above == len(levels) && s.atMost(levels[len(levels)-1].at):
		top := levels[len(levels)-1]
		b.Next, b.Done = top.at, top.net >= s.Agree || top.count >= 2*s.Repeats
	case above == len(levels):
		b.Next = s.clamp(levels[len(levels)-1].at * 2)
	default:
		b.Next, b.Done = s.widestMiddle(levels[below-1 : above+1])
	}
	return b
}

func (s Search) withDefaults() Search {
	if !(s.Width > 0) {
		s.Width = 0.05
	}
	if s.Agree <= 0 {
		s.Agree = 2
	}
	if s.Repeats <= 0 {
		s.Repeats = 5
	}
	if !(s.Most > 0) {
		s.Most = math.Inf(1)
	}
	return s
}

func (s Search) clamp(at float64) float64 { return math.Min(math.Max(at, s.Least), s.Most) }
func (s Search) atLeast(at float64) bool  { return at <= s.Least }
func (s Search) atMost(at float64) bool   { return at >= s.Most }

// A standing is what the probes at one level add up to.
type standing struct {
	at         float64
	net, count int
}

// standings adds up probes by level, in order of the axis.
func standings(probes []Probe) []standing {
	var levels []standing
	for _, p := range probes {
		i := sort.Search(len(levels), func(i int) bool { return levels[i].at >= p.At })
		if i == len(levels) || levels[i].at != p.At {
			levels = append(levels, standing{})
			copy(levels[i+1:], levels[i:])
			levels[i] = standing{at: p.At}
		}
		levels[i].count++
		switch p.Says {
		case Confirmed:
			levels[i].net++
		case Refuted:
			levels[i].net--
		}
	}
	return levels
}

// boundary is the first and last place at which to part the levels so that most votes are on their
// side.
func boundary(levels []standing) (first, last int) {
	score, best := 0, 0
	for i, l := range levels {
		score += l.net // for parting above level i rather than below it, in halves of the difference
		if score > best {
			first, best = i+1, score
		}
		if score >= best {
			last = i + 1
		}
	}
	return first, last
}

// confirm is the end that is shown less well than it must be, or done.
func (s Search) confirm(low, high standing) (next float64, done bool) {
	switch {
	case low.net < s.Agree && low.count < 2*s.Repeats:
		return low.at, false
	case -high.net < s.Agree && high.count < 2*s.Repeats:
		return high.at, false
	}
	return 0, true
}

// fewest is the open level with the fewest probes, if one has any left.
func (s Search) fewest(open []standing) (at float64, ok bool) {
	least := s.Repeats
	for _, l := range open {
		if l.count < least {
			at, least, ok = l.at, l.count, true
		}
	}
	return at, ok
}

// widestMiddle is the geometric middle of the widest step between levels, or done where open levels
// lie so close that another would be open too.
func (s Search) widestMiddle(levels []standing) (next float64, done bool) {
	widest := 1 + s.Width/2
	done = true
	for i := 1; i < len(levels); i++ {
		if step := levels[i].at / levels[i-1].at; step > widest {
			widest, next, done = step, math.Sqrt(levels[i].at*levels[i-1].at), false
		}
	}
	return next, done
}
