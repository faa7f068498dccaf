// Package stat holds the statistics that assay judges by, as pure functions: no clock, no files, and
// no randomness without a seed, so that the same numbers in give the same numbers out.
//
// The package prefers exact, distribution-free methods, because a block count is small, noise of
// performance figures is neither normal nor symmetric, and a verdict must not lean on an assumption
// nobody can check:
//
//   - medians with sign-test intervals, and everything built on them (equivalence, trend, line, knee);
//   - quantiles by exact binomial ranks, refused below the count that supports them;
//   - decisions on a share of operations by exact binomial bounds.
//
// Around them stand the checks that void a figure rather than produce one: steady state (MSER-5,
// PELT), autocorrelation, modes (Hartigan's dip, gaps between trials), arrival conformance
// (Anderson-Darling), lack of fit.
//
// # Values
//
// Plus and minus infinity are values: a crashed trial enters its block as worse than any number. NaN
// is not a value: what is computed from one is NaN, or is refused with ok false.
//
// Where nothing can be said the answer is one that claims nothing: an interval from -Inf to +Inf with
// ok false, a rank of 0, a p value of NaN (no comparison with NaN holds), a count that cannot be
// reached.
package stat
