package spec

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

const defaultTimeout = 10 * time.Second

// load reads what is sent, at which times and for how long.
func (f *filler) load(n *yaml.Node) *assay.Load {
	o, ok := f.object(n, "load", "load")
	if !ok {
		return nil
	}
	l := &assay.Load{Arrivals: "constant", SeedBy: "block", Timeout: defaultTimeout}
	switch key, n := o.one("http", "s3", "process"); key {
	case "http":
		l.Driver = key
		l.HTTP = f.http(n)
	case "s3":
		l.Driver = key
		l.S3 = f.s3(n)
	case "process":
		l.Driver = key
		l.Process = f.process(n)
	}
	f.pace(l, o)
	f.window(l, o)
	if n := o.get("arrivals"); n != nil {
		l.Arrivals = f.choice(n, "load: arrivals", "constant", "poisson")
	}
	if n := o.get("seed"); n != nil {
		l.SeedBy = f.choice(n, "load: seed", "block", "trial")
	}
	if n := o.get("late"); n != nil {
		l.Late = f.choice(n, "load: late", "allowed") == "allowed"
	}
	if n := o.get("operations"); n != nil {
		l.Operations = f.choice(n, "load: operations", "all")
	}
	if n := o.get("phases"); n != nil {
		l.Phases = f.choice(n, "load: phases", "true", "false") == "true"
	}
	if n := o.get("in_flight"); n != nil {
		if s, _ := f.string(n, "load: in_flight"); s != "auto" {
			l.InFlight = f.count(n, "load: in_flight", 1)
		}
	}
	o.close()
	return l
}

// pace reads the one thing that decides when operations are sent.
func (f *filler) pace(l *assay.Load, o *object) {
	switch key, n := o.one("rate", "clients", "steps", "ramp", "trace"); key {
	case "rate":
		l.Rate = f.perSecond(n, "load: rate")
	case "clients":
		l.Clients = f.count(n, "load: clients", 1)
		for _, open := range []string{"arrivals", "late", "in_flight"} {
			if o.has(open) {
				f.onceAt(o.keys[open], "load: %s belongs to an open loop; with clients the next operation starts when the last one is done", open)
			}
		}
	case "steps":
		for _, c := range f.items(n, "load: steps", false) {
			l.Steps = append(l.Steps, f.step(c))
		}
	case "ramp":
		l.Ramp = f.ramp(n)
	case "trace":
		l.Trace = f.path(n, "load: trace")
		if o.has("arrivals") {
			f.onceAt(o.keys["arrivals"], "load: arrivals has no meaning with trace, which lists them")
		}
	}
	if n := o.get("think"); n != nil {
		l.Think = f.duration(n, "load: think")
		if !o.has("clients") {
			f.onceAt(o.keys["think"], "load: think belongs to clients: the time between an answer and the next operation")
		}
	}
}

func (f *filler) step(n *yaml.Node) assay.Step {
	o, ok := f.object(n, "step", "load: steps")
	if !ok {
		return assay.Step{}
	}
	var s assay.Step
	if n := o.need("rate", ""); n != nil {
		s.Rate = f.perSecond(n, "load: steps: rate")
	}
	if n := o.need("for", ""); n != nil {
		s.For = f.positive(n, "load: steps: for")
	}
	o.close()
	return s
}

func (f *filler) ramp(n *yaml.Node) *assay.Ramp {
	o, ok := f.object(n, "ramp", "load: ramp")
	if !ok {
		return nil
	}
	p := &assay.Ramp{}
	if n := o.need("from", ""); n != nil {
		p.From = f.perSecond(n, "load: ramp: from")
	}
	if n := o.need("to", ""); n != nil {
		p.To = f.perSecond(n, "load: ramp: to")
	}
	if n := o.need("for", ""); n != nil {
		p.For = f.positive(n, "load: ramp: for")
	}
	o.close()
	return p
}

// window reads the times of a load; steps and a ramp bring their own.
func (f *filler) window(l *assay.Load, o *object) {
	if n := o.get("warmup"); n != nil {
		l.Warmup = f.duration(n, "load: warmup")
	}
	if n := o.get("timeout"); n != nil {
		l.Timeout = f.positive(n, "load: timeout")
	}
	own := o.has("steps") || o.has("ramp")
	switch n := o.get("for"); {
	case n != nil && own:
		f.onceAt(o.keys["for"], "load: for stands in the steps or the ramp already")
	case n != nil:
		l.For = f.positive(n, "load: for")
	case !own && !o.has("trace") && !o.has("for"):
		o.need("for", ": how long operations are sent, such as 30s")
	}
	for _, s := range l.Steps {
		l.For += s.For
	}
	if l.Ramp != nil {
		l.For = l.Ramp.For
	}
}

func (f *filler) process(n *yaml.Node) *assay.Command {
	if n == nil {
		return nil
	}
	return f.hook(n, "load: process")
}

// perOperation is f where {operation}, the index of each operation, may stand as well.
func (f *filler) perOperation() *filler {
	own := *f
	own.left = append(slices.Clone(f.left), "operation")
	return &own
}

func (f *filler) http(n *yaml.Node) *assay.HTTPLoad {
	if n == nil {
		return nil
	}
	o, ok := f.object(n, "http", "load: http")
	if !ok {
		return nil
	}
	f = f.perOperation()
	h := &assay.HTTPLoad{Method: "GET", Version: "1.1"}
	if n := o.need("url", ""); n != nil {
		h.URL, _ = f.fill(n, "load: url")
		f.checkURL(n, h.URL.String(), "load: url")
	}
	if n := o.get("method"); n != nil {
		h.Method = f.choice(n, "load: method", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
	}
	if n := o.get("headers"); n != nil {
		h.Headers = f.headers(n, "load: headers")
	}
	if n := o.get("body"); n != nil {
		h.Body = f.body(n)
		if h.Method == "GET" || h.Method == "HEAD" {
			f.onceAt(o.keys["body"], "load: a %s sends no body; add method: POST", h.Method)
		}
	}
	f.connection(h, o)
	if n := o.get("expect"); n != nil {
		h.Expect = f.httpExpect(n)
	}
	for _, c := range f.items(o.get("allow_hosts"), "load: allow_hosts", true) {
		if s, ok := f.string(c, "load: allow_hosts"); ok {
			h.AllowHosts = append(h.AllowHosts, s)
		}
	}
	o.close()
	return h
}

// connection reads how connections are made and kept.
func (f *filler) connection(h *assay.HTTPLoad, o *object) {
	if n := o.get("version"); n != nil {
		h.Version = f.choice(n, "load: version", "1.1", "2")
	}
	if n := o.get("keep_alive"); n != nil {
		h.NoKeepAlive = f.choice(n, "load: keep_alive", "true", "false") == "false"
	}
	if n := o.get("connections"); n != nil {
		h.Connections = f.count(n, "load: connections", 1)
	}
	if n := o.get("streams"); n != nil {
		h.Streams = f.count(n, "load: streams", 1)
		if h.Version != "2" {
			f.onceAt(o.keys["streams"], "load: streams belongs to version: 2")
		}
	}
	if n := o.get("insecure"); n != nil {
		h.Insecure = f.choice(n, "load: insecure", "true", "false") == "true"
	}
	if n := o.get("unix"); n != nil {
		h.Unix = f.path(n, "load: unix")
	}
	if n := o.get("resolve"); n != nil {
		h.Resolve = f.positive(n, "load: resolve")
	}
}

func (f *filler) headers(n *yaml.Node, what string) []assay.Header {
	values := f.templates(n, what)
	var list []assay.Header
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		key := n.Content[i]
		if v, ok := values[key]; ok {
			list = append(list, assay.Header{Name: key.Value, Value: v})
		}
	}
	return list
}

// body reads a path, or {text: …}, or {mix: FOLDER, weights: CSV}.
func (f *filler) body(n *yaml.Node) assay.Body {
	if n.Kind != yaml.MappingNode {
		s, ok := f.string(n, "load: body")
		if ok && strings.ContainsAny(s, "\n") || strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") || strings.HasPrefix(s, "<") {
			f.onceAt(n, "load: body names a file or a folder of files; a text is written as body: {text: …}")
		}
		return assay.Body{Path: f.absolute(s)}
	}
	o, _ := f.object(n, "body", "load: body")
	var b assay.Body
	switch key, n := o.one("text", "file", "mix"); key {
	case "text":
		b.Text, _ = f.fill(n, "load: body: text")
	case "file", "mix":
		b.Path = f.path(n, "load: body: "+key)
	}
	if n := o.get("weights"); n != nil {
		b.Weights = f.path(n, "load: body: weights")
		if !o.has("mix") {
			f.onceAt(o.keys["weights"], "load: body: weights belongs to mix: a folder of files")
		}
	}
	o.close()
	return b
}

func (f *filler) httpExpect(n *yaml.Node) assay.HTTPExpect {
	o, ok := f.object(n, "http_expect", "load: expect")
	if !ok {
		return assay.HTTPExpect{}
	}
	var x assay.HTTPExpect
	x.Status = f.statuses(o.get("status"))
	if n := o.get("header"); n != nil {
		list := f.headers(n, "load: expect: header")
		if len(list) != 1 {
			f.onceAt(n, "load: expect: header: want one header with its value")
		} else {
			x.Header = list[0]
		}
	}
	if n := o.get("sha256"); n != nil {
		x.SHA256 = f.sha256(n)
	}
	if n := o.get("json"); n != nil {
		x.JSON, _ = f.string(n, "load: expect: json")
	}
	if n := o.get("equals"); n != nil {
		x.Equals, _ = f.string(n, "load: expect: equals")
		if !o.has("json") {
			f.onceAt(o.keys["equals"], "load: expect: equals belongs to json: the value at that path")
		}
	}
	o.close()
	return x
}

func (f *filler) statuses(n *yaml.Node) (list []int) {
	for _, c := range f.items(n, "load: expect: status", true) {
		list = append(list, f.count(c, "load: expect: status", 100))
	}
	return list
}

func (f *filler) sha256(n *yaml.Node) string {
	s, _ := f.string(n, "load: expect: sha256")
	if len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		f.onceAt(n, "load: expect: sha256: want 64 digits of 0-9a-f, got %q", shorten(s))
	}
	return s
}

// checkURL refuses what cannot be requested.
func (f *filler) checkURL(n *yaml.Node, s, what string) {
	if n == nil || s == "" {
		return
	}
	u, err := url.Parse(s)
	if err != nil || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "" {
		f.onceAt(n, "%s: want a URL such as http://127.0.0.1:8080/score, got %q", what, shorten(s))
	}
}

// checkAddress refuses what cannot be connected to.
func (f *filler) checkAddress(n *yaml.Node, s, what string) {
	if n == nil || s == "" {
		return
	}
	if u, err := url.Parse("tcp://" + s); err != nil || u.Hostname() == "" || u.Port() == "" || u.Host != s {
		f.onceAt(n, "%s: want HOST:PORT such as 127.0.0.1:8080, got %q", what, shorten(s))
	}
}
