// Package report prints what a results folder says: for a person in a terminal ([Text]), as one
// self-contained page ([HTML]), and for other programs ([CSV], [Benchfmt], [Markdown], [JUnit],
// [Hyperfine]). It also words the answers of the verbs without a file ([CompareText], [LoadText]).
//
// It computes no statistics. Medians, intervals and verdicts arrive in [Findings]; what is done
// here is choosing units, digits and words. The same Findings give the same bytes: nothing reads
// a clock, and no order comes from a map.
package report
