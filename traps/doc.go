// Package traps holds situations in which a clean-looking number is wrong, each with a known truth: a
// small real server or a recorded input, the command or experiment that a user would write, and what
// must be said unasked, with defaults. Every case has a clean twin, which differs in the trap alone
// and about which nothing must be said, and draws its rates, sizes and times from a seed, so that the
// kind is caught and not the instance.
//
// A case is a [Case] in a slice of its own file group; [Cases] joins the groups.
package traps
