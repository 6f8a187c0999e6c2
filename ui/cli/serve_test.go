package cli_test

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pointsman/gateway/secrets"
)

func TestServeAnswersAndStops(t *testing.T) {
	r := newRig(t, scratchConfig)
	s := r.serve()
	status, body := s.chat(t, `{"model":"demo","messages":[{"role":"user","content":"hi"}]}`)
	if status != 200 || !strings.Contains(body, "[demo script]") {
		t.Errorf("got %d: %s", status, body)
	}
	log := s.log.String()
	if !strings.Contains(log, "serves http://"+s.address+"/v1 with 1 MCP server\n") || !strings.Contains(log, "GATEWAY_API_KEY, in the environment") || strings.Contains(log, gatewayKey) {
		t.Errorf("serve tells %q", log)
	}
	second := r.run("", "serve", "--port", "0")
	if second.code != 1 || !strings.Contains(second.errors, "process "+strconv.Itoa(os.Getpid())) {
		t.Errorf("a second serve: %+v", second)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("serve ended with %d: %s", code, s.log)
	}
	if r.listening() != "" {
		t.Error("the resident is still there")
	}
	var run struct{ Door, Outcome, Model string }
	if err := json.Unmarshal([]byte(strings.Split(r.must("journal", "--runs", "--json").out, "\n")[0]), &run); err != nil || run.Door != "http" || run.Outcome != "ok" || run.Model != "demo" {
		t.Errorf("the run's row is %+v, %v", run, err)
	}
}

func TestPortInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "")
	for _, args := range [][]string{{"--port", port}, {"--listen", "127.0.0.1:" + port}} {
		got := r.run("", append([]string{"serve"}, args...)...)
		if got.code != 1 || !strings.Contains(got.errors, "has the port") || !strings.Contains(got.errors, "--port") {
			t.Errorf("%v: %+v", args, got)
		}
		if _, err := os.Stat("/proc/net/tcp"); err == nil && !strings.Contains(got.errors, "process "+strconv.Itoa(os.Getpid())+" (") {
			t.Errorf("the error does not name the holder: %s", got.errors)
		}
	}
}

// TestServeWithOllama: the door is shown with what it lacks, and one whose port
// somebody has keeps nobody from being served.
func TestServeWithOllama(t *testing.T) {
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		address string
		row     string
	}{
		"open":  {"127.0.0.1:0", "without a key"},
		"taken": {held.Addr().String(), "has the port; stop it"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, scratchConfig+"ollama: {enabled: true, listen: \""+test.address+"\"}\n")
			r.serve()
			eventually(t, "the status tells of the door", func() bool { return strings.Contains(r.must("status").out, test.row) })
			if got := r.must("config", "check"); got.out != "config ok\n" || !strings.Contains(got.errors, "note: ollama.enabled: "+test.address+" asks for no key") {
				t.Errorf("config check: %+v", got)
			}
		})
	}
	_ = held.Close()
}

func TestServeRefusals(t *testing.T) {
	tests := []struct {
		name   string
		config string
		key    string
		chain  secrets.Keychain
		says   string
	}{
		{"no keychain at all", "", "", lockedKeychain{secrets.ErrUnavailable}, "set GATEWAY_API_KEY"},
		{"address for everybody", "gateway: {listen: '0.0.0.0:8640'}", gatewayKey, nil, "gateway.allow_remote"},
		{"faulty configuration", "gatewy: {}", gatewayKey, nil, `did you mean "gateway"?`},
		{"no such builtin server", "mcpServers: {files: {type: builtin}}", gatewayKey, nil, `no builtin server "files"`},
		{"builtin server with a command", "mcpServers: {scratch: {type: builtin, command: x}}", gatewayKey, nil, "neither command nor url"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, test.config)
			r.env["GATEWAY_API_KEY"] = test.key
			if test.chain != nil {
				r.keychain = test.chain
			}
			got := r.run("", "serve", "--port", "0")
			if got.code != 1 || !strings.Contains(got.errors, test.says) || strings.Contains(got.errors, "serves http") {
				t.Errorf("got %+v, want %q", got, test.says)
			}
		})
	}
}

func TestUnusableHome(t *testing.T) {
	r := newRig(t, "")
	file := filepath.Join(r.home, "config.yaml") // is no directory
	for _, args := range []string{"serve --port 0", "chat hi"} {
		r.env["POINTSMAN_HOME"], r.env["POINTSMAN_CONFIG"] = filepath.Join(file, "x"), file
		if got := r.run("", strings.Fields(args)...); got.code != 1 || !strings.Contains(got.errors, "set POINTSMAN_HOME") {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestUnusableJournal(t *testing.T) {
	r := newRig(t, "")
	if err := os.MkdirAll(filepath.Join(r.home, "state", "journal.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := r.run("", "serve", "--port", "0"); got.code != 1 || !strings.Contains(got.errors, "set POINTSMAN_HOME") {
		t.Errorf("got %+v", got)
	}
}

// A locked keychain may be unlocked while we run.
func TestServeWithLockedKeychain(t *testing.T) {
	r := newRig(t, "")
	r.env["GATEWAY_API_KEY"] = ""
	r.keychain = lockedKeychain{secrets.ErrLocked}
	s := r.serve()
	eventually(t, "it is told", func() bool { return strings.Contains(s.log.String(), "the keychain is locked") })
	if status, _ := s.chat(t, `{}`); status == 200 {
		t.Error("somebody got in without a key")
	}
}

func TestKeyOfTheFirstStart(t *testing.T) {
	r := newRig(t, "")
	r.env["GATEWAY_API_KEY"] = ""
	s := r.serve()
	eventually(t, "the key's place is told", func() bool { return strings.Contains(s.log.String(), "keychain:gateway") })
	key, err := r.keychain.Get(t.Context(), "gateway")
	if err != nil || len(key) < 20 || strings.Contains(s.log.String(), key) {
		t.Errorf("the key is %q, %v; told was %q", key, err, s.log)
	}
}

func TestJournalForms(t *testing.T) {
	r := newRig(t, scratchConfig)
	if got := r.must("journal", "--json"); got.out != "" || !strings.Contains(got.errors, "empty") {
		t.Errorf("no journal yet: %+v", got)
	}
	r.must("chat", "write a note")
	lines := strings.Split(strings.TrimSpace(r.must("journal", "--json", "--since", "1h").out), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d rows: %v", len(lines), lines)
	}
	want := "id time door client run model server tool arguments class evidence outcome approver rule reason duration_ms result_bytes error"
	keys := strings.Join(keysOf(t, lines[0]), " ")
	for _, key := range strings.Fields(want) {
		if !strings.Contains(" "+keys+" ", " "+key+" ") {
			t.Errorf("no %q in %s", key, keys)
		}
	}
	for _, test := range []struct {
		args string
		rows int
	}{
		{"--outcome denied", 1}, {"--tool list_files", 1}, {"--server scratch", 2}, {"--server other", 0}, {"--text hello.txt", 1},
		{"--limit 1", 1}, {"--since 2099-01-01T00:00:00Z", 0},
	} {
		if got := strings.Count(r.must(append([]string{"journal", "--json"}, strings.Fields(test.args)...)...).out, "\n"); got != test.rows {
			t.Errorf("%s: %d rows, want %d", test.args, got, test.rows)
		}
	}
	if got := r.must("journal", "--csv").out; !strings.HasPrefix(got, "id,time,") || strings.Count(got, "\n") != 3 {
		t.Errorf("CSV is %q", got)
	}
	if got := r.must("journal").out; !strings.HasPrefix(got, "TIME ") || !strings.Contains(got, "denied") {
		t.Errorf("the table is %q", got)
	}
	if got := r.must("journal", "--runs").out; !strings.Contains(got, "demo") {
		t.Errorf("the runs are %q", got)
	}
}

func TestDemo(t *testing.T) {
	tests := []struct {
		args []string
		says string
		rows int
	}{
		{[]string{"--answer", "approve"}, "you approved it", 3},
		{[]string{"--answer", "deny"}, "was not allowed (demo --answer deny)", 2},
		{nil, "was not allowed (nobody to ask)", 2},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			r := newRig(t, "this: is not a configuration\n")
			got := r.must(append([]string{"demo"}, test.args...)...)
			if !strings.Contains(got.out, test.says) || strings.Count(got.out, "  scratch  ") != test.rows {
				t.Errorf("the demo prints %q", got.out)
			}
			lines := []string{"a scripted model", "plan     [", "call     scratch__list_files", "POST http://127.0.0.1:"}
			if test.args != nil {
				lines = append(lines, "waiting  scratch__write_file (destructive) needs your approval: --answer")
			}
			for _, line := range lines {
				if !strings.Contains(got.errors, line) {
					t.Errorf("no %q in %q", line, got.errors)
				}
			}
			if entries, err := os.ReadDir(r.home); err != nil || len(entries) != 1 {
				t.Errorf("the user's home was touched: %v, %v", entries, err)
			}
		})
	}
}

// A server can be kept from starting for one run; the file stays as it is, and a
// name that keeps none is told.
func TestDisableMCPServer(t *testing.T) {
	r := newRig(t, scratchConfig+"  other: {command: /no/such/program}\n")
	s := r.serve("--ask", "none", "--disable-mcp-server", "other", "--disable-mcp-server", "othr")
	var list []struct {
		Name    string
		Enabled bool
		Live    struct{ Status string }
	}
	if err := json.Unmarshal([]byte(r.must("servers", "list", "--json").out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Name != "other" || list[0].Enabled || list[0].Live.Status != "disabled" || !list[1].Enabled {
		t.Errorf("the servers are %+v", list)
	}
	if said := s.log.String(); !strings.Contains(said, `no server is named "othr"`) || !strings.Contains(said, `did you mean "other"?`) {
		t.Errorf("it said %s", said)
	}
	if text, err := os.ReadFile(filepath.Join(r.home, "config.yaml")); err != nil || strings.Contains(string(text), "disabled") {
		t.Errorf("%v, the file is %s", err, text)
	}
}
