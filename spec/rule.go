package spec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
)

// Rule is the rule of a hypothesis in one plain line, as it is registered and reported: "ratio of
// throughput, reader=readfile to reader=stream, at inflight=4, expected > 1.05".
func Rule(h assay.Hypothesis) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	expected := func() { add("expected %s", h.Expect) }
	switch h.Kind {
	case assay.Ratio, assay.Difference:
		add("%s of %s", h.Kind, h.Measure)
		add("%s to %s", h.Of.Key(), h.To.Key())
	case assay.Absolute:
		add("%s", h.Measure)
	case assay.Same:
		add("%s the same", h.Measure)
		add("%s and %s", h.Of.Key(), h.To.Key())
	case assay.Knee:
		add("knee of %s along %s", h.Measure, h.Along)
	case assay.Highest:
		var meets []string
		for _, c := range h.Meets {
			meets = append(meets, c.String())
		}
		add("highest %s that meets %s", h.Along, strings.Join(meets, " and "))
	case assay.Trend:
		add("trend of %s along %s", h.Measure, h.Along)
	case assay.Line:
		add("line of %s along %s", h.Measure, h.Along)
	case assay.Identical:
		add("%s identical in every trial", h.Measure)
	case assay.LadderKind:
		add("ladder %s of %s", h.Ladder, h.Measure)
		add("largest rung %s", h.Largest.Key())
	}
	if len(h.At) > 0 {
		add("at %s", h.At.Key())
	}
	if h.Margin > 0 {
		add("margin %s%%", strconv.FormatFloat(h.Margin*100, 'g', 6, 64))
	}
	switch {
	case h.Kind == assay.Trend:
		add("expected %s", h.Direction)
	case h.Kind == assay.Line && !h.Slope.IsZero():
		add("slope expected %s", h.Slope)
	case !h.Expect.IsZero():
		expected()
	}
	if h.Kind == assay.Line && !h.Intercept.IsZero() {
		add("intercept expected %s", h.Intercept)
	}
	if h.Needs != nil {
		add("where %s", h.Needs)
	}
	if h.Unattributed {
		add("unattributed")
	}
	return strings.Join(parts, ", ")
}
