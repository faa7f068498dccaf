package report

import (
	"bytes"
	_ "embed" // for the page's template and style sheet
	"html/template"
	"io"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/grade"
)

//go:embed page.gohtml
var pageText string

//go:embed page.css
var pageStyle string

// page is what the template prints.
type page struct {
	Style                   template.CSS
	Name, Title             string
	Answer, Tally, Machine  string
	Cards                   []htmlCard
	Cautions                []assay.Caution
	Advice                  []advised
	Remarks                 []string
	AdviceHead, RemarkHead  string
	Measures                []htmlMeasure
	MoreMeasures            int
	Binned                  bool
	Excluded                []htmlExcluded
	MoreExcluded            int
	Fixed, Cited, Ceilings  []pair
	Sessions                sessionTable
	MoreSessions            int
	Gates                   []gateRow
	Guards                  []guardRow
	Planned, Registered     []pair
	Rules                   []assay.Registered
	Amendments              []pair
	Order                   []pair
	Absent, Limits, Settles []pair
}

type htmlCard struct {
	Status, Class, ID, Claim, Estimate, Interval string
	Reason, Meaning, Sentence                    string
	Strip                                        template.HTML
	Exploratory                                  bool
	Notes                                        []string
	Cells                                        []htmlFinding
}

// An htmlFinding is what one of several matching cells says of a claim.
type htmlFinding struct{ Place, Estimate, Interval, Status, Reason, Class string }

type htmlMeasure struct {
	Name, Direction, Anchor string
	Legend                  []htmlSeries
	Facets                  []htmlPlot
	MorePanels              int
	Order                   template.HTML
	Confidence              string
	Key, Constant           string
	Head                    []string
	Rows                    []htmlRow
	MoreRows                int
}

type htmlSeries struct{ Class, Name string }

type htmlPlot struct {
	Title string
	SVG   template.HTML
}

type htmlRow struct {
	Levels                    []string
	Median, Interval, Counted string
}

type htmlExcluded struct{ Kind, Trials, Cell, Reason, Detail string }

// Limits of a page, so that it stays usable however many trials there were. Whatever is left out
// is counted in the page, and the CSV export has all of it.
const (
	mostMeasures  = 16
	mostTableRows = 400
	mostExcluded  = 300
	mostOrders    = 40
	mostNumbers   = 2000 // characters of trial numbers in one row
)

// What the marks of a plot mean.
const (
	keyMarks  = "Cross: void. Triangle: failed or stopped, which counts as worse than any number."
	keyDots   = "Every dot is a trial; within a column early blocks stand at the left. " + keyMarks
	keyRows   = "Every dot is a trial. " + keyMarks
	keyBinned = "Too many trials to draw each: the shapes are their distribution. In the order plot a column draws neighbouring " +
		"trials together (pale: all, dark: the middle half, line: median); ticks at its foot are voids."
)

// HTML writes the report as one file that loads nothing: style and drawings are inside, and there
// is no script. It follows the reader's light or dark setting and prints.
func HTML(w io.Writer, f Findings) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, f.page()); err != nil {
		return err
	}
	_, err = io.WriteString(w, visible(b.String()))
	return err
}

func (f *Findings) page() page {
	p := page{
		Style: template.CSS(pageStyle), Name: f.Verdicts.Experiment, Title: f.Verdicts.Experiment,
		Answer: f.answer(), Tally: f.tally(), Machine: f.machine(),
		Ceilings: f.ceilings(), Sessions: f.sessions(), MoreSessions: max(len(f.Host.Sessions)-mostSessions, 0),
		Advice: f.advised(), AdviceHead: adviceHeading, RemarkHead: remarkHeading,
		Cautions: f.Verdicts.DoNotQuote, Gates: f.gates(), Guards: f.guardRows(), Planned: f.planned(), Registered: f.registered(), Order: f.executed(), Settles: f.settlements(),
	}
	if f.Experiment != nil {
		if f.Experiment.Question != "" {
			p.Title = f.Experiment.Question
		}
		for _, n := range f.Experiment.Fixed {
			p.Fixed = append(p.Fixed, pair{n.Name, n.Text})
		}
		for _, c := range f.Experiment.Cited {
			p.Cited = append(p.Cited, pair{c.Measure + ", " + f.cellText(c.Cell), c.Value.String() + " (" + c.Source + ")"})
		}
	}
	for _, c := range f.claims() {
		p.Cards = append(p.Cards, c.html())
	}
	for _, r := range f.Remarks {
		p.Remarks = append(p.Remarks, sentence(r))
	}
	for _, c := range f.absent() {
		p.Absent = append(p.Absent, pair{f.cellText(c.Cell), c.Why})
	}
	for _, text := range f.limits() {
		p.Limits = append(p.Limits, pair{"", text})
	}
	if r := f.Registration; r != nil {
		p.Rules = r.Hypotheses
		for _, a := range r.Amendments {
			p.Amendments = append(p.Amendments, pair{stamp(a.Time), "after " + count(a.Trials, "trial") + ": " + a.Reason + changes(a)})
		}
	}
	p.addExcluded(f)
	p.addMeasures(f)
	return p
}

func (p *page) addExcluded(f *Findings) {
	groups := f.excluded()
	p.MoreExcluded = max(len(groups)-mostExcluded, 0)
	for _, e := range groups[:len(groups)-p.MoreExcluded] {
		trials := numbers(e.trials)
		if len(trials) > mostNumbers {
			trials = trials[:strings.LastIndex(trials[:mostNumbers], ",")] + ", … (" + count(len(e.trials), "trial") + ")"
		}
		p.Excluded = append(p.Excluded, htmlExcluded{e.kind, trials, e.cell, e.reason, e.detail})
	}
}

func (p *page) addMeasures(f *Findings) {
	shown := f.Measures[:min(len(f.Measures), mostMeasures)]
	p.MoreMeasures = len(f.Measures) - len(shown)
	p.Binned = 3*len(f.Trials)*len(shown) > mostDots // a trial is drawn three times a measure
	by := f.matching()
	for i := range shown {
		p.Measures = append(p.Measures, f.htmlMeasure(&shown[i], by, p.Binned, i))
	}
}

func (f *Findings) htmlMeasure(m *grade.Figures, by map[string][]int, binned bool, at int) htmlMeasure {
	p := &plotter{f, m, scaleOf(m), by, binned}
	h := htmlMeasure{Name: m.Ref.String(), Direction: strings.Trim(direction(m.Better), " ()"), Anchor: "m" + strconv.Itoa(at+1),
		Confidence: Confidence(confidence(m)), Key: keyBinned}
	if h.Constant = f.constant(m); h.Constant != "" {
		return h
	}
	if !binned {
		h.Key = keyDots
	}
	g, ok := f.group(m.Cells)
	var plots []plot
	if ok {
		plots = p.levelPlots(g)
		h.MorePanels = g.left
		if len(g.series) > 1 && !p.direct(g) {
			for i, name := range g.series {
				h.Legend = append(h.Legend, htmlSeries{seriesClass(i), g.colour + " = " + name})
			}
		}
	} else {
		g = grouping{}
		if !binned {
			h.Key = keyRows
		}
		plots = []plot{p.rowPlot()}
		h.MorePanels = max(len(m.Cells)-mostPlotRows, 0)
	}
	for _, plot := range plots {
		h.Facets = append(h.Facets, htmlPlot{plot.Title, template.HTML(plot.SVG)})
	}
	h.Order = template.HTML(p.orderPlot(g).SVG)
	h.Head = f.factorNames()
	h.MoreRows = max(len(m.Cells)-mostTableRows, 0)
	for _, c := range m.Cells[:len(m.Cells)-h.MoreRows] {
		h.Rows = append(h.Rows, htmlRow{f.levels(c.Cell), p.s.median(c), p.s.interval(c), group(float64(c.N), 0)})
	}
	if p.s.Unit != "" {
		h.Direction = joined(p.s.Unit, h.Direction)
		h.Direction = strings.Replace(h.Direction, "; ", ", ", 1)
	}
	return h
}

func (c claim) html() htmlCard {
	h := htmlCard{
		Status: string(c.v.Verdict), Class: statusClass(c.v.Verdict), ID: c.v.ID, Claim: c.v.Claim,
		Estimate: c.estimate(), Interval: c.interval(), Reason: string(c.v.Reason), Meaning: Meaning(c.v.Reason),
		Sentence: c.sentence(), Strip: template.HTML(c.strip()), Exploratory: c.v.Exploratory,
	}
	for _, f := range c.findings() {
		one := c.of(&f)
		h.Cells = append(h.Cells, htmlFinding{c.place(&f), one.estimate(), one.interval(), string(f.Status), string(f.Reason), statusClass(f.Status)})
	}
	h.Notes = append(h.Notes, c.v.Notes...)
	return h
}

// machine is the first session's processor and memory, for the page's head.
func (f *Findings) machine() string {
	if len(f.Host.Sessions) == 0 {
		return ""
	}
	return machineLine(f.Host.Sessions[0])
}

// executed is the planned order of the first blocks, cells by their number in design order.
func (f *Findings) executed() []pair {
	if f.Registration == nil {
		return nil
	}
	plan := f.Registration.CurrentPlan()
	if len(plan.Cells) > mostOrders {
		return nil
	}
	var rows []pair
	for b, order := range plan.Order[:min(len(plan.Order), mostOrders)] {
		var cells []string
		for _, at := range order {
			cells = append(cells, strconv.Itoa(at+1))
		}
		rows = append(rows, pair{"block " + strconv.Itoa(b+1), strings.Join(cells, " ")})
	}
	return rows
}
