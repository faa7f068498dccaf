package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/assaybench/assay"
	"github.com/assaybench/assay/spec"
)

// compareWall is the measure by which commands are compared.
const compareWall = "wall"

// text is the experiment file that does what compare does, with that many blocks.
func (m *comparing) text(blocks int) []byte {
	var b strings.Builder
	b.WriteString("# Written by assay compare. Every cell is executed once a block, in random order; the ratio of wall\n" +
		"# times is taken within blocks. The first trial of each cell is a warm-up and does not count.\n")
	b.WriteString("experiment: compare\nquestion: Which command is faster, and by how much?\n")
	m.writeFactors(&b)
	fmt.Fprintf(&b, "blocks: %d\nwarmup: 1\nseed: %d\n", blocks, m.seed)
	m.writeCommand(&b)
	if m.shell {
		b.WriteString("shell: true\n")
	}
	m.writeHook(&b, "setup", m.setup)
	m.writeHook(&b, "prepare", m.prepare)
	m.writeHook(&b, "conclude", m.conclude)
	m.writeHook(&b, "cleanup", m.cleanup)
	b.WriteString("hypotheses:\n")
	for i, p := range m.pairs {
		m.writeHypothesis(&b, i, p)
	}
	return []byte(b.String())
}

func (m *comparing) writeFactors(b *strings.Builder) {
	b.WriteString("factors:\n")
	if len(m.commands) > 1 {
		letters := make([]string, len(m.commands))
		for i := range letters {
			letters[i] = quoted(letter(i))
		}
		fmt.Fprintf(b, "  %s: [%s]\n", commandFactor, strings.Join(letters, ", "))
	}
	for _, f := range m.vary {
		levels := make([]string, len(f.Levels))
		for i, l := range f.Levels {
			levels[i] = quoted(l.Text)
		}
		fmt.Fprintf(b, "  %s: [%s]\n", f.Name, strings.Join(levels, ", "))
	}
}

func (m *comparing) writeCommand(b *strings.Builder) {
	if len(m.commands) == 1 {
		fmt.Fprintf(b, "command: %s\n", quoted(m.template(m.commands[0])))
		return
	}
	fmt.Fprintf(b, "command:\n  each: %s\n  of:\n", commandFactor)
	for i, text := range m.commands {
		fmt.Fprintf(b, "    %s: %s\n", quoted(letter(i)), quoted(m.template(text)))
	}
}

func (m *comparing) writeHook(b *strings.Builder, key string, commands []string) {
	if len(commands) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", key)
	for _, text := range commands {
		if isEvict(text) {
			fmt.Fprintf(b, "  - %s\n", quoted(m.template(text)))
			continue
		}
		fmt.Fprintf(b, "  - {command: %s, shell: %t}\n", quoted(m.template(text)), m.shell)
	}
}

func (m *comparing) writeHypothesis(b *strings.Builder, i int, p armPair) {
	of, to := m.arms[p.of], m.arms[p.to]
	claim, expect := fmt.Sprintf("%s does not take as long as %s.", of.text, to.text), "!= 1"
	if m.margin > 0 {
		claim = fmt.Sprintf("%s takes as long as %s, within %s%%.", of.text, to.text, plain(100*m.margin))
		expect = plain(1-m.margin) + ".." + plain(1+m.margin)
	}
	differs, same := assay.Cell{}, assay.Cell{}
	for name, level := range of.cell {
		if to.cell[name] == level {
			same[name] = level
		} else {
			differs[name] = level
		}
	}
	fmt.Fprintf(b, "  %s:\n    claim: %s\n    ratio: %s\n    of: %s\n    to: %s\n", pairID(i), quoted(claim), compareWall,
		m.levels(differs, of), m.levels(differs, to))
	if len(same) > 0 {
		fmt.Fprintf(b, "    at: %s\n", m.levels(same, of))
	}
	fmt.Fprintf(b, "    expect: %q\n", expect)
}

// pairID is the hypothesis of the i-th pair.
func pairID(i int) string { return "H" + strconv.Itoa(i+1) }

// levels are the arm's levels of those factors, as the file writes them.
func (m *comparing) levels(factors assay.Cell, a arm) string {
	var parts []string
	if _, ok := factors[commandFactor]; ok {
		parts = append(parts, commandFactor+": "+quoted(a.cell[commandFactor]))
	}
	for _, f := range m.vary {
		if _, ok := factors[f.Name]; ok {
			parts = append(parts, f.Name+": "+quoted(a.cell[f.Name]))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// template is a command as the file writes it: what --vary names is a substitution, every other
// brace a literal one.
func (m *comparing) template(command string) string {
	var b strings.Builder
	for i := 0; i < len(command); {
		if name := m.substitution(command[i:]); name != "" && (i == 0 || command[i-1] != '$') {
			b.WriteString("{" + name + "}")
			i += len(name) + 2
			continue
		}
		if c := command[i]; c == '{' || c == '}' {
			b.WriteByte(c)
		}
		b.WriteByte(command[i])
		i++
	}
	return b.String()
}

// substitution is the varied name that text starts with in braces; empty for none.
func (m *comparing) substitution(text string) string {
	for _, f := range m.vary {
		if strings.HasPrefix(text, "{"+f.Name+"}") {
			return f.Name
		}
	}
	return ""
}

// quoted is text as a YAML scalar: in single quotes where it is one printable line, else in the
// double quotes of JSON, which YAML reads.
func quoted(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	b, err := json.Marshal(text)
	if err != nil {
		return "''" // a string always marshals
	}
	return string(b)
}

// plain is a number without an exponent.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// read reads the experiment file with that many blocks, as if it stood in the working directory.
func (m *comparing) read(blocks int) (*experimentFile, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("read experiment: %w", err)
	}
	file := &experimentFile{path: filepath.Join(dir, experimentName), text: m.text(blocks)}
	file.experiment, err = spec.Read(file.path, file.text, here())
	if err != nil {
		return nil, fmt.Errorf("compare: read the experiment file that it wrote: %w", err)
	}
	return file, nil
}
