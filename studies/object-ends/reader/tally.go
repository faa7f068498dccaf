package reader

import (
	"math"
	"slices"
	"time"
)

// A Tally is what a run counted: the last line on stdout, as JSON. Times are nanoseconds.
type Tally struct {
	Files    int     `json:"files"` // rows written, all passes
	Rate     float64 `json:"files_per_s"`
	Wall     int64   `json:"wall_ns"`     // from the first operation until the Parquet file is closed, passes added
	Manifest int64   `json:"manifest_ns"` // fetching the manifest, before the wall
	CPU      int64   `json:"cpu_ns"`      // of the reader's processes within the wall

	BytesClient int64 `json:"bytes_client"` // bodies and heads that the library handed over
	BytesBody   int64 `json:"bytes_body"`   // of them, bodies
	BytesWire   int64 `json:"bytes_wire"`   // read off the connections
	Get         int64 `json:"get"`
	Head        int64 `json:"head"`
	Retries     int64 `json:"retries"`
	Dials       int64 `json:"dials"`
	DeadLetters int64 `json:"dead_letter"` // files that could not be read

	InFlightPeak int   `json:"inflight_peak"` // files with a request on a connection; of processes, added
	InFlightP95  int   `json:"inflight_p95"`  // not exceeded in 95 % of the time
	RowsPeak     int64 `json:"rows_peak"`     // decoded and not yet written
	RowBytesPeak int64 `json:"rows_bytes_peak"`
	RSSPeak      int64 `json:"rss_peak_bytes"` // of processes, added

	GetP50 int64 `json:"get_p50_ns"` // response times of GETs, waiting for a connection included
	GetP95 int64 `json:"get_p95_ns"`
	GetP99 int64 `json:"get_p99_ns"`
	GetMax int64 `json:"get_max_ns"`

	Depth     []Depth `json:"depth"` // each 100 ms
	Fill      int64   `json:"fill_ns"`
	Drain     int64   `json:"drain_ns"`
	Decode    int64   `json:"decode_ns"`
	FlushMean int64   `json:"flush_ns_mean"`
	Flushes   int64   `json:"flushes"`
	EndMarks  int64   `json:"end_marks"` // ends of the row stream that writers saw, each pass

	SHA256 string `json:"sha256"`
	Gate   Gate   `json:"gate"`

	// Gets are all response times, which only slices print, so that they can be merged.
	Gets []int64 `json:"get_ns,omitempty"`
}

// A Depth is how many rows waited in the buffer at a time since the beginning.
type Depth struct {
	At   int64 `json:"t_ns"`
	Rows int   `json:"rows"`
}

// settle derives what follows from the sums.
func (t *Tally) settle() {
	if t.Wall > 0 {
		t.Rate = float64(t.Files) / (float64(t.Wall) / float64(time.Second))
	}
	slices.Sort(t.Gets)
	t.GetP50, t.GetP95, t.GetP99 = quantile(t.Gets, 0.50), quantile(t.Gets, 0.95), quantile(t.Gets, 0.99)
	t.GetMax = quantile(t.Gets, 1)
}

// quantile returns the least of the sorted values that a share q of them do not exceed; 0 for none.
func quantile(sorted []int64, q float64) int64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// add adds a pass that came after the ones in t.
func (t *Tally) add(pass Tally) {
	for _, depth := range pass.Depth {
		depth.At += t.Wall
		t.Depth = append(t.Depth, depth)
	}
	t.Wall += pass.Wall
	t.Fill += pass.Fill
	t.Drain += pass.Drain
	t.InFlightPeak = max(t.InFlightPeak, pass.InFlightPeak)
	t.InFlightP95 = max(t.InFlightP95, pass.InFlightP95)
	t.RowsPeak = max(t.RowsPeak, pass.RowsPeak)
	t.RowBytesPeak = max(t.RowBytesPeak, pass.RowBytesPeak)
	t.RSSPeak = max(t.RSSPeak, pass.RSSPeak)
	t.sum(pass)
}

// join adds a slice that ran beside the ones in t. Peaks are added: they bound the peak from above.
func (t *Tally) join(slice Tally) {
	for i, depth := range slice.Depth {
		if i == len(t.Depth) {
			t.Depth = append(t.Depth, Depth{At: depth.At})
		}
		t.Depth[i].Rows += depth.Rows
	}
	t.Fill = max(t.Fill, slice.Fill)
	t.Drain = max(t.Drain, slice.Drain)
	t.InFlightPeak += slice.InFlightPeak
	t.InFlightP95 += slice.InFlightP95
	t.RowsPeak += slice.RowsPeak
	t.RowBytesPeak += slice.RowBytesPeak
	t.RSSPeak += slice.RSSPeak
	t.sum(slice)
}

// sum adds what adds up however the parts lay in time.
func (t *Tally) sum(part Tally) {
	t.Files += part.Files
	t.Manifest += part.Manifest
	t.CPU += part.CPU
	t.BytesClient += part.BytesClient
	t.BytesBody += part.BytesBody
	t.BytesWire += part.BytesWire
	t.Get += part.Get
	t.Head += part.Head
	t.Retries += part.Retries
	t.Dials += part.Dials
	t.DeadLetters += part.DeadLetters
	t.Decode += part.Decode
	if flushes := t.Flushes + part.Flushes; flushes > 0 {
		t.FlushMean = (t.FlushMean*t.Flushes + part.FlushMean*part.Flushes) / flushes
		t.Flushes = flushes
	}
	t.EndMarks += part.EndMarks
	t.Gets = append(t.Gets, part.Gets...)
}
