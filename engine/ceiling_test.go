package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/machine"
	"github.com/assaybench/assay/store"
)

// Figures are held against what this machine was measured to be able to, where the measurement is of
// this machine as it is, and of the disk that the cold files are on.
func TestFiguresBeyondMeasuredCeilingsAreVoid(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "input")
	if err := os.WriteFile(input, []byte("data"), 0o644); err != nil {
		t.Fatal(err)
	}
	session := assay.Session{ID: "s", Fingerprint: map[string]string{"cpu": "one"}}
	own := machine.FingerprintDigest(session.Fingerprint)
	ceiling := func(name, where, fingerprint string, high float64) assay.Measured {
		return assay.Measured{Name: name, Value: high / 2, Low: high / 4, High: high, Unit: "B/s", Where: where, Fingerprint: fingerprint}
	}
	for _, c := range []struct {
		name     string
		ceilings []assay.Measured
		unit     string
		better   assay.Better
		got      float64
		cold     bool
		void     bool
	}{
		{"ten times the disk", []assay.Measured{ceiling("bandwidth(disk_read)", dir, own, 500e6)}, "MB/s", assay.More, 5000, true, true},
		{"what the disk gives", []assay.Measured{ceiling("bandwidth(disk_read)", dir, own, 500e6)}, "MB/s", assay.More, 499, true, false},
		{"a little more", []assay.Measured{ceiling("bandwidth(disk_read)", dir, own, 500e6)}, "MB/s", assay.More, 700, true, false},
		{"what many reads at once give", []assay.Measured{ceiling("bandwidth(disk_read)", dir, own, 500e6), ceiling("bandwidth(disk_read_deep)", dir, own, 3000e6)}, "MB/s", assay.More, 4000, true, false},
		{"of another disk", []assay.Measured{ceiling("bandwidth(disk_read)", "/proc", own, 500e6)}, "MB/s", assay.More, 5000, true, false},
		{"of another machine", []assay.Measured{ceiling("bandwidth(disk_read)", dir, "other", 500e6)}, "MB/s", assay.More, 5000, true, false},
		{"of nobody knows which machine", []assay.Measured{ceiling("bandwidth(disk_read)", dir, "", 500e6)}, "MB/s", assay.More, 5000, true, false},
		{"warm by declaration", []assay.Measured{ceiling("bandwidth(disk_read)", dir, own, 500e6)}, "MB/s", assay.More, 5000, false, false},
		{"no bytes", []assay.Measured{ceiling("bandwidth(disk_read)", dir, own, 500e6)}, "files/s", assay.More, 5e12, true, false},
		{"less is better", []assay.Measured{ceiling("bandwidth(disk_read)", dir, own, 500e6)}, "MB/s", assay.Lower, 5000, true, false},
		{"nothing measured", nil, "MB/s", assay.More, 5e9, true, false},
	} {
		folder, err := store.Open(t.TempDir(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := folder.SetHost(assay.Host{Sessions: []assay.Session{session}, Ceilings: c.ceilings}); err != nil {
			t.Fatal(err)
		}
		unit, err := assay.ParseUnit(c.unit)
		if err != nil {
			t.Fatal(err)
		}
		e := &assay.Experiment{Measures: []assay.Measure{{Name: "speed", Unit: unit, Better: c.better}}}
		setting := &assay.Setting{}
		if c.cold {
			setting.Workload.Hooks.Prepare = []assay.Command{{Evict: []string{input}}}
		}
		one := &trial{run: &Run{Experiment: e, Folder: folder, Session: session}, setting: setting}
		one.record.Valid, one.record.Measures = true, map[string]assay.Value{"speed": assay.Num(c.got)}
		one.measuredCeilings()
		if one.record.Valid == c.void {
			t.Errorf("%s: valid %t, notes %q", c.name, one.record.Valid, one.record.Notes)
		}
		if c.void && !strings.Contains(strings.Join(one.record.Notes, ""), "10 times what this machine gave at most") {
			t.Errorf("%s: notes %q", c.name, one.record.Notes)
		}
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
