package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// one takes exactly one argument, which the verb's usage calls what.
func one(what, example string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch len(args) {
		case 1:
			return nil
		case 0:
			return advise(fmt.Errorf("%s: which %s?", c.Name(), what), "assay %s %s", c.Name(), example)
		}
		return advise(fmt.Errorf("%s: one %s, not %d: %s", c.Name(), what, len(args), strings.Join(args, " ")), "assay %s --help", c.Name())
	}
}

// none takes no argument.
func none(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return advise(fmt.Errorf("%s: it takes no argument, and %q is one", c.Name(), args[0]), "assay %s --help", c.Name())
}
