package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func twoSleeps() Comparison {
	return Comparison{
		Commands: []ComparedCommand{
			{Command: "sleep 0.050", Trials: 24, OK: 24, Median: ptr(0.05123), Low: ptr(0.05101), High: ptr(0.05142), Outcomes: map[string]int{"ok": 24}},
			{Command: "sleep 0.042 | cat", Trials: 24, OK: 23, Median: ptr(0.04161), Low: ptr(0.0411), High: ptr(0.0421), Outcomes: map[string]int{"ok": 23, "failed": 1}},
			{Command: "./never", Trials: 24, OK: 0, Outcomes: map[string]int{"failed": 24}},
		},
		Comparisons: []CommandRatio{
			{Of: "sleep 0.050", To: "sleep 0.042 | cat", Ratio: ptr(1.2311), Low: ptr(1.1923), High: ptr(1.2749), Confidence: 0.95, Blocks: 24, Verdict: Differs, Reason: "holds"},
			{Of: "sleep 0.050", To: "./never", Confidence: 0.95, Blocks: 24, Verdict: CannotTell, Reason: "vacuous"},
		},
		Warnings: []string{"the first trial of A took 3 times as long as the others; try --prepare or a warm-up"},
	}
}

func TestCompareGolden(t *testing.T) {
	var text, markdown, rows bytes.Buffer
	if err := CompareText(&text, twoSleeps(), 80, false, false); err != nil {
		t.Fatal(err)
	}
	if err := CompareMarkdown(&markdown, twoSleeps()); err != nil {
		t.Fatal(err)
	}
	if err := CompareCSV(&rows, twoSleeps()); err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.txt", text.Bytes())
	golden(t, "compare.md", markdown.Bytes())
	golden(t, "compare.csv", rows.Bytes())
}

func TestCompareSentence(t *testing.T) {
	c := Comparison{Commands: []ComparedCommand{{Command: "a", OK: 9}, {Command: "b", OK: 9}}}
	for _, test := range []struct {
		ratio  CommandRatio
		margin float64
		want   string
	}{
		{CommandRatio{Ratio: ptr(1.2311), Low: ptr(1.1923), High: ptr(1.2749), Confidence: 0.95, Blocks: 24, Verdict: Differs}, 0,
			"B is 1.23 times as fast as A; 95% interval 1.19 to 1.27; 24 blocks."},
		// The faster one is named first, whichever it is.
		{CommandRatio{Ratio: ptr(1 / 1.2311), Low: ptr(1 / 1.2749), High: ptr(1 / 1.1923), Confidence: 0.95, Blocks: 24, Verdict: Differs}, 0,
			"A is 1.23 times as fast as B; 95% interval 1.19 to 1.27; 24 blocks."},
		// An end of the interval must not be printed as equality when it is not.
		{CommandRatio{Ratio: ptr(1.03), Low: ptr(1.004), High: ptr(1.06), Confidence: 0.95, Blocks: 24, Verdict: Differs}, 0,
			"B is 1.030 times as fast as A; 95% interval 1.004 to 1.060; 24 blocks."},
		{CommandRatio{Ratio: ptr(1.001), Low: ptr(0.981), High: ptr(1.02), Confidence: 0.95, Blocks: 24, Verdict: CannotTell, Reason: "straddles"}, 0,
			"A and B: no difference can be seen; one of 4% or more would have been; 95% interval of the ratio 0.981 to 1.020; 24 blocks."},
		{CommandRatio{Ratio: ptr(1.1), Low: ptr(0.5), High: ptr(2.01), Confidence: 0.95, Blocks: 24, Verdict: CannotTell, Reason: "straddles"}, 0,
			"A and B: no difference can be seen; one of 4.1 times or more would have been; 95% interval of the ratio 0.5 to 2.0; 24 blocks."},
		{CommandRatio{Ratio: ptr(1.001), Low: ptr(0.995), High: ptr(1.004), Confidence: 0.9, Blocks: 24, Verdict: SameWithin, Reason: "holds"}, 0.05,
			"A and B are equally fast within 5%: B is 1.001 times as fast as A; 90% interval 0.995 to 1.004; 24 blocks."},
		{CommandRatio{Ratio: ptr(1.04), Low: ptr(0.99), High: ptr(1.08), Confidence: 0.9, Blocks: 24, Verdict: CannotTell, Reason: "straddles"}, 0.05,
			"A and B: undecided whether they are equally fast within 5%; B is 1.04 times as fast as A; 90% interval 0.99 to 1.08; 24 blocks."},
		{CommandRatio{Ratio: ptr(1.04), Blocks: 3, Verdict: CannotTell, Reason: "underpowered"}, 0,
			"A and B: no difference can be seen; no interval from 3 blocks."},
		{CommandRatio{Ratio: ptr(1.4), Low: ptr(1.3), High: ptr(1.5), Confidence: 0.95, Blocks: 12, Verdict: CannotTell, Reason: "unequal-voids"}, 0,
			"A and B: which is faster cannot be said, for void trials are unequally spread over the compared cells; B is 1.40 times as fast as A; 95% interval 1.30 to 1.50; 12 blocks."},
		{CommandRatio{Verdict: CannotTell, Reason: "vacuous"}, 0,
			"A and B cannot be compared: there is nothing that could have come out otherwise."},
	} {
		test.ratio.Of, test.ratio.To, c.Margin = "a", "b", test.margin
		if got := c.Sentence(test.ratio); got != test.want {
			t.Errorf("sentence of %s %s\n got: %s\nwant: %s", test.ratio.Verdict, test.ratio.Reason, got, test.want)
		}
	}
}

// The names under --json are a contract.
func TestCompareJSONNames(t *testing.T) {
	b, err := json.Marshal(twoSleeps())
	if err != nil {
		t.Fatal(err)
	}
	var got map[string][]map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"commands":    "command high_s low_s median_s ok outcomes trials",
		"comparisons": "blocks confidence high low of ratio reason to verdict",
	} {
		if keys := strings.Join(slices.Clone(sortedKeys(got[name][0])), " "); keys != want {
			t.Errorf("%s have %q, want %q", name, keys, want)
		}
	}
	if len(got) != 2 {
		t.Errorf("%d keys at the top, want 2", len(got))
	}
}

func TestCompareObeysNoEscapes(t *testing.T) {
	c := twoSleeps()
	c.Commands[0].Command, c.Comparisons[0].Of = "echo \x1b[2J|<b>", "echo \x1b[2J|<b>"
	var b bytes.Buffer
	if err := CompareText(&b, c, 80, false, false); err != nil {
		t.Fatal(err)
	}
	if err := CompareMarkdown(&b, c); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "\x1b") || strings.Contains(b.String(), "| echo ?[2J|<b>") {
		t.Errorf("a command's text was taken for markup:\n%s", b.String())
	}
}
