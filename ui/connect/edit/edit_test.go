package edit_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/tidwall/jsonc"

	"pointsman/ui/connect/edit"
)

// server is an entry as most programs have it.
func server() edit.Entry {
	return edit.Entry{
		Path:  edit.Keys("servers", "pointsman"),
		Value: edit.Object{{Key: "command", Value: "/opt/p"}, {Key: "args", Value: []string{"mcp"}}},
		Drop:  []string{"url"},
	}
}

// group is an element of a list.
func group() edit.Entry {
	return edit.Entry{
		Path:  []edit.Step{{Where: map[string]string{"name": "P", "vendor": "v"}}},
		Value: edit.Object{{Key: "name", Value: "P"}, {Key: "vendor", Value: "v"}, {Key: "n", Value: 1}},
	}
}

func TestSetJSON(t *testing.T) {
	tests := []struct {
		name, text, want string
		entry            edit.Entry
	}{
		{"no file", "", "{\n  \"servers\": {\n    \"pointsman\": {\n      \"command\": \"/opt/p\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n", server()},
		{"an empty object", "{}", "{\n  \"servers\": {\n    \"pointsman\": {\n      \"command\": \"/opt/p\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}", server()},
		{
			"beside another, with tabs, comments and a trailing comma",
			"// mine\n{\n\t\"servers\": {\n\t\t// the files\n\t\t\"fs\": {\"command\": \"npx\"}, // really\n\t\t/* end */\n\t},\n\t\"x\": 1 // last\n}\n",
			"// mine\n{\n\t\"servers\": {\n\t\t// the files\n\t\t\"fs\": {\"command\": \"npx\"}, // really\n\t\t/* end */\n\t\t\"pointsman\": {\n\t\t\t\"command\": \"/opt/p\",\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\"\n\t\t\t]\n\t\t},\n\t},\n\t\"x\": 1 // last\n}\n",
			server(),
		},
		{
			"after a comment behind the last", "{\n    \"a\": 1 // one\n}",
			"{\n    \"a\": 1, // one\n    \"servers\": {\n        \"pointsman\": {\n            \"command\": \"/opt/p\",\n            \"args\": [\n                \"mcp\"\n            ]\n        }\n    }\n}",
			server(),
		},
		{
			"Windows lines and a byte order mark", "\ufeff{\r\n  \"servers\": {\r\n  }\r\n}\r\n",
			"\ufeff{\r\n  \"servers\": {\r\n    \"pointsman\": {\r\n      \"command\": \"/opt/p\",\r\n      \"args\": [\r\n        \"mcp\"\r\n      ]\r\n    }\r\n  }\r\n}\r\n",
			server(),
		},
		{"one line", `{"servers":{"fs":{"command":"npx"}}}`, `{"servers":{"fs":{"command":"npx"}, "pointsman": {"command":"/opt/p","args":["mcp"]}}}`, server()},
		{
			"an older one", "{\n  \"servers\": {\n    \"pointsman\": {\n      // by hand\n      \"url\": \"http://x\",\n      \"timeout\": 5,\n      \"command\": \"/old\",\n      \"args\": [\"mcp\"]\n    },\n    \"z\": {}\n  }\n}\n",
			"{\n  \"servers\": {\n    \"pointsman\": {\n      // by hand\n      \"timeout\": 5,\n      \"command\": \"/opt/p\",\n      \"args\": [\"mcp\"]\n    },\n    \"z\": {}\n  }\n}\n",
			server(),
		},
		{"a list that is not there", "", "[\n  {\n    \"name\": \"P\",\n    \"vendor\": \"v\",\n    \"n\": 1\n  }\n]\n", group()},
		{
			"a list with another", "[\n\t{\n\t\t\"name\": \"P\",\n\t\t\"vendor\": \"other\"\n\t}\n]",
			"[\n\t{\n\t\t\"name\": \"P\",\n\t\t\"vendor\": \"other\"\n\t},\n\t{\n\t\t\"name\": \"P\",\n\t\t\"vendor\": \"v\",\n\t\t\"n\": 1\n\t}\n]",
			group(),
		},
		{"an element that is there", `[{"name":"P","vendor":"v","apiKey":"${input:k}","n":0}]`, `[{"name":"P","vendor":"v","apiKey":"${input:k}","n":1}]`, group()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			once := set(t, edit.JSON{}, tt.text, tt.entry)
			if diff := cmp.Diff(tt.want, once); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if twice := set(t, edit.JSON{}, once, tt.entry); twice != once {
				t.Errorf("setting it twice makes %q of %q", twice, once)
			}
		})
	}
}

func TestRemoveJSON(t *testing.T) {
	tests := []struct {
		name, text, want string
		entry            edit.Entry
	}{
		{"none", "{ \"a\": 1 }", "{ \"a\": 1 }", server()},
		{"the only one", "{\n  \"servers\": {\n    \"pointsman\": {}\n  }\n}\n", "{\n  \"servers\": {\n  }\n}\n", server()},
		{
			"the last, with comments", "{\"servers\": {\n  \"a\": 1 /* a */,\n  // ours\n  \"pointsman\": {\"command\": \"x\"} // here\n}}",
			"{\"servers\": {\n  \"a\": 1\n  // ours /* a */ // here\n}}", server(),
		},
		{
			"the last before a comma", "{\"servers\": {\n  \"a\": 1,\n  \"pointsman\": {},\n}}",
			"{\"servers\": {\n  \"a\": 1,\n}}", server(),
		},
		{
			"the first", "{\"servers\": {\n  \"pointsman\": {}, // gone\n  \"b\": 2\n}}",
			"{\"servers\": { // gone\n  \"b\": 2\n}}", server(),
		},
		{"an element", "[{\"name\":\"P\",\"vendor\":\"v\"},{\"name\":\"Q\"}]", "[{\"name\":\"Q\"}]", group()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := edit.JSON{}.Remove([]byte(tt.text), tt.entry)
			if err != nil {
				t.Fatal(err)
			}
			for _, comment := range []string{"// ours", "/* a */", "// here", "// gone"} {
				if strings.Contains(tt.text, comment) != strings.Contains(string(got), comment) {
					t.Errorf("the comment %q is lost in %q", comment, got)
				}
			}
			if !strings.Contains(tt.want, "// ours") && string(got) != tt.want {
				t.Errorf("removed:\n%s\nwant:\n%s", got, tt.want)
			}
			if !reflect.DeepEqual(decodeJSON(t, string(got)), decodeJSON(t, tt.want)) {
				t.Errorf("removed:\n%s\nwant what this says:\n%s", got, tt.want)
			}
		})
	}
}

func TestRefuseJSON(t *testing.T) {
	tests := []struct{ name, text, says string }{
		{"no JSON", "{", "no JSON"},
		{"two values", "{} {}", "no JSON"},
		{"a list", "[]", "is no object"},
		{"servers are no object", `{"servers": []}`, "servers is no object"},
		{"the entry is no object", `{"servers": {"pointsman": 1}}`, "servers.pointsman is no object"},
		{"servers twice", `{"servers": {}, "servers": {}}`, "servers stands there twice"},
		{"the entry twice", `{"servers": {"pointsman": {}, "pointsman": {}}}`, "pointsman stands there twice"},
		{"a key twice, escaped", `{"servers": {}, "\u0073ervers": {}}`, "servers stands there twice"},
		{"nested without end", strings.Repeat(`{"a":[`, 50_000), "no JSON"},
		{"nested too deeply", `{"a":` + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000) + "}", "no JSON"},
		{"an open comment", "{} /* ", "no JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := edit.JSON{}.Set([]byte(tt.text), server())
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("set: %v, want an error that says %q; made %.80q", err, tt.says, got)
			}
		})
	}
}

const codexFile = `# my settings
model = "gpt-6-sol"

[mcp_servers.docs] # documents
command = "npx"
args = [
  "-y", # yes
  "docs",
]

[mcp_servers.docs.env]
TOKEN = "t"
`

func table() edit.Entry {
	return edit.Entry{
		Path:  edit.Keys("mcp_servers", "pointsman"),
		Value: edit.Object{{Key: "command", Value: `C:\p "x"`}, {Key: "args", Value: []string{"mcp"}}, {Key: "tool_timeout_sec", Value: 600}},
		Drop:  []string{"url"},
	}
}

func TestTOML(t *testing.T) {
	ours := "[mcp_servers.pointsman]\ncommand = 'C:\\p \"x\"'\nargs = ['mcp']\ntool_timeout_sec = 600\n"
	tests := []struct{ name, text, want string }{
		{"no file", "", ours},
		{"a crowded one", codexFile, codexFile + "\n" + ours},
		{"no line break at the end", "a = 1", "a = 1\n\n" + ours},
		{"Windows lines", "a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(ours, "\n", "\r\n")},
		{"a byte order mark", "\ufeffa = 1\n", "\ufeffa = 1\n\n" + ours},
		{
			"an older one in the middle",
			"[mcp_servers.pointsman]\nurl = \"x\"\nenabled = false\n\n[mcp_servers.pointsman.env]\nA = \"b\"\n# of the next\n[z]\nq = 1\n",
			"# of the next\n[z]\nq = 1\n\n" + ours + "enabled = false\n\n[mcp_servers.pointsman.env]\nA = 'b'\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			once := set(t, edit.TOML{}, tt.text, table())
			if diff := cmp.Diff(tt.want, once); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if twice := set(t, edit.TOML{}, once, table()); twice != once {
				t.Errorf("setting it twice makes %q of %q", twice, once)
			}
			gone, err := edit.TOML{}.Remove([]byte(once), table())
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(gone), "pointsman") || !strings.HasPrefix(once, string(gone)) {
				t.Errorf("removing it left %q of %q", gone, once)
			}
		})
	}
}

func TestRefuseTOML(t *testing.T) {
	tests := []struct{ name, text, says string }{
		{"no TOML", "a = ", "no TOML"},
		{"an inline table of servers", "mcp_servers = {a = {}}", "could not be read any more"},
		{"inline", "[mcp_servers]\npointsman = {command = 'x'}", "not a table of its own"},
		{"dotted", "mcp_servers.pointsman.command = 'x'", "not a table of its own"},
		{"no table", "mcp_servers = 1", "mcp_servers is no table"},
		{"a list", "[[mcp_servers.pointsman]]\na = 1", "mcp_servers.pointsman is no table"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := edit.TOML{}.Set([]byte(tt.text), table())
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("set: %v, want an error that says %q; made %q", err, tt.says, got)
			}
		})
	}
}

func TestTexts(t *testing.T) {
	hide := func(path []string, value string) string {
		if strings.HasPrefix(value, "s3") {
			return strings.Join(path, "/") + "<" + value[2:]
		}
		return value
	}
	tests := []struct {
		name, text, want string
		format           edit.Format
	}{
		{"an object", "{\n // c\n \"a\": {\"b\": [\"s3x\", \"y\", 1]},}", "{\n // c\n \"a\": {\"b\": [\"a/b<x\", \"y\", 1]},}", edit.JSON{}},
		{"a list", "\ufeff[{\"k\": \"s3\\u0078\"}]", "\ufeff[{\"k\": \"k<x\"}]", edit.JSON{}},
		{"nothing", " \n", " \n", edit.JSON{}},
		{"tables", "x = 's3x'\n[a.b]\nc = [\"s3x\", 'y'] # s3x\nd = {e = '''s3x'''}\nf.g = \"s3\\u0078\"\n", "x = \"x<x\"\n[a.b]\nc = [\"a/b/c<x\", 'y'] # s3x\nd = {e = \"a/b/d/e<x\"}\nf.g = \"a/b/f/g<x\"\n", edit.TOML{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.format.Texts([]byte(tt.text), hide)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// FuzzJSON: what is set is there, setting it twice is setting it once, and
// everything else says what it said.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "{\n\t// c\n\t\"servers\": {\"a\": 1,},\n}", `{"servers":{"pointsman":{"url":1,"x":[{}]}},"b":"\u00e9"}`, "[{\"name\":\"P\",\"vendor\":\"v\"}, // c\n]",
		"\ufeff{\r\n}", "{\"a\":1}//x", "{/*a*/\"servers\"/*b*/:/*c*/{/*d*/}/*e*/,/*f*/}", "{\"servers\":{\"x\":2// c\n, \"pointsman\":{}}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, entry := range []edit.Entry{server(), group()} {
			property(t, edit.JSON{}, text, entry, func(s string) any {
				if strings.TrimSpace(strings.TrimPrefix(s, "\ufeff")) == "" {
					return nil
				}
				return decodeJSON(t, s)
			})
		}
	})
}

// FuzzTOML is FuzzJSON for TOML.
func FuzzTOML(f *testing.F) {
	for _, seed := range []string{"", codexFile, "[mcp_servers.pointsman]\nurl='x'\n# c\n[[a]]\n[a.b]\nc={}\n", "mcp_servers.x.y=1\r\n", "\ufeff", "[mcp_servers]\n[mcp_servers.pointsman.env]\nA='''\n[b]\n'''\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		property(t, edit.TOML{}, text, table(), func(s string) any {
			var o map[string]any
			if err := toml.Unmarshal([]byte(strings.TrimPrefix(s, "\ufeff")), &o); err != nil {
				t.Fatalf("%q is no TOML: %v", s, err)
			}
			return o
		})
	})
}

func property(t *testing.T, format edit.Format, text string, e edit.Entry, decode func(string) any) {
	once, err := format.Set([]byte(text), e)
	if err != nil {
		return
	}
	twice, err := format.Set(once, e)
	if err != nil || string(twice) != string(once) {
		t.Fatalf("set twice: %q, %v; once: %q", twice, err, once)
	}
	there, found, err := format.Get(once, e)
	if err != nil || !found {
		t.Fatalf("%q was set in %q, and is not there: %v", once, text, err)
	}
	for _, field := range e.Value {
		if _, ok := there[field.Key]; !ok {
			t.Fatalf("%s is not in %q", field.Key, once)
		}
	}
	gone, err := format.Remove(once, e)
	if err != nil {
		t.Fatalf("removing from %q: %v", once, err)
	}
	if _, found, err = format.Get(gone, e); found || err != nil {
		t.Fatalf("removed from %q, and still in %q (%v)", once, gone, err)
	}
	before, err := format.Remove([]byte(text), e)
	if err != nil {
		t.Fatalf("removing from %q: %v", text, err)
	}
	if one, other := prune(decode(string(before))), prune(decode(string(gone))); !cmp.Equal(one, other) {
		t.Fatalf("%q became %q:\n%s", before, gone, cmp.Diff(one, other))
	}
}

// prune takes objects and lists out that have nothing in them.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if inner = prune(inner); inner == nil {
				delete(v, key)
			} else {
				v[key] = inner
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
	}
	return v
}

func set(t *testing.T, format edit.Format, text string, e edit.Entry) string {
	t.Helper()
	got, err := format.Set([]byte(text), e)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func decodeJSON(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(jsonc.ToJSON([]byte(strings.TrimPrefix(text, "\ufeff"))), &v); err != nil {
		t.Fatalf("%q is no JSON: %v", text, err)
	}
	return v
}
