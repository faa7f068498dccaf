package assay

import "time"

// A Registration is registration.json: what was fixed before the first trial.
type Registration struct {
	// Digest identifies the experiment file; comments, spacing and quoting do not change it.
	Digest     string       `json:"digest"`
	Time       time.Time    `json:"time"`
	Commit     string       `json:"commit"` // of the repository that holds the file; empty outside one
	Dirty      bool         `json:"dirty"`  // the repository had uncommitted changes
	Version    string       `json:"assay"`
	Seed       uint64       `json:"seed"`
	Plan       Plan         `json:"plan"`
	Hypotheses []Registered `json:"hypotheses"`
	Amendments []Amendment  `json:"amendments"`
	// Earlier are registrations of the same question on this machine before this one.
	Earlier []Earlier `json:"earlier,omitempty"`
}

// Earlier is a registration of the same question before this one.
type Earlier struct {
	Time   time.Time `json:"time"`
	Digest string    `json:"digest"`
	Folder string    `json:"folder"`
}

// A Registered hypothesis is its claim in words and its rule in one line.
type Registered struct {
	ID    string `json:"id"`
	Claim string `json:"claim"`
	Rule  string `json:"rule"`
}

// An Amendment is a dated change of a registered experiment, appended and never edited.
type Amendment struct {
	Time   time.Time `json:"time"`
	Reason string    `json:"reason"`
	Digest string    `json:"digest"`
	// Changes name the keys of the file that changed, such as "hypotheses.H1.expect".
	Changes []string `json:"changes"`
	// Trials is how many trials had been recorded.
	Trials     int          `json:"trials"`
	Plan       Plan         `json:"plan"`
	Hypotheses []Registered `json:"hypotheses"`
	File       string       `json:"file"` // the amended experiment file, whole
}

// Current is the digest now in force.
func (r *Registration) Current() string {
	if n := len(r.Amendments); n > 0 {
		return r.Amendments[n-1].Digest
	}
	return r.Digest
}

// CurrentPlan is the plan now in force.
func (r *Registration) CurrentPlan() Plan {
	if n := len(r.Amendments); n > 0 {
		return r.Amendments[n-1].Plan
	}
	return r.Plan
}

// A Host is host.json: what the trials were executed on.
type Host struct {
	Sessions []Session  `json:"sessions"`
	Ceilings []Measured `json:"ceilings"`
}

// A Session is one host, one boot, one fingerprint.
type Session struct {
	ID          string            `json:"id"`
	Started     time.Time         `json:"started"`
	Fingerprint map[string]string `json:"fingerprint"`
}

// Measured is a ceiling that was measured on this host.
type Measured struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Unit   string  `json:"unit"`
	Method string  `json:"method"`
	// Where is the folder whose disk was measured; empty for what is no disk's.
	Where string `json:"where,omitempty"`
	// Fingerprint is the digest of the machine's as it was then; empty where nobody said.
	Fingerprint string `json:"fingerprint,omitempty"`
}
