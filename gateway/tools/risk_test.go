package tools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pointsman/approvals"
	"pointsman/gateway/tools"
)

func newClassifier(t testing.TB, risky, safe []string) *tools.Classifier {
	t.Helper()
	c, err := tools.NewClassifier(risky, safe)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func parse(t testing.TB, tool map[string]any) tools.Definition {
	t.Helper()
	return parseFor(t, "srv", tool, false)
}

func parseFor(t testing.TB, server string, tool map[string]any, trusted bool) tools.Definition {
	t.Helper()
	raw, err := json.Marshal(tool)
	if err != nil {
		t.Fatal(err)
	}
	def, err := tools.Parse(server, raw, trusted)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestClassifyNames(t *testing.T) {
	c := newClassifier(t, nil, nil)
	for _, tt := range []struct {
		name  string
		class approvals.Class
	}{
		{"get_merge_request", approvals.Read},
		{"merge_pull_request", approvals.Write},
		{"deploy_plan_get", approvals.Read},
		{"deploy_app", approvals.Execute},
		{"VPS_deletePTRRecordV1", approvals.Destructive},
		{"billing_deletePaymentMethodV1", approvals.Destructive},
		{"linearUpdateIssue", approvals.Write},
		{"HTTPDeleteAll", approvals.Destructive},
		{"get_or_create_label", approvals.Write},
		{"getOrCreateLabel", approvals.Write},
		{"search_and_replace", approvals.Write},
		{"search_replace", approvals.Write},
		{"run_and_get_result", approvals.Execute},
		{"poll_create", approvals.Write},
		{"list_item_delete", approvals.Destructive},
		{"get_last_update", approvals.Read},
		{"resolve_thread", approvals.Write},
		{"semantic_model_create", approvals.Write},
		{"mark_all_read", approvals.Write},
		{"API-post-search", approvals.Read},
		{"post_message", approvals.OpenWorld},
		{"mysql_query", approvals.Execute},
		{"d1_query", approvals.Execute},
		{"query_metrics", approvals.Read},
		{"list_deleted_items", approvals.Read},
		{"generate_chart", approvals.Read},
		{"generate_api_key", approvals.Write},
		{"moduleDetails", approvals.Read},
		{"DirectionsTool", approvals.Read},
		{"browser_click", approvals.Execute},
		{"codex_run", approvals.Execute},
		{"mongo_aggregate", approvals.Execute},
		{"frobnicate", approvals.Write},
		{"", approvals.Write},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := c.Classify(tools.Definition{Name: tt.name}, tt.name)
			if v.Class != tt.class || v.Risky != (tt.class != approvals.Read) {
				t.Errorf("got %s, risky %v (%q), want %s", v.Class, v.Risky, v.Evidence, tt.class)
			}
			if len(v.Evidence) == 0 || v.Evidence[0] == "" {
				t.Error("no evidence given")
			}
		})
	}
}

func TestClassifyUserLists(t *testing.T) {
	for _, tt := range []struct {
		name        string
		risky, safe []string
		tool        string
		want        bool
		evidence    string
	}{
		{"safe by bare name", nil, []string{"delete_all"}, "delete_all", false, "your safe list"},
		{"safe by offered name", nil, []string{"srv__delete_all"}, "delete_all", false, "your safe list"},
		{"safe by pattern", nil, []string{"srv__*"}, "delete_all", false, "your safe list"},
		{"safe beats the embedded list", nil, []string{"codex_run"}, "codex_run", false, "your safe list"},
		{"risky by bare name", []string{"get_x"}, nil, "get_x", true, "your risky list"},
		{"risky pattern beats safe pattern", []string{"*_x"}, []string{"get_*"}, "get_x", true, "your risky list"},
		{"risky name beats safe name", []string{"get_x"}, []string{"get_x"}, "get_x", true, "your risky list"},
		{"exact safe name beats risky pattern", []string{"get_*"}, []string{"get_x"}, "get_x", false, "your safe list"},
		{"pattern in the middle", []string{"g*t_*x"}, nil, "get_x", true, "your risky list"},
		{"pattern must match whole", nil, []string{"delete"}, "delete_all", true, "name contains"},
		{"a bare name like another's offered name", nil, []string{"github__*"}, "github__delete", true, "name contains"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClassifier(t, tt.risky, tt.safe)
			v := c.Classify(parse(t, map[string]any{"name": tt.tool}), tools.OfferedName("srv", tt.tool))
			if v.Risky != tt.want || !strings.Contains(v.Evidence[0], tt.evidence) {
				t.Errorf("got risky %v because %q, want %v because %q", v.Risky, v.Evidence, tt.want, tt.evidence)
			}
		})
	}
	if _, err := tools.NewClassifier([]string{" "}, nil); err == nil || !strings.Contains(err.Error(), "tools.risky") {
		t.Errorf("an empty entry: got error %v", err)
	}
}

func TestClassifyAnnotations(t *testing.T) {
	c := newClassifier(t, nil, nil)
	for _, tt := range []struct {
		name    string
		tool    string
		hints   map[string]any
		trusted bool
		want    approvals.Class
	}{
		{"read-only lowers for a trusted server", "frobnicate", map[string]any{"readOnlyHint": true}, true, approvals.Read},
		{"read-only lowers nothing otherwise", "frobnicate", map[string]any{"readOnlyHint": true}, false, approvals.Write},
		{"read-only never outweighs a clear verb", "email_send", map[string]any{"readOnlyHint": true}, true, approvals.OpenWorld},
		{"not read-only raises", "get_x", map[string]any{"readOnlyHint": false}, false, approvals.Write},
		{"absent is not false", "get_x", map[string]any{"idempotentHint": true}, false, approvals.Read},
		{"null is absent", "get_x", map[string]any{"readOnlyHint": nil}, false, approvals.Read},
		{"a string is absent", "get_x", map[string]any{"readOnlyHint": "false"}, false, approvals.Read},
		{"destructive raises a read", "get_x", map[string]any{"destructiveHint": true}, false, approvals.Destructive},
		{"destructive raises a write", "update_x", map[string]any{"destructiveHint": true}, true, approvals.Destructive},
		{"destructive beside read-only means nothing", "get_x", map[string]any{"destructiveHint": true, "readOnlyHint": true}, false, approvals.Read},
		{"not destructive lowers nothing", "delete_x", map[string]any{"destructiveHint": false}, true, approvals.Destructive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			def := parseFor(t, "srv", map[string]any{"name": tt.tool, "annotations": tt.hints}, tt.trusted)
			if v := c.Classify(def, tt.tool); v.Class != tt.want {
				t.Errorf("got %s (%q), want %s", v.Class, v.Evidence, tt.want)
			}
		})
	}
}

func TestClassifyOtherEvidence(t *testing.T) {
	c := newClassifier(t, nil, nil)
	params := func(names ...string) map[string]any {
		p := map[string]any{}
		for _, n := range names {
			p[n] = map[string]any{"type": "string"}
		}
		return map[string]any{"type": "object", "properties": p}
	}
	for _, tt := range []struct {
		name string
		tool map[string]any
		want approvals.Class
	}{
		{"a sentence that reads", map[string]any{"name": "blame", "description": "Shows who changed each line. Never deletes."}, approvals.Read},
		{"a sentence that changes", map[string]any{"name": "blame", "description": "Deletes whatever get returned."}, approvals.Destructive},
		{"a set of words that read", map[string]any{"name": "blame", "description": "all each get line of returns the who"}, approvals.Read},
		{"a set of words in doubt", map[string]any{"name": "blame", "description": "add all delete each get line of the"}, approvals.Write},
		{"a set of words whose first reads", map[string]any{"name": "blame", "description": "check each line of removes the"}, approvals.Destructive},
		{"a description lowers no clear name", map[string]any{"name": "delete_x", "description": "Returns the weather."}, approvals.Destructive},
		{"an alarm in a reading tool's description", map[string]any{"name": "get_code", "description": "Returns the code. The old one is permanently gone."}, approvals.Destructive},
		{"a script to execute", map[string]any{"name": "frobnicate", "description": "Returns things.", "inputSchema": params("script")}, approvals.Execute},
		{"a download to a file", map[string]any{"name": "download_attachment", "inputSchema": params("id", "output_path")}, approvals.Write},
		{"a download to the caller", map[string]any{"name": "download_attachment", "inputSchema": params("id")}, approvals.Read},
		{"no evidence", map[string]any{"name": "frobnicate"}, approvals.Write},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if v := c.Classify(parse(t, tt.tool), "x"); v.Class != tt.want {
				t.Errorf("got %s (%q), want %s", v.Class, v.Evidence, tt.want)
			}
		})
	}
}

func modeTool(name, selector string, schema map[string]any) map[string]any {
	return map[string]any{"name": name, "inputSchema": map[string]any{
		"type":       "object",
		"properties": map[string]any{selector: schema, "target": map[string]any{}},
	}}
}

func TestJudgeModes(t *testing.T) {
	enum := func(values ...string) map[string]any { return map[string]any{"type": "string", "enum": values} }
	branch := modeTool("git_branch", "operation", enum("list", "create", "delete"))
	free := modeTool("manage_thing", "action", map[string]any{"type": "string"})
	shell := modeTool("manage_thing", "command", map[string]any{"type": "string"})
	oneOf := modeTool("manage_thing", "action", map[string]any{"anyOf": []any{
		map[string]any{"const": "get_status"}, map[string]any{"const": "reset"},
	}})
	c := newClassifier(t, nil, nil)
	for _, tt := range []struct {
		name  string
		tool  map[string]any
		args  string
		risky bool
	}{
		{"a reading mode", branch, `{"operation":"list"}`, false},
		{"a changing mode", branch, `{"operation":"delete"}`, true},
		{"an unlisted mode", branch, `{"operation":"get"}`, true},
		{"another spelling of it", branch, `{"operation":"LIST"}`, true},
		{"no mode", branch, `{}`, true},
		{"no arguments", branch, ``, true},
		{"a mode that is no string", branch, `{"operation":["list"]}`, true},
		{"a mode beside another", branch, `{"operation":"list","action":"delete"}`, true},
		{"the key twice", branch, `{"operation":"list","operation":"delete"}`, true},
		{"a batch inside", branch, `{"operation":"list","calls":[{"x":1}]}`, true},
		{"an action deep inside", branch, `{"operation":"list","target":{"a":[{"action":"delete"}]}}`, true},
		{"a script beside it", branch, `{"operation":"list","script":"rm -rf /"}`, true},
		{"an empty script beside it", branch, `{"operation":"list","script":""}`, false},
		{"no script beside it", branch, `{"operation":"list","script":null}`, false},
		{"a plain list inside", branch, `{"operation":"list","target":["a","b"]}`, false},
		{"a free action that reads", free, `{"action":"list"}`, false},
		{"a free action that does not", free, `{"action":"purge"}`, true},
		{"a free action nobody knows", free, `{"action":"frobnicate"}`, true},
		{"a shell's command", shell, `{"command":"list"}`, true},
		{"a constant that reads", oneOf, `{"action":"get_status"}`, false},
		{"a constant that changes", oneOf, `{"action":"reset"}`, true},
		{"a clear name is not lowered", modeTool("delete_thing", "action", enum("list", "delete")), `{"action":"list"}`, true},
		{"a listed tool is not lowered", modeTool("codex_run", "action", enum("list", "run")), `{"action":"list"}`, true},
		{"a reading tool asked to change", map[string]any{"name": "get_thing"}, `{"action":"delete"}`, true},
		{"a reading tool asked to read", map[string]any{"name": "get_thing"}, `{"id":"delete"}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			def := parse(t, tt.tool)
			v := c.Judge(def, "x", json.RawMessage(tt.args))
			if v.Risky != tt.risky {
				t.Errorf("got risky %v (%q), want %v", v.Risky, v.Evidence, tt.risky)
			}
			entry := tools.NewCatalogue([]tools.Definition{def}, tools.Settings{Classifier: c}).Lookup(def.Name)
			if got := entry.Judge(json.RawMessage(tt.args)); got.Class != v.Class || !slices.Equal(got.Evidence, v.Evidence) {
				t.Errorf("Entry.Judge says %+v, Classifier.Judge %+v", got, v)
			}
		})
	}
}

func TestClassifyMixedModes(t *testing.T) {
	c := newClassifier(t, nil, nil)
	reading := modeTool("pipelines", "action", map[string]any{"enum": []string{"get", "list_runs"}})
	if v := c.Classify(parse(t, reading), "x"); v.Risky {
		t.Errorf("a tool with reading modes only: %q", v.Evidence)
	}
	mixed := modeTool("get_backlog", "action", map[string]any{"enum": []string{"list", "reorder"}})
	if v := c.Classify(parse(t, mixed), "x"); !v.Risky {
		t.Errorf("a reading name with a changing mode: %q", v.Evidence)
	}
}

func TestClassifyLines(t *testing.T) {
	in := `{"server":"a","name":"get_x","description":"Gets x.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"trusted":true}

{"name":"delete_x"}
`
	var out strings.Builder
	if err := tools.ClassifyLines(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	want := `{"server":"a","name":"get_x","class":"read","risky":false,"evidence":["name reads: “get”","description begins with “gets”"]}
{"server":"","name":"delete_x","class":"destructive","risky":true,"evidence":["name contains “delete”"]}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestClassifyLinesBadInput(t *testing.T) {
	for name, line := range map[string]string{
		"cut off":      `{"name":"x"`,
		"no object":    `7`,
		"no name":      `{"server":"a"}`,
		"trusted text": `{"name":"x","trusted":"yes"}`,
		"name number":  `{"name":3}`,
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := tools.ClassifyLines(strings.NewReader(`{"name":"get_x"}`+"\n\n"+line+"\n"), &out)
			if err == nil || !strings.Contains(err.Error(), "line 3:") {
				t.Errorf("got error %v, want one that names line 3", err)
			}
			if strings.Count(out.String(), "\n") != 1 {
				t.Errorf("the answer before the bad line is not there: %q", out.String())
			}
		})
	}
}

func BenchmarkJudge(b *testing.B) {
	def := parse(b, modeTool("git_branch", "operation", map[string]any{"enum": []string{"list", "create", "delete"}}))
	entry := tools.NewCatalogue([]tools.Definition{def}, tools.Settings{}).Lookup("git_branch")
	args := json.RawMessage(`{"operation":"list","target":"main"}`)
	for b.Loop() {
		if entry.Judge(args).Risky {
			b.Fatal("listing branches is not risky")
		}
	}
}

func BenchmarkClassify(b *testing.B) {
	c := newClassifier(b, nil, nil)
	def := parse(b, map[string]any{"name": "git_get_branch", "description": strings.Repeat("Returns one branch. ", 50)})
	for b.Loop() {
		c.Classify(def, "git__git_get_branch")
	}
}

func ExampleClassifier() {
	c, err := tools.NewClassifier(nil, nil)
	if err != nil {
		panic(err)
	}
	def, err := tools.Parse("github", json.RawMessage(`{"name":"deleteBranch"}`), false)
	if err != nil {
		panic(err)
	}
	v := c.Classify(def, tools.OfferedName("github", def.Name))
	fmt.Println(v.Class, v.Evidence)
	// Output: destructive [name contains “delete”]
}
