// Package leak is two clients that differ in one line: one closes the connections that its peer has
// closed, the other forgets them. The forgotten ones stay half-closed (CLOSE_WAIT) and keep their places
// in the pool, so that the first pass over the files is fine and the second one runs out of places and
// waits for ever. The limit of files in flight has nothing to do with it.
//
// A client is a process that lives on from pass to pass, as a service does; a pass is a command of its
// own that asks it to read and passes its progress on.
package leak
