package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/assaybench/assay/spec"
)

// Every verb's help shows an example, and the examples of all are command lines that the program takes.
func TestEveryVerbShowsAnExample(t *testing.T) {
	for _, verb := range append(verbs(), newRoot()) {
		if verb.Example == "" {
			t.Errorf("%s has no example", verb.Name())
		}
		if verb.Short == "" || verb.Long == "" {
			t.Errorf("%s is not explained", verb.Name())
		}
		for line := range strings.Lines(verb.Example) {
			words, err := shownWords(line)
			if err != nil || len(words) < 2 || words[0] != "assay" {
				t.Errorf("%s: the example %q is no command line (%v)", verb.Name(), line, err)
				continue
			}
			if err := shown(words[1:]); err != nil {
				t.Errorf("%s: the example %q: %v", verb.Name(), line, err)
			}
		}
	}
}

var (
	remark    = regexp.MustCompile(`\s{2,}.*$`)
	redirects = regexp.MustCompile(`\s(\||>)\s[^'"]*$`)
)

// shownWords are the words of a command line in a text: without a remark, which stands behind two
// blanks, and without what a shell does with its output.
func shownWords(line string) ([]string, error) {
	line = remark.ReplaceAllString(strings.TrimSpace(line), "")
	return spec.Words(redirects.ReplaceAllString(line, ""))
}

// shown parses a command line as the program would.
func shown(args []string) error {
	verb, rest, err := newRoot().Find(args)
	if err != nil {
		return err
	}
	if slices.Contains(rest, "--help") {
		return nil
	}
	if err := verb.ParseFlags(rest); err != nil {
		return err
	}
	return verb.ValidateArgs(verb.Flags().Args())
}
