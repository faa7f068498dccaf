package traps

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

var (
	seeds  = flag.Int("seeds", 1, "variants of each situation")
	update = flag.Bool("update", false, "write the table of cases on the page anew")
)

// atOnce is how many situations are carried out at the same time: they wait more than they work.
const atOnce = 4

// patienceWithNoise is how often a situation is repeated that the machine itself voided.
const patienceWithNoise = 3

var program string // the binary under test

func TestMain(m *testing.M) {
	if code, ok := Subject(); ok {
		os.Exit(code)
	}
	if err := flag.Set("test.parallel", strconv.Itoa(2*atOnce)); err != nil {
		panic(err) // the flag is the testing package's own
	}
	flag.Parse()
	os.Exit(tested(m))
}

func tested(m *testing.M) int {
	dir, err := os.MkdirTemp("", "traps")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if program = os.Getenv("ASSAY"); program != "" {
		return m.Run()
	}
	program = filepath.Join(dir, "assay")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/assay").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build assay: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// A row is one situation in the table that is printed at the end.
type row struct{ id, kind, outcome, said string }

func TestTraps(t *testing.T) {
	cases := Cases()
	rows := make([][]row, len(cases))
	slots := make(chan struct{}, atOnce)
	t.Run("all", func(t *testing.T) {
		for i, c := range cases {
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				for seed := range *seeds {
					rows[i] = append(rows[i], situation(t, c, "trap", seed), situation(t, c, "twin", seed))
				}
			})
		}
	})
	if testing.Verbose() {
		table(os.Stdout, slices.Concat(rows...))
	}
}

// situation carries a trap or a twin out, again while the machine alone decides.
func situation(t *testing.T, c Case, kind string, seed int) row {
	t.Helper()
	do := c.Trap
	if kind == "twin" {
		do = c.Twin
	}
	passed := func(s Said) bool { return kind == "trap" && s.Caught() || kind == "twin" && s.Silent() }
	var said Said
	for range patienceWithNoise {
		var err error
		watch := watchStarvation()
		said, err = do(&Bench{Assay: program, Dir: t.TempDir(), Rand: rand.New(rand.NewPCG(uint64(seed), 4))})
		late, stolen := watch.stop()
		if err != nil {
			t.Fatalf("%s, seed %d: %v", kind, seed, err)
		}
		if said.Noise == "" && late > starved {
			said.Noise = fmt.Sprintf("a sleep ended %v late", late.Round(time.Millisecond))
		}
		if said.Noise == "" && stolen > robbed {
			said.Noise = fmt.Sprintf("the host took %.1f%% of the processors' time", 100*stolen)
		}
		if said.Noise == "" || passed(said) {
			break
		}
	}
	outcome := map[string]string{"trap": "caught", "twin": "silent"}[kind]
	switch {
	case said.Noise != "" && !passed(said):
		outcome = "not tried"
		t.Logf("%s, seed %d: the machine was too busy %d times (%s)", kind, seed, patienceWithNoise, said.Noise)
	case kind == "trap" && !said.Caught():
		outcome = "missed"
		t.Errorf("%s, seed %d: want %s; got %s", kind, seed, c.Due, said)
	case kind == "twin" && !said.Silent():
		outcome = "accused"
		t.Errorf("%s, seed %d: want silence; got %s", kind, seed, said)
	}
	return row{c.ID, kind, outcome, said.String()}
}

// starved is how late a sleep of the test's own process may end: its stubs, which answer from within
// it, are then as slow, and no figure of theirs is the truth.
const starved = 40 * time.Millisecond

// robbed is the share of all processors' time that the host may take for itself: beyond it trials are
// void for it, blocks repeated, and figures of a few short trials scattered.
const robbed = 0.01

// A starvation watches by how much sleeps end too late, and what the host takes.
type starvation struct {
	quit, gone chan struct{}
	worst      time.Duration
	begun      time.Time
	stolen     time.Duration // before
}

func watchStarvation() *starvation {
	s := &starvation{quit: make(chan struct{}), gone: make(chan struct{}), begun: time.Now(), stolen: stolenTime()}
	go func() {
		defer close(s.gone)
		for {
			before := time.Now()
			select {
			case <-s.quit:
				return
			case <-time.After(5 * time.Millisecond):
				s.worst = max(s.worst, time.Since(before)-5*time.Millisecond)
			}
		}
	}()
	return s
}

// stop ends the watch and gives the latest end of a sleep, and the share of time that the host took.
func (s *starvation) stop() (worst time.Duration, stolen float64) {
	close(s.quit)
	<-s.gone
	whole := time.Since(s.begun) * time.Duration(runtime.NumCPU())
	return s.worst, float64(stolenTime()-s.stolen) / float64(whole)
}

// stolenTime is what the host took from all processors since the boot; 0 where /proc does not say.
func stolenTime() time.Duration {
	b, _ := os.ReadFile("/proc/stat")
	fields := strings.Fields(string(b[:max(0, bytes.IndexByte(b, '\n'))]))
	if len(fields) < 9 {
		return 0
	}
	ticks, _ := strconv.ParseInt(fields[8], 10, 64)
	return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 on all that Go runs on
}

func table(w io.Writer, rows []row) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "id\tkind\toutcome\twhat was said")
	for _, r := range rows {
		said := strings.ReplaceAll(r.said, "\n", " ")
		if runes := []rune(said); len(runes) > 150 {
			said = string(runes[:149]) + "…"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", r.id, r.kind, r.outcome, said)
	}
	tw.Flush()
}

func TestEveryShare(t *testing.T) {
	for _, share := range []float64{0, 0.3, 0.5, 0.7, 1} {
		n := 0
		for i := 1; i <= 1000; i++ {
			if every(i, share) {
				n++
			}
		}
		if n < int(1000*share)-1 || n > int(1000*share)+1 {
			t.Errorf("share %v: %d of 1000", share, n)
		}
	}
}

// TestThePageNamesEveryCase holds the tables of docs/traps.md against the cases, and against the scenes
// that are judged from recorded tables.
func TestThePageNamesEveryCase(t *testing.T) {
	var cases, scenes strings.Builder
	cases.WriteString("| id | situation | what must be said |\n|---|---|---|\n")
	known := map[string]bool{}
	for _, c := range Cases() {
		fmt.Fprintf(&cases, "| %s | %s | %s |\n", c.ID, c.About, c.Due)
		known[c.ID] = true
	}
	scenes.WriteString("| id | situation | also carried out |\n|---|---|---|\n")
	for _, s := range recordedScenes(t) {
		also := ""
		if known[s[0]] {
			also = "yes"
		}
		fmt.Fprintf(&scenes, "| %s | %s | %s |\n", s[0], s[1], also)
	}
	const page = "../docs/traps.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := between(t, string(text), "cases", cases.String())
	want = between(t, want, "scenes", scenes.String())
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s lists other cases or scenes than there are; go test ./traps -run Page -update writes them", page)
	}
}

// between is a page with the table of a name replaced.
func between(t *testing.T, page, name, table string) string {
	t.Helper()
	from, to := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	head, rest, ok := strings.Cut(page, from)
	_, tail, ends := strings.Cut(rest, to)
	if !ok || !ends {
		t.Fatalf("the page has no %s", strings.TrimSpace(from))
	}
	return head + from + table + to + tail
}

// recordedScenes are the id and the situation of every scene of the tests of grading.
func recordedScenes(t *testing.T) [][2]string {
	t.Helper()
	files, err := filepath.Glob("../grade/studies_*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenes: %v", err)
	}
	head := regexp.MustCompile(`(?m)^\t\t\{"(T\d+\.\d+\w?)", "([^"]+)", func`)
	var list [][2]string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range head.FindAllStringSubmatch(string(text), -1) {
			list = append(list, [2]string{m[1], m[2]})
		}
	}
	slices.SortStableFunc(list, func(a, b [2]string) int { return strings.Compare(natural(a[0]), natural(b[0])) })
	return list
}

// natural is an id whose text sorts as its numbers do: T5.10 after T5.9.
func natural(id string) string {
	return regexp.MustCompile(`\d+`).ReplaceAllStringFunc(id, func(n string) string { return strings.Repeat("0", 4-len(n)) + n })
}
