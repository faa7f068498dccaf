// Package store is the two object stores of the study, the client that speaks to them, and the seeding
// that fills them.
//
// The stores are versitygw over a folder, a program of its own, and gofakes3 in memory: two independent
// servers, so that equal hashes say something. The client signs its requests, retries nothing, bounds its
// connections and counts bytes twice: what the HTTP library hands over, and what came through the
// connections.
package store
