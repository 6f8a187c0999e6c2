package hooks_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"pointsman/approvals"
	"pointsman/gateway/hooks"
)

func TestClasses(t *testing.T) {
	tests := []struct {
		name, tool string
		args       any
		class      approvals.Class
		asks       bool
		says       string // a part of the evidence or a warning
	}{
		{"view", "view", object{"path": "a.txt"}, approvals.Read, false, ""},
		{"view outside", "view", object{"path": "/etc/hostname"}, approvals.Read, false, ""},
		{"view a key", "view", object{"path": "/home/me/.ssh/id_rsa"}, approvals.Read, true, "~/.ssh"},
		{"view a public key", "view", object{"path": "/home/me/.ssh/id_rsa.pub"}, approvals.Read, false, ""},
		{"view by a tilde", "view", object{"path": "~/.ssh/id_rsa"}, approvals.Read, true, "~/.ssh"},
		{"view in another case", "view", object{"path": "/home/me/.SSH/id_rsa"}, approvals.Read, true, "~/.ssh"},
		{"view by a variable", "view", object{"path": "$HOME/x"}, approvals.Read, true, "cannot be told"},
		{"view by a URL", "view", object{"path": "file:///home/me/x"}, approvals.Read, true, "cannot be told"},
		{"view another's home", "view", object{"path": "~root/x"}, approvals.Read, true, "cannot be told"},
		{"view through the system's own links", "view", object{"path": "/proc/1/cwd/.aws/credentials"}, approvals.Read, true, "running program"},
		{"glob in home", "glob", object{"pattern": "~/.ssh/*"}, approvals.Read, true, "~/.ssh"},
		{"view .env here", "view", object{"path": ".env"}, approvals.Read, false, ""},
		{"view .env elsewhere", "view", object{"path": "/srv/app/.env"}, approvals.Read, true, "outside the working folder"},
		{"view climbing", "view", object{"path": "../../../../../../../../home/me/.aws/credentials"}, approvals.Read, true, "~/.aws"},
		{"view an environment", "view", object{"path": "/proc/self/environ"}, approvals.Read, true, "memory"},
		{"view our file", "view", object{"path": "own.yaml"}, approvals.Read, true, ""},
		{"view what is no path", "view", object{"path": object{"a": 1}}, approvals.Read, true, "cannot be told"},
		{"grep", "grep", object{"pattern": "x"}, approvals.Read, false, ""},
		{"grep home", "grep", object{"pattern": "x", "paths": []string{"/home/me"}}, approvals.Read, true, "secrets"},
		{"glob", "glob", object{"pattern": "**/*.go"}, approvals.Read, false, ""},
		{"rg", "rg", object{"pattern": "x", "paths": "sub"}, approvals.Read, false, ""},
		{"task", "task", object{"prompt": "rm -rf /"}, approvals.Read, false, ""},
		{"create", "create", object{"path": "/x/y.txt", "file_text": "x"}, approvals.Write, true, "outside the working folder"},
		{"create a git hook", "create", object{"path": ".git/hooks/pre-commit", "file_text": "x"}, approvals.Execute, true, "git runs"},
		{"edit", "edit", object{"path": "a.txt", "old_str": "a", "new_str": "b"}, approvals.Write, true, "changes files"},
		{"patch", "apply_patch", "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch", approvals.Write, true, "deletes a.txt"},
		{"bash read", "bash", object{"command": "ls -la", "description": "d"}, approvals.Read, false, ""},
		{"bash reads a key", "bash", object{"command": "cat /home/me/.ssh/id_rsa"}, approvals.Read, true, "~/.ssh"},
		{"bash compares a key by git", "bash", object{"command": "git diff /dev/null ~/.ssh/id_rsa"}, approvals.Read, true, "~/.ssh"},
		{"bash compares a folder by git", "bash", object{"command": "git diff --stat -p sub /home/me"}, approvals.Read, true, "secrets"},
		{"bash compares a folder", "bash", object{"command": "diff -N sub /home/me"}, approvals.Read, true, "secrets"},
		{"bash compares commits", "bash", object{"command": "git diff main..topic -- a.go"}, approvals.Read, false, ""},
		{"bash detached", "bash", object{"command": "ls", "detach": true}, approvals.Execute, true, "detach"},
		{"bash async", "bash", object{"command": "ls", "mode": "async"}, approvals.Execute, true, "mode"},
		{"bash executes", "bash", object{"command": "rm -rf x"}, approvals.Execute, true, "rm -r"},
		{"bash without a command", "bash", object{"cmd": "ls"}, approvals.Execute, true, "no command"},
		{"bash with a text", "bash", "ls", approvals.Execute, true, ""},
		{"powershell", "powershell", object{"command": "ls"}, approvals.Execute, true, "runs a command"},
		{"web_fetch", "web_fetch", object{"url": "http://x.test"}, approvals.OpenWorld, true, ""},
		{"sql", "sql", object{"query": "select 1"}, approvals.Write, true, ""},
		{"unknown", "new_tool", object{}, approvals.Execute, true, "nothing is known"},
		{"another server's tool", "evil-gpt6_chat", object{}, approvals.Execute, true, "nothing is known"},
		{"View", "View", object{"path": "a"}, approvals.Execute, true, "nothing is known"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				verdicts := make(chan hooks.Verdict, 1)
				go func() { verdicts <- r.Handle(t.Context(), r.event(test.tool, test.args)) }()
				synctest.Wait()
				pending := r.desk.Pending()
				if asks := len(pending) == 1; asks != test.asks {
					t.Fatalf("it asks: %v", asks)
				}
				for _, req := range pending {
					if req.Class != test.class || req.Door != "hook" || req.Session != "s1" || req.CWD != r.dir || req.Client == "" {
						t.Errorf("the request is %+v", req)
					}
					if raw, _ := json.Marshal(test.args); req.AlwaysAsk != strings.Contains(string(raw), "own.yaml") {
						t.Errorf("it always asks: %v", req.AlwaysAsk)
					}
					if said := strings.Join(append(req.Evidence, req.Warnings...), "; "); !strings.Contains(said, test.says) {
						t.Errorf("it says %q", said)
					}
					r.desk.Resolve(req.ID, approvals.Decision{Outcome: approvals.Denied, Reason: "not now"})
				}
				v := <-verdicts
				if v.Allow == test.asks || test.asks && v.Reason != "not now" {
					t.Errorf("the verdict is %+v", v)
				}
			})
		})
	}
}
