package grade

import (
	"io/fs"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/measure"
	"github.com/assaybench/assay/stat"
)

// A Folder is what there is to judge: the contents of a results folder.
type Folder struct {
	Experiment   *assay.Experiment
	Registration *assay.Registration
	Host         assay.Host
	Trials       []assay.Trial
	// Open is the folder of a trial's files, or nil for none. It may be nil.
	Open func(trial int) fs.FS
}

// A Judgement is everything that was found: the verdicts, and what they stand on.
type Judgement struct {
	Verdicts   assay.Verdicts
	Hypotheses []Grounds // one a hypothesis, in the same order
	Measures   []Figures // what the hypotheses measure, then the other measures
	Advice     []Advice  // one for each factor that a hypothesis moves
	Remarks    []string  // what else the records say that nobody claimed
	Unrepeated bool      // a planned block ended with a void or refused trial in its last execution
}

// Grounds are what a verdict stands on.
type Grounds struct {
	ID       string
	Findings []Finding
}

// Verdicts judges every hypothesis of the registered experiment by the recorded trials. open is the
// folder of a trial's files; it may be nil. Without host.json, sessions count as of different
// fingerprints; [Judge] takes it too.
func Verdicts(e *assay.Experiment, r *assay.Registration, trials []assay.Trial, open func(trial int) fs.FS) assay.Verdicts {
	return Judge(Folder{Experiment: e, Registration: r, Trials: trials, Open: open}).Verdicts
}

// Judge judges every hypothesis of the registered experiment by the recorded trials.
func Judge(f Folder) Judgement {
	j := newJudge(f)
	out := Judgement{Verdicts: assay.Verdicts{
		Experiment: f.Experiment.Name, Registration: f.Registration.Current(),
		Hypotheses: []assay.Verdict{}, Trials: j.count(), DoNotQuote: []assay.Caution{},
	}}
	for i := range f.Experiment.Hypotheses {
		v, g := j.hypothesis(&f.Experiment.Hypotheses[i])
		out.Verdicts.Hypotheses = append(out.Verdicts.Hypotheses, v)
		out.Hypotheses = append(out.Hypotheses, g)
	}
	j.correct(out.Verdicts.Hypotheses)
	out.Verdicts.DoNotQuote = j.cautions(&out)
	out.Measures = j.figures()
	out.Advice = j.advice(&out)
	out.Remarks = j.remarks()
	out.Unrepeated = j.schedule.unrepeated()
	return out
}

// alpha is the chance, over all registered interval claims of a folder together, that one of them
// is decided wrongly.
const alpha = 0.05

// A judge holds what all hypotheses need. Its first and last limit the planned blocks that judge.
type judge struct {
	Folder
	plan     assay.Plan
	schedule *Schedule
	pools    map[string]string // session to fingerprint
	spoilt   map[int]string    // by index into Trials: what voids it beyond its own line
	fields   map[string]*field
	claims   int // registered interval claims
	looks    []int
	loads    []*assay.Load // by cell of the plan
	bench    *instrument
	drifts   map[string]drift       // by time and trial
	splits   map[int]stat.SplitNull // by number of trials

	divided     int // cells that alpha is divided over as well; 0 for none
	first, last int // planned blocks in (first, last] judge
	stage       int // or those of this stage alone; -1 for none
}

func newJudge(f Folder) *judge {
	j := &judge{Folder: f, plan: f.Registration.CurrentPlan(), pools: map[string]string{},
		spoilt: map[int]string{}, fields: map[string]*field{}, drifts: map[string]drift{}, splits: map[int]stat.SplitNull{}, stage: -1}
	j.schedule = NewSchedule(j.plan, f.Registration.Seed)
	for i := range f.Trials {
		j.schedule.Add(&f.Trials[i])
	}
	for _, s := range f.Host.Sessions {
		j.pools[s.ID] = fingerprintKey(s.Fingerprint)
	}
	for _, h := range f.Experiment.Hypotheses {
		if h.Kind.Interval() {
			j.claims++
		}
	}
	j.looks = j.schedule.looks()
	j.first = j.judgeAlone()
	j.spoil()
	j.bench = j.examine()
	return j
}

// confidence is that of each interval claim: alpha is divided by the number of claims and of looks.
func (j *judge) confidence() float64 {
	return 1 - alpha/float64(max(j.claims, 1)*max(len(j.looks), 1)*max(j.divided, 1))
}

// counts reports whether the trial takes part in statistics.
func (j *judge) counts(trial int) bool {
	return j.Trials[trial].Counts() && j.spoilt[trial] == ""
}

// pool names the fingerprint of a session: paired blocks of one pool judge together.
func (j *judge) pool(session string) string {
	if p, ok := j.pools[session]; ok {
		return p
	}
	return "session " + session
}

func (j *judge) files(trial int) fs.FS {
	if j.Open == nil {
		return nil
	}
	return j.Open(j.Trials[trial].Trial)
}

func (j *judge) resolve(ref assay.MeasureRef) (measure.Resolved, error) {
	return measure.Resolve(j.Experiment.Measures, ref)
}

// fingerprintKey is the fingerprint in one canonical text.
func fingerprintKey(fingerprint map[string]string) string { return assay.Cell(fingerprint).Key() }
