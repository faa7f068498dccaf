package report

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

func htmlOf(t *testing.T, f Findings) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHTMLGolden(t *testing.T) {
	golden(t, "inflight.html", htmlOf(t, inflight(12)))
	golden(t, "every.html", htmlOf(t, every()))
}

func TestHTMLSameBytes(t *testing.T) {
	for _, f := range []func() Findings{func() Findings { return inflight(12) }, every, hostile} {
		if !bytes.Equal(htmlOf(t, f()), htmlOf(t, f())) {
			t.Error("two pages of the same findings differ")
		}
	}
}

// pages are findings that take every way through the page.
func pages() map[string]Findings {
	rows := inflight(6)
	rows.Experiment.Factors = []assay.Factor{{Name: "reader", Levels: levels("readfile", "stream")}, {Name: "inflight", Levels: levels("one", "two", "four")}}
	faceted := inflight(6)
	faceted.Experiment.Factors[0].Levels = levels("a", "b", "c", "d", "e", "f", "g")
	faceted.Trials, faceted.Measures = nil, nil
	for _, disk := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		more := inflight(6)
		for i := range more.Trials {
			more.Trials[i].Cell["reader"] = disk
		}
		faceted.Trials = append(faceted.Trials, more.Trials...)
		for i, m := range more.Measures {
			if len(faceted.Measures) <= i {
				faceted.Measures = append(faceted.Measures, grade.Figures{Ref: m.Ref, Unit: m.Unit, Better: m.Better})
			}
			f := &faceted.Measures[i]
			f.Values = append(f.Values, m.Values...)
			for _, c := range m.Cells[:6] {
				c.Cell = c.Cell.With(assay.Cell{"reader": disk})
				f.Cells = append(f.Cells, c)
			}
		}
	}
	return map[string]Findings{"inflight": inflight(12), "every": every(), "hostile": hostile(), "rows": rows, "facets": faceted,
		"nothing": {}, "binned": inflight(300)}
}

// stays open in HTML without an end tag
var voidElements = []string{"meta", "link", "br", "img", "input", "hr"}

// Every element must be closed, in order: browsers would mend it, each in its own way.
func TestHTMLIsWellFormed(t *testing.T) {
	for name, f := range pages() {
		z := html.NewTokenizer(bytes.NewReader(htmlOf(t, f)))
		var open []string
		for {
			kind := z.Next()
			if kind == html.ErrorToken {
				if z.Err() != io.EOF {
					t.Errorf("%s: %v", name, z.Err())
				}
				break
			}
			token := z.Token()
			switch {
			case kind == html.StartTagToken && !slices.Contains(voidElements, token.Data):
				open = append(open, token.Data)
			case kind == html.EndTagToken && (len(open) == 0 || open[len(open)-1] != token.Data):
				t.Fatalf("%s: </%s> closes %v", name, token.Data, open[max(0, len(open)-3):])
			case kind == html.EndTagToken:
				open = open[:len(open)-1]
			}
		}
		if len(open) > 0 {
			t.Errorf("%s: left open: %v", name, open)
		}
	}
}

var loading = regexp.MustCompile(`(?i)url\(|@import|https?://|//[a-z0-9.-]+\.[a-z]{2,}/`)

// The page must load nothing and execute nothing, whatever the names in it are.
func TestHTMLLoadsNothing(t *testing.T) {
	for name, f := range pages() {
		b := htmlOf(t, f)
		if at := loading.FindIndex(b); at != nil {
			t.Errorf("%s: page refers elsewhere: %s", name, b[at[0]:min(at[1]+40, len(b))])
		}
		root, err := html.Parse(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if slices.Contains([]string{"script", "link", "img", "iframe", "object", "embed", "base", "form", "image", "use", "foreignobject"}, n.Data) {
				t.Errorf("%s: page has a <%s>", name, n.Data)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href" || a.Key == "style" {
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				}
			}
		}
	}
}

// Control and direction characters would let a name rewrite what stands around it.
func TestHTMLHoldsNoControlCharacters(t *testing.T) {
	if b := string(htmlOf(t, hostile())); strings.ContainsAny(b, "\x1b\u202e\x00") {
		t.Error("a control character reached the page")
	}
}

// No figure may come out of a division by nothing.
func TestHTMLHoldsNoNaN(t *testing.T) {
	for name, f := range pages() {
		b := string(htmlOf(t, f))
		for _, bad := range []string{"NaN", "Inf", "%!"} {
			if at := strings.Index(b, bad); at >= 0 {
				t.Errorf("%s: %q in …%s", name, bad, b[max(0, at-80):min(at+40, len(b))])
			}
		}
	}
}

// many has a hundred thousand trials, some of them void.
func many() Findings {
	f := inflight(100_000 / 12)
	for i := range f.Trials {
		if i%997 == 0 {
			f.Trials[i].Valid, f.Trials[i].VoidBy = false, []string{"guard:swap"}
		}
	}
	return f
}

func TestHTMLOfAHundredThousandTrials(t *testing.T) {
	f := many()
	start := time.Now()
	b := htmlOf(t, f)
	if took := time.Since(start); took > time.Minute {
		t.Errorf("%d trials took %v", len(f.Trials), took)
	}
	if len(b) > 5<<20 {
		t.Errorf("page of %d trials has %d bytes, want 5 MiB at most", len(f.Trials), len(b))
	}
	if !strings.Contains(string(b), "Too many trials to draw each") {
		t.Error("the page does not say that trials were drawn together")
	}
	if strings.Contains(string(b), `class="dot`) {
		t.Error("dots were drawn beside the bins")
	}
}

// As many cells as trials must stay bounded too.
func TestHTMLOfTenThousandCells(t *testing.T) {
	f := inflight(1)
	var texts []string
	for i := range 10_000 {
		texts = append(texts, fmt.Sprint(i+1))
	}
	f.Experiment.Factors = []assay.Factor{{Name: "a", Levels: levels(texts...)}, {Name: "b", Levels: levels("x", "y")}}
	m := grade.Figures{Ref: ref("throughput"), Unit: unit("files/s")}
	f.Trials = nil
	for i, text := range texts {
		cell := assay.Cell{"a": text, "b": "x"}
		f.Trials = append(f.Trials, assay.Trial{Trial: i + 1, Block: 1, Cell: cell, Outcome: assay.OK, Valid: true})
		m.Values = append(m.Values, float64(i))
		m.Cells = append(m.Cells, middle([]float64{float64(i)}, cell))
	}
	f.Measures = []grade.Figures{m}
	start := time.Now()
	if n := len(htmlOf(t, f)); n > 5<<20 {
		t.Errorf("page has %d bytes", n)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("10,000 cells took %v", took)
	}
}

func BenchmarkHTMLOfAHundredThousandTrials(b *testing.B) {
	f := many()
	b.ReportAllocs()
	for b.Loop() {
		if err := HTML(io.Discard, f); err != nil {
			b.Fatal(err)
		}
	}
}
