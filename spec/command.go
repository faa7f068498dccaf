package spec

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// command reads the keys of a program from o: command, shell, env, stdin, cpus, nice, limits.
// It is nil where there is no command or a wrong one. Messages start with what, which may be empty.
func (f *filler) command(o *object, what string) *assay.Command {
	if what != "" {
		what += ": "
	}
	c := &assay.Command{Dir: f.dir}
	n := o.get("command")
	if s := o.get("shell"); s != nil {
		c.Shell = f.yes(s, what+"shell")
	}
	if e := o.get("env"); e != nil {
		c.Env = f.env(e, what+"env")
	}
	if s := o.get("stdin"); s != nil {
		c.Stdin = f.path(s, what+"stdin")
	}
	if s := o.get("cpus"); s != nil {
		c.CPUs = f.cpus(s, what+"cpus")
	}
	if s := o.get("nice"); s != nil {
		c.Nice = f.nice(s, what+"nice")
	}
	if s := o.get("limits"); s != nil {
		c.Limits = f.limits(s, what+"limits")
	}
	if n == nil || !f.arguments(c, n, what+"command") {
		return nil
	}
	return c
}

// arguments sets the program and its arguments from a command line, a list, or one of these a level.
func (f *filler) arguments(c *assay.Command, n *yaml.Node, what string) bool {
	if n = f.eachCommand(n, what); n == nil {
		return false
	}
	if n.Kind == yaml.SequenceNode && c.Shell {
		f.onceAt(n, "%s: with shell: true the command is one text, not a list", what)
		return false
	}
	good := true
	if n.Kind == yaml.SequenceNode {
		for _, a := range f.items(n, what, false) {
			t, ok := f.fill(a, what)
			c.Args, good = append(c.Args, t), good && ok
		}
	} else {
		s, ok := f.once(n, what)
		good = ok && f.line(c, n, s, what)
	}
	if !good {
		return false
	}
	if len(c.Args) == 0 || c.Args[0].IsZero() {
		f.onceAt(n, "%s: the command is empty", what)
		return false
	}
	if !c.Shell && strings.Contains(c.Args[0].String(), "/") {
		c.Args[0] = f.within(c.Args[0])
	}
	return true
}

// line splits a command line, and only then puts the values in.
func (f *filler) line(c *assay.Command, n *yaml.Node, s, what string) bool {
	words := []string{s}
	if !c.Shell {
		var err error
		if words, err = Words(s); err != nil {
			f.onceAt(n, "%s: %v", what, err)
			return false
		}
	}
	good := true
	for _, w := range words {
		t, ok := f.fillText(n, w, what)
		c.Args, good = append(c.Args, t), good && ok
	}
	return good
}

// cpus reads CPU numbers: 0, [0, 1] or "0-3,6".
func (f *filler) cpus(n *yaml.Node, what string) []int {
	var list []int
	for _, c := range f.items(n, what, true) {
		s, ok := f.string(c, what)
		if !ok {
			continue
		}
		for _, piece := range strings.Split(s, ",") {
			low, high, isRange := strings.Cut(strings.TrimSpace(piece), "-")
			from, err := wholeNumber(low, 0)
			to := from
			if err == nil && isRange {
				to, err = wholeNumber(high, from)
			}
			const most = 4096
			if err != nil || to >= most {
				f.onceAt(c, "%s: want CPU numbers such as 0, [0, 1] or 0-3, got %q", what, shorten(s))
				return nil
			}
			for cpu := from; cpu <= to; cpu++ {
				list = append(list, cpu)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (f *filler) nice(n *yaml.Node, what string) int {
	s, ok := f.string(n, what)
	v, err := strconv.Atoi(s)
	if ok && (err != nil || v < -20 || v > 19) {
		f.onceAt(n, "%s: want a number from -20 to 19, got %q", what, shorten(s))
	}
	return v
}

func (f *filler) limits(n *yaml.Node, what string) map[string]uint64 {
	known := []string{"nofile", "as", "nproc", "cpu"}
	limits := map[string]uint64{}
	for _, e := range f.entries(n, what, assay.IsIdent) {
		f.know("limits", e.name)
		if !slices.Contains(known, e.name) {
			f.onceAt(e.key, "%s: unknown limit %q%s", what, e.name, suggest(e.name, known))
			continue
		}
		s, ok := f.string(e.value, what+": "+e.name)
		if !ok {
			continue
		}
		v, err := limit(e.name, s)
		if err != nil {
			f.mean(e.value, what+": "+e.name, err)
		}
		limits[e.name] = v
	}
	return limits
}

// limit reads a limit: bytes for as, seconds for cpu, else a count.
func limit(name, s string) (uint64, error) {
	if name == "cpu" {
		if d, err := assay.ParseDuration(s); err == nil && d > 0 {
			return uint64((d + 1e9 - 1) / 1e9), nil
		}
	}
	if name == "as" {
		if q, err := assay.ParseQuantity(s); err == nil && q.Unit.Dim.Base == "B" && q.Base() > 0 && q.Base() < 1<<62 {
			return uint64(q.Base()), nil
		}
	}
	v, err := wholeNumber(s, 0)
	return uint64(v), err
}

var evictCall = regexp.MustCompile(`^evict\((.*)\)$`)

// commands reads a hook: a command line, a list of arguments, or several of these in a list.
// A hook can also be a mapping with the keys of a program, and evict(FILES) drops files from the
// page cache: a list that starts with it is one of hooks, not of arguments.
func (f *filler) commands(n *yaml.Node, what string) []assay.Command {
	if n == nil {
		return nil
	}
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode && len(n.Content) > 0 && (n.Content[0].Kind != yaml.ScalarNode || evictCall.MatchString(n.Content[0].Value)) {
		nodes = f.items(n, what, false)
	}
	var list []assay.Command
	for _, n := range nodes {
		if c := f.hook(n, what); c != nil {
			list = append(list, *c)
		}
	}
	return list
}

func (f *filler) hook(n *yaml.Node, what string) *assay.Command {
	if n.Kind == yaml.MappingNode {
		o, _ := f.object(n, "program", what)
		c := f.command(o, what)
		o.need("command", "")
		o.close()
		return c
	}
	c := &assay.Command{Dir: f.dir}
	if m := evictCall.FindStringSubmatch(n.Value); m != nil && n.Kind == yaml.ScalarNode {
		return f.evict(c, n, m[1], what)
	}
	if !f.arguments(c, n, what) {
		return nil
	}
	return c
}

func (f *filler) evict(c *assay.Command, n *yaml.Node, files, what string) *assay.Command {
	words, err := Words(files)
	if err != nil || len(words) == 0 {
		f.onceAt(n, "%s: want evict(FILES), files or patterns with spaces between", what)
		return nil
	}
	for _, w := range words {
		t, ok := f.fillText(n, w, what)
		if !ok {
			return nil
		}
		s, err := t.Expand(nil)
		if err != nil {
			f.onceAt(n, "%s: evict cannot depend on the block or the trial", what)
			return nil
		}
		c.Evict = append(c.Evict, f.absolute(s))
	}
	return c
}
