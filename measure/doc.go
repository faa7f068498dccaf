// Package measure turns the records of one trial into one number.
//
// Three kinds of records are read: the output of a command ([Declared]), the measures that stand in
// the trial's own line, and the histograms and readings in its folder ([Resolved.Of]). A fourth, the
// readings of a trial that is still going on, is judged over a window by kill rules ([Window]).
//
// Everything is a pure function of what is handed in. A figure that its records cannot support is an
// error and never a number: [ErrAbsent] where nothing was recorded, [ErrTooFew] where a quantile has
// too few operations under it.
package measure
