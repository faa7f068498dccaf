// Package link is the network between reader and store as a factor: a round trip and a bandwidth that
// an experiment can set, measure and count bytes on, on a machine whose kernel cannot delay packets.
//
// It relays TCP. The delay is Toxiproxy's latency toxic on the way back, so that one request and its
// answer take the round trip once; connecting is not delayed. The bandwidth is not Toxiproxy's: its
// toxic limits every connection by itself, so that eight of them would have eight links. Here all
// connections of a [Path] share one pace, as they share a cable.
package link
