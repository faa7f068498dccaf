package driver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	assay "github.com/assaybench/assay"
	"github.com/assaybench/assay/load"
)

// A bench is a driver with a real peer. The peer does what the first word of an operation's
// behaviour says, and counts what reached it.
type bench struct {
	driver  load.Driver
	arrived func() int64
}

// behaviours of the peers: "ok" answers, "slow" answers after a long while, "fail" answers that
// something is wrong, "break" breaks off without an answer.
type opener func(t *testing.T, behaviour string) bench

// suite lists every driver; whoever adds one adds a line.
func suite() map[string]opener {
	return map[string]opener{
		"http":    func(t *testing.T, b string) bench { return openHTTP(t, b, "1.1", false) },
		"https":   func(t *testing.T, b string) bench { return openHTTP(t, b, "1.1", true) },
		"http2":   func(t *testing.T, b string) bench { return openHTTP(t, b, "2", false) },
		"https2":  func(t *testing.T, b string) bench { return openHTTP(t, b, "2", true) },
		"unix":    openUnix,
		"process": openProcess,
		"s3":      openStore,
	}
}

// behave serves a behaviour over HTTP.
func behave(behaviour string, arrived *atomic.Int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		switch behaviour {
		case "slow":
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Second):
			}
		case "fail":
			http.Error(w, "no", http.StatusInternalServerError)
		case "shed":
			http.Error(w, "no", http.StatusServiceUnavailable)
		case "break":
			panic(http.ErrAbortHandler)
		default:
			io.WriteString(w, "ok")
		}
	})
}

func serve(t *testing.T, handler http.Handler, l net.Listener, encrypt bool) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	if l != nil {
		s.Listener.Close()
		s.Listener = l
	}
	s.Config.ErrorLog = nil
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetHTTP2(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.EnableHTTP2 = encrypt
	if encrypt {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func open(t *testing.T, l assay.Load) load.Driver {
	t.Helper()
	d, err := New(l, map[string]string{"trial": "7"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

func openHTTP(t *testing.T, behaviour, version string, encrypt bool) bench {
	var arrived atomic.Int64
	s := serve(t, behave(behaviour, &arrived), nil, encrypt)
	d := open(t, assay.Load{HTTP: &assay.HTTPLoad{URL: assay.ParseTemplate(s.URL + "/{trial}"), Version: version, Insecure: encrypt}})
	return bench{driver: d, arrived: arrived.Load}
}

func openUnix(t *testing.T, behaviour string) bench {
	dir, err := os.MkdirTemp("", "assay") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var arrived atomic.Int64
	serve(t, behave(behaviour, &arrived), l, false)
	d := open(t, assay.Load{HTTP: &assay.HTTPLoad{URL: assay.ParseTemplate("http://service.test/"), Unix: path}})
	return bench{driver: d, arrived: arrived.Load}
}

// actAsProgram makes this test binary the peer of the process driver, if its environment says so. It
// notes each operation in a file.
func actAsProgram() bool {
	behaviour, path := os.Getenv("ASSAY_TEST_BEHAVIOUR"), os.Getenv("ASSAY_TEST_ARRIVED")
	if behaviour == "" {
		return false
	}
	notes, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return true
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Fprintln(notes, lines.Text())
		switch behaviour {
		case "slow":
			time.Sleep(5 * time.Second)
		case "fail":
			fmt.Println("status 500")
		case "break":
			return true
		case "nonsense":
			fmt.Println("perhaps")
		default:
			fmt.Println("ok")
		}
	}
	return true
}

func TestMain(m *testing.M) {
	if actAsProgram() {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func openProcess(t *testing.T, behaviour string) bench {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "arrived")
	d := open(t, assay.Load{Process: &assay.Command{
		Args: []assay.Template{assay.ParseTemplate(exe)},
		Env:  []assay.EnvVar{{Name: "ASSAY_TEST_BEHAVIOUR", Value: assay.ParseTemplate(behaviour)}, {Name: "ASSAY_TEST_ARRIVED", Value: assay.ParseTemplate(path)}},
	}})
	return bench{driver: d, arrived: func() int64 {
		b, _ := os.ReadFile(path)
		return int64(strings.Count(string(b), "\n"))
	}}
}

func classOf(err error) load.Class {
	var f *load.Failure
	if errors.As(err, &f) {
		return f.Class
	}
	return 0
}

// each executes a check for every driver.
func each(t *testing.T, behaviour string, check func(*testing.T, bench)) {
	for name, open := range suite() {
		t.Run(name, func(t *testing.T) { check(t, open(t, behaviour)) })
	}
}

func TestEveryOperationArrivesOnce(t *testing.T) {
	each(t, "ok", func(t *testing.T, b bench) {
		const senders, each = 8, 25
		var wg sync.WaitGroup
		for s := range senders {
			wg.Go(func() {
				for i := range each {
					if err := b.driver.Do(t.Context(), load.NewOperation(int64(s*each+i), time.Minute)); err != nil {
						t.Errorf("operation %d: %v", s*each+i, err)
					}
				}
			})
		}
		wg.Wait()
		if got := b.arrived(); got != senders*each {
			t.Errorf("%d operations arrived, want %d", got, senders*each)
		}
		if c := b.driver.Connections(); c.Peak < 1 || c.Peak > senders || c.Opened < c.Peak {
			t.Errorf("got %d connections at once and %d in all, want 1 to %d", c.Peak, c.Opened, senders)
		}
	})
}

func TestAFailureIsReportedOnceAndNotRepeated(t *testing.T) {
	each(t, "fail", func(t *testing.T, b bench) {
		err := b.driver.Do(t.Context(), load.NewOperation(0, time.Minute))
		if classOf(err) != load.Status {
			t.Errorf("got %v, want class status", err)
		}
		if got := b.arrived(); got != 1 {
			t.Errorf("%d operations arrived, want 1", got)
		}
	})
}

func TestABrokenOperationIsNotRepeated(t *testing.T) {
	each(t, "break", func(t *testing.T, b bench) {
		for i := range int64(3) {
			err := b.driver.Do(t.Context(), load.NewOperation(i, time.Minute))
			if c := classOf(err); c != load.Closed && c != load.Reset {
				t.Errorf("operation %d: got %v, want class closed or reset", i, err)
			}
			if got := b.arrived(); got != i+1 {
				t.Fatalf("%d operations arrived, want %d", got, i+1)
			}
		}
	})
}

func TestTheDeadlineEndsAnOperation(t *testing.T) {
	each(t, "slow", func(t *testing.T, b bench) {
		begun := time.Now()
		err := b.driver.Do(t.Context(), load.NewOperation(0, 400*time.Millisecond))
		if classOf(err) != load.TimedOut {
			t.Errorf("got %v, want timed out", err)
		}
		if d := time.Since(begun); d < 350*time.Millisecond || d > 4*time.Second {
			t.Errorf("it took %s, want 400 ms", d)
		}
	})
}

func TestTheEndOfTheContextEndsAnOperation(t *testing.T) {
	each(t, "slow", func(t *testing.T, b bench) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, cancel)
		begun := time.Now()
		if err := b.driver.Do(ctx, load.NewOperation(0, time.Minute)); err == nil {
			t.Error("got no error from an operation that was broken off")
		}
		if d := time.Since(begun); d > 4*time.Second {
			t.Errorf("it took %s to end, want 300 ms", d)
		}
	})
}

func TestProcessAnswersThatMeanNothing(t *testing.T) {
	b := openProcess(t, "nonsense")
	if err := b.driver.Do(t.Context(), load.NewOperation(0, time.Minute)); classOf(err) != load.Protocol {
		t.Errorf("got %v, want class protocol", err)
	}
}

// The two programs of the package's comment.
func TestPluginExamples(t *testing.T) {
	for name, command := range map[string][]string{
		"shell":  {"sh", "-c", "while read n; do if test $((n % 3)) -eq 2; then echo wrong number $n; else echo ok; fi; done"},
		"python": {"python3", "-c", "import sys\nfor line in sys.stdin:\n    n = int(line)\n    print('ok' if n % 3 != 2 else 'wrong number %d' % n, flush=True)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			l := assay.Load{Process: &assay.Command{}}
			for _, a := range command {
				l.Process.Args = append(l.Process.Args, assay.ParseTemplate(a))
			}
			d := open(t, l)
			for i := range int64(6) {
				want := load.Class(0)
				if i%3 == 2 {
					want = load.Wrong
				}
				err := d.Do(t.Context(), load.NewOperation(i, time.Minute))
				if errors.Is(err, os.ErrNotExist) {
					t.Skipf("%s is not installed", command[0])
				}
				if classOf(err) != want {
					t.Errorf("operation %s: got %v, want class %d", strconv.FormatInt(i, 10), err, want)
				}
			}
		})
	}
}
