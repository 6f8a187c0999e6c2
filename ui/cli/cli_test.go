package cli_test

import (
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	r := newRig(t, "")
	tests := []struct {
		name string
		args string
		says string
	}{
		{"unknown command", "serv", `did you mean "serve"?`},
		{"unknown subcommand", "keys lst", `did you mean "list"?`},
		{"unknown subcommand of one that works alone", "tools clasify", `did you mean "classify"?`},
		{"nothing like it", "frobnicate", "pointsman --help"},
		{"unknown flag", "status --jsno", `did you mean "--json"?`},
		{"unknown help topic", "help serv", `did you mean "serve"?`},
		{"argument too many", "status now", `does not take "now"`},
		{"argument missing", "approvals approve", "needs ID"},
		{"subcommand missing", "config", "needs a command: check, path, policy, show"},
		{"flag without a value", "serve --port", "needs an argument"},
		{"port out of range", "serve --port 70000", "70000 is no port"},
		{"two addresses", "serve --port 1 --listen 127.0.0.1:2", "not both"},
		{"unknown place to ask", "serve --ask window", "terminal or none"},
		{"demo's answer", "demo --answer maybe", "approve or deny"},
		{"two formats", "journal --json --csv", "not both"},
		{"no time", "journal --since yesterday", "24h"},
		{"no outcome", "journal --outcome denid", `did you mean "denied"?`},
		{"nothing like an outcome", "journal --outcome foo", "ok, failed, denied, not_answered, withdrawn"},
		{"negative limit", "journal --limit -1", "negative"},
		{"empty prompt", "chat -", "the prompt is empty"},
		{"secret as an argument", "keys set openai sk-verysecret", "type it, or pipe it in"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r.t = t
			got := r.run("", strings.Fields(test.args)...)
			if got.code != 2 || got.out != "" || !strings.Contains(got.errors, test.says) {
				t.Errorf("got %d, out %q, err %q; want 2 and %q", got.code, got.out, got.errors, test.says)
			}
			if strings.Count(got.errors, "\n") != 1 || strings.Contains(got.errors, "verysecret") {
				t.Errorf("not one harmless line: %q", got.errors)
			}
		})
	}
}

func TestHelpShowsAnExample(t *testing.T) {
	r := newRig(t, "")
	commands := []string{
		"", "serve", "chat", "ask", "capabilities", "models", "models health", "tools", "tools why", "tools classify", "status", "servers", "servers list", "servers start", "servers stop", "servers restart", "servers logs", "approvals", "approvals list",
		"approvals approve", "approvals deny", "approvals watch", "keys", "keys list", "keys set", "keys rm", "config", "config path",
		"config show", "config check", "journal", "demo", "version",
	}
	for _, command := range commands {
		t.Run(command, func(t *testing.T) {
			r.t = t
			got := r.run("", append(strings.Fields(command), "--help")...)
			if got.code != 0 || !strings.Contains(got.out, "Examples:\n  ") || got.errors != "" {
				t.Errorf("got %d, %q, %q", got.code, got.out, got.errors)
			}
		})
	}
}

func TestHelpHasNoSillyDefault(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"serve", "--help"}} {
		if got := newRig(t, "").must(args...).out; !strings.Contains(got, "--port") || strings.Contains(got, "-1") {
			t.Errorf("%v prints %s", args, got)
		}
	}
}

func TestHelpShowsHowToBegin(t *testing.T) {
	got := newRig(t, "").run("", "help")
	if got.code != 0 || !strings.Contains(got.out, "pointsman serve") || !strings.Contains(got.out, "pointsman demo") {
		t.Errorf("got %+v", got)
	}
}

func TestCompletionScripts(t *testing.T) {
	r := newRig(t, "")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := r.must("completion", shell); !strings.Contains(got.out, "pointsman") || got.errors != "" {
			t.Errorf("%s: %d bytes, %q", shell, len(got.out), got.errors)
		}
	}
	for typed, want := range map[string]string{
		"keys ": "list\t", "serve --ask ": "terminal\nnone\n", "demo --answer ": "approve\ndeny\n", "journal --outcome den": "denied\n",
	} {
		if got := r.must(append([]string{"__complete"}, strings.Split(typed, " ")...)...); !strings.Contains(got.out, want) {
			t.Errorf("completing %q gives %q", typed, got.out)
		}
	}
}

// The flag is understood on either side of the subcommand.
func TestConfigFlagOnEitherSide(t *testing.T) {
	r := newRig(t, "")
	for _, args := range []string{"--config /nowhere/c.yaml config show", "config show --config /nowhere/c.yaml"} {
		got := r.run("", strings.Fields(args)...)
		if got.code != 1 || !strings.Contains(got.errors, "config not found: /nowhere/c.yaml") {
			t.Errorf("%s: %+v", args, got)
		}
	}
}
