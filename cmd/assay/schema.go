package main

import (
	"github.com/spf13/cobra"

	"github.com/assaybench/assay/spec"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "The JSON Schema of the experiment file",
		Long: `Schema prints the JSON Schema of the experiment file, with which editors complete and check. For the
YAML language server, start the file with: # yaml-language-server: $schema=assay.schema.json`,
		Example: `  assay schema > assay.schema.json`,
		Args:    none,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := c.OutOrStdout().Write(spec.Schema())
			return err
		},
	}
}
