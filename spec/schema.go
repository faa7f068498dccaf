package spec

import (
	_ "embed"
	"slices"
)

//go:embed schema.json
var schema []byte

// Schema is the JSON Schema (draft 2020-12) of the experiment file, with a description of every key,
// for editors that complete and explain. It says less than [Read] does: names and units are checked
// by Read alone.
func Schema() []byte { return slices.Clone(schema) }
