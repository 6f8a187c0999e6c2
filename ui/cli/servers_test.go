package cli_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"pointsman/ui/cli"
)

// To list the servers starts none of them.
func TestServersListHasNoSideEffects(t *testing.T) {
	r := newRig(t, "mcpServers:\n  s: {command: touch, args: ['"+t.TempDir()+"/started']}\n")
	var list []struct {
		Name    string
		Enabled bool
		Live    struct{ Status, Error string }
	}
	if err := json.Unmarshal([]byte(r.must("servers", "list", "--json").out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || !list[0].Enabled || list[0].Live.Status != "stopped" || list[0].Live.Error != "" {
		t.Errorf("the servers are %+v", list)
	}
}

func TestServersStartStopRestart(t *testing.T) {
	r := newRig(t, scratchConfig+"  gone: {command: /no/such/program}\n  off: {command: x, disabled: true}\n")
	if got := r.run("", "servers", "start", "scratch"); got.code != 1 || !strings.Contains(got.errors, "no Pointsman is running") {
		t.Errorf("without a resident: %+v", got)
	}
	r.serve("--ask", "none")
	for _, test := range []struct {
		args string
		code int
		says string
	}{
		{"stop scratch", 0, "scratch is stopped."},
		{"start scratch", 0, "scratch is connected, with 4 tools."},
		{"restart scratch", 0, "scratch is connected, with 4 tools."},
		{"start gone", 1, "/no/such/program"},
		{"start off", 1, "the configuration disables it"},
		{"stop nobody", 1, `"nobody"`},
	} {
		got := r.run("", append([]string{"servers"}, strings.Fields(test.args)...)...)
		if got.code != test.code || !strings.Contains(got.errors, test.says) || got.out != "" {
			t.Errorf("%s: %+v", test.args, got)
		}
		missing := !strings.Contains(r.must("tools").out, "scratch__write_file")
		if missing != (test.args == "stop scratch") {
			t.Errorf("after %s the scratch server's tools are missing: %t", test.args, missing)
		}
	}
	if got := r.must("servers", "stop", "scratch", "--json").out; !strings.Contains(got, `"status": "stopped"`) {
		t.Errorf("it prints %s", got)
	}
}

func TestServerLogs(t *testing.T) {
	r := newRig(t, scratchConfig+"  gone: {command: /no/such/program}\n")
	r.serve("--ask", "none")
	if got := r.run("", "servers", "logs", "scratch"); got.code != 1 || got.out != "" || !strings.Contains(got.errors, "diagnostics: {mcp: info}") {
		t.Errorf("off, it prints %+v", got)
	}
	for args, says := range map[string]string{"nobody": `"nobody"`, "scratch --level loud": "level"} {
		if got := r.run("", append([]string{"servers", "logs"}, strings.Fields(args)...)...); got.code != 1 || !strings.Contains(got.errors, says) {
			t.Errorf("%s: %+v", args, got)
		}
	}

	r = newRig(t, scratchConfig+"  gone: {command: /no/such/program}\ndiagnostics: {mcp: debug}\n")
	r.serve("--ask", "none")
	eventually(t, "it is kept that a server cannot be started", func() bool {
		got := r.must("servers", "logs", "gone", "--level", "error").out
		return strings.Contains(got, " error   lifecycle failed: ") && strings.Contains(got, "/no/such/program")
	})
	var entry struct{ Server, ConnectionID, Level, Category, Message string }
	lines := strings.Split(r.must("servers", "logs", "scratch", "--json").out, "\n")
	if err := json.Unmarshal([]byte(lines[0]), &entry); err != nil || entry.Server != "scratch" || entry.ConnectionID == "" || entry.Category != "lifecycle" || entry.Message != "pending" {
		t.Errorf("the first record is %+v, %v", entry, err)
	}
	var out, errs syncBuffer
	ctx, interrupt := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- cli.Run(ctx, r.options(strings.NewReader(""), &out, &errs, []string{"servers", "logs", "scratch", "--follow"}))
	}()
	connected := func(times int) func() bool {
		return func() bool { return strings.Count(out.String(), " lifecycle connected\n") == times }
	}
	eventually(t, "what was is printed", connected(1))
	r.must("servers", "restart", "scratch")
	eventually(t, "what happens is printed", connected(2))
	interrupt()
	if got := <-code; got != 0 || errs.String() != "" {
		t.Errorf("interrupted, it ends with %d and says %s", got, &errs)
	}
}
