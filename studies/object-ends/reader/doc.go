// Package reader reads the two ends of every file of a corpus and writes one row a file to Parquet.
//
// One pipeline is all the variants, term by term:
//
//	V1  --read whole                                     a buffered client that reads ahead
//	V2  --read ends --sizes head --fetch serial          ask the size, then two ranged reads
//	    --sizes manifest                                 sizes known beforehand
//	    --fetch parallel                                 both ends at once
//	V3  --inflight N                                     N files at once, a bounded buffer, one writer
//	V4  --writers K                                      K writers, each with its own Parquet file
//	V5  --processes P                                    P processes of V3 on slices, merged
//
// All of them arrive at the same rows; the gate rebuilds every row without the store and compares.
package reader

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/assaybench/assay/studies/object-ends/corpus"
	"github.com/assaybench/assay/studies/object-ends/store"
)

// What of a file is read.
const (
	Whole = "whole"
	Ends  = "ends"
)

// Where sizes come from.
const (
	ByHead     = "head"
	ByManifest = "manifest"
)

// In which order the ends are fetched.
const (
	Serial   = "serial"
	Parallel = "parallel"
)

// Faults that can be planted, to show that they are found.
const (
	NoFault        = "none"
	SkipRows       = "skip-rows"        // one file in ten is left out: faster, and wrong
	PixelsAsFooter = "pixels-as-footer" // the tail of every file is taken for a footer
	CountRequested = "count-requested"  // reads whole blocks ahead and counts what was asked for
)

// A Setting is what one run of the reader does.
type Setting struct {
	Endpoint  string
	Bucket    string
	Keys      store.Keys
	Seed      uint64
	Read      string
	Sizes     string
	Fetch     string
	InFlight  int // files at once, at least 1
	Pool      int // connections at most; 0 is unbounded
	Buffer    int // rows between fetchers and writers, at least 1
	Throttle  time.Duration
	Schema    string
	Writers   int
	Processes int
	Passes    int
	Limit     int   // files; 0 is all
	ReadAhead int64 // bytes that a buffered client fetches beyond what was asked for
	Out       string
	Fault     string
	Progress  bool

	Part, Parts int // of the files, where this process has a slice: Part of Parts, from 0
}

// Flags binds the setting to flags, with the defaults of the study.
func (s *Setting) Flags(flags *flag.FlagSet) {
	s.Keys = store.StudyKeys()
	flags.StringVar(&s.Endpoint, "endpoint", "http://127.0.0.1:7070", "`URL` of the store")
	flags.StringVar(&s.Bucket, "bucket", "corpus-medium", "corpus-`TIER`: small, medium or large")
	flags.StringVar(&s.Keys.Access, "access-key", s.Keys.Access, "access `key` of the store")
	flags.StringVar(&s.Keys.Secret, "secret-key", s.Keys.Secret, "secret `key` of the store")
	flags.Uint64Var(&s.Seed, "seed", 42, "seed of the corpus")
	flags.StringVar(&s.Read, "read", Ends, "whole or ends")
	flags.StringVar(&s.Sizes, "sizes", ByManifest, "head or manifest")
	flags.StringVar(&s.Fetch, "fetch", Parallel, "serial or parallel")
	flags.IntVar(&s.InFlight, "inflight", 4, "`files` at once")
	flags.IntVar(&s.Pool, "pool", 0, "`connections` at most; 0: two a file at once, and 8")
	flags.IntVar(&s.Buffer, "buffer", 100, "`rows` between fetchers and writers")
	flags.DurationVar(&s.Throttle, "throttle", 0, "`time` that a writer waits at each row")
	flags.StringVar(&s.Schema, "schema", string(corpus.Scalar), "scalar (200 B a row) or full (33 KiB)")
	flags.IntVar(&s.Writers, "writers", 1, "`writers`, each with its own Parquet file")
	flags.IntVar(&s.Processes, "processes", 1, "`processes` on slices of the files, their rows merged")
	flags.IntVar(&s.Passes, "passes", 1, "`times` that everything is read, by one client")
	flags.IntVar(&s.Limit, "limit", 0, "`files` of each pass; 0: all")
	flags.Int64Var(&s.ReadAhead, "readahead", 5<<20, "`bytes` that a buffered client reads beyond what was asked for")
	flags.StringVar(&s.Out, "out", "", "Parquet `file`; without, a temporary one")
	flags.StringVar(&s.Fault, "fault", NoFault, "none, skip-rows, pixels-as-footer or count-requested")
	flags.BoolVar(&s.Progress, "progress", false, "print a line each 100 ms in which files were written")
	flags.IntVar(&s.Part, "part", 0, "this process's slice, from 0")
	flags.IntVar(&s.Parts, "parts", 0, "slices; 0: not sliced")
}

// Check returns an error naming every flag with an impossible value.
func (s *Setting) Check() error {
	var wrong []error
	choice := func(name, got string, of ...string) {
		for _, one := range of {
			if got == one {
				return
			}
		}
		wrong = append(wrong, fmt.Errorf("--%s: got %q, want %s", name, got, strings.Join(of, " or ")))
	}
	atLeast := func(name string, got, least int64) {
		if got < least {
			wrong = append(wrong, fmt.Errorf("--%s: got %d, want at least %d", name, got, least))
		}
	}
	choice("read", s.Read, Whole, Ends)
	choice("sizes", s.Sizes, ByHead, ByManifest)
	choice("fetch", s.Fetch, Serial, Parallel)
	choice("schema", s.Schema, string(corpus.Scalar), string(corpus.Full))
	choice("fault", s.Fault, NoFault, SkipRows, PixelsAsFooter, CountRequested)
	atLeast("inflight", int64(s.InFlight), 1)
	atLeast("pool", int64(s.Pool), 0)
	atLeast("buffer", int64(s.Buffer), 1)
	atLeast("throttle", int64(s.Throttle), 0)
	atLeast("writers", int64(s.Writers), 1)
	atLeast("processes", int64(s.Processes), 1)
	atLeast("passes", int64(s.Passes), 1)
	atLeast("limit", int64(s.Limit), 0)
	atLeast("readahead", s.ReadAhead, 0)
	if s.Parts > 0 && (s.Part < 0 || s.Part >= s.Parts) {
		wrong = append(wrong, fmt.Errorf("--part: got %d, want 0 to %d", s.Part, s.Parts-1))
	}
	if s.Processes > 1 && (s.Parts > 0 || s.Writers > 1) {
		wrong = append(wrong, errors.New("--processes: goes with neither --parts nor --writers"))
	}
	return errors.Join(wrong...)
}

// pool returns the connections that the client may open.
func (s *Setting) pool() int {
	if s.Pool > 0 {
		return s.Pool
	}
	return 2*s.InFlight + 8
}

// corpus returns the corpus that the bucket's name says.
func (s *Setting) corpus() (corpus.Corpus, error) {
	name, ok := strings.CutPrefix(s.Bucket, "corpus-")
	if !ok {
		return corpus.Corpus{}, fmt.Errorf("choose corpus: got bucket %q, want corpus-TIER", s.Bucket)
	}
	tier, err := corpus.TierNamed(name)
	return corpus.Corpus{Seed: s.Seed, Tier: tier}, err
}

// out returns where the rows go, and what removes it afterwards.
func (s *Setting) out() (path string, remove func(), err error) {
	if s.Out != "" {
		return s.Out, func() {}, nil
	}
	folder, err := os.MkdirTemp("", "object-ends-*")
	if err != nil {
		return "", nil, fmt.Errorf("make folder of rows: %w", err)
	}
	return folder + "/rows.parquet", func() { _ = os.RemoveAll(folder) }, nil
}
