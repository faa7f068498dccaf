// Package pair puts reading whole files and reading their ends side by side in one trial, so that a
// trial has one figure for "how many times as fast are the ends here", which an axis can be searched by.
// Beside it stands what a model of two terms says: requests times what one costs, and bytes over bandwidth.
package pair

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/assaybench/assay/studies/object-ends/link"
	"github.com/assaybench/assay/studies/object-ends/reader"
)

// A Model says what reading a file costs, one file at a time.
type Model struct {
	RTT            time.Duration // of the link
	Service        time.Duration // of a request at the store and in the client, beside the round trip
	BytesPerSecond float64       // of the link; 0: no limit
}

// PerFile is the time for a file that takes so many requests and bytes.
func (m Model) PerFile(requests, bytes float64) time.Duration {
	t := requests * float64(m.RTT+m.Service)
	if m.BytesPerSecond > 0 {
		t += bytes / m.BytesPerSecond * float64(time.Second)
	}
	return time.Duration(t)
}

// FlipRTT is the round trip at which two ways to read cost the same at a bandwidth: below it the way with
// fewer bytes is ahead, above it the way with fewer requests.
func FlipRTT(moreRequests, fewerBytes, bytesPerSecond float64, service time.Duration) time.Duration {
	return time.Duration(fewerBytes/bytesPerSecond/moreRequests*float64(time.Second)) - service
}

// FlipBandwidth is the same along the bandwidth, in bytes per second, at a round trip.
func FlipBandwidth(moreRequests, fewerBytes float64, m Model) float64 {
	return fewerBytes / (moreRequests * (m.RTT + m.Service).Seconds())
}

// A Tally is what a pair came to.
type Tally struct {
	Gain     float64 `json:"gain"`     // wall of whole over wall of ends: above 1, the ends are faster
	Model    float64 `json:"model"`    // what the model says the gain is
	OffModel float64 `json:"offmodel"` // gain over model

	WholeRequests float64 `json:"whole_requests"` // a file
	EndsRequests  float64 `json:"ends_requests"`
	WholeBytes    float64 `json:"whole_bytes"` // a file, bodies
	EndsBytes     float64 `json:"ends_bytes"`
	WholeRate     float64 `json:"whole_files_per_s"`
	EndsRate      float64 `json:"ends_files_per_s"`
	SHA256        string  `json:"sha256"`
}

// compare is the tally of two runs over the same files.
func compare(whole, ends reader.Tally, m Model) (Tally, error) {
	if whole.SHA256 != ends.SHA256 || whole.Files != ends.Files || whole.Files == 0 || ends.Wall == 0 {
		return Tally{}, fmt.Errorf("compare: whole read %d files (%s), ends %d (%s): want the same rows", whole.Files, whole.SHA256, ends.Files, ends.SHA256)
	}
	n := float64(whole.Files)
	t := Tally{Gain: float64(whole.Wall) / float64(ends.Wall),
		WholeRequests: float64(whole.Get+whole.Head) / n, EndsRequests: float64(ends.Get+ends.Head) / n,
		WholeBytes: float64(whole.BytesBody) / n, EndsBytes: float64(ends.BytesBody) / n,
		WholeRate: whole.Rate, EndsRate: ends.Rate, SHA256: whole.SHA256}
	t.Model = float64(m.PerFile(t.WholeRequests, t.WholeBytes)) / float64(m.PerFile(t.EndsRequests, t.EndsBytes))
	t.OffModel = t.Gain / t.Model
	return t, nil
}

// Command reads the same files whole and by their ends, the one or the other first by the parity of the
// block, and prints the tally.
func Command(ctx context.Context, args []string, out, errors io.Writer) error {
	flags := flag.NewFlagSet("pair", flag.ContinueOnError)
	endpoint := flags.String("endpoint", "http://127.0.0.1:7171", "`URL` of the store")
	bucket := flags.String("bucket", "corpus-medium", "corpus-`TIER`")
	limit := flags.Int("limit", 16, "`files`")
	block := flags.Int("block", 0, "even: whole files first")
	rtt := flags.Duration("rtt", 0, "of the link, for the model")
	bandwidth := flags.String("bandwidth", "none", "of the link, for the model")
	service := flags.Duration("service", time.Millisecond, "of a request beside the round trip, for the model")
	if err := flags.Parse(args); err != nil {
		return err
	}
	perSecond, err := link.Rate(*bandwidth)
	if err != nil {
		return err
	}
	order := []string{reader.Whole, reader.Ends}
	if *block%2 != 0 {
		order = []string{reader.Ends, reader.Whole}
	}
	tallies := map[string]reader.Tally{}
	for _, what := range order {
		if tallies[what], err = once(ctx, *endpoint, *bucket, what, *limit, errors); err != nil {
			return err
		}
	}
	t, err := compare(tallies[reader.Whole], tallies[reader.Ends], Model{*rtt, *service, perSecond})
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(t)
}

// once reads so many files one at a time, each size asked for.
func once(ctx context.Context, endpoint, bucket, what string, limit int, errors io.Writer) (reader.Tally, error) {
	flags := flag.NewFlagSet("once", flag.ContinueOnError)
	var s reader.Setting
	s.Flags(flags)
	s.Endpoint, s.Bucket, s.Read, s.Limit = endpoint, bucket, what, limit
	s.Sizes, s.Fetch, s.InFlight = reader.ByHead, reader.Serial, 1
	var stdout bytes.Buffer
	if err := reader.Read(ctx, &s, &stdout, errors); err != nil {
		return reader.Tally{}, err
	}
	var t reader.Tally
	if err := json.Unmarshal(stdout.Bytes(), &t); err != nil {
		return reader.Tally{}, fmt.Errorf("read tally of %s: %w", what, err)
	}
	return t, nil
}
