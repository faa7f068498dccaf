// Package load drives operations at a target and keeps the account of them.
//
// A schedule of intended times is made beforehand from a seed. In an open loop an operation starts
// at its intended time whatever the target does; in a closed loop each of a number of clients
// starts the next one when the last is done. [Run] carries a [Plan] out through a [Driver] and
// returns an [Account]: a ledger in which every planned operation stands exactly once, and
// histograms of response time, service time and lag.
//
// Only this package reads the clock. A driver carries out one operation and says what came of it;
// it does not time, pace, retry or count.
package load
