package reader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assaybench/assay/studies/object-ends/corpus"
	"github.com/assaybench/assay/studies/object-ends/store"
)

// TestMain lets the test be the program whose verb read the processes of V5 are.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "read" {
		os.Exit(m.Run())
	}
	var setting Setting
	flags := flag.NewFlagSet("read", flag.ExitOnError)
	setting.Flags(flags)
	_ = flags.Parse(os.Args[2:])
	if err := Read(context.Background(), &setting, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A subject is a seeded store that is read.
type subject struct {
	endpoint string
	corpus   corpus.Corpus
	client   *store.Client
}

// seeded starts a store in memory and fills it.
func seeded(t *testing.T, objects int) subject {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- store.ServeMemory(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return fill(t, "http://"+listener.Addr().String(), objects)
}

func fill(t testing.TB, endpoint string, objects int) subject {
	t.Helper()
	tier, err := corpus.TierNamed("small")
	if err != nil {
		t.Fatal(err)
	}
	client, err := store.NewClient(endpoint, store.StudyKeys(), 8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	c := corpus.Corpus{Seed: 42, Tier: tier, Objects: objects}
	if _, err := store.Seed(t.Context(), client, c); err != nil {
		t.Fatal(err)
	}
	return subject{endpoint, c, client}
}

// read runs the reader with the flags and returns its last line, what it said on stderr, and its error.
func (s subject) read(t *testing.T, args string) (Tally, string, error) {
	t.Helper()
	setting := flagged(t, append([]string{"--endpoint", s.endpoint, "--bucket", "corpus-small"}, strings.Fields(args)...)...)
	var stdout, stderr bytes.Buffer
	failure := Read(t.Context(), setting, &stdout, &stderr)
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	var tally Tally
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &tally); err != nil && failure == nil {
		t.Fatalf("last line %q: %v", lines[len(lines)-1], err)
	}
	return tally, stderr.String(), failure
}

func (s subject) footers() int64 {
	var n int64
	for _, entry := range s.corpus.Manifest() {
		if entry.HasFooter {
			n++
		}
	}
	return n
}

// variants are the readers of the study, by their flags.
func variants() []string {
	return []string{
		"--read whole --sizes head --fetch serial --inflight 1",
		"--read whole --readahead 1000 --inflight 2",
		"--read ends --sizes head --fetch serial --inflight 1",
		"--read ends --sizes manifest --fetch serial --inflight 1",
		"--read ends --sizes manifest --fetch parallel --inflight 1",
		"--read ends --sizes head --fetch parallel --inflight 3",
		"--inflight 8 --buffer 2",
		"--inflight 8 --writers 3",
		"--inflight 2 --processes 3",
		"--inflight 4 --passes 2",
	}
}

// All variants arrive at the hash that the generator has without any store, in both schemas; and so they
// do on another day and on the second store, which shares no code with the first.
func TestEveryVariantArrivesAtTheOracle(t *testing.T) {
	const objects = 60
	stores := map[string]subject{"gofakes3": seeded(t, objects)}
	if _, err := store.GatewayPath(); err != nil {
		t.Log("not on versitygw:", err, "(go run ./object-ends install builds it)")
	} else {
		stores["versitygw"] = fill(t, gateway(t), objects)
	}
	for name, s := range stores {
		for _, schema := range []corpus.Schema{corpus.Scalar, corpus.Full} {
			want := s.corpus.Oracle(schema, objects)
			for _, variant := range variants() {
				t.Run(fmt.Sprintf("%s %s %s", name, schema, variant), func(t *testing.T) {
					tally, stderr, err := s.read(t, variant+" --schema "+string(schema))
					if err != nil {
						t.Fatal(err, stderr)
					}
					if tally.SHA256 != want || !tally.Gate.Passed || tally.Gate.Rows != objects {
						t.Errorf("got %s and gate %+v, want %s", tally.SHA256, tally.Gate, want)
					}
					if tally.BytesClient != tally.BytesWire {
						t.Errorf("the library handed %d bytes over, %d came through the connections", tally.BytesClient, tally.BytesWire)
					}
					if tally.Retries != 0 || tally.DeadLetters != 0 || tally.Wall <= 0 || tally.RSSPeak <= 0 || tally.GetP50 <= 0 {
						t.Errorf("got %+v", tally)
					}
				})
			}
		}
	}
}

// gateway starts versitygw for the test and returns its endpoint.
func gateway(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	stop, err := store.StartGateway(t.Context(), address, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return "http://" + address
}

// Each variant sends the requests, and fetches the bytes, that its definition says.
func TestVariantsSendWhatTheyAreDefinedBy(t *testing.T) {
	const n = 60
	s := seeded(t, n)
	footers := s.footers()
	var all int64
	for _, entry := range s.corpus.Manifest() {
		all += entry.Size
	}
	ends := n*corpus.End + footers*corpus.End
	for _, tc := range []struct {
		name, args      string
		head, get, body int64
	}{
		{"V1", "--read whole --sizes head --fetch serial --inflight 1", n, n, all},
		{"V1 reading 1 KiB ahead", "--read whole --readahead 1024 --sizes head --fetch serial --inflight 1", n, n + footers, ends + n*1024},
		{"V2", "--sizes head --fetch serial --inflight 1", n, n + footers, ends},
		{"V2 with manifest", "--fetch serial --inflight 1", 0, n + footers, ends},
		{"V2 with manifest, in parallel", "--inflight 1", 0, n + footers, ends},
		{"tails unseen", "--sizes head --inflight 1", n, 2 * n, 2 * n * corpus.End},
		{"V3", "--inflight 4", 0, n + footers, ends},
		{"V4", "--inflight 4 --writers 2", 0, n + footers, ends},
		{"V5", "--inflight 4 --processes 2", 0, n + footers, ends},
		{"twice", "--passes 2", 0, 2 * (n + footers), 2 * ends},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tally, _, err := s.read(t, tc.args)
			if err != nil {
				t.Fatal(err)
			}
			if tally.Head != tc.head || tally.Get != tc.get || tally.BytesBody != tc.body {
				t.Errorf("got %d HEAD, %d GET, %d bytes; want %d, %d, %d",
					tally.Head, tally.Get, tally.BytesBody, tc.head, tc.get, tc.body)
			}
		})
	}
}

// Each planted fault is found: by the gate, or by the two counts of bytes.
func TestPlantedFaultsAreFound(t *testing.T) {
	s := seeded(t, 60)
	for _, variant := range []string{"--inflight 4", "--sizes head --fetch serial", "--processes 2", "--read whole --sizes head", "--writers 2"} {
		for fault, want := range map[string]string{SkipRows: "file 7: missing", PixelsAsFooter: "has_footer differs"} {
			tally, _, err := s.read(t, variant+" --fault "+fault)
			if !errors.Is(err, ErrGate) || tally.Gate.Passed || !strings.Contains(tally.Gate.FirstMismatch, want) {
				t.Errorf("%s, %s: got %v and gate %+v", fault, variant, err, tally.Gate)
			}
			if tally.Rate <= 0 || tally.SHA256 == s.corpus.Oracle(corpus.Scalar, 60) {
				t.Errorf("%s, %s: the wrong rows are not said, or hash like right ones", fault, variant)
			}
		}
	}
	tally, _, err := s.read(t, "--fault "+CountRequested)
	if err != nil {
		t.Fatalf("rows are right, only bytes are miscounted: %v", err)
	}
	if tally.BytesWire < 2*tally.BytesClient {
		t.Errorf("got %d bytes said and %d on the wire, want them far apart", tally.BytesClient, tally.BytesWire)
	}
}

// A pool of 10 caps 64 files in flight, and what was achieved says so; a pool that suffices does not cap.
func TestPoolCapShows(t *testing.T) {
	s := seeded(t, 200)
	tally, _, err := s.read(t, "--inflight 64 --pool 10")
	if err != nil {
		t.Fatal(err)
	}
	if tally.InFlightPeak > 10 || tally.InFlightPeak < 2 || tally.Dials > 10 {
		t.Errorf("got a peak of %d in flight over %d connections, want at most the pool of 10", tally.InFlightPeak, tally.Dials)
	}
	tally, _, err = s.read(t, "--inflight 16")
	if err != nil {
		t.Fatal(err)
	}
	if tally.InFlightPeak != 16 {
		t.Errorf("got a peak of %d in flight, want 16", tally.InFlightPeak)
	}
}

// The end mark is given once and seen once by each writer.
func TestExactlyOneEndMark(t *testing.T) {
	s := seeded(t, 30)
	for args, want := range map[string]int64{
		"--inflight 1": 1, "--inflight 16 --buffer 1": 1, "--inflight 64 --buffer 1000": 1,
		"--writers 3": 3, "--processes 2": 2, "--passes 3": 3, "--limit 1 --inflight 8": 1,
	} {
		tally, _, err := s.read(t, args)
		if err != nil || tally.EndMarks != want {
			t.Errorf("%s: got %d end marks (%v), want %d", args, tally.EndMarks, err, want)
		}
	}
}

// A small buffer bounds the rows that are held; a large one lets the fetchers finish long before the
// writer, which the depth over time shows.
func TestBufferBoundsRows(t *testing.T) {
	const n = 120
	s := seeded(t, n)
	small, _, err := s.read(t, "--inflight 4 --buffer 5 --throttle 4ms")
	if err != nil {
		t.Fatal(err)
	}
	if most := int64(5 + 4 + 1); small.RowsPeak > most {
		t.Errorf("got %d rows held, want at most buffer, fetchers and writer: %d", small.RowsPeak, most)
	}
	large, _, err := s.read(t, "--inflight 4 --buffer 1000 --throttle 4ms --schema full")
	if err != nil {
		t.Fatal(err)
	}
	if large.RowsPeak < n/2 || large.Drain < large.Fill {
		t.Errorf("got %d rows held, filled in %d ns and drained in %d; want most rows held and a long draining",
			large.RowsPeak, large.Fill, large.Drain)
	}
	if large.RowBytesPeak < large.RowsPeak*20_000 {
		t.Errorf("got %d bytes in %d rows, want heavy rows", large.RowBytesPeak, large.RowsPeak)
	}
	deepest := slices.MaxFunc(large.Depth, func(a, b Depth) int { return a.Rows - b.Rows })
	if len(large.Depth) < 3 || deepest.Rows < n/3 || large.Depth[len(large.Depth)-1].Rows >= deepest.Rows {
		t.Errorf("got depths %+v, want them to rise and to sink", large.Depth)
	}
}

// A file that cannot be read is a dead letter: said, counted, and the end of the run's standing.
func TestDeadLetters(t *testing.T) {
	for name, content := range map[string]func(corpus.Corpus) []byte{
		"short":         func(c corpus.Corpus) []byte { return c.Object(5, nil)[:corpus.End+100] },
		"another magic": func(c corpus.Corpus) []byte { b := c.Object(5, nil); b[0]++; return b },
		"another file":  func(c corpus.Corpus) []byte { return c.Object(6, nil) },
	} {
		for _, variant := range []string{"--inflight 4", "--sizes head --fetch serial", "--read whole --sizes head", "--processes 2"} {
			t.Run(name+" "+variant, func(t *testing.T) {
				s := seeded(t, 20)
				if err := s.client.Put(t.Context(), s.corpus.Bucket(), corpus.Key(5), content(s.corpus)); err != nil {
					t.Fatal(err)
				}
				tally, stderr, err := s.read(t, variant)
				if err == nil || tally.DeadLetters != 1 || tally.Files != 19 || tally.Gate.Passed {
					t.Errorf("got %v, %d dead letters, %d files, gate %+v", err, tally.DeadLetters, tally.Files, tally.Gate)
				}
				if !strings.Contains(stderr, `{"dead_letter":"objects/0000/00000005.bin","error":"`) {
					t.Errorf("got stderr %q", stderr)
				}
			})
		}
	}
}

func TestProgressGrowsAndTheTallyIsLast(t *testing.T) {
	s := seeded(t, 60)
	for _, variant := range []string{"", "--processes 2"} {
		setting := flagged(t, append([]string{"--endpoint", s.endpoint, "--bucket", "corpus-small", "--progress", "--throttle", "5ms"},
			strings.Fields(variant)...)...)
		var stdout, stderr bytes.Buffer
		if err := Read(t.Context(), setting, &stdout, &stderr); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
		if len(lines) < 2 || !strings.HasPrefix(lines[0], "progress files=") || !strings.HasPrefix(lines[len(lines)-1], "{") {
			t.Errorf("%q: got %d lines, first %q", variant, len(lines), lines[0])
		}
	}
}

// A file of rows that was not closed is not one.
func TestRowsAreValidOnlyAfterClose(t *testing.T) {
	tier, _ := corpus.TierNamed("small")
	c := corpus.Corpus{Seed: 42, Tier: tier, Objects: 3}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	w, err := newWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint64(3) {
		if err := w.write(c.Row(corpus.Full, id)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := judgeRows(c, corpus.Full, 3, []string{path}); err == nil {
		t.Error("an open file was judged")
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	gate, sum, err := judgeRows(c, corpus.Full, 3, []string{path})
	if err != nil || !gate.Passed || sum != c.Oracle(corpus.Full, 3) {
		t.Errorf("got %+v, %s, %v", gate, sum, err)
	}
	gate, _, err = judgeRows(c, corpus.Full, 3, []string{path, path})
	if err != nil || gate.Passed || gate.FirstMismatch != "file 0: written twice" {
		t.Errorf("rows twice: got %+v, %v", gate, err)
	}
	gate, _, err = judgeRows(c, corpus.Full, 2, []string{path})
	if err != nil || gate.Passed || gate.FirstMismatch != "file 2: not of the corpus" {
		t.Errorf("a row too many: got %+v, %v", gate, err)
	}
}

// A run that is told to end ends, and a store that is not there is an error.
func TestEnds(t *testing.T) {
	s := seeded(t, 60)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	setting := flagged(t, "--endpoint", s.endpoint, "--bucket", "corpus-small", "--throttle", "100ms", "--buffer", "1")
	var out bytes.Buffer
	begin := time.Now()
	if err := Read(ctx, setting, &out, &out); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("took %v to end", took)
	}
	if _, _, err := s.read(t, "--limit 61"); err == nil {
		t.Error("read more files than there are")
	}
	setting = flagged(t, "--endpoint", "http://127.0.0.1:1", "--bucket", "corpus-small")
	if err := Read(t.Context(), setting, &out, &out); err == nil {
		t.Error("read a store that is not there")
	}
}
