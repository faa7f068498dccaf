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
//	UNTESTED  not-testable-here  a matching cell is absent on this machine, or needs is false
//	VOID      confounded         the sides differ in more than one term
//	VOID      instrument         the known delay did not move the figure
//	UNTESTED  vacuous            no trial was recorded at all
//	VOID      cross-session      the two sides stand in different sessions
//	UNDECIDED incomplete         the plan is not done
//	VOID      no-effect          the level did not take effect
//	VOID      guard:NAME         voids left too few trials
//	VOID      ceiling            the figure is above what is possible
//	UNTESTED  vacuous            a side without a number, or nothing that could differ
//	VOID      regimes            the median would be of two regimes
//	UNDECIDED unequal-voids      one side lost more trials than the other
//	UNDECIDED underpowered       too few blocks for an interval
//	UNTESTED  censored           killed trials decide the verdict
//	UNDECIDED straddles          the interval holds allowed and other values
//	FAIL      contradicted       the interval is wholly outside the claim
//	PASS      holds              the interval is wholly inside the claim
//
// Over several matching cells FAIL outranks VOID, VOID outranks UNTESTED, UNTESTED outranks
// UNDECIDED, and PASS needs all of them.
package grade
