package store

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
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/assaybench/assay/studies/object-ends/corpus"
)

// A gate stands before a real store: it counts what is put, and refuses all puts after some.
type gate struct {
	store   http.Handler
	puts    atomic.Int64
	bytes   atomic.Int64 // of objects put
	allowed atomic.Int64 // puts; negative is all
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		if n := g.puts.Add(1); g.allowed.Load() >= 0 && n > g.allowed.Load() {
			http.Error(w, "no more", http.StatusServiceUnavailable)
			return
		}
		if strings.Contains(r.URL.Path, "/objects/") {
			g.bytes.Add(r.ContentLength)
		}
	}
	g.store.ServeHTTP(w, r)
}

// memory returns a client of a store in memory that lives as long as the test.
func memory(t *testing.T) (*Client, *gate) {
	t.Helper()
	g := &gate{store: gofakes3.New(s3mem.New()).Server()}
	g.allowed.Store(-1)
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	client, err := NewClient(server.URL, StudyKeys(), 8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, g
}

func smallCorpus(t *testing.T, objects int) corpus.Corpus {
	t.Helper()
	tier, err := corpus.TierNamed("small")
	if err != nil {
		t.Fatal(err)
	}
	return corpus.Corpus{Seed: 42, Tier: tier, Objects: objects}
}

// A seeding that was interrupted goes on where it stopped: each object's bytes are sent once, however
// many runs it takes, and one more run sends nothing.
func TestSeedingGoesOnWhereItStopped(t *testing.T) {
	client, g := memory(t)
	c := smallCorpus(t, 60)
	g.allowed.Store(25)
	first, err := Seed(t.Context(), client, c)
	var refusal *StatusError
	if !errors.As(err, &refusal) || refusal.Status != http.StatusServiceUnavailable {
		t.Fatalf("got %v, want the store's refusal", err)
	}
	if first.Written == 0 || first.Written >= c.Objects {
		t.Fatalf("got %d written before the interruption, want some", first.Written)
	}
	g.allowed.Store(-1)
	second, err := Seed(t.Context(), client, c)
	if err != nil {
		t.Fatal(err)
	}
	if second.Present != first.Written || second.Written != c.Objects-first.Written {
		t.Errorf("got %+v after %+v", second, first)
	}
	var want int64
	for _, entry := range c.Manifest() {
		want += entry.Size
	}
	if got := g.bytes.Load(); got != want || first.Bytes+second.Bytes != want {
		t.Errorf("got %d bytes sent (%d and %d said), want each once: %d", got, first.Bytes, second.Bytes, want)
	}
	third, err := Seed(t.Context(), client, c)
	if err != nil {
		t.Fatal(err)
	}
	if third.Written != 0 || g.bytes.Load() != want {
		t.Errorf("got %+v, want nothing written again", third)
	}
}

// The manifest is there before any object is.
func TestManifestComesFirst(t *testing.T) {
	client, g := memory(t)
	g.allowed.Store(2) // the bucket and one object more
	if _, err := Seed(t.Context(), client, smallCorpus(t, 10)); err == nil {
		t.Fatal("got no error of a store that refuses")
	}
	objects, err := client.List(t.Context(), "corpus-small")
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 1 || objects[0].Key != corpus.ManifestKey {
		t.Errorf("got %+v, want the manifest alone", objects)
	}
}

func TestVerifyNamesWhatIsWrong(t *testing.T) {
	c := smallCorpus(t, 5)
	for _, tc := range []struct {
		name, key string
		content   []byte
		want      string
	}{
		{"right size, a wrong byte", corpus.Key(3), flipped(c, 3), "objects/0000/00000003.bin: got MD5"},
		{"another object", corpus.Key(1), c.Object(0, nil), "objects/0000/00000001.bin: got MD5"},
		{"short", corpus.Key(2), c.Object(2, nil)[:99], "objects/0000/00000002.bin: got 99 bytes, want"},
		{"a stranger", "objects/0000/stranger.bin", []byte{1}, "stranger.bin: not of the corpus"},
		{"another manifest", corpus.ManifestKey, []byte("{}"), "manifest.jsonl: got 2 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			client, _ := memory(t)
			if _, err := Seed(t.Context(), client, c); err != nil {
				t.Fatal(err)
			}
			if err := client.Put(t.Context(), c.Bucket(), tc.key, tc.content); err != nil {
				t.Fatal(err)
			}
			if err := Verify(t.Context(), client, c); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q in it", err, tc.want)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		client, _ := memory(t)
		if _, err := Seed(t.Context(), client, c); err != nil {
			t.Fatal(err)
		}
		more := smallCorpus(t, 6)
		if err := Verify(t.Context(), client, more); err == nil || !strings.Contains(err.Error(), "00000005.bin: missing") {
			t.Errorf("got %v, want the missing one named", err)
		}
	})
}

func flipped(c corpus.Corpus, id uint64) []byte {
	b := c.Object(id, nil)
	b[len(b)/2] ^= 1
	return b
}

// A listing of more than a page is whole.
func TestListingsGoOverPages(t *testing.T) {
	client, _ := memory(t)
	if err := client.CreateBucket(t.Context(), "many"); err != nil {
		t.Fatal(err)
	}
	for i := range 1100 {
		if err := client.Put(t.Context(), "many", fmt.Sprintf("k%04d", i), []byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := client.List(t.Context(), "many")
	if err != nil {
		t.Fatal(err)
	}
	for i, object := range objects {
		if want := fmt.Sprintf("k%04d", i); object.Key != want || object.Size != 1 {
			t.Fatalf("got %+v at %d, want %s", object, i, want)
		}
	}
	if len(objects) != 1100 {
		t.Errorf("got %d objects, want 1100", len(objects))
	}
}

// Ranges are exact, and both counts of bytes agree to the byte.
func TestRangesAndCounters(t *testing.T) {
	client, _ := memory(t)
	c := smallCorpus(t, 3)
	if _, err := Seed(t.Context(), client, c); err != nil {
		t.Fatal(err)
	}
	counters := &client.Counters
	body, library, wire := counters.Body.Load(), counters.Body.Load()+counters.Heads.Load(), counters.Wire.Load()
	file := c.Object(2, nil)
	for _, span := range [][2]int64{{0, 1}, {0, corpus.End}, {18124, 4}, {c.Size(2) - corpus.End, corpus.End}, {0, c.Size(2)}} {
		sent, done := 0, 0
		b, err := client.Range(t.Context(), c.Bucket(), corpus.Key(2), span[0], span[1], nil, Watch{Sent: func() { sent++ }, Done: func() { done++ }})
		if err != nil {
			t.Fatal(err)
		}
		if string(b) != string(file[span[0]:span[0]+span[1]]) || sent != 1 || done != 1 {
			t.Errorf("span %v: got other bytes, or sent %d and done %d times", span, sent, done)
		}
		body += span[1]
	}
	if size, err := client.Size(t.Context(), c.Bucket(), corpus.Key(2), Watch{}); err != nil || size != c.Size(2) {
		t.Errorf("got size %d, %v", size, err)
	}
	if got := counters.Body.Load(); got != body {
		t.Errorf("got %d bytes of bodies, want %d", got, body)
	}
	library, wire = counters.Body.Load()+counters.Heads.Load()-library, counters.Wire.Load()-wire
	if library != wire {
		t.Errorf("the library handed %d bytes over, %d came through the connections", library, wire)
	}
	var status *StatusError
	if _, err := client.Range(t.Context(), c.Bucket(), "nothing", 0, 1, nil, Watch{}); !errors.As(err, &status) || status.Status != 404 {
		t.Errorf("got %v, want 404", err)
	}
	if _, err := client.Range(t.Context(), c.Bucket(), corpus.Key(2), c.Size(2)-10, 20, nil, Watch{}); err == nil {
		t.Error("a range beyond the end was given in full")
	}
}

// The library tries again on a kept connection that turns out to be closed. That shows.
func TestRetriesOfTheLibraryAreCounted(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() { // answers each connection's first request and closes upon the second
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				requests := bufio.NewReader(conn)
				if _, err := http.ReadRequest(requests); err != nil {
					return
				}
				_, _ = io.WriteString(conn, "HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n\r\nok")
				_, _ = http.ReadRequest(requests)
			}()
		}
	}()
	client, err := NewClient("http://"+listener.Addr().String(), StudyKeys(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 2 {
		if b, err := client.Range(t.Context(), "b", "k", 0, 2, nil, Watch{}); err != nil || string(b) != "ok" {
			t.Fatalf("got %q, %v", b, err)
		}
	}
	if got := client.Counters.Retries.Load(); got != 1 {
		t.Errorf("got %d retries, want 1", got)
	}
}

// A program that is there answers signed requests, refuses wrong signatures, and ends when told to.
func TestGateway(t *testing.T) {
	if _, err := GatewayPath(); err != nil {
		t.Skip("versitygw:", err, "(go run ./object-ends install builds it)")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	stop, err := StartGateway(t.Context(), address, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	client, err := NewClient("http://"+address, StudyKeys(), 8)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Seed(t.Context(), client, smallCorpus(t, 10)); err != nil {
		t.Error(err)
	}
	if dials := client.Counters.Dials.Load(); dials > putsInFlight {
		t.Errorf("got %d connections, want them kept", dials)
	}
	stranger, err := NewClient("http://"+address, Keys{"objectends", "another-secret"}, 8)
	if err != nil {
		t.Fatal(err)
	}
	var status *StatusError
	if _, err := stranger.Get(t.Context(), "corpus-small", corpus.ManifestKey); !errors.As(err, &status) || status.Status != 403 {
		t.Errorf("got %v, want 403 for a wrong secret", err)
	}
	stop()
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("the store goes on after its end")
	}
}

// A tied program ends with the process that started it, even when that is killed.
func TestTiedProgramsEndWithTheirParent(t *testing.T) {
	parent := exec.Command(os.Args[0], "-test.run=^$")
	parent.Env = append(os.Environ(), "STORE_TEST_PARENT=1")
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for range 500 {
		if gone(child) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d goes on after its parent", child)
	_ = syscall.Kill(child, syscall.SIGKILL)
}

// gone reports whether a process has ended, waited for or not.
func gone(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(status), ") ")
	return strings.HasPrefix(rest, "Z")
}

func TestMain(m *testing.M) {
	if os.Getenv("STORE_TEST_PARENT") == "" {
		os.Exit(m.Run())
	}
	child := exec.CommandContext(context.Background(), "sleep", "60")
	wait, err := StartTied(child)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(child.Process.Pid)
	_ = wait()
}
