// Package grade judges: from the registered experiment and the recorded trials it says which trial
// comes next, what each hypothesis came to, and what must not be quoted.
//
// Everything is a pure function of the records: no clock, no files but those handed in, no
// randomness without a seed. The same folder gives the same verdicts, byte for byte.
//
//  1. [Schedule] replays the log of trials: which block stands for which, what is torn, what is
//     repeated, what is skipped, what comes next.
//  2. A column holds what every trial gives for one measure, failed and killed trials included.
//  3. Each kind of hypothesis turns columns into findings, one a matching cell, each with its
//     interval and its own status.
//  4. Findings are combined: a claim must hold in every matching cell.
//
// # The order of checks
//
// The first that applies is the verdict. No step returns PASS unless an interval lies wholly inside
// the claim, and each of the steps before it is passed.
//
//	UNTESTED  not-testable-here  a matching cell is absent on this machine
//	VOID      confounded         the sides differ in more than one term
//	UNTESTED  vacuous            no trial was recorded at all
//	UNTESTED  not-testable-here  needs does not hold here
//	VOID      cross-session      the two sides stand in different sessions
//	UNDECIDED incomplete         the plan is not done
//	VOID      instrument         the known delay did not move the figure, or twins differ
//	VOID      no-effect          the level did not take effect
//	VOID      guard:NAME         voids left too few blocks
//	VOID      ceiling            the figure is above what is possible
//	UNTESTED  vacuous            a side without a number, or nothing that could have differed
//	VOID      regimes            the median would be of two regimes (value)
//	UNDECIDED unequal-voids      one side lost more trials than the other
//	UNDECIDED underpowered       too few blocks for an interval
//	UNTESTED  censored           killed, bounded or unknown trials decide the verdict
//	UNTESTED  axis-edge          the bracket ends at the edge of the axis (knee, highest)
//	UNTESTED  axis-gap           the bound lies between neighbouring levels (knee, highest)
//	UNDECIDED straddles          what was found holds allowed and other values
//	FAIL      contradicted       all that was found lies outside the claim
//	PASS      holds              all that was found lies inside the claim
//	UNDECIDED underpowered       estimate and bound lie nearer to each other than the A/A twins
//
// Over several matching cells FAIL outranks VOID, VOID outranks UNTESTED, UNTESTED outranks
// UNDECIDED, and PASS needs all of them.
package grade
