package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/spec"
)

// commandFactor is the factor whose levels are the commands, where there are several.
const commandFactor = "command"

// A comparing is what compare is asked for.
type comparing struct {
	commands []string // as given
	vary     []assay.Factor
	arms     []arm
	pairs    []armPair

	shell    bool
	margin   float64 // 0: none
	seed     uint64
	blocks   int // 0: what fits into patience
	patience time.Duration

	prepare, conclude, setup, cleanup []string
}

// An arm is one thing that is compared: a command with its levels put in.
type arm struct {
	text string // the command, for people
	cell assay.Cell
	vary assay.Cell // the part of the cell that --vary set
}

// An armPair is one comparison: indexes into arms.
type armPair struct{ of, to int }

// take reads commands and levels and lays out what is compared with what.
func (m *comparing) take(args, vary []string) error {
	for _, text := range vary {
		f, err := varied(text)
		if err != nil {
			return err
		}
		if f.Name == commandFactor || slices.ContainsFunc(m.vary, func(g assay.Factor) bool { return g.Name == f.Name }) {
			return fmt.Errorf("compare: --vary %s: the name is taken", text)
		}
		m.vary = append(m.vary, f)
		names := func(a string) []string { return assay.ParseTemplate(m.template(a)).Names() }
		if !slices.ContainsFunc(args, func(a string) bool { return slices.Contains(names(a), f.Name) }) {
			return advise(fmt.Errorf("compare: --vary %s: no command holds {%s}", text, f.Name), "assay compare --vary %s 'cmd {%s}'", text, f.Name)
		}
	}
	const example = "assay compare 'sleep 0.1' 'sleep 0.2', each command in quotes of its own"
	switch {
	case len(args) == 0:
		return advise(errors.New("compare: no command given"), example)
	case len(args) == 1 && len(vary) == 0:
		return advise(errors.New("compare: one command given; a comparison takes two, or one with --vary"), example)
	}
	m.commands = args
	for _, cell := range combinations(m.vary) {
		m.lay(cell)
	}
	if len(args) == 1 {
		m.pairLevels()
	}
	return nil
}

// varied reads name=level,level.
func varied(text string) (assay.Factor, error) {
	name, levels, ok := strings.Cut(text, "=")
	f := assay.Factor{Name: name}
	if !ok || !assay.IsIdent(name) {
		return f, fmt.Errorf("compare: --vary %q: want name=level,level,…, such as n=1,2,4", text)
	}
	for l := range strings.SplitSeq(levels, ",") {
		if _, twice := f.Level(l); twice || strings.TrimSpace(l) == "" {
			return f, fmt.Errorf("compare: --vary %q: level %q stands twice or is blank", text, l)
		}
		f.Levels = append(f.Levels, assay.Level{Text: l})
	}
	return f, nil
}

// combinations are all combinations of levels, the last factor's changing fastest.
func combinations(factors []assay.Factor) []assay.Cell {
	cells := []assay.Cell{{}}
	for _, f := range factors {
		var next []assay.Cell
		for _, c := range cells {
			for _, l := range f.Levels {
				next = append(next, c.With(assay.Cell{f.Name: l.Text}))
			}
		}
		cells = next
	}
	return cells
}

// lay adds the arms of one combination of levels; several commands are compared with the first.
func (m *comparing) lay(levels assay.Cell) {
	first := len(m.arms)
	for i, command := range m.commands {
		a := arm{cell: levels, vary: levels}
		a.text, _ = assay.ParseTemplate(m.template(command)).Expand(levels) // which names nothing else
		if len(m.commands) > 1 {
			a.cell = levels.With(assay.Cell{commandFactor: letter(i)})
		}
		if i > 0 {
			m.pairs = append(m.pairs, armPair{first, len(m.arms)})
		}
		m.arms = append(m.arms, a)
	}
}

// pairLevels compares the levels of the first varied factor with its first one, all else the same.
func (m *comparing) pairLevels() {
	name, base := m.vary[0].Name, m.vary[0].Levels[0].Text
	for to, a := range m.arms {
		if a.cell[name] == base {
			continue
		}
		of := slices.IndexFunc(m.arms, func(b arm) bool { return b.cell.Key() == a.cell.With(assay.Cell{name: base}).Key() })
		m.pairs = append(m.pairs, armPair{of, to})
	}
}

// letter is the level of the i-th command: a to z, then aa and on.
func letter(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return letter(i/26-1) + letter(i%26)
}

// check refuses what cannot be executed, before the generated file would.
func (m *comparing) check() error {
	const mostPairs = 1000
	if len(m.pairs) == 0 || len(m.pairs) > mostPairs {
		return fmt.Errorf("compare: %d comparisons; want 1 to %d", len(m.pairs), mostPairs)
	}
	for _, text := range slices.Concat(m.commands, m.prepare, m.conclude, m.setup, m.cleanup) {
		if err := m.checkCommand(text); err != nil {
			return err
		}
	}
	return nil
}

func (m *comparing) checkCommand(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("compare: a command is empty")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return fmt.Errorf("compare: the command %q is not UTF-8 text", text)
	case m.shell || isEvict(text):
		return nil
	}
	if _, err := spec.Words(text); err != nil {
		why, _, _ := strings.Cut(err.Error(), ";") // what follows speaks of the file
		return advise(fmt.Errorf("compare: the command %q: %s", text, why), "--shell, which hands commands to sh")
	}
	return nil
}

func isEvict(hook string) bool {
	return strings.HasPrefix(hook, "evict(") && strings.HasSuffix(hook, ")")
}
