package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
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
