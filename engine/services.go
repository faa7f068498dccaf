package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/target"
	"github.com/assaybench/assay/telemetry"
)

// services are the targets that stand, from one trial to the next.
type services struct {
	run *Run
	up  []*service // in order of starting
}

// A service is a target that stands.
type service struct {
	*target.Service
	name  string
	wants string // everything that its start depended on; a change restarts it
	block int
	log   *os.File
	began time.Time
}

// ready has every target of the trial standing and fresh: those that are not fresh enough, depend on
// something that changed, or have ended are started, in the order of their dependencies.
func (s *services) ready(ctx context.Context, t *trial) error {
	targets := t.setting.Workload.Targets
	for _, name := range startOrder(targets) {
		i := slices.IndexFunc(targets, func(a assay.Target) bool { return a.Name == name })
		if err := s.stand(ctx, t, &targets[i]); err != nil {
			return err
		}
	}
	return nil
}

// startOrder is the targets' names, each behind those that it comes after.
func startOrder(targets []assay.Target) []string {
	var order []string
	for len(order) < len(targets) {
		before := len(order)
		for _, a := range targets {
			open := func(name string) bool { return !slices.Contains(order, name) }
			if open(a.Name) && !slices.ContainsFunc(a.After, open) {
				order = append(order, a.Name)
			}
		}
		if len(order) == before { // a circle: as listed
			for _, a := range targets {
				if !slices.Contains(order, a.Name) {
					order = append(order, a.Name)
				}
			}
		}
	}
	return order
}

func (s *services) stand(ctx context.Context, t *trial, a *assay.Target) error {
	wants, err := t.wants(a)
	if err != nil {
		return err
	}
	if old := s.find(a.Name); old != nil {
		stale := old.wants != wants || a.Fresh == "trial" || a.Fresh == "block" && old.block != t.step.Block
		if !stale && (old.State().PID != 0 || a.External != nil) {
			return nil
		}
		s.stop(old)
	}
	return s.start(ctx, t, a, wants)
}

// wants is what the target's process depends on: its command, environment and, where the file names
// factors on whose change it is restarted, their levels.
func (t *trial) wants(a *assay.Target) (string, error) {
	var parts []string
	if a.Command != nil {
		// {trial} in a target's command names the trial that it was started for, and makes it fresh.
		inv, err := t.run.invocation(a.Command, t.values)
		if err != nil {
			return "", err
		}
		parts = append(parts, inv.Args...)
		for _, kv := range inv.Env {
			if !strings.HasPrefix(kv, "ASSAY_") {
				parts = append(parts, kv)
			}
		}
	}
	for _, factor := range a.FreshOn {
		parts = append(parts, factor+"="+t.record.Cell[factor])
	}
	return strings.Join(parts, "\x00"), nil
}

func (s *services) start(ctx context.Context, t *trial, a *assay.Target, wants string) error {
	spec := target.Spec{Name: a.Name, External: a.External, Starts: a.Starts, Supervise: a.Supervise,
		Ready: target.Ready{HTTP: a.Ready.HTTP, TCP: a.Ready.TCP, Log: a.Ready.Log, Patience: a.Ready.Patience}}
	log, err := os.OpenFile(filepath.Join(t.dir, a.Name+".log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("start %s: %w", a.Name, err)
	}
	if a.Command != nil {
		if spec.Command, err = s.run.invocation(a.Command, t.values); err != nil {
			return err
		}
		spec.Command.Stdout, spec.Command.Stderr = log, log
	}
	if a.Ready.Command != nil {
		ready, err := s.run.invocation(a.Ready.Command, t.values)
		if err != nil {
			return err
		}
		spec.Ready.Command = &ready
	}
	up, err := target.Start(ctx, spec)
	if err != nil {
		log.Close()
		return err
	}
	s.up = append(s.up, &service{Service: up, name: a.Name, wants: wants, block: t.step.Block, log: log, began: time.Now()})
	return nil
}

func (s *services) find(name string) *service {
	for _, one := range s.up {
		if one.name == name {
			return one
		}
	}
	return nil
}

func (s *services) stop(one *service) {
	one.Stop()
	one.log.Close()
	s.up = slices.DeleteFunc(s.up, func(o *service) bool { return o == one })
}

// stopAll ends every target, the last one started first.
func (s *services) stopAll() {
	for i := len(s.up) - 1; i >= 0; i-- {
		s.stop(s.up[i])
	}
}

// objects are the targets as telemetry watches them.
func (s *services) objects() []telemetry.Object {
	var list []telemetry.Object
	for _, one := range s.up {
		list = append(list, telemetry.Object{Name: one.name, PID: one.PID()})
	}
	return list
}

// judge voids the trial for what happened to a target since the moment and was not done on purpose.
func (s *services) judge(t *trial, since time.Time) {
	for _, one := range s.up {
		state := one.State()
		restarts := 0
		for _, incident := range state.Since(since) {
			if incident.Kind == target.Restarted {
				restarts++
			}
			if incident.OnPurpose {
				t.note(incident.Text)
			} else {
				t.void("target-restarted", incident.Text)
			}
		}
		t.measure(assay.MeasureRef{Name: "restarts", Object: one.name}, float64(restarts))
		t.measure(assay.MeasureRef{Name: "cold_start", Object: one.name}, float64(state.ColdStart))
		for _, note := range state.Notes {
			t.note(note)
		}
	}
}
