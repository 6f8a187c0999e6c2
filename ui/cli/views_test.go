package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pointsman/gateway/policy"
	"pointsman/gateway/secrets"
	"pointsman/ui/cli"
)

// The keys that scripts rely on, with a gateway of this process and through a
// resident.
func TestJSONKeys(t *testing.T) {
	tests := []struct {
		args string
		list bool
		keys string
	}{
		{"models", true, "aliases capability context_window id label max_output provider tier"},
		{"capabilities", true, "deployments description fallbacks name"},
		{"models health", true, "base_url deployment failures group in_flight last_error model provider requests share state until"},
		{"tools", true, "allowed class evidence missing name risky server tool"},
		{"servers list", true, "configChanged enabled live name tools transport"},
		{"servers", true, "configChanged enabled live name tools transport"},
		{"status", false, "approvals listen llm mcp pid resident runs since version"},
		{"keys list", true, "error name present ref used_by"},
		{"version", false, "arch go os version"},
	}
	r := newRig(t, scratchConfig+"capabilities: {coding: x}\nmodel_list: [{model_name: coding, litellm_params: {model: demo}}]\n")
	check := func(t *testing.T) {
		for _, test := range tests {
			r.t = t
			text := r.must(append(strings.Fields(test.args), "--json")...).out
			if test.list {
				text = firstOf(t, text)
			}
			got := keysOf(t, text)
			for _, key := range strings.Fields(test.keys) {
				if !slices.Contains(got, key) {
					t.Errorf("%s --json has no %q: %v", test.args, key, got)
				}
			}
		}
	}
	t.Run("alone", check)
	r.t = t
	r.serve("--ask", "none")
	t.Run("attached", check)
}

func TestToolsOfTheBuiltinServer(t *testing.T) {
	r := newRig(t, scratchConfig)
	var rows []struct {
		Name    string  `json:"name"`
		Risky   bool    `json:"risky"`
		Missing *string `json:"missing"`
	}
	if err := json.Unmarshal([]byte(r.must("tools", "--json", "--server", "scratch").out), &rows); err != nil {
		t.Fatal(err)
	}
	risky := map[string]bool{}
	for _, row := range rows {
		risky[row.Name] = row.Risky
	}
	want := map[string]bool{"scratch__list_files": false, "scratch__read_file": false, "scratch__write_file": true, "scratch__delete_file": true}
	for name, asks := range want {
		if got, ok := risky[name]; !ok || got != asks {
			t.Errorf("%s: there %t, risky %t", name, ok, got)
		}
	}
	if got := r.must("tools").out; !strings.HasPrefix(got, "TOOL ") || !strings.Contains(got, "scratch__write_file") {
		t.Errorf("the table is %q", got)
	}
}

// TestToolsThatChanged: "never ask" was said of another definition.
func TestToolsThatChanged(t *testing.T) {
	r := newRig(t, scratchConfig+"tools: {safe: [delete_file, write_file]}\n")
	pins := `{"version":1,"pins":[{"server":"scratch","tool":"delete_file","hash":"sha256:another","text":"Deletes nothing."}]}`
	state := filepath.Join(r.home, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "pins.json"), []byte(pins), 0o600); err != nil {
		t.Fatal(err)
	}
	table := strings.Join(strings.Fields(r.must("tools").out), " ")
	for _, row := range []string{
		"scratch__delete_file scratch destructive yes its definition is not the one that was agreed to; name contains “delete”",
		"scratch__write_file scratch read no your safe list has “write_file”",
	} {
		if !strings.Contains(table, row) {
			t.Errorf("no row %q in %q", row, table)
		}
	}
}

func TestWhyATool(t *testing.T) {
	r := newRig(t, scratchConfig+"tools: {allowed: [read_file, list_files]}\n")
	check := func(t *testing.T) {
		for args, want := range map[string]string{
			"scratch__read_file":  "scratch__read_file (read_file of server scratch) is offered. Nothing is in its way.\n",
			"write_file":          "scratch__write_file (write_file of server scratch) is not offered:\n  - not in the allowlist (tools.allowed)\n",
			"scratch__erase_disk": "scratch__erase_disk is not there:\n  - server \"scratch\" is connected, and has no tool of that name\n  Similar: scratch__read_file, scratch__list_files\n",
		} {
			r.t = t
			if got := r.must("tools", "why", args).out; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		if got := keysOf(t, firstOf(t, r.must("tools", "why", "read_file", "--json").out)); !slices.Contains(got, "reasons") || !slices.Contains(got, "callable") {
			t.Errorf("the keys are %v", got)
		}
	}
	t.Run("alone", check)
	r.t = t
	r.serve("--ask", "none")
	t.Run("attached", check)
}

// A plain user gets no server that they did not ask for.
func TestToolsOfAnUnknownServer(t *testing.T) {
	r := newRig(t, scratchConfig)
	if got := r.run("", "tools", "--server", "scrath"); got.code != 1 || !strings.Contains(got.errors, `did you mean "scratch"?; configured are scratch`) {
		t.Errorf("got %+v", got)
	}
	if got := r.must("tools", "--server", "scratch").out; !strings.Contains(got, "scratch__write_file") {
		t.Errorf("got %q", got)
	}
}

func TestNothingIsServedUnasked(t *testing.T) {
	r := newRig(t, "")
	for _, args := range []string{"servers --json", "tools --json", "approvals list --json"} {
		if got := r.must(strings.Fields(args)...).out; strings.TrimSpace(got) != "[]" {
			t.Errorf("%s prints %q", args, got)
		}
	}
}

func TestMissingServerIsNamed(t *testing.T) {
	r := newRig(t, "mcpServers:\n  gone: {command: /nowhere/server}\n")
	got := r.must("tools", "--json")
	if strings.TrimSpace(got.out) != "[]" || !strings.Contains(got.errors, "server gone is missing: ") || !strings.Contains(got.errors, "/nowhere/server") {
		t.Errorf("got %+v", got)
	}
}

func TestStatusWithoutResident(t *testing.T) {
	r := newRig(t, scratchConfig)
	got := r.must("status").out
	if !strings.HasPrefix(got, "pointsman  not running") || !strings.Contains(got, "0 of 1 connected") {
		t.Errorf("status is %q", got)
	}
}

func TestToolsClassify(t *testing.T) {
	r := newRig(t, "")
	got := r.run(`{"server":"fs","name":"delete_file"}`+"\n", "tools", "classify")
	if got.code != 0 || !strings.HasPrefix(got.out, `{"server":"fs","name":"delete_file","class":"destructive","risky":true,`) {
		t.Errorf("got %+v", got)
	}
	if got := r.run("nonsense\n", "tools", "classify"); got.code != 1 || !strings.Contains(got.errors, "line 1") {
		t.Errorf("nonsense: %+v", got)
	}
}

// Whoever has read enough of our output ends us, and that is no failure; a
// full disk is one.
func TestOutputThatCannotBeWritten(t *testing.T) {
	r := newRig(t, "")
	for _, test := range []struct {
		name string
		err  error
		code int
	}{{"closed pipe", syscall.EPIPE, 0}, {"full disk", errBroken, 1}} {
		for _, command := range []string{"models", "models --json", "version", "config show", "chat --model demo hello"} {
			var errs syncBuffer
			code := cli.Run(t.Context(), r.options(strings.NewReader(""), closedPipe{test.err}, &errs, strings.Fields(command)))
			if code != test.code {
				t.Errorf("%s, %s: ended with %d: %s", test.name, command, code, &errs)
			}
		}
	}
}

func TestConfigCommands(t *testing.T) {
	r := newRig(t, "providers:\n  corp: {base_url: 'http://127.0.0.1:1/v1', api_key: literal-secret-1}\n")
	if got := r.must("config", "path").out; got != filepath.Join(r.home, "config.yaml")+"\n" {
		t.Errorf("the path is %q", got)
	}
	for _, args := range []string{"config show", "config show --json"} {
		if got := r.must(strings.Fields(args)...).out; strings.Contains(got, "literal-secret-1") || !strings.Contains(got, "corp") {
			t.Errorf("%s prints %q", args, got)
		}
	}
	got := r.must("config", "check")
	if got.out != "config ok\n" || !strings.Contains(got.errors, "warning: ") {
		t.Errorf("a literal secret: %+v", got)
	}
	bad := filepath.Join(r.home, "bad.yaml")
	if err := os.WriteFile(bad, []byte("gatewy: {}\nlog: {level: lod}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"config check " + bad, "config check --config " + bad} {
		got := r.run("", strings.Fields(args)...)
		lines := strings.Split(strings.TrimSpace(got.errors), "\n")
		if got.code != 1 || got.out != "" || len(lines) != 2 || !strings.Contains(lines[0], bad+":1:1: gatewy") || !strings.Contains(lines[1], bad+":2:14: log.level") {
			t.Errorf("%s: %d, %q", args, got.code, got.errors)
		}
	}
}

func TestKeys(t *testing.T) {
	r := newRig(t, "providers:\n  openai: {api_key: 'keychain:openai'}\n  corp: {base_url: 'http://127.0.0.1:1/v1', api_key: os.environ/CORP_KEY}\n")
	if got := r.run("sk-from-a-pipe\r\n", "keys", "set", "openai"); got.code != 0 || strings.Contains(got.errors+got.out, "sk-from") {
		t.Fatalf("setting a key: %+v", got)
	}
	if value, err := r.keychain.Get(t.Context(), "openai"); err != nil || value != "sk-from-a-pipe" {
		t.Errorf("the keychain has %q, %v", value, err)
	}
	r.env["CORP_KEY"] = "corp-secret"
	present := func() map[string]bool {
		var rows []struct {
			Name    string
			Present bool
		}
		if err := json.Unmarshal([]byte(r.must("keys", "list", "--json").out), &rows); err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, row := range rows {
			found[row.Name] = row.Present
		}
		return found
	}
	if got := present(); !got["openai"] || !got["CORP_KEY"] || got["gateway"] {
		t.Errorf("the keys are %v", got)
	}
	r.must("keys", "rm", "openai")
	if got := present(); got["openai"] {
		t.Error("the key that was removed is there")
	}
	if got := r.run("", "keys", "rm", "openai"); got.code != 1 || !strings.Contains(got.errors, secrets.ErrNotFound.Error()) {
		t.Errorf("removing it again: %+v", got)
	}
	if got := r.run("\n", "keys", "set", "openai"); got.code != 2 {
		t.Errorf("an empty key: %+v", got)
	}
}

func TestKeychainThatDoesNotOpen(t *testing.T) {
	for _, err := range []error{secrets.ErrLocked, secrets.ErrUnavailable} {
		r := newRig(t, "")
		r.keychain = lockedKeychain{err}
		if got := r.run("secret", "keys", "set", "openai"); got.code != 1 || !strings.Contains(got.errors, err.Error()) {
			t.Errorf("set: %+v", got)
		}
		if got := r.must("keys", "list"); !strings.Contains(got.out, "not known") || !strings.Contains(got.errors, err.Error()) {
			t.Errorf("list: %+v", got)
		}
	}
}

func TestVersion(t *testing.T) {
	for _, args := range []string{"version", "--version"} {
		if got := newRig(t, "").must(args).out; !strings.HasPrefix(got, "pointsman v1.2.3 (go") || strings.Count(got, "\n") != 1 {
			t.Errorf("%s prints %q", args, got)
		}
	}
}

func TestConfigPolicy(t *testing.T) {
	r := newRig(t, "mcpServers:\n  good: {command: x}\n  bad: {command: x, sandbox: {enabled: false}}\n")
	if got := r.must("config", "policy"); got.out != "" || !strings.Contains(got.errors, "no administrator's policy") {
		t.Errorf("without one: %+v", got)
	}
	r.policy = filepath.Join(r.home, "policy.yaml")
	settle := func(text string) {
		if err := os.WriteFile(r.policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settle("sandbox: {required: true}\n")
	if got := r.must("config", "policy").out; !strings.Contains(got, r.policy) || !strings.Contains(got, "required: true") {
		t.Errorf("it prints %q", got)
	}
	file := filepath.Join(r.home, "config.yaml")
	for _, args := range []string{"config check", "config check " + file} {
		got := r.run("", strings.Fields(args)...)
		if got.code != 1 || got.out != "" || !strings.Contains(got.errors, "mcpServers.bad.sandbox") || !strings.Contains(got.errors, policy.Code) || strings.Contains(got.errors, "good") {
			t.Errorf("%s: %+v", args, got)
		}
	}
	settle("approvals: {require: true}\n")
	r.env["MCP_REQUIRE_APPROVAL"] = "false"
	for _, args := range []string{"config check", "chat hello"} {
		if got := r.run("", strings.Fields(args)...); got.code != 1 || !strings.Contains(got.errors, policy.Code) {
			t.Errorf("%s: %+v", args, got)
		}
	}
	settle("[")
	if got := r.run("", "config", "policy"); got.code != 1 || !strings.Contains(got.errors, "cannot be followed") {
		t.Errorf("a broken one: %+v", got)
	}
}
