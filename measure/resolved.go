package measure

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/assaybench/assay"
)

// A Resolved measure is a reference with all that is known of it before any trial is looked at.
type Resolved struct {
	Ref    assay.MeasureRef
	Unit   assay.Unit // of the number that Of gives
	Better assay.Better
	// Share says that the number is a ratio from 0 to 1, which people read in per cent.
	Share bool
	// MaxOf and Along say that the measure is of a block: Of then has nothing to say.
	MaxOf assay.MeasureRef
	Along string

	key string // in a trial's measures
	raw bool   // a statistic that the trial's folder may hold when its line does not
}

// Resolve finds a measure among the declared ones and the built-in ones. A name that is neither is
// an error.
func Resolve(declared []assay.Measure, ref assay.MeasureRef) (Resolved, error) {
	b, ok := assay.BuiltinMeasure(ref.Name)
	if i := slices.IndexFunc(declared, func(m assay.Measure) bool { return m.Name == ref.Name }); i >= 0 && !b.OfObject(ref) {
		m := declared[i]
		return Resolved{Ref: ref, Unit: m.Unit, Better: m.Better, MaxOf: m.MaxOf, Along: m.Along, key: ref.String()}, nil
	}
	if !ok {
		return Resolved{}, fmt.Errorf("find measure %s: neither declared nor built in", ref)
	}
	key := assay.MeasureKey(ref)
	return Resolved{Ref: ref, Unit: b.Unit, Better: b.Better, Share: shares[ref.Name], key: key, raw: ref.Stat != ""}, nil
}

// shares are the built-in measures that are ratios from 0 to 1.
var shares = map[string]bool{"errors": true, "delivered": true, "resident": true, "cpu_idle": true,
	"cpu_steal": true, "agree": true, "pressure": true}

// Of is the measure's value in one trial: from its line, else, for a statistic over the operations
// or readings of the trial, from its folder. files is the trial's folder; nil where there is none.
// The error is [ErrAbsent] or [ErrTooFew] in a chain, or tells of a damaged file.
func (m Resolved) Of(t *assay.Trial, files fs.FS) (assay.Value, error) {
	if v, ok := t.Measures[m.key]; ok {
		return v, nil
	}
	if !m.raw || files == nil {
		return assay.Value{}, fmt.Errorf("measure %s: %w", m.Ref, ErrAbsent)
	}
	if operationFile(m.Ref) != "" {
		return ofOperations(t, files, m.Ref)
	}
	return ofReadings(files, m.Ref)
}
