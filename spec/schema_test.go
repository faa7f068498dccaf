package spec

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

func goodFiles(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d good files (%v), want at least 10", len(names), err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if files[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON is YAML text as the values that a JSON Schema is held against.
func asJSON(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestSchemaAcceptsGoodFiles(t *testing.T) {
	s := compiled(t)
	for name, text := range goodFiles(t) {
		if err := s.Validate(asJSON(t, text)); err != nil {
			t.Errorf("Validate(%s) = %v", name, err)
		}
	}
}

func TestSchemaRefusesBadFiles(t *testing.T) {
	s := compiled(t)
	for _, name := range []string{"unknown-keys", "required-missing", "command-and-load", "hypothesis-forms",
		"list-at-top", "times-without-unit", "numbers", "looks", "load-mistakes", "kill-mistakes"} {
		text, err := os.ReadFile("testdata/bad/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if s.Validate(asJSON(t, text)) == nil {
			t.Errorf("Validate(%s) accepts it", name)
		}
	}
}

// The keys that the reader asks for while it reads the good files are those of the schema, object
// by object. Hence a key that is added to one of them only turns this test red.
func TestSchemaAndReaderKnowTheSameKeys(t *testing.T) {
	known := map[string]map[string]bool{}
	for name, text := range goodFiles(t) {
		r := newReader(name, machine)
		r.read(text)
		if len(r.mistakes) > 0 {
			t.Errorf("Read(%s):\n%v", name, r.mistakes)
		}
		for kind, keys := range r.known {
			if known[kind] == nil {
				known[kind] = map[string]bool{}
			}
			maps.Copy(known[kind], keys)
		}
	}
	reader := map[string][]string{}
	for kind, keys := range known {
		reader[kind] = slices.Sorted(maps.Keys(keys))
	}
	var root struct {
		Properties map[string]any            `json:"properties"`
		Defs       map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	inSchema := map[string][]string{"experiment": slices.Sorted(maps.Keys(root.Properties))}
	for kind, def := range root.Defs {
		if properties := propertiesOf(def); properties != nil {
			inSchema[kind] = slices.Sorted(maps.Keys(properties))
		}
	}
	if diff := cmp.Diff(inSchema, reader); diff != "" {
		t.Errorf("keys of objects (-schema +reader):\n%s", diff)
	}
}

// propertiesOf are the keys of a definition, or of the object among its forms.
func propertiesOf(def map[string]any) map[string]any {
	if p, ok := def["properties"].(map[string]any); ok {
		return p
	}
	forms, _ := def["anyOf"].([]any)
	for _, f := range forms {
		if p, ok := f.(map[string]any)["properties"].(map[string]any); ok {
			return p
		}
	}
	return nil
}

// Every key is described, so that an editor can explain it.
func TestSchemaDescribesEveryKey(t *testing.T) {
	var doc map[string]any
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	count := 0
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch x := v.(type) {
		case map[string]any:
			properties, _ := x["properties"].(map[string]any)
			for name, p := range properties {
				count++
				if !described(doc, p.(map[string]any)) {
					t.Errorf("%s.%s has no description", path, name)
				}
			}
			for key, value := range x {
				walk(path+"."+key, value)
			}
		case []any:
			for _, e := range x {
				walk(path, e)
			}
		}
	}
	walk("", doc)
	if count < 150 {
		t.Errorf("%d keys in the schema, want at least 150", count)
	}
}

func described(doc, p map[string]any) bool {
	if p["description"] != nil {
		return true
	}
	name, ok := p["$ref"].(string)
	if !ok {
		return false
	}
	def, _ := doc["$defs"].(map[string]any)[filepath.Base(name)].(map[string]any)
	return def["description"] != nil
}
