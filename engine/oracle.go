package engine

import (
	"fmt"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/measure"
)

// A rightKey names what an oracle has found to be right: of a measure, at a level of its factor.
type rightKey struct{ measure, level string }

// oracles holds the outputs that are right, as far as trials have shown them.
type oracles map[rightKey]string

// consult voids a good trial whose output is not the right one: a declared text, or that of the first
// trial that counts, for each level of a factor. Whoever reads less is faster, and the block is
// executed again. A warm-up is not asked.
func (o oracles) consult(t *assay.Trial, measures []assay.Measure, void func(guard, note string)) {
	for i := range measures {
		m := &measures[i]
		if m.Oracle == nil || t.Outcome != assay.OK || !t.Counts() {
			continue
		}
		v, ok := t.Measures[m.Name]
		at := rightKey{m.Name, t.Cell[m.Oracle.Per]}
		want, known := o[at]
		switch {
		case !m.Oracle.First:
			want = m.Oracle.Want
		case !known && ok:
			want = v.String()
			o[at] = want
		}
		switch {
		case !ok:
			void("oracle", fmt.Sprintf("%s was not recorded", m.Name))
		case v.String() != want:
			void("oracle", fmt.Sprintf("%s was %s, and %s is right%s", m.Name, v, want, whence(m.Oracle, t.Cell)))
		}
	}
}

// injected records the known delay of the experiment's instrument in a trial that had it.
func (t *trial) injected() {
	in := t.run.Experiment.Instrument.Inject
	if in == nil || !t.record.Cell.Matches(in.Of) {
		return
	}
	v, err := measure.Declared(in.By, t.open(in.By))
	if err != nil {
		t.note(fmt.Sprintf("injected delay: %v", err))
		return
	}
	t.record.Measures[assay.InjectedKey] = v
}

// whence says where a right output comes from, if it is not in the file.
func whence(o *assay.Oracle, cell assay.Cell) string {
	switch {
	case !o.First:
		return ""
	case o.Per == "":
		return ", as in the first trial"
	}
	return ", as in the first trial with " + o.Per + "=" + cell[o.Per]
}
