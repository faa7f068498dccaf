package traps

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"
)

// A Stub is a server of known behaviour. The zero Stub answers at once.
type Stub struct {
	Service time.Duration // of one request
	Slots   int           // requests served at once; others wait in order; 0: all of them
	// Frozen, when set, says until when nothing at all is answered, on the clock since Started.
	Freeze, Thaw time.Duration
	// Shed is the share of requests answered at once by status 429; Hang that of requests without an
	// answer for as long as their client waits. Both are spread evenly: 0.7 is 7 of 10.
	Shed, Hang float64
	// Cache answers a body that it has seen before in no time.
	Cache bool

	once    sync.Once
	slots   chan struct{}
	mu      sync.Mutex
	began   time.Time
	arrived int
	seen    map[string]bool
}

// Arrived is the number of requests that have arrived.
func (s *Stub) Arrived() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrived
}

// ServeHTTP answers one request.
func (s *Stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.once.Do(func() {
		s.began, s.seen = time.Now(), map[string]bool{}
		if s.Slots > 0 {
			s.slots = make(chan struct{}, s.Slots)
		}
	})
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	n, cached := s.enter(body)
	switch {
	case every(n, s.Shed):
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case every(n, s.Hang):
		<-r.Context().Done()
		return
	case cached:
		return
	}
	if s.slots != nil {
		s.slots <- struct{}{}
		defer func() { <-s.slots }()
	}
	s.work()
}

// work takes the service time, and until the thaw if that falls into the freeze.
func (s *Stub) work() {
	done := time.Now().Add(s.Service)
	if at := done.Sub(s.began); at > s.Freeze && at < s.Thaw {
		done = s.began.Add(s.Thaw)
	}
	time.Sleep(time.Until(done))
}

// enter counts a request and says whether its body was seen before.
func (s *Stub) enter(body []byte) (n int, cached bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := string(bytes.TrimSpace(body))
	cached = s.Cache && s.seen[key]
	s.seen[key] = true
	s.arrived++
	return s.arrived, cached
}

// every reports whether the nth of a series belongs to an evenly spread share of it.
func every(n int, share float64) bool { return int(float64(n)*share) != int(float64(n-1)*share) }
