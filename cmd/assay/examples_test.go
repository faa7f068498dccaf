package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/assaybench/assay/spec"
)

// Every verb's help shows an example, and the examples of all are command lines that the program takes.
func TestEveryVerbShowsAnExample(t *testing.T) {
	remark := regexp.MustCompile(`\s{3,}.*$`)
	for _, verb := range append(verbs(), newRoot()) {
		if verb.Example == "" {
			t.Errorf("%s has no example", verb.Name())
		}
		if verb.Short == "" || verb.Long == "" {
			t.Errorf("%s is not explained", verb.Name())
		}
		for line := range strings.Lines(verb.Example) {
			line = remark.ReplaceAllString(strings.TrimSpace(line), "")
			words, err := spec.Words(line)
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
