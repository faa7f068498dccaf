// Package machine says what the trials are executed on: a fingerprint that is stable over a
// session, ceilings measured on the spot, and a journal of what was changed on the machine.
//
// It reads /proc and /sys of Linux. What is not there is left out of the fingerprint; nothing is
// guessed and nothing is written as zero.
package machine
