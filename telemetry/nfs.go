package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/prometheus/procfs"
)

// NFS reads, of each operation of each NFS mount that was used since the read before, as "OPERATION
// mount point": nfs_rtt (mean round trip, ns), nfs_wait (mean time in the client's queue, ns),
// nfs_operations (how many); and nfs_timeouts(mount point) and nfs_retries(mount point) since the
// watch began. Reads and writes are so never averaged together.
type NFS struct {
	root   root
	before map[string]procfs.NFSOperationStats
	first  map[string]nfsTrouble
}

type nfsTrouble struct{ timeouts, retries uint64 }

// Source names the interface.
func (n *NFS) Source() string { return "nfs: /proc/self/mountstats" }

// Close does nothing.
func (n *NFS) Close() error { return nil }

// Read emits the means of what was done since the read before.
func (n *NFS) Read(_ context.Context, emit Emit) error {
	if n.root == "" {
		n.root = "/"
	}
	b, err := n.root.read("proc/self/mountstats")
	if err != nil {
		return fmt.Errorf("nfs: %w: %w", ErrAbsent, err)
	}
	if !bytes.Contains(b, []byte("with fstype nfs")) {
		return fmt.Errorf("nfs: %w: nothing is mounted", ErrAbsent)
	}
	mounts, err := n.mounts()
	if err != nil {
		return err
	}
	if n.first == nil {
		n.first = map[string]nfsTrouble{}
	}
	now := map[string]procfs.NFSOperationStats{}
	for _, m := range mounts {
		stats, ok := m.Stats.(*procfs.MountStatsNFS)
		if !ok {
			continue
		}
		var trouble nfsTrouble
		for _, op := range stats.Operations {
			now[op.Operation+" "+m.Mount] = op
			trouble.timeouts += op.MajorTimeouts
			trouble.retries += op.Transmissions - min(op.Requests, op.Transmissions)
		}
		if _, known := n.first[m.Mount]; !known {
			n.first[m.Mount] = trouble
		}
		emit("nfs_timeouts", m.Mount, since(trouble.timeouts, n.first[m.Mount].timeouts))
		emit("nfs_retries", m.Mount, since(trouble.retries, n.first[m.Mount].retries))
	}
	for key, op := range now {
		before, known := n.before[key]
		done := since(op.Requests, before.Requests)
		if !known || done == 0 {
			continue
		}
		emit("nfs_operations", key, done)
		emit("nfs_rtt", key, since(op.CumulativeTotalResponseMilliseconds, before.CumulativeTotalResponseMilliseconds)*1e6/done)
		emit("nfs_wait", key, since(op.CumulativeQueueMilliseconds, before.CumulativeQueueMilliseconds)*1e6/done)
	}
	n.before = now
	return nil
}

// mounts leaves the format, which has had three versions, to the library.
func (n *NFS) mounts() ([]*procfs.Mount, error) {
	dir, err := filepath.EvalSymlinks(n.root.path("proc"))
	if err != nil {
		return nil, fmt.Errorf("nfs: %w", err)
	}
	fs, err := procfs.NewFS(dir)
	if err != nil {
		return nil, fmt.Errorf("nfs: %w", err)
	}
	self, err := fs.Self()
	if err != nil {
		return nil, fmt.Errorf("nfs: %w", err)
	}
	mounts, err := self.MountStats()
	if err != nil {
		return nil, fmt.Errorf("nfs: parse mountstats: %w", err)
	}
	return mounts, nil
}
