package spec

import (
	"errors"

	"go.yaml.in/yaml/v4"
)

// mend explains an error of the YAML reader.
func (r *reader) mend(err error) (*yaml.Node, error) {
	var e *yaml.LoadError
	if errors.As(err, &e) {
		r.at(e.Mark.Line, e.Mark.Column, "", "%s", e.Message)
	} else {
		r.at(1, 1, "", "%v", err)
	}
	return nil, err
}
