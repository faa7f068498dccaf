package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/assaybench/assay"
)

// SessionID names one host, one boot and one fingerprint: 16 hexadecimal digits of the SHA-256 of
// all three. Processes that share all three share the session.
func SessionID(fingerprint map[string]string, bootID, host string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", host, bootID)
	for _, key := range slices.Sorted(maps.Keys(fingerprint)) {
		fmt.Fprintf(h, "%q %q\n", key, fingerprint[key])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// FingerprintDigest names a fingerprint, whatever host and boot it is of: 16 hexadecimal digits.
func FingerprintDigest(fingerprint map[string]string) string { return SessionID(fingerprint, "", "") }

// Session is the session that this process is in. now is only its time of start; it does not enter
// the ID.
func Session(now time.Time) (assay.Session, error) {
	fp, err := Fingerprint()
	if err != nil {
		return assay.Session{}, err
	}
	boot, ok := root("/").text("proc/sys/kernel/random/boot_id")
	if !ok {
		return assay.Session{}, fmt.Errorf("read session: /proc/sys/kernel/random/boot_id: not readable")
	}
	host, err := hostID("/")
	if err != nil {
		return assay.Session{}, err
	}
	return assay.Session{ID: SessionID(fp, boot, host), Started: now, Fingerprint: fp}, nil
}

// hostID is the machine's own identity where it has one, else its name. It is only ever hashed.
func hostID(r root) (string, error) {
	for _, path := range []string{"etc/machine-id", "var/lib/dbus/machine-id"} {
		if v, ok := r.text(path); ok && v != "uninitialized" {
			return v, nil
		}
	}
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("read session: host name: %w", err)
	}
	return name, nil
}
