package machine

import (
	"testing"
	"time"
)

func TestSessionIDChangesWithEachPart(t *testing.T) {
	fp := map[string]string{"cpu_model": "A", "kernel": "6.1"}
	base := SessionID(fp, "boot", "host")
	for name, other := range map[string]string{
		"boot":        SessionID(fp, "boot2", "host"),
		"host":        SessionID(fp, "boot", "host2"),
		"fingerprint": SessionID(map[string]string{"cpu_model": "A", "kernel": "6.2"}, "boot", "host"),
		"fewer keys":  SessionID(map[string]string{"cpu_model": "A"}, "boot", "host"),
		"shifted":     SessionID(fp, "", `boot" "host`),
	} {
		if other == base {
			t.Errorf("SessionID with another %s = %s, the same as before", name, other)
		}
	}
	if again := SessionID(map[string]string{"kernel": "6.1", "cpu_model": "A"}, "boot", "host"); again != base {
		t.Errorf("SessionID = %s, then %s for the same input", base, again)
	}
}

func TestSessionIsStable(t *testing.T) {
	a, err := Session(time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		b, err := Session(time.Unix(2, 0))
		if err != nil {
			t.Fatal(err)
		}
		if a.ID != b.ID {
			for k := range a.Fingerprint {
				if a.Fingerprint[k] != b.Fingerprint[k] {
					t.Errorf("fingerprint %s: %q then %q", k, a.Fingerprint[k], b.Fingerprint[k])
				}
			}
			t.Fatalf("Session = %s then %s", a.ID, b.ID)
		}
	}
	for _, key := range []string{"arch", "kernel", "memory_gib", "cpu_threads", "aslr"} {
		if a.Fingerprint[key] == "" {
			t.Errorf("fingerprint lacks %s: %v", key, a.Fingerprint)
		}
	}
	if a.Started != time.Unix(1, 0) {
		t.Errorf("Started = %v", a.Started)
	}
}
