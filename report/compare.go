package report

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/assaybench/assay"
)

// A Comparison is what assay compare found. It marshals to what --json prints; the fields without
// a name there are for people.
type Comparison struct {
	Commands    []ComparedCommand `json:"commands"`
	Comparisons []CommandRatio    `json:"comparisons"`
	// Margin is the registered margin of equivalence, 0 to 1; 0: none.
	Margin float64 `json:"-"`
	// Warnings are sentences that say what to do next.
	Warnings []string `json:"-"`
}

// A ComparedCommand is one command with its wall time in seconds.
type ComparedCommand struct {
	Command string `json:"command"`
	Trials  int    `json:"trials"`
	OK      int    `json:"ok"`
	// Median, Low and High are nil where the trials that ended ok are too few to say.
	Median   *float64       `json:"median_s"`
	Low      *float64       `json:"low_s"`
	High     *float64       `json:"high_s"`
	Outcomes map[string]int `json:"outcomes"`
}

// A CommandRatio compares two commands within blocks. Ratio is the wall time of Of over that of
// To: at 1.23, To is 1.23 times as fast. Ratio, Low and High are nil where nothing can be said.
type CommandRatio struct {
	Of         string   `json:"of"` // the earlier command
	To         string   `json:"to"`
	Sides      [2]int   `json:"-"` // positions of Of and To among the commands, from 1; 0: found by text
	Ratio      *float64 `json:"ratio"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Confidence float64  `json:"confidence"`
	Blocks     int      `json:"blocks"`
	Verdict    string   `json:"verdict"`
	Reason     string   `json:"reason"`
}

// The verdicts of a comparison.
const (
	Differs     = "differs"
	SameWithin  = "same"
	CannotTell  = "undecided"
	mostLetters = 26
)

// CompareText writes the comparison for a terminal of that width (0: 80): the answer in plain
// sentences, then the commands with their times. With quiet the sentences stand alone.
func CompareText(w io.Writer, c Comparison, width int, quiet, colour bool) error {
	p := newPen(width, colour)
	for _, r := range c.Comparisons {
		style := bold
		if r.Verdict == CannotTell {
			style = yellow
		}
		p.para(0, style, c.Sentence(r))
	}
	if !quiet || len(c.Comparisons) == 0 {
		p.line("")
		rows := [][]string{{"", "median", c.intervalHead(), "ok", "command"}}
		for i, k := range c.Commands {
			rows = append(rows, append(c.timesOf(i), k.Command))
		}
		p.table(2, rows, func(column int) bool { return column > 0 && column < 4 })
	}
	for i, k := range c.Commands {
		if text := outcomes(k); text != "" {
			p.para(2, "", c.label(i)+": "+text)
		}
	}
	for i, text := range c.Warnings {
		if i == 0 {
			p.line("")
		}
		p.item("-", yellow, 4, sentence(text))
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// Sentence is what one comparison says: "B is 1.23 times as fast as A; 95% interval 1.19 to 1.27;
// 24 blocks."
func (c Comparison) Sentence(r CommandRatio) string {
	of, to := c.label(c.position(r.Of, r.Sides[0])), c.label(c.position(r.To, r.Sides[1]))
	if r.Ratio == nil {
		if side := c.neverOK(r); side != "" {
			return sentence(of + " and " + to + " cannot be compared: no trial of " + side + " ended ok")
		}
		return sentence(of + " and " + to + " cannot be compared: " + orWord(Meaning(assay.Reason(r.Reason)), r.Reason))
	}
	slow, fast, ratio, low, high := of, to, *r.Ratio, r.Low, r.High
	if ratio < 1 {
		// The faster command is the subject, and the interval turns over with the ratio.
		slow, fast, ratio = to, of, 1/ratio
		low, high = inverse(r.High), inverse(r.Low)
	}
	figure, interval := ratioText(ratio, low, high)
	tail := "; " + interval + "; " + count(r.Blocks, "block")
	if interval == "" {
		tail = "; no interval from " + count(r.Blocks, "block")
	} else {
		tail = strings.Replace(tail, "; ", "; "+Confidence(r.Confidence)+" interval ", 1)
	}
	is := fast + " is " + figure + " times as fast as " + slow + tail
	switch {
	case r.Verdict == Differs:
		return sentence(is)
	case r.Verdict == SameWithin:
		return sentence(of + " and " + to + " are equally fast within " + Confidence(c.Margin) + ": " + is)
	case r.Reason != string(assay.Straddles) && r.Reason != string(assay.Underpowered):
		return sentence(of + " and " + to + ": which is faster cannot be said, for " +
			orWord(Meaning(assay.Reason(r.Reason)), r.Reason) + "; " + is)
	case c.Margin > 0:
		return sentence(of + " and " + to + ": undecided whether they are equally fast within " + Confidence(c.Margin) + "; " + is)
	}
	text := of + " and " + to + ": no difference can be seen"
	if low == nil || high == nil {
		return sentence(text + tail)
	}
	return sentence(text + "; one of " + seen(*low, *high) + " or more would have been" +
		"; " + Confidence(r.Confidence) + " interval of the ratio " + interval + "; " + count(r.Blocks, "block"))
}

// neverOK is the label of a compared command without an ok trial; empty if both have some.
func (c Comparison) neverOK(r CommandRatio) string {
	for _, i := range []int{c.position(r.Of, r.Sides[0]), c.position(r.To, r.Sides[1])} {
		if c.Commands[i].OK == 0 {
			return c.label(i)
		}
	}
	return ""
}

// seen is the least difference that would have been seen: one by the whole width of the interval
// takes it off equality wherever inside it the truth lies.
func seen(low, high float64) string {
	share := 100 * (high/low - 1)
	if share >= 100 {
		return group(math.Ceil(10*high/low)/10, 1) + " times"
	}
	decimals := 0
	if share < 3 {
		decimals = 1
	}
	scale := math.Pow(10, float64(decimals))
	return group(math.Max(math.Ceil(share*scale)/scale, 1/scale), decimals) + "%"
}

func inverse(x *float64) *float64 {
	if x == nil || *x == 0 {
		return nil
	}
	y := 1 / *x
	return &y
}

// ratioText is a ratio and its interval, with the digits that the interval supports.
func ratioText(ratio float64, low, high *float64) (figure, interval string) {
	if low == nil || high == nil {
		return group(ratio, significant(ratio, 3)), ""
	}
	decimals := Decimals(*low, *high, 1)
	return group(ratio, decimals), group(*low, decimals) + " to " + group(*high, decimals)
}

// position is the index of a command: the one given, counted from 1, or the first with that text.
func (c Comparison) position(command string, given int) int {
	if given > 0 {
		return given - 1
	}
	return max(0, slices.IndexFunc(c.Commands, func(k ComparedCommand) bool { return k.Command == command }))
}

// label is the letter of the command at i, A for the first; beyond the letters, the command itself.
func (c Comparison) label(i int) string {
	if i >= mostLetters {
		return c.Commands[i].Command
	}
	return string(rune('A' + i))
}

func (c Comparison) intervalHead() string {
	for _, r := range c.Comparisons {
		return Confidence(r.Confidence) + " interval"
	}
	return "interval"
}

// times are letter, median, interval and the share of trials that ended ok of the command at i.
func (c Comparison) timesOf(i int) []string {
	k := c.Commands[i]
	letter := ""
	if i < mostLetters {
		letter = string(rune('A' + i))
	}
	median, interval := k.times()
	return []string{letter, median, interval, group(float64(k.OK), 0) + " of " + group(float64(k.Trials), 0)}
}

func (k ComparedCommand) times() (median, interval string) {
	if k.Median == nil {
		return "-", "-"
	}
	seconds := assay.Unit{Name: "s", Dim: assay.Dimension{Base: "ns"}, Scale: 1e9}
	s := ScaleOf(seconds, false, *k.Median)
	if k.Low == nil || k.High == nil {
		return s.Phrase(*k.Median, significant(*k.Median*s.Factor, 3)), "-"
	}
	decimals := Decimals(*k.Low*s.Factor, *k.High*s.Factor)
	return s.Phrase(*k.Median, decimals), s.Format(*k.Low, decimals) + " to " + s.Phrase(*k.High, decimals)
}

// outcomes names what became of the trials that did not end ok; empty if all did.
func outcomes(k ComparedCommand) string {
	var parts []string
	for _, name := range sortedKeys(k.Outcomes) {
		if n := k.Outcomes[name]; name != string(assay.OK) && n > 0 {
			parts = append(parts, group(float64(n), 0)+" "+name)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return list(parts) + " of " + count(k.Trials, "trial")
}

// CompareMarkdown writes the comparison for a pull request.
func CompareMarkdown(w io.Writer, c Comparison) error {
	var b strings.Builder
	for _, r := range c.Comparisons {
		b.WriteString(md(c.Sentence(r)) + "\n\n")
	}
	b.WriteString("| | command | median | " + md(c.intervalHead()) + " | ok |\n|---|---|--:|--:|--:|\n")
	for i, k := range c.Commands {
		t := c.timesOf(i)
		b.WriteString("| " + strings.Join([]string{t[0], md(k.Command), md(t[1]), md(t[2]), md(t[3])}, " | ") + " |\n")
	}
	for _, text := range c.Warnings {
		b.WriteString("\n- " + md(sentence(text)))
	}
	if len(c.Warnings) > 0 {
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// CompareCSV writes one row a comparison with both commands' medians, in seconds and unrounded.
func CompareCSV(w io.Writer, c Comparison) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"of", "to", "of_median_s", "to_median_s", "ratio", "low", "high", "confidence", "blocks", "verdict", "reason"}}
	median := func(command string, given int) string { return optional(c.Commands[c.position(command, given)].Median) }
	for _, r := range c.Comparisons {
		rows = append(rows, []string{r.Of, r.To, median(r.Of, r.Sides[0]), median(r.To, r.Sides[1]), optional(r.Ratio), optional(r.Low), optional(r.High),
			csvNumber(r.Confidence), csvNumber(float64(r.Blocks)), r.Verdict, r.Reason})
	}
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	return out.Error()
}

func optional(x *float64) string {
	if x == nil {
		return ""
	}
	return csvNumber(*x)
}
