package driver

import (
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/assaybench/assay/load"
)

// remotes are the addresses that a name stood for, each with the operations that went to it.
type remotes struct {
	mu    sync.Mutex
	list  []*remote
	last  []string // that the last resolution gave, sorted
	moves int      // resolutions whose addresses were not those of the one before
}

// A remote is one address.
type remote struct {
	address    string
	operations atomic.Int64
}

// resolved takes note of the addresses that a resolution gave, as far as they are used.
func (r *remotes) resolved(addresses []string) {
	addresses = slices.Sorted(slices.Values(addresses))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && !slices.Equal(addresses, r.last) {
		r.moves++
	}
	r.last = addresses
}

// of is the counter of a connection's address.
func (r *remotes) of(nc net.Conn) *remote { return r.at(nc.RemoteAddr().String()) }

func (r *remotes) at(address string) *remote {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.list {
		if known.address == address {
			return known
		}
	}
	known := &remote{address: address}
	r.list = append(r.list, known)
	return known
}

// count is how many addresses the name stands for.
func (r *remotes) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.last)
}

// several reports whether these are more than one.
func (r *remotes) several() bool { return r.count() > 1 }

// into adds to what is said of the connections where there was more than one address.
func (r *remotes) into(c load.Connections) load.Connections {
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	for _, address := range last {
		r.at(address) // an address that got nothing counts as well
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.list) < 2 {
		return c
	}
	c.Moves, c.Remotes = r.moves, nil
	for _, known := range r.list {
		c.Remotes = append(c.Remotes, load.Remote{Address: known.address, Operations: known.operations.Load()})
	}
	slices.SortFunc(c.Remotes, func(a, b load.Remote) int { return strings.Compare(a.Address, b.Address) })
	return c
}
