package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/assaybench/assay/machine"
)

// settle puts back what an earlier run left changed on the machine, and then changes what the
// experiment asks for; each original is on disk before its change. undo puts all back.
func (r *Run) settle() (undo func() error, err error) {
	path := filepath.Join(r.Folder.Dir(), machine.JournalFile)
	if _, err := os.Stat(path); err != nil && len(r.Experiment.Machine) == 0 {
		return func() error { return nil }, nil
	}
	journal, restored, err := machine.OpenJournal(r.Folder.Dir())
	if err != nil {
		return nil, err
	}
	for _, text := range restored {
		r.asides = append(r.asides, "restored: an earlier run ended without putting it back: "+text)
	}
	undo = func() error {
		_, err := journal.Close()
		if err == nil {
			err = os.Remove(path) // it is empty: nothing is left to put back
		}
		return err
	}
	for _, file := range r.Experiment.Machine {
		if err := journal.SetFile(file.Name, file.Text+"\n"); err != nil {
			return nil, errors.Join(fmt.Errorf("machine: %w", err), undo())
		}
		r.asides = append(r.asides, fmt.Sprintf("machine: %s holds %s until the run ends", file.Name, file.Text))
	}
	return undo, nil
}
