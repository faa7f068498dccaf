package reader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assaybench/assay/studies/object-ends/corpus"
	"github.com/assaybench/assay/studies/object-ends/store"
)

// ErrGate says that the rows were not those of the corpus.
var ErrGate = errors.New("gate failed")

// Read does what the setting says, prints the tally as the last line on stdout, and returns an error
// when the rows are wrong (ErrGate), a file could not be read, or nothing could be written. Files that
// could not be read are printed on stderr, a JSON line each.
func Read(ctx context.Context, setting *Setting, stdout, stderr io.Writer) error {
	if err := setting.Check(); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	out, remove, err := setting.out()
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	defer remove()
	lines := &lines{to: &shared{to: stdout}}
	stderr = &shared{to: stderr}
	var tally Tally
	if setting.Processes > 1 {
		tally, err = readSlices(ctx, setting, out, lines, stderr)
	} else {
		tally, err = readPasses(ctx, setting, out, lines, stderr)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", setting.Bucket, err)
	}
	if err := lines.print(tally); err != nil {
		return fmt.Errorf("read %s: %w", setting.Bucket, err)
	}
	switch {
	case tally.DeadLetters > 0:
		return fmt.Errorf("read %s: %d files could not be read", setting.Bucket, tally.DeadLetters)
	case setting.Parts == 0 && !tally.Gate.Passed:
		return fmt.Errorf("read %s: %w: %s", setting.Bucket, ErrGate, tally.Gate.FirstMismatch)
	}
	return nil
}

// readPasses is one process: it reads all passes with one client and judges the rows of each.
func readPasses(ctx context.Context, setting *Setting, out string, lines *lines, stderr io.Writer) (Tally, error) {
	client, err := store.NewClient(setting.Endpoint, setting.Keys, setting.pool())
	if err != nil {
		return Tally{}, err
	}
	defer client.Close()
	begin := time.Now()
	entries, err := manifest(ctx, client, setting)
	if err != nil {
		return Tally{}, err
	}
	total := Tally{Manifest: time.Since(begin).Nanoseconds(), Gate: Gate{Passed: true}}
	own := part(entries, setting)
	dead := &letters{to: stderr}
	meter := newMeter(client)
	var progress atomic.Int64
	if setting.Progress {
		defer lines.follow(&progress)()
	}
	for range setting.Passes {
		p := &pass{setting: setting, client: client, entries: own, out: out, letters: dead, written: &progress}
		tally, err := p.run(ctx)
		if err != nil {
			return Tally{}, err
		}
		tally.Files -= total.Files // the pass counted on from the ones before
		total.add(tally)
		if setting.Parts > 0 {
			continue
		}
		if err := total.judge(setting, len(entries), out); err != nil {
			return Tally{}, err
		}
	}
	meter.read(&total)
	total.DeadLetters = dead.count
	total.settle()
	if setting.Parts == 0 {
		total.Gets = nil
	}
	return total, nil
}

// judge holds the rows in the files of out against the corpus, and keeps the first gate that failed.
func (t *Tally) judge(setting *Setting, files int, out string) error {
	c, err := setting.corpus()
	if err != nil {
		return err
	}
	paths := make([]string, setting.Writers)
	for i := range paths {
		paths[i] = shard(out, i)
	}
	gate, sum, err := judgeRows(c, corpus.Schema(setting.Schema), files, paths)
	if err != nil {
		return err
	}
	if t.Gate.Passed {
		t.Gate, t.SHA256 = gate, sum
	}
	return nil
}

// manifest fetches the manifest and returns the entries that the limit lets through.
func manifest(ctx context.Context, client *store.Client, setting *Setting) ([]corpus.Entry, error) {
	content, err := client.Get(ctx, setting.Bucket, corpus.ManifestKey)
	if err != nil {
		return nil, err
	}
	entries, err := corpus.ReadManifest(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	for i, entry := range entries {
		if entry.FileID != uint64(i) {
			return nil, fmt.Errorf("read manifest: line %d: got file %d, want %d", i+1, entry.FileID, i)
		}
	}
	if setting.Limit > len(entries) {
		return nil, fmt.Errorf("--limit: got %d, want at most %d, which the bucket holds", setting.Limit, len(entries))
	}
	if setting.Limit > 0 {
		entries = entries[:setting.Limit]
	}
	return entries, nil
}

// part returns the entries of the setting's slice: every Parts-th one.
func part(entries []corpus.Entry, setting *Setting) []corpus.Entry {
	if setting.Parts == 0 {
		return entries
	}
	var own []corpus.Entry
	for i := setting.Part; i < len(entries); i += setting.Parts {
		own = append(own, entries[i])
	}
	return own
}

// A meter reads the client's counters from a moment on, so that the manifest is not among them.
type meter struct {
	client *store.Client
	before Tally
}

func newMeter(client *store.Client) meter {
	m := meter{client: client}
	m.read(&m.before)
	return m
}

// read sets in t what was counted since the meter was made.
func (m meter) read(t *Tally) {
	c := &m.client.Counters
	t.BytesBody = c.Body.Load() - m.before.BytesBody
	t.BytesClient = c.Body.Load() + c.Heads.Load() - m.before.BytesClient
	t.BytesWire = c.Wire.Load() - m.before.BytesWire
	t.Get = c.Get.Load() - m.before.Get
	t.Head = c.Head.Load() - m.before.Head
	t.Retries = c.Retries.Load() - m.before.Retries
	t.Dials = c.Dials.Load()
}

// A shared writer is written to by several goroutines, some of which copy what processes say.
type shared struct {
	mu sync.Mutex
	to io.Writer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Write(b)
}

// lines are what is printed on stdout.
type lines struct{ to *shared }

func (l *lines) write(line string) error {
	_, err := io.WriteString(l.to, line+"\n")
	return err
}

// print writes the tally.
func (l *lines) print(t Tally) error {
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("print tally: %w", err)
	}
	return l.write(string(line))
}

// follow prints a line each 100 ms in which the count has grown, until the returned function is called.
func (l *lines) follow(count *atomic.Int64) (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(depthEvery)
		defer ticker.Stop()
		var last int64
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if now := count.Load(); now != last {
					last = now
					_ = l.write(fmt.Sprintf("progress files=%d", now))
				}
			}
		}
	}()
	return func() { close(done); <-stopped }
}
