package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/assaybench/assay/stat"
)

// answer fills in the bracket, what binds and what must be known about them.
func (s *finder) answer(ctx context.Context, b stat.Bracket, denied bool) {
	f := &s.found
	if b.Low > 0 {
		f.Low = &b.Low
	}
	if !math.IsInf(b.High, 1) {
		f.High = &b.High
	}
	if s.bracketed(b) {
		e := s.estimate(b)
		f.Estimate = &e
	}
	s.reasons(ctx, b, denied)
	f.Valid = len(f.VoidBy) == 0
	f.Binds = append(f.Binds, s.binds(b)...)
	s.remarks(b)
}

// reasons says why the bracket does not stand, if it does not.
func (s *finder) reasons(ctx context.Context, b stat.Bracket, denied bool) {
	f := &s.found
	void := func(why, note string) {
		f.VoidBy = append(f.VoidBy, why)
		f.Notes = append(f.Notes, note)
	}
	switch {
	case ctx.Err() != nil:
		void("interrupted", "interrupted: the bracket is what the probes before say")
	case s.absent != "":
		void("target", s.absent)
	case s.spent != "" && !(b.Done && s.bracketed(b)):
		void("budget", s.spent+" before both ends were shown")
	case s.stopped > 0:
		void("guard:generator", s.generatorStopped(b))
	case !s.bracketed(b) && b.Low > 0:
		void("to", fmt.Sprintf("%s meets and is the highest rate that was allowed; raise --to", perSecond(b.Low)))
	case !s.bracketed(b) && !math.IsInf(b.High, 1):
		void("from", fmt.Sprintf("%s, the lowest rate that was tried, misses already", perSecond(b.High)))
	case !s.bracketed(b):
		void("undecided", "no probe decided; give them more operations (--for), or loosen the conditions")
	case denied:
		void("confirmation", "the confirming loads contradicted the bracket twice: the target's limit moves, or the machine is not steady enough for a bracket this narrow")
	}
}

// generatorStopped says that what ended the search says nothing about the target.
func (s *finder) generatorStopped(b stat.Bracket) string {
	text := fmt.Sprintf("the generator, not the target, stopped at %s: %d loads in a row were void", perSecond(s.stopped), mostVoid)
	if last := s.shots[slices.IndexFunc(s.shots, func(p shot) bool { return p.void && p.rate == s.stopped })]; len(last.account.Notes) > 0 {
		text += " (" + last.account.Notes[0] + ")"
	}
	if b.Low > 0 {
		text += fmt.Sprintf("; the target meets the conditions at %s at least", perSecond(b.Low))
	}
	return text
}

// remarks notes what the bracket does not support.
func (s *finder) remarks(b stat.Bracket) {
	f := &s.found
	if s.bracketed(b) && b.High > b.Low*(1+s.search.Width)*1.0001 {
		f.Notes = append(f.Notes, fmt.Sprintf("the bracket is %.0f%% wide, %.0f%% were asked for: the rates between did not decide", 100*(b.High/b.Low-1), 100*s.search.Width))
	}
	voids := 0
	for i := range s.shots {
		if s.shots[i].void && !s.shots[i].account.Interrupted {
			voids++
		}
	}
	if voids > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of %d loads were void by the generator's doing; they were repeated and say nothing about the target", voids, len(s.shots)))
	}
}

// estimate is where the share of bad operations crosses what the conditions allow: the least over the
// conditions of the isotonic fit's root, within the bracket. Without one it is the bracket's
// geometric middle.
func (s *finder) estimate(b stat.Bracket) float64 {
	best := math.Inf(1)
	for i := range s.meets {
		if s.meets[i].share > 0 {
			if root, ok := s.root(i); ok {
				best = min(best, root)
			}
		}
	}
	if math.IsInf(best, 1) {
		best = math.Sqrt(b.Low * b.High)
	}
	return round4(min(max(best, b.Low), b.High))
}

// root fits the share of bad operations of one condition, rising with the rate. Loads under which
// the target fell behind are left out: their share only tells how long they lasted.
func (s *finder) root(objective int) (float64, bool) {
	sums := map[float64][2]float64{} // operations and bad ones by rate
	for i := range s.shots {
		p := &s.shots[i]
		if r := p.rulings[objective]; !p.void && !p.account.Overload && r.n > 0 {
			sum := sums[p.rate]
			sums[p.rate] = [2]float64{sum[0] + float64(r.n), sum[1] + float64(r.bad)}
		}
	}
	var rates, shares, weights []float64
	for rate := range sums {
		rates = append(rates, rate)
	}
	slices.Sort(rates)
	for _, rate := range rates {
		shares = append(shares, sums[rate][1]/sums[rate][0])
		weights = append(weights, sums[rate][0])
	}
	return stat.IsotonicRoot(rates, stat.Isotonic(shares, weights), 1-s.meets[objective].share)
}

// completed is the highest rate that was completed by a target that fell behind; 0 if none did.
func (s *finder) completed() (most float64) {
	for i := range s.shots {
		if p := &s.shots[i]; !p.void && p.account.Overload {
			most = max(most, p.account.CompletedPerS)
		}
	}
	return most
}

// binds says what stood against a higher rate, from the lowest loads above the bracket that missed.
func (s *finder) binds(b stat.Bracket) []string {
	var near *shot
	completed := s.completed()
	for i := range s.shots {
		p := &s.shots[i]
		if p.void || p.says != stat.Refuted || p.rate < b.High {
			continue
		}
		if near == nil || p.rate < near.rate {
			near = p
		}
	}
	if near == nil {
		return nil
	}
	var out []string
	switch {
	case completed > 0 && completed >= 0.95*b.Low: // the window's end cuts some off
		out = append(out, fmt.Sprintf("the server completes %s at most; with more it falls behind, and response time grows without bound", perSecond(completed)))
	case completed > 0:
		out = append(out, fmt.Sprintf("with more than the server can do it falls behind and completes %s", perSecond(completed)))
	}
	for _, r := range near.rulings {
		if r.says == stat.Refuted && !near.account.Overload {
			out = append(out, fmt.Sprintf("at %s %s is %s", perSecond(near.rate), r.value.Measure, r.value.Text()))
		}
	}
	if worst := worstClass(&near.account); worst != "" {
		out = append(out, fmt.Sprintf("at %s operations are lost: %s", perSecond(near.rate), worst))
	}
	return out
}

// perSecond prints a rate for people, to four digits.
func perSecond(rate float64) string {
	return strconv.FormatFloat(round4(rate), 'f', -1, 64) + "/s"
}
