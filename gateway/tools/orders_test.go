package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pointsman/approvals"
	"pointsman/gateway/tools"
)

// object is the schema of an object with properties, each given as its name, or
// as its name and the JSON of its schema: "code:{...}".
func object(properties ...string) json.RawMessage {
	var parts []string
	for _, p := range properties {
		name, schema, ok := strings.Cut(p, ":")
		if !ok {
			schema = `{"type":"string"}`
		}
		parts = append(parts, fmt.Sprintf("%q:%s", name, schema))
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(parts, ",") + `}}`)
}

// TestTheGravestEvidenceDecides: of what makes a tool risky the worst says how,
// so that no name makes light of what the tool is handed.
func TestTheGravestEvidenceDecides(t *testing.T) {
	c := newClassifier(t, []string{"get_listed"}, []string{"called_safe"})
	hints := func(name string, value bool) map[string]any { return map[string]any{name: value} }
	for _, tt := range []struct {
		name        string
		tool        string
		description string
		schema      json.RawMessage
		annotations map[string]any
		want        approvals.Class
	}{
		{"a write that takes a command", "write_file", "Write a file.", object("path", "command"), nil, approvals.Execute},
		{"a write that takes text", "write_file", "Write a file.", object("path", "content"), nil, approvals.Write},
		{"a deletion that takes a script", "delete_file", "", object("path", "postScript"), nil, approvals.Execute},
		{"a message that takes argv", "send_message", "", object("text", "argv"), nil, approvals.Execute},
		{"a command inside an option", "write_file", "", object("path", `options:{"properties":{"shell_command":{}}}`), nil, approvals.Execute},
		{"a coupon's code", "apply_code", "", object(`code:{"type":"string","description":"The coupon."}`), nil, approvals.Execute},
		{"a write with a coupon's code", "update_cart", "", object(`code:{"type":"string","description":"The coupon."}`), nil, approvals.Write},
		{"a write with a code that runs", "update_cart", "", object(`code:{"type":"string","description":"Executed afterwards."}`), nil, approvals.Execute},
		{"a write with a number of commands", "update_cart", "", object(`commands:{"type":"integer"}`), nil, approvals.Write},
		{"a worse verb that is joined", "create_and_run", "", nil, nil, approvals.Execute},
		{"a worse verb that is an order", "update_then_purge", "", nil, nil, approvals.Destructive},
		{"a worse verb without a joint", "write_exec", "", nil, nil, approvals.Execute},
		{"a worse word that is a noun", "create_delete_marker", "", nil, nil, approvals.Write},
		{"a worse selector", "update_thing", "", object(`action:{"enum":["create","delete"]}`), nil, approvals.Destructive},
		{"the worst of several selectors", "manage_thing", "", object(`action:{"enum":["create","delete"]}`, `operation:{"enum":["add","execute"]}`), nil, approvals.Execute},
		{"a description that begins worse", "write_file", "Executes what it is given.", object("path"), nil, approvals.Execute},
		{"a description that mentions worse", "write_file", "Write a file of what agents run.", object("path"), nil, approvals.Write},
		{"a download that executes", "download_file", "", object("output_path", "command"), nil, approvals.Execute},
		{"an unusual name that executes", "wrıte_file", "", object("command"), nil, approvals.Execute},
		{"a hint worse than the name", "write_file", "", object("path"), hints("destructiveHint", true), approvals.Destructive},
		{"a hint less grave", "write_file", "", object("command"), hints("destructiveHint", true), approvals.Execute},
		{"the user's risky list", "get_listed", "", object("command"), nil, approvals.Execute},
		{"the user's safe list wins", "called_safe", "", object("command"), nil, approvals.Read},
		{"a known writer that executes", "browser_pdf_save", "", object("command"), nil, approvals.Execute},
		{"a known safe name that executes", "git_blame", "", object("command"), nil, approvals.Execute},
		{"a known safe name", "git_blame", "", object("path"), nil, approvals.Read},
	} {
		t.Run(tt.name, func(t *testing.T) {
			def := parse(t, map[string]any{"name": tt.tool, "description": tt.description, "inputSchema": tt.schema, "annotations": tt.annotations})
			v := c.Classify(def, tt.tool)
			if v.Class != tt.want || v.Risky != (tt.want != approvals.Read) {
				t.Errorf("got %s (%q), want %s", v.Class, v.Evidence, tt.want)
			}
		})
	}
}

// TestParametersThatExecute: a tool that reads by its name and its description is
// risky when it takes something to execute, however that is spelled.
func TestParametersThatExecute(t *testing.T) {
	c := newClassifier(t, nil, nil)
	for _, tt := range []struct {
		tool, parameter string
		risky           bool
	}{
		{"get_weather", "exec", true},
		{"get_weather", "argv", true},
		{"get_weather", "python", true},
		{"get_weather", "lambda", true},
		{"get_weather", "statement", true},
		{"get_weather", "xpath", true},
		{"get_weather", "template", true},
		{"get_weather", "script", true},
		{"get_weather", "code", true},
		{"get_weather", "sql", true},
		{"get_weather", "stdin", true},
		{"get_weather", "sqlQuery", true},
		{"get_weather", "SQL_QUERY", true},
		{"get_weather", "sqlquery", true},
		{"get_weather", "pythonCode", true},
		{"get_weather", "python_code", true},
		{"get_weather", "PythonCode2", true},
		{"get_weather", "pythoncode", true},
		{"get_weather", "code-to-run", true},
		{"get_weather", "codeToExecute", true},
		{"get_weather", "runShellCommand", true},
		{"get_weather", "shellcmd", true},
		{"get_weather", "post_install_script", true},
		{"get_weather", "user.script", true},
		{"get_weather", "evalExpression", true},
		{"get_weather", "ｓｃｒｉｐｔ", true},
		{"get_weather", "scr\u200bipt", true},
		{"get_weather", `options:{"type":"object","properties":{"script":{"type":"string"}}}`, true},
		{"get_weather", `steps:{"type":"array","items":{"anyOf":[{"properties":{"cmd":{}}}]}}`, true},
		{"get_weather", `code:{"type":"string","description":"Python that is executed."}`, true},
		{"get_weather", `function:{"type":"string","description":"JavaScript to run."}`, true},
		{"get_weather", "city", false},
		{"get_weather", "countryCode", false},
		{"get_weather", "postcode", false},
		{"get_weather", "scriptId", false},
		{"get_weather", "command_name", false},
		{"get_weather", "description", false},
		{"get_weather", "transcript", false},
		{"get_weather", "typescript", false},
		{"get_weather", "bank_statement", false},
		{"get_weather", "query", false},
		{"get_weather", "queryText", false},
		{"get_weather", `code:{"type":"string","description":"The country, as ISO 3166."}`, false},
		{"get_weather", `template:{"type":"string","description":"Its name."}`, false},
		{"get_weather", `script:{"type":"boolean"}`, false},
		{"get_weather", `command:{"enum":["list","get"]}`, false},
		{"get_weather", `city:{"$ref":"#/examples/0","examples":[{"properties":{"script":{}}}]}`, true},
		{"get_weather", `city:{"patternProperties":{"^script$":{}}}`, true},
		{"get_weather", `city:{"default":{"script":"x"}}`, false},
		{"explain_code", "code", false},
		{"validate_sql", "sql_query", false},
		{"explain_code", "shell_code", false},
		{"validate_code", "argv", true},
		{"search_logs", "command", true},
	} {
		t.Run(tt.tool+" "+tt.parameter, func(t *testing.T) {
			def := parse(t, map[string]any{"name": tt.tool, "description": "Returns the weather.", "inputSchema": object("city", tt.parameter)})
			v := c.Classify(def, tt.tool)
			if v.Risky != tt.risky || tt.risky && v.Class != approvals.Execute {
				t.Errorf("got %s, risky %v (%q)", v.Class, v.Risky, v.Evidence)
			}
			def.Trusted, def.Annotations.ReadOnlyHint = true, new(true)
			if v := c.Classify(def, tt.tool); v.Risky {
				t.Errorf("a trusted server says it only reads, got %s (%q)", v.Class, v.Evidence)
			}
		})
	}
}

// TestParametersBesideModes: that each action reads says nothing of a script.
func TestParametersBesideModes(t *testing.T) {
	c := newClassifier(t, nil, nil)
	reading := `action:{"enum":["get","list"]}`
	for name, schema := range map[string]json.RawMessage{"get_thing": object(reading, "script"), "frobnicate": object(reading, "argv")} {
		def := parse(t, map[string]any{"name": name, "description": "Returns things.", "inputSchema": schema})
		if v := c.Classify(def, name); v.Class != approvals.Execute {
			t.Errorf("%s: got %s (%q)", name, v.Class, v.Evidence)
		}
	}
	if v := c.Classify(parse(t, map[string]any{"name": "frobnicate", "inputSchema": object(reading, "id")}), "x"); v.Risky {
		t.Errorf("without one: got %s (%q)", v.Class, v.Evidence)
	}
}

// TestParametersTooDeep: what lies too deep to be found may be anything.
func TestParametersTooDeep(t *testing.T) {
	c := newClassifier(t, nil, nil)
	for depth, risky := range map[int]bool{10: false, 200: true} {
		schema := strings.Repeat(`{"type":"object","properties":{"x":`, depth) + `{"type":"string"}` + strings.Repeat(`}}`, depth)
		v := c.Classify(parse(t, map[string]any{"name": "get_weather", "inputSchema": json.RawMessage(schema)}), "x")
		if v.Risky != risky || risky && v.Class != approvals.Execute {
			t.Errorf("%d levels: got %s (%q)", depth, v.Class, v.Evidence)
		}
	}
}

// TestJudgeGravity: a call is as grave as what its selectors choose, and as what
// it is handed, but never less than its tool is whatever they choose.
func TestJudgeGravity(t *testing.T) {
	c := newClassifier(t, nil, nil)
	actions := `action:{"enum":["list","create","delete","execute"]}`
	for _, tt := range []struct {
		name   string
		tool   string
		schema json.RawMessage
		args   string
		want   approvals.Class
	}{
		{"a reading choice", "manage_thing", object(actions), `{"action":"list"}`, approvals.Read},
		{"a writing choice", "manage_thing", object(actions), `{"action":"create"}`, approvals.Write},
		{"a destructive choice", "manage_thing", object(actions), `{"action":"delete"}`, approvals.Destructive},
		{"the worst choice", "manage_thing", object(actions), `{"action":"execute"}`, approvals.Execute},
		{"no choice", "manage_thing", object(actions), `{}`, approvals.Execute},
		{"an unlisted choice", "manage_thing", object(actions), `{"action":"make"}`, approvals.Execute},
		{"a choice beside calls", "manage_thing", object(actions), `{"action":"create","calls":[{}]}`, approvals.Execute},
		{"a choice beside a script", "manage_thing", object(actions, "script"), `{"action":"create","script":"x"}`, approvals.Execute},
		{"a choice less grave than the name", "delete_thing", object(actions), `{"action":"create"}`, approvals.Destructive},
		{"a reading choice of a writer", "update_thing", object(actions), `{"action":"list"}`, approvals.Write},
		{"a free choice graver than the name", "update_thing", object("action"), `{"action":"purge"}`, approvals.Destructive},
		{"a command that is not declared", "update_thing", object("id"), `{"id":"1","command":"rm"}`, approvals.Execute},
		{"a script that a reader does not declare", "get_thing", object("id"), `{"id":"1","script":["rm"]}`, approvals.Execute},
		{"one inside another", "get_thing", object("id", "options:{}"), `{"options":[{"script":"rm"}]}`, approvals.Execute},
		{"one inside another, declared", "explain_script", object(`options:{"properties":{"script":{}}}`), `{"options":{"script":"rm"}}`, approvals.Read},
		{"a plain one inside another", "get_thing", object("id", "options:{}"), `{"options":[{"city":"rm"}]}`, approvals.Read},
		{"an empty one", "get_thing", object("id"), `{"id":"1","script":""}`, approvals.Read},
		{"a code that is not declared", "get_thing", object("id"), `{"id":"1","code":"DE"}`, approvals.Read},
		{"a declared script that is looked at", "explain_script", object("script"), `{"script":"rm"}`, approvals.Read},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := c.Judge(parse(t, map[string]any{"name": tt.tool, "inputSchema": tt.schema}), tt.tool, json.RawMessage(tt.args))
			if v.Class != tt.want || v.Risky != (tt.want != approvals.Read) {
				t.Errorf("got %s (%q), want %s", v.Class, v.Evidence, tt.want)
			}
		})
	}
}

// FuzzParameters: whatever else a schema holds, and whatever a call is given, what
// the tool takes to execute is found.
func FuzzParameters(f *testing.F) {
	for _, seed := range []string{`{}`, `{"properties":{"script":{}}}`, `{"$ref":"#","enum":["a",1,null]}`, `[[{"action":"list"}]]`, `{"action":"list","a":"b"}`} {
		f.Add([]byte(seed))
	}
	c := newClassifier(f, nil, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		schema := append(append([]byte(`{"properties":{"x":`), data...), `,"runArgv":{"type":"string"}}}`...)
		def := tools.Definition{Name: "get_weather", InputSchema: schema}
		if v := c.Classify(def, "x"); v.Class != approvals.Execute {
			t.Errorf("%s: got %+v", schema, v)
		}
		if v := c.Judge(def, "x", data); v.Class != approvals.Execute {
			t.Errorf("called with %s: got %+v", data, v)
		}
		hidden := append(append([]byte(`{"x":`), data...), `,"deep":[{"runArgv":"a"}]}`...)
		if v := c.Judge(tools.Definition{Name: "get_weather"}, "x", hidden); v.Class != approvals.Execute {
			t.Errorf("called with %s: got %+v", hidden, v)
		}
	})
}
