package load

import (
	"fmt"
	"math"
	"strings"
)

const (
	// remoteChance is how many standard deviations of a fair draw an address may be away from an equal
	// share of the operations: four, which chance exceeds once in 16,000 addresses.
	remoteChance = 4
	// remoteShare is how far off an equal share it may be, as a part of it, however many operations there
	// were: less changes no figure.
	remoteShare = 0.05
)

// remarkRemotes says what each of several addresses behind the target's name got, and whether it was
// less or more than chance explains. Whatever is measured then is mostly one of them.
func (a *Account) remarkRemotes(c Connections) {
	var all, most int64
	shares := make([]string, len(c.Remotes))
	for _, r := range c.Remotes {
		all += r.Operations
	}
	for i, r := range c.Remotes {
		most = max(most, r.Operations)
		shares[i] = fmt.Sprintf("%s %d", r.Address, r.Operations)
	}
	switch {
	case all == 0 || len(c.Remotes) < 2:
	case c.Moves > 0:
		a.note("the name was resolved to other addresses %d times; operations by address: %s", c.Moves, strings.Join(shares, ", "))
	case skewed(c.Remotes, all):
		a.note("skew: the %d addresses behind the name got unequal shares of the operations: %s; %.0f%% of what was measured is one of them, an equal share is %.0f%%", len(c.Remotes), strings.Join(shares, ", "), 100*float64(most)/float64(all), 100/float64(len(c.Remotes)))
	default:
		a.note("the %d addresses behind the name got equal shares of the operations: %s", len(c.Remotes), strings.Join(shares, ", "))
	}
}

// skewed reports whether an address is off its equal share beyond chance (normal approximation of the
// binomial distribution) and by a part that matters.
func skewed(remotes []Remote, all int64) bool {
	p := 1 / float64(len(remotes))
	equal := float64(all) * p
	limit := max(remoteChance*math.Sqrt(equal*(1-p)), remoteShare*equal)
	for _, r := range remotes {
		if math.Abs(float64(r.Operations)-equal) > limit {
			return true
		}
	}
	return false
}
