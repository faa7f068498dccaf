package spec

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// depends reads the names of the hypotheses that this one rests on. known are those of the file.
func (c *claim) depends(n *yaml.Node, own string, known []string) {
	for _, item := range c.items(n, c.what+": depends", true) {
		name, ok := c.text(item, c.what+": depends")
		switch {
		case !ok:
		case name == own:
			c.mistake(item, "%s: depends: it cannot depend on itself", c.what)
		case !slices.Contains(known, name):
			c.mistake(item, "%s: depends: no hypothesis is named %q%s", c.what, shorten(name), suggest(name, known))
		case slices.Contains(c.h.Depends, name):
			c.mistake(item, "%s: depends: %s stands twice", c.what, name)
		default:
			c.h.Depends = append(c.h.Depends, name)
		}
	}
}
