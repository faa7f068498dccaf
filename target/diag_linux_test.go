package target

import (
	"net"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What netlink says of listeners is what /proc says: of both families, of several on one port, and not
// of connections.
func TestListenersByNetlinkAreThoseOfProc(t *testing.T) {
	for _, c := range []struct {
		family          byte
		network, listen string
		table           string
	}{{unix.AF_INET, "tcp4", "127.0.0.1:0", "/proc/net/tcp"}, {unix.AF_INET6, "tcp6", "[::1]:0", "/proc/net/tcp6"}} {
		l, err := net.Listen(c.network, c.listen)
		if err != nil {
			t.Logf("not tested: %s: %v", c.network, err)
			continue
		}
		port := l.Addr().(*net.TCPAddr).Port
		conn, err := net.Dial(c.network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		got, err := asked(c.family, port)
		if err != nil {
			t.Skipf("skipped: no sock_diag here: %v", err)
		}
		if want := listening(c.table, port); len(got) != 1 || !slices.Equal(got, want) {
			t.Errorf("%s: netlink says %v, %s says %v", c.network, got, c.table, want)
		}
		conn.Close()
		l.Close()
		if got, err := asked(c.family, port); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v on a port on which nobody listens", c.network, got, err)
		}
	}
}

func TestTornAnswersOfNetlink(t *testing.T) {
	var inodes []string
	for _, b := range []string{"", "short", strings.Repeat("\xff", 40), "\x14\x00\x00\x00\x02\x00" + strings.Repeat("\x00", 14), "\x10\x00\x00\x00\x02\x00" + strings.Repeat("\x00", 10)} {
		_, _ = diagMessages([]byte(b), 80, &inodes) // must not panic
	}
	if len(inodes) != 0 {
		t.Errorf("inodes %v of nothing", inodes)
	}
}

func BenchmarkListeners(b *testing.B) {
	for b.Loop() {
		sockets(80)
	}
}
