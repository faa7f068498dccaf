package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
	"github.com/assaybench/assay/report"
	"github.com/assaybench/assay/stat"
)

const (
	// mostVoid is how often a probe in a row may be void before its rate is given up.
	mostVoid = 5
	// confirmations is how often a bracket is challenged at most: again after what moved it.
	confirmations = 4
	// longer is how much longer than others the probes of the confirmation last: a rate just above
	// what the target completes shows in the end only.
	longer = 2
	// nearLimit is from which share of what the target completes on a low end must endure; enduring is
	// how much longer than others that probe lasts.
	nearLimit, enduring = 0.98, 4
)

// A finder looks for the highest rate that meets conditions.
type finder struct {
	load   assay.Load // its Rate and For are set for each probe
	meets  []objective
	search stat.Search
	budget findBudget
	seed   uint64
	rest   time.Duration // after a probe that left the target with work
	send   func(ctx context.Context, l assay.Load, seed uint64) (load.Account, error)

	begun   time.Time
	shots   []shot
	votes   []stat.Probe
	found   report.FoundRate
	spent   string  // the budget's bound that was reached
	absent  string  // what the first load met instead of a target
	stopped float64 // rate at which the generator stopped; 0: it did not
}

// A shot is a probe as it was carried out.
type shot struct {
	rate    float64
	says    stat.Decision
	void    bool
	rulings []ruling
	account load.Account
}

// find carries the search out. What is known when the budget ends or ctx is done is in the answer.
func (s *finder) find(ctx context.Context) (report.FoundRate, error) {
	s.begun = time.Now()
	s.found = report.FoundRate{Meets: []string{}, Probes: []report.RateProbe{}, Binds: []string{}, VoidBy: []string{}, Notes: []string{}}
	for _, o := range s.meets {
		s.found.Meets = append(s.found.Meets, o.text)
	}
	if err := s.climb(ctx); err != nil {
		return s.found, err
	}
	b, err := s.narrow(ctx, "search")
	if err != nil {
		return s.found, err
	}
	denied, moved := false, true
	for round := 0; round < confirmations && moved && b.Done && s.bracketed(b); round++ {
		if b, denied, moved, err = s.challenge(ctx, b, round); err != nil {
			return s.found, err
		}
	}
	s.answer(ctx, b, denied)
	return s.found, nil
}

// challenge confirms the bracket, has its low end endure and descends to it; what they bring is voted
// on. denied says that a load beside the bracket contradicted it, moved that it must be challenged
// again.
func (s *finder) challenge(ctx context.Context, b stat.Bracket, round int) (after stat.Bracket, denied, moved bool, err error) {
	if denied, err = s.confirm(ctx, b, round); err != nil {
		return b, denied, denied, err
	}
	if b, err = s.narrow(ctx, "search"); err != nil || denied || !b.Done || !s.bracketed(b) {
		return b, denied, denied, err
	}
	if b, moved, err = s.endure(ctx, b); err != nil || moved {
		return b, false, moved, err
	}
	if denied, err = s.descend(ctx, b); err != nil {
		return b, denied, denied, err
	}
	b, err = s.narrow(ctx, "search")
	return b, denied, denied, err
}

func (s *finder) bracketed(b stat.Bracket) bool { return b.Low > 0 && !math.IsInf(b.High, 1) }

// open reports whether another probe may be carried out, and notes which bound forbids it.
func (s *finder) open(ctx context.Context) bool {
	switch {
	case ctx.Err() != nil:
		s.spent = "interrupted"
	case s.absent != "":
		s.spent = s.absent
	case s.budget.probes > 0 && len(s.shots) >= s.budget.probes:
		s.spent = fmt.Sprintf("budget of %d probes spent", s.budget.probes)
	case s.budget.time > 0 && time.Since(s.begun) >= s.budget.time:
		s.spent = "budget of " + assay.FormatDuration(s.budget.time) + " spent"
	}
	return s.spent == ""
}

// climb doubles the rate until a probe of ordinary length decides. Low rates bring so few operations
// that they cannot show a quantile to be met; those probes are passed and judge nothing.
func (s *finder) climb(ctx context.Context) error {
	for rate := s.search.Start; s.open(ctx); rate = round4(2 * rate) {
		if s.search.Most > 0 && rate > s.search.Most {
			return nil
		}
		if rate*s.load.For.Seconds() >= float64(s.least()) {
			s.search.Start = rate
			return nil
		}
		p, err := s.probe(ctx, "climb", rate, s.load.For)
		if err != nil || p.void {
			return err
		}
		if s.search.Start = rate; p.says == stat.Refuted {
			s.votes = append(s.votes, stat.Probe{At: rate, Says: p.says})
			return nil
		}
	}
	return nil
}

// least is the fewest operations by which a probe can show all conditions to be met.
func (s *finder) least() int {
	n := 1
	for i := range s.meets {
		n = max(n, s.meets[i].least())
	}
	return n
}

// narrow follows the rules of the search until they have nothing more to learn.
func (s *finder) narrow(ctx context.Context, phase string) (stat.Bracket, error) {
	for {
		b := s.search.Next(s.votes)
		if b.Done || s.stoppedBelow(b.Next) || !s.open(ctx) {
			return b, nil
		}
		b.Next = s.onRecord(b.Next)
		p, err := s.probe(ctx, phase, b.Next, s.lasting(b.Next))
		if err != nil {
			return b, err
		}
		if !p.void {
			s.votes = append(s.votes, stat.Probe{At: b.Next, Says: p.says})
			continue
		}
		s.giveUp(ctx, b)
	}
}

// stoppedBelow reports whether the generator has stopped at or below that rate.
func (s *finder) stoppedBelow(rate float64) bool { return s.stopped > 0 && rate >= s.stopped }

// giveUp goes on after a rate that stayed void: where the generator has managed that rate or a
// higher one before it is left open, else it is where the generator stops.
func (s *finder) giveUp(ctx context.Context, b stat.Bracket) {
	managed := slices.ContainsFunc(s.votes, func(v stat.Probe) bool { return v.At >= b.Next && v.Says != stat.Undecided })
	switch {
	case ctx.Err() != nil || s.spent != "":
	case managed:
		s.votes = append(s.votes, stat.Probe{At: b.Next, Says: stat.Undecided})
	case b.Low > 0:
		s.stopped, s.search.Most = b.Next, b.Low
	default:
		s.stopped = b.Next
	}
}

// onRecord is the rate to probe for the one that the search asks for: four digits are enough, and a
// rate that was probed before is met exactly.
func (s *finder) onRecord(rate float64) float64 {
	for _, v := range s.votes {
		if v.At == rate {
			return rate
		}
	}
	return round4(rate)
}

func round4(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// lasting is how long a probe at a rate must last so that it can decide; a tenth is added for
// arrivals that are fewer by chance.
func (s *finder) lasting(rate float64) time.Duration {
	need := time.Duration(1.1 * float64(s.least()) / rate * float64(time.Second))
	return max(s.load.For, need.Round(time.Millisecond))
}

// confirm probes 0.9, 1.0 and 1.1 times the estimate by fresh loads in a shuffled order. They count
// as votes like all others; denied says that one of the outer two said the contrary.
func (s *finder) confirm(ctx context.Context, b stat.Bracket, round int) (denied bool, err error) {
	estimate := s.estimate(b)
	rates := []float64{round4(0.9 * estimate), round4(estimate), round4(1.1 * estimate)}
	want := map[float64]stat.Decision{rates[0]: stat.Refuted, rates[2]: stat.Confirmed}
	rand.New(rand.NewPCG(s.seed, uint64(round))).Shuffle(len(rates), func(i, j int) { rates[i], rates[j] = rates[j], rates[i] })
	for _, rate := range rates {
		if !s.open(ctx) {
			return denied, nil
		}
		p, err := s.probe(ctx, "confirm", rate, longer*s.lasting(rate))
		if err != nil {
			return denied, err
		}
		if p.void {
			continue
		}
		s.votes = append(s.votes, stat.Probe{At: rate, Says: p.says})
		denied = denied || p.says != stat.Undecided && p.says == want[rate]
	}
	return denied, nil
}

// endure probes a low end that is close to what the target completes when it falls behind, or above
// it, for longer: by how little a rate exceeds that shows only in time. Such a probe that misses is
// as good as the two by which the end was shown.
func (s *finder) endure(ctx context.Context, b stat.Bracket) (stat.Bracket, bool, error) {
	if most := s.completed(); most == 0 || b.Low < nearLimit*most || !s.open(ctx) {
		return b, false, nil
	}
	p, err := s.probe(ctx, "endure", b.Low, enduring*s.lasting(b.Low))
	if err != nil || p.void {
		return b, false, err
	}
	for range s.agree() {
		s.votes = append(s.votes, stat.Probe{At: b.Low, Says: p.says})
	}
	b, err = s.narrow(ctx, "search")
	return b, p.says == stat.Refuted, err
}

// agree is by how many probes an end is shown.
func (s *finder) agree() int { return max(s.search.Agree, 2) }

// descend goes once from above the bracket to its low end without a rest: a target that does not
// recover there has a lower limit on the way down than on the way up. The load above is one more
// vote; denied says that it met.
func (s *finder) descend(ctx context.Context, b stat.Bracket) (denied bool, err error) {
	rest := s.rest
	s.rest = 0
	defer func() { s.rest = rest }()
	above := round4(1.1 * b.High)
	if s.search.Most > 0 && above > s.search.Most || !s.open(ctx) {
		return false, nil
	}
	p, err := s.probe(ctx, "descend", above, s.lasting(above))
	if err != nil || p.void {
		return false, err
	}
	s.votes = append(s.votes, stat.Probe{At: above, Says: p.says})
	if p.says != stat.Refuted {
		return p.says == stat.Confirmed, nil
	}
	for try := range 2 {
		if !s.open(ctx) {
			return false, nil
		}
		p, err := s.probe(ctx, "descend", b.Low, s.lasting(b.Low))
		if err != nil || p.void {
			return false, err
		}
		switch {
		case try == 1:
			s.hysteresis(b.Low, above, p.says == stat.Refuted)
		case p.says != stat.Refuted:
			return false, nil
		}
	}
	return false, nil
}

// hysteresis notes that the low end missed after an overload, once or twice in a row.
func (s *finder) hysteresis(low, above float64, twice bool) {
	text := "right after %s one load at %s missed, the next one did not: the target takes its time to recover from an overload"
	if twice {
		text = "hysteresis: right after %s two loads at %s missed, which met on the way up: the target does not recover from an overload by itself, or not at once"
	}
	s.found.Notes = append(s.found.Notes, fmt.Sprintf(text, perSecond(above), perSecond(low)))
}

// probe carries one load out, again while it is void.
func (s *finder) probe(ctx context.Context, phase string, rate float64, lasts time.Duration) (shot, error) {
	var p shot
	for try := range mostVoid {
		if try > 0 && (!s.open(ctx) || !pause(ctx, time.Duration(try)*s.rest)) {
			return p, nil
		}
		l := s.load
		l.Rate, l.For = rate, lasts
		account, err := s.send(ctx, l, s.seed+uint64(len(s.shots)))
		if err != nil {
			return p, err
		}
		p = s.judge(rate, account)
		s.shots = append(s.shots, p)
		s.found.Probes = append(s.found.Probes, s.record(phase, lasts, &p))
		if ctx.Err() != nil || !p.void {
			break
		}
	}
	if len(s.shots) == 1 && p.account.OK == 0 && !p.account.Interrupted {
		s.absent = fmt.Sprintf("no operation of the first load ended ok: %s; is the target there?", worstClass(&p.account))
		return p, nil
	}
	if p.account.TimedOut+p.account.InFlightAtEnd > 0 {
		pause(ctx, max(s.rest, min(s.load.Timeout, 10*s.rest))) // what timed out may still be at work
	} else if p.says == stat.Refuted {
		pause(ctx, s.rest)
	}
	return p, nil
}

// pause reports whether it lasted to its end.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *finder) judge(rate float64, a load.Account) shot {
	p := shot{rate: rate, account: a, void: !a.Valid || a.Interrupted}
	for i := range s.meets {
		p.rulings = append(p.rulings, s.meets[i].rule(&a))
	}
	p.says, _ = verdict(&a, p.rulings)
	if p.void = p.void && !metThoughLate(&a, p.says); p.void {
		p.says = stat.Undecided
	}
	return p
}

// metThoughLate reports whether a load met the conditions whose only flaw is that the generator was
// late itself: its delays are part of the response times and bunch the arrivals, so that they can
// make a rate miss, but not meet. All of the load must have been answered within the window.
func metThoughLate(a *load.Account, says stat.Decision) bool {
	return says == stat.Confirmed && !a.Interrupted && len(a.VoidBy) == 1 && a.VoidBy[0] == assay.GuardVoid("generator") &&
		a.Sent == a.Planned && a.CompletedPerS >= 0.99*a.OfferedPerS
}

func (s *finder) record(phase string, lasts time.Duration, p *shot) report.RateProbe {
	a := &p.account
	r := report.RateProbe{Rate: p.rate, Phase: phase, For: lasts.Seconds(), Planned: a.Planned, Sent: a.Sent, OK: a.OK,
		Offered: a.OfferedPerS, SentPerS: a.SentPerS, Completed: a.CompletedPerS, Errors: lost(a), Values: []report.RateValue{},
		Overload: a.Overload, Says: word(p.says), VoidBy: slices.Clone(a.VoidBy)}
	for i := range p.rulings {
		r.Values = append(r.Values, p.rulings[i].value)
	}
	switch {
	case a.Interrupted:
		r.Says, r.Why = "void", "interrupted"
	case p.void:
		r.Says = "void"
		if len(a.Notes) > 0 {
			r.Why = a.Notes[0]
		}
	default:
		if _, r.Why = verdict(a, p.rulings); !a.Valid {
			r.Why = "met, though the generator was late"
		}
	}
	return r
}
