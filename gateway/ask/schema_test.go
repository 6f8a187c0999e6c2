package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// suite is where the official JSON-Schema-Test-Suite (MIT) stands: a module that
// this one needs brings the required parts of two drafts with its tests.
func suite(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata")
	if err != nil || len(strings.TrimSpace(string(out))) == 0 {
		t.Skipf("the test suite's module is not here: %v", err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the test suite is not in its module: %v", err)
	}
	return dir
}

// remotes loads what schemas of the suite point to, from its folder.
type remotes struct{ dir string }

func (r remotes) Load(url string) (any, error) {
	path, ok := strings.CutPrefix(url, "http://localhost:1234/")
	if !ok {
		return nil, fmt.Errorf("%s is not of the suite", url)
	}
	data, err := os.ReadFile(filepath.Join(r.dir, "remotes", filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	return decode(data)
}

// TestOfficialSuite compares every verdict with the official one.
func TestOfficialSuite(t *testing.T) {
	dir := suite(t)
	for draft, c := range map[string]struct {
		draft *jsonschema.Draft
		least int // verdicts
	}{"draft2020-12": {jsonschema.Draft2020, 1099}, "draft7": {jsonschema.Draft7, 913}} {
		files, err := filepath.Glob(filepath.Join(dir, draft, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for _, file := range files {
			count += compareWith(t, file, remotes{dir}, c.draft)
		}
		t.Logf("%s: %d verdicts, in %d files", draft, count, len(files))
		if count < c.least {
			t.Errorf("%s has %d verdicts, want at least %d", draft, count, c.least)
		}
	}
}

// compareWith compares the verdicts of one file, and counts them.
func compareWith(t *testing.T, file string, loader jsonschema.URLLoader, draft *jsonschema.Draft) (count int) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Description string
		Schema      json.RawMessage
		Tests       []struct {
			Description string
			Data        json.RawMessage
			Valid       bool
		}
	}
	if err := json.Unmarshal(data, &groups); err != nil {
		t.Fatal(err)
	}
	for _, group := range groups {
		doc, err := decode(group.Schema)
		if err != nil {
			t.Fatal(err)
		}
		s, err := compile(doc, loader, draft)
		if err != nil {
			t.Errorf("%s: %s: %v", filepath.Base(file), group.Description, err)
			continue
		}
		for _, test := range group.Tests {
			count++
			value, err := decode(test.Data)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(value); (err == nil) != test.Valid {
				t.Errorf("%s: %s: %s: got %v, want valid: %v", filepath.Base(file), group.Description, test.Description, err, test.Valid)
			}
		}
	}
	return count
}

func TestViolations(t *testing.T) {
	for name, c := range map[string]struct{ schema, value, want string }{
		"length":            {`{"properties":{"answer":{"properties":{"city":{"maxLength":3}}}}}`, `{"answer":{"city":"secret"}}`, "schema violation at answer/city: failed the 'maxLength' constraint"},
		"in a list":         {`{"properties":{"a":{"items":{"type":"integer"}}}}`, `{"a":[1,"secret"]}`, "schema violation at a/1: failed the 'type' constraint"},
		"required":          {`{"required":["city"]}`, `{}`, "schema violation at the root: failed the 'required' constraint"},
		"nothing else":      {`{"additionalProperties":false}`, `{"secret":1}`, "schema violation at the root: failed the 'additionalProperties' constraint"},
		"pattern":           {`{"properties":{"a":{"pattern":"^x"}}}`, `{"a":"secret"}`, "schema violation at a: failed the 'pattern' constraint"},
		"enum":              {`{"properties":{"a":{"enum":[1,2]}}}`, `{"a":"secret"}`, "schema violation at a: failed the 'enum' constraint"},
		"through a pointer": {`{"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":{"type":"string"}}}}}`, `{"a":7}`, "schema violation at a: failed the 'type' constraint"},
		"an older draft":    {`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"x":{"minimum":3}},"properties":{"a":{"$ref":"#/definitions/x"}}}`, `{"a":2}`, "schema violation at a: failed the 'minimum' constraint"},
		"good":              {`{"properties":{"a":{"const":12345678901234567890}}}`, `{"a":12345678901234567890}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := compileSchema([]byte(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			value, err := decode([]byte(c.value))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := s.Validate(value); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSchemasThatAreRefused(t *testing.T) {
	for name, schema := range map[string]string{
		"no JSON": `{`, "two": `{} {}`, "a wrong type": `{"type":"objekt"}`, "a pattern that cannot be matched": `{"pattern":"(?=x)"}`,
		"a pointer out": `{"$ref":"https://example.com/schema.json"}`, "a file": `{"$ref":"file:///etc/passwd"}`, "a pointer to nothing": `{"$ref":"#/$defs/x"}`,
		"an unknown draft": `{"$schema":"https://example.com/draft"}`,
	} {
		if _, err := compileSchema([]byte(schema)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestHostileSchemasEnd has a schema that would take for ever, in each of the ways
// that drafts have of pointing into themselves.
func TestHostileSchemasEnd(t *testing.T) {
	for name, draft := range map[string]string{"2020-12": "https://json-schema.org/draft/2020-12/schema", "2019-09": "https://json-schema.org/draft/2019-09/schema", "draft-07": "http://json-schema.org/draft-07/schema#", "draft-04": "http://json-schema.org/draft-04/schema#"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var doubling strings.Builder
			fmt.Fprintf(&doubling, `{"$schema":%q,"type":"object","allOf":[{"$ref":"#/definitions/a0"}],"definitions":{`, draft)
			for i := range 60 {
				fmt.Fprintf(&doubling, `"a%d":{"anyOf":[{"$ref":"#/definitions/a%d"},{"$ref":"#/definitions/a%d"}]},`, i, i+1, i+1)
			}
			doubling.WriteString(`"a60":{"required":["x"]}}}`)
			s, err := compileSchema([]byte(doubling.String()))
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			if err := s.Validate(map[string]any{}); !errors.Is(err, errTooLong) || time.Since(begun) > 20*validationPatience {
				t.Errorf("2^60 ways ended with %v after %s", err, time.Since(begun))
			}
		})
	}
}

func TestPatternsDoNotBacktrack(t *testing.T) {
	s, err := compileSchema([]byte(`{"properties":{"a":{"pattern":"^(a+)+$"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := s.Validate(map[string]any{"a": strings.Repeat("a", 100_000) + "!"}); err == nil || time.Since(begun) > 20*validationPatience {
		t.Errorf("it ended with %v after %s", err, time.Since(begun))
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#"}}}`), []byte(`{"a":{"a":{}}}`))
	f.Add([]byte(`{"anyOf":[{"pattern":"a*"},{"multipleOf":0.1}]}`), []byte(`1e400`))
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		s, err := compileSchema(schema)
		if err != nil {
			return
		}
		if v, err := decode(value); err == nil {
			_ = s.Validate(v) // it must end, without a panic
		}
	})
}
