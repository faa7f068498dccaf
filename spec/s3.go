package spec

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/assaybench/assay"
	"go.yaml.in/yaml/v4"
)

// s3 reads what one operation on an object store is.
func (f *filler) s3(n *yaml.Node) *assay.S3Load {
	if n == nil {
		return nil
	}
	o, ok := f.object(n, "s3", "load: s3")
	if !ok {
		return nil
	}
	f = f.perOperation()
	s := &assay.S3Load{}
	if n := o.need("endpoint", ": such as http://127.0.0.1:7070"); n != nil {
		s.Endpoint, _ = f.string(n, "load: endpoint")
		f.checkEndpoint(n, s.Endpoint)
	}
	if n := o.need("bucket", ""); n != nil {
		s.Bucket, _ = f.string(n, "load: bucket")
	}
	if n := o.need("operation", ": get, head, put, list or delete"); n != nil {
		s.Operation = f.choice(n, "load: operation", "get", "head", "put", "list", "delete")
	}
	f.objects(s, o)
	f.parts(s, o)
	f.store(s, o)
	for _, c := range f.items(o.get("allow_hosts"), "load: allow_hosts", true) {
		if text, ok := f.string(c, "load: allow_hosts"); ok {
			s.AllowHosts = append(s.AllowHosts, text)
		}
	}
	o.close()
	return s
}

// objects reads which objects the operations go to.
func (f *filler) objects(s *assay.S3Load, o *object) {
	if s.Operation == "list" {
		for _, k := range []string{"key", "keys"} {
			if o.get(k) != nil {
				f.onceAt(o.keys[k], "load: a list goes to the keys behind a prefix; write prefix instead of %s", k)
			}
		}
	} else {
		switch key, n := o.one("key", "keys"); key {
		case "key":
			s.Keys.Template, _ = f.fill(n, "load: key")
		case "keys":
			s.Keys = f.keys(n)
		}
	}
	if n := o.get("prefix"); n != nil {
		s.Prefix, _ = f.fill(n, "load: prefix")
		f.belongs(s, o, "prefix", "list")
	}
	if n := o.get("most"); n != nil {
		s.Most = f.count(n, "load: most", 1)
		f.belongs(s, o, "most", "list")
	}
}

// belongs refuses a key that another operation than the one at hand is for.
func (f *filler) belongs(s *assay.S3Load, o *object, key, operation string) {
	if s.Operation != operation && s.Operation != "" {
		f.onceAt(o.keys[key], "load: %s belongs to operation: %s", key, operation)
	}
}

// keys reads a file of keys, or {weighted: CSV}.
func (f *filler) keys(n *yaml.Node) assay.Keys {
	if n.Kind != yaml.MappingNode {
		return assay.Keys{List: f.path(n, "load: keys")}
	}
	o, _ := f.object(n, "keys", "load: keys")
	var k assay.Keys
	if n := o.need("weighted", ": a CSV file of key,weight"); n != nil {
		k.Weighted = f.path(n, "load: keys: weighted")
	}
	o.close()
	return k
}

// parts reads what is sent and what has to come back.
func (f *filler) parts(s *assay.S3Load, o *object) {
	if n := o.get("range"); n != nil {
		text, ok := f.string(n, "load: range")
		if r, err := assay.ParseByteRange(text); ok && err != nil {
			f.mean(n, "load", err)
		} else {
			s.Range = r
		}
		f.belongs(s, o, "range", "get")
	}
	if n := o.get("body"); n != nil {
		s.Body = f.body(n)
		f.belongs(s, o, "body", "put")
	} else if s.Operation == "put" {
		o.need("body", ": what is put")
	}
	if n := o.get("expect"); n != nil {
		s.Expect = f.s3Expect(s, n)
	}
}

func (f *filler) s3Expect(s *assay.S3Load, n *yaml.Node) assay.S3Expect {
	o, ok := f.object(n, "s3_expect", "load: expect")
	if !ok {
		return assay.S3Expect{}
	}
	var x assay.S3Expect
	x.Status = f.statuses(o.get("status"))
	if n := o.get("sha256"); n != nil {
		x.SHA256 = f.sha256(n)
		f.belongs(s, o, "sha256", "get")
	}
	if n := o.get("bytes"); n != nil {
		x.Bytes = f.bytes(n, "load: expect: bytes")
		f.belongs(s, o, "bytes", "get")
	}
	o.close()
	return x
}

// store reads how the store is spoken to.
func (f *filler) store(s *assay.S3Load, o *object) {
	if n := o.get("style"); n != nil {
		s.Virtual = f.choice(n, "load: style", "path", "virtual") == "virtual"
	}
	if n := o.get("region"); n != nil {
		s.Region, _ = f.string(n, "load: region")
	}
	if n := o.get("sign"); n != nil {
		s.Sign = f.sign(n)
	}
	if n := o.get("connections"); n != nil {
		s.Connections = f.count(n, "load: connections", 1)
	}
	if n := o.get("insecure"); n != nil {
		s.Insecure = f.choice(n, "load: insecure", "true", "false") == "true"
	}
	if n := o.get("resolve"); n != nil {
		s.Resolve = f.positive(n, "load: resolve")
	}
}

// variable is how names of environment variables that hold keys are written: in capitals, as no secret is.
var variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// sign reads whether requests are signed, and the names of the variables that hold the keys. A name
// that cannot be one of a variable is most likely a key itself and is not repeated.
func (f *filler) sign(n *yaml.Node) *assay.Signing {
	if n.Kind != yaml.MappingNode {
		if f.choice(n, "load: sign", "true", "false") != "true" {
			return nil
		}
		return &assay.Signing{AccessKey: "AWS_ACCESS_KEY_ID", SecretKey: "AWS_SECRET_ACCESS_KEY"}
	}
	o, _ := f.object(n, "sign", "load: sign")
	name := func(n *yaml.Node) string {
		if n == nil {
			return ""
		}
		text, ok := f.string(n, "load: sign")
		if ok && !variable.MatchString(text) {
			f.onceAt(n, "load: sign: want the name of an environment variable in capitals, such as AWS_ACCESS_KEY_ID; a key itself has no place in a file")
		}
		return text
	}
	s := &assay.Signing{
		AccessKey:    name(o.need("access_key", ": the name of an environment variable")),
		SecretKey:    name(o.need("secret_key", ": the name of an environment variable")),
		SessionToken: name(o.get("session_token")),
	}
	o.close()
	return s
}

// checkEndpoint refuses what is not a store's address.
func (f *filler) checkEndpoint(n *yaml.Node, s string) {
	if s == "" {
		return
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "":
		f.onceAt(n, "load: endpoint: want a URL such as http://127.0.0.1:7070, got %q", shorten(s))
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil:
		f.onceAt(n, "load: endpoint: want a scheme, a host and a port only; the bucket has a key of its own, got %q", shorten(s))
	}
}
