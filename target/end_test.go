package target

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assaybench/assay"
)

// marker is an argument that only the processes of one test have.
func marker(t *testing.T) string {
	return t.Name() + "-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
}

func TestNothingIsLeft(t *testing.T) {
	for _, tt := range []struct {
		role     string
		cap      time.Duration
		outcome  assay.Outcome
		leftover int
	}{
		{"exit", 0, assay.OK, 2},
		{"stay", 400 * time.Millisecond, assay.Capped, 0},
	} {
		t.Run(tt.role, func(t *testing.T) {
			m := marker(t)
			inv, out := invocation(t, os.Args[0], "workload", "stubborn", m, tt.role)
			inv.Cap = tt.cap
			exit := execute(t, inv)
			if found := left(m); len(found) > 0 {
				t.Errorf("left: %s", strings.Join(found, "; "))
			}
			if exit.Outcome != tt.outcome || exit.Leftover != tt.leftover {
				t.Errorf("got %s with %d left over, want %s with %d", exit.Outcome, exit.Leftover, tt.outcome, tt.leftover)
			}
			for _, role := range []string{tt.role, "child", "daemon"} {
				if !strings.Contains(out(), "up "+role) {
					t.Errorf("the %s never stood: the test tested nothing", role)
				}
			}
		})
	}
}
