package spec

import (
	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// eachCommand is the command of the filler's cell where the file has one a level:
// {each: FACTOR, of: {LEVEL: command, …}}. Any other node is returned as it is; nil is a mistake.
func (f *filler) eachCommand(n *yaml.Node, what string) *yaml.Node {
	if n.Kind != yaml.MappingNode || len(n.Content) == 2 && isEmpty(n.Content[1]) {
		return n // {name} without quotes is explained where texts are read
	}
	if f.seen[[2]int{n.Line, n.Column}] {
		return nil
	}
	factor, of := f.eachFactor(n, what)
	if of == nil {
		f.seen[[2]int{n.Line, n.Column}] = true
		return nil
	}
	level, ok := f.cell[factor.Name]
	if !ok {
		f.onceAt(n, "%s: {each: %s} has no meaning here, outside of the trials", what, factor.Name)
		return nil
	}
	for i := 0; i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value == level {
			return of.Content[i+1]
		}
	}
	return nil // reported by eachFactor
}

// eachFactor is the factor of an each: with the commands of its levels, nil where anything is wrong
// with them. Every level has a command.
func (f *filler) eachFactor(n *yaml.Node, what string) (assay.Factor, *yaml.Node) {
	before := len(f.mistakes)
	o, _ := f.object(n, "commands", what)
	var factor assay.Factor
	if e := o.need("each", ": the factor whose levels have a command each"); e != nil {
		factor, _ = f.factorName(e, what+": each")
	}
	of := o.need("of", ": the command of each level")
	o.close()
	if of == nil || factor.Name == "" || len(f.mistakes) > before {
		return factor, nil
	}
	if of.Kind != yaml.MappingNode {
		f.mistake(of, "%s: of: want levels with their commands, got %s", what, describe(of))
		return factor, nil
	}
	given := map[string]bool{}
	for i := 0; i+1 < len(of.Content); i += 2 {
		key := of.Content[i]
		if _, ok := factor.Level(key.Value); !ok {
			f.mistake(key, "%s: of: factor %s has no level %q%s", what, factor.Name, shorten(key.Value), suggest(key.Value, levelTexts(factor)))
		} else if isEmpty(of.Content[i+1]) {
			f.mistake(key, "%s: of: %s has no command", what, key.Value)
		}
		given[key.Value] = true
	}
	for _, l := range factor.Levels {
		if !given[l.Text] {
			f.mistake(of, "%s: of: no command for the level %s of %s", what, l.Text, factor.Name)
		}
	}
	if len(f.mistakes) > before {
		return factor, nil
	}
	return factor, of
}
