package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/calls"
	"pointsman/gateway/hooks"
	"pointsman/gateway/journal"
)

// rig is a keeper with a desk, and a record in memory.
type rig struct {
	*hooks.Keeper
	desk   *approvals.Desk
	rules  *approvals.Rules
	dir    string
	alarms []string
	paused string
	broken error // of the record

	mu   sync.Mutex
	rows map[string]*row
}

type row struct {
	journal.Call
	End *journal.End
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{dir: dir, rows: map[string]*row{}, rules: approvals.NewRules(nil, nil)}
	r.desk = approvals.NewDesk(approvals.DeskOptions{Attended: func() bool { return true }})
	gate := approvals.NewGate(approvals.GateOptions{Require: true, Approver: r.desk, Rules: r.rules, Timeout: time.Minute})
	r.Keeper = r.keeper(gate)
	return r
}

// keeper is a keeper that asks a gate, and has the rig's record.
func (r *rig) keeper(gate calls.Gate) *hooks.Keeper {
	judge := hooks.Judge{Home: "/home/me", Own: calls.Own{
		File:   func(text string) bool { return strings.Contains(text, "own.yaml") },
		Folder: func(string, bool) bool { return false },
	}}
	return hooks.NewKeeper(hooks.Options{
		Judge: func() hooks.Judge { return judge }, Gate: gate, Rules: r.rules, Recorder: r,
		Served: func(_ hooks.Event, session, tool string) bool {
			return session == "s1" && tool == "pointsman-gpt6_chat"
		},
		Paused: func() string { return r.paused }, Alarm: func(text string) { r.alarms = append(r.alarms, text) },
	})
}

func (r *rig) Begin(_ context.Context, c journal.Call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows[c.ID] = &row{Call: c}
	return r.broken
}

func (r *rig) Decide(context.Context, string, approvals.Decision) error { return r.broken }

func (r *rig) Finish(_ context.Context, id string, end journal.End) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows[id] == nil || r.rows[id].End != nil {
		return errors.New("no call with that id goes on")
	}
	r.rows[id].End = &end
	return nil
}

// ends lists how the rows of a tool ended, sorted; "open" is one that goes on.
func (r *rig) ends(tool string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ends []string
	for _, row := range r.rows {
		switch {
		case row.Tool != tool:
		case row.End == nil:
			ends = append(ends, "open")
		default:
			ends = append(ends, string(row.End.Outcome))
		}
	}
	slices.Sort(ends)
	return strings.Join(ends, " ")
}

// answer answers the next request at the desk.
func (r *rig) answer(t *testing.T, d approvals.Decision) <-chan approvals.Request {
	t.Helper()
	asked := make(chan approvals.Request, 1)
	changed, stop := r.desk.Subscribe()
	go func() {
		defer stop()
		for {
			if pending := r.desk.Pending(); len(pending) > 0 {
				r.desk.Resolve(pending[0].ID, d)
				asked <- pending[0]
				return
			}
			select {
			case <-changed:
			case <-t.Context().Done():
				return
			}
		}
	}()
	return asked
}

// event is what Copilot says; more are further members.
func (r *rig) event(tool string, args any, more ...string) hooks.Event {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	payload := fmt.Sprintf(`{"sessionId":"s1","timestamp":1,"cwd":%q,"toolName":%q,"toolArgs":%s%s}`, r.dir, tool, raw, strings.Join(more, ""))
	return hooks.Event{Client: "copilot-cli/1.0.102", Payload: json.RawMessage(payload)}
}

const ran = `,"toolResult":{"resultType":"success","textResultForLlm":"done"}`

// asked is Copilot's own question for permission.
func (r *rig) asked(tool string, input any) hooks.Event {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return hooks.Event{Payload: json.RawMessage(fmt.Sprintf(`{"hookName":"permissionRequest","sessionId":"s1","cwd":%q,"toolName":%q,"toolInput":%s,"permissionSuggestions":[]}`, r.dir, tool, raw))}
}

type object = map[string]any

var yes = approvals.Decision{Outcome: approvals.Allowed}

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

// TestGarbage: what is not exactly an event is denied.
func TestGarbage(t *testing.T) {
	r := newRig(t)
	tests := map[string]hooks.Event{
		"empty":             {},
		"no JSON":           {Payload: json.RawMessage(`rubbish`)},
		"null":              {Payload: json.RawMessage(`null`)},
		"a list":            {Payload: json.RawMessage(`[]`)},
		"an empty object":   {Payload: json.RawMessage(`{}`)},
		"two objects":       {Payload: json.RawMessage(`{"sessionId":"s","toolName":"view","toolArgs":{}}{}`)},
		"no session":        {Payload: json.RawMessage(`{"toolName":"view","toolArgs":{}}`)},
		"no arguments":      {Payload: json.RawMessage(`{"sessionId":"s","toolName":"view"}`)},
		"a number":          {Payload: json.RawMessage(`{"sessionId":"s","toolName":"view","toolArgs":5}`)},
		"another dialect":   {Payload: json.RawMessage(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_input":{}}`)},
		"an unknown hook":   {Payload: json.RawMessage(`{"hookName":"x","sessionId":"s","toolName":"view","toolArgs":{}}`)},
		"the wrong hook":    {Name: hooks.PostToolUse, Payload: r.event("view", object{"path": "a"}).Payload},
		"an unknown event":  {Name: "x", Payload: r.event("view", object{"path": "a"}).Payload},
		"a wrong type":      {Payload: json.RawMessage(`{"sessionId":7,"toolName":"view","toolArgs":{}}`)},
		"an end for a tool": {Name: hooks.SessionEnd, Payload: r.event("bash", object{"command": "rm x"}).Payload},
	}
	for name, e := range tests {
		t.Run(name, func(t *testing.T) {
			if v := r.Handle(t.Context(), e); v.Allow || v.Reason == "" {
				t.Errorf("the verdict is %+v", v)
			}
			if v := hooks.Alone(e, hooks.Judge{}); v.Allow {
				t.Errorf("alone the verdict is %+v", v)
			}
		})
	}
}

func TestTicket(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.dir, "a.txt")
	if err := os.WriteFile(file, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	diff := func(path string, lines ...string) object {
		return object{"file_path": path, "diff": "\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n" + strings.Join(lines, "\n") + "\n"}
	}
	tests := []struct {
		name string
		tool string
		args any
		ask  string
		with object
		fits bool
	}{
		{"create", "create", object{"path": file, "file_text": "x\ny\n"}, "edit", diff(file, "+x", "+y", "+"), true},
		{"create, other text", "create", object{"path": file, "file_text": "x\ny\n"}, "edit", diff(file, "+x", "+rm -rf /"), false},
		{"create, other file", "create", object{"path": file, "file_text": "x"}, "edit", diff(file+"2", "+x"), false},
		{"edit", "edit", object{"path": file, "old_str": "tw", "new_str": "TW"}, "edit", diff(file, " one", "-two", "+TWo"), true},
		{"edit, other text", "edit", object{"path": file, "old_str": "tw", "new_str": "TW"}, "edit", diff(file, "-two", "+evil"), false},
		{"edit, a file that is not there", "edit", object{"path": file + "3", "old_str": "tw", "new_str": "TW"}, "edit", diff(file+"3", "+x"), false},
		{"patch", "apply_patch", "*** Begin Patch\n*** Add File: new.txt\n+hi\n*** End Patch", "edit", diff(filepath.Join(r.dir, "new.txt"), "+hi", "+"), true},
		{"patch, other text", "apply_patch", "*** Begin Patch\n*** Add File: new.txt\n+hi\n*** End Patch", "edit", diff(filepath.Join(r.dir, "new.txt"), "+ho"), false},
		{"bash", "bash", object{"command": "make"}, "bash", object{"command": "make"}, true},
		{"bash, other command", "bash", object{"command": "make"}, "bash", object{"command": "make evil"}, false},
		{"a server's tool", "my-srv-echo", object{"message": "hi"}, "my.srv/echo", object{"message": "hi"}, true},
		{"a server's tool, other arguments", "my-srv-echo", object{"message": "hi"}, "my.srv/echo", object{"message": "ho"}, false},
		{"another server's tool", "my-srv-echo", object{"message": "hi"}, "other/echo", object{"message": "hi"}, false},
		{"another tool", "create", object{"path": file, "file_text": "x"}, "bash", object{"command": "x"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := len(r.alarms)
			asked := r.answer(t, yes)
			if v := r.Handle(t.Context(), r.event(test.tool, test.args)); !v.Allow {
				t.Fatalf("the verdict is %+v", v)
			}
			<-asked
			if v := r.Handle(t.Context(), r.asked(test.ask, test.with)); v.Allow != test.fits {
				t.Errorf("the answer to Copilot's question is %+v", v)
			}
			if v := r.Handle(t.Context(), r.asked(test.ask, test.with)); v.Allow {
				t.Error("a ticket was used twice")
			}
			if v := r.Handle(t.Context(), r.event(test.tool, test.args, ran)); !v.Allow {
				t.Error("it is denied after it ran")
			}
			if alarms := len(r.alarms) - before; alarms == 0 {
				t.Error("that nobody approved it raised no alarm")
			}
		})
	}
}

// TestAlarm: what runs is held against what was approved.
func TestAlarm(t *testing.T) {
	tests := []struct {
		name   string
		first  func(t *testing.T, r *rig)
		ran    string // the command that ran
		more   string
		alarms int
		rows   string
	}{
		{"as approved", approveMake, "make", ran, 0, "ok"},
		{"as approved, and it failed", approveMake, "make", `,"error":"exit 2"`, 0, "failed"},
		{"other arguments", approveMake, "make evil", ran, 1, "ok unknown"},
		{"twice", func(t *testing.T, r *rig) {
			approveMake(t, r)
			r.Handle(t.Context(), r.event("bash", object{"command": "make"}, ran))
		}, "make", ran, 1, "ok ok"},
		{"although denied", func(t *testing.T, r *rig) {
			asked := r.answer(t, approvals.Decision{Outcome: approvals.Denied})
			r.Handle(t.Context(), r.event("bash", object{"command": "make"}))
			<-asked
		}, "make", ran, 1, "denied ok"},
		{"a failure without a permission", func(t *testing.T, r *rig) {
			r.Handle(t.Context(), r.event("bash", object{"command": "ls"}, ""))
			r.Handle(t.Context(), r.event("bash", object{"command": "ls"}, ran))
		}, "make", `,"error":"denied"`, 0, "ok"},
		{"of a session that never asked", func(*testing.T, *rig) {}, "make", ran, 0, "ok"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			test.first(t, r)
			r.Handle(t.Context(), r.event("bash", object{"command": test.ran}, test.more))
			if len(r.alarms) != test.alarms {
				t.Errorf("alarms: %q", r.alarms)
			}
			if got := r.ends("bash"); got != test.rows {
				t.Errorf("the rows ended %q, not %q", got, test.rows)
			}
		})
	}
}

func approveMake(t *testing.T, r *rig) {
	asked := r.answer(t, yes)
	if v := r.Handle(t.Context(), r.event("bash", object{"command": "make"})); !v.Allow {
		t.Fatalf("the verdict is %+v", v)
	}
	<-asked
}

func TestEdited(t *testing.T) {
	r := newRig(t)
	edited := json.RawMessage(`{"command":"make test"}`)
	asked := r.answer(t, approvals.Decision{Outcome: approvals.Allowed, Arguments: edited})
	v := r.Handle(t.Context(), r.event("bash", object{"command": "make"}))
	<-asked
	if !v.Allow || string(v.Output(hooks.PreToolUse)) != `{"permissionDecision":"allow","modifiedArgs":{"command":"make test"}}` {
		t.Errorf("the verdict is %s", v.Output(hooks.PreToolUse))
	}
	r.Handle(t.Context(), r.event("bash", object{"command": "make test"}, ran))
	if len(r.alarms) > 0 || r.ends("bash") != "ok" {
		t.Errorf("%q, %q", r.alarms, r.ends("bash"))
	}
	if err := hooks.CheckEdited(approvals.Request{Tool: "apply_patch"}, edited); err == nil {
		t.Error("a patch may be edited")
	}
}

// TestEnds: whatever ends the wait denies, and is told apart.
func TestEnds(t *testing.T) {
	tests := []struct {
		name string
		do   func(r *rig, cancel context.CancelFunc)
		row  string
	}{
		{"the hook goes", func(_ *rig, cancel context.CancelFunc) { cancel() }, "withdrawn"},
		{"the resident stops", func(r *rig, _ context.CancelFunc) { r.desk.Close() }, "withdrawn"},
		{"nobody answers", func(*rig, context.CancelFunc) {}, "not_answered"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				verdicts := make(chan hooks.Verdict, 1)
				go func() { verdicts <- r.Handle(ctx, r.event("bash", object{"command": "make"})) }()
				synctest.Wait()
				test.do(r, cancel)
				if v := <-verdicts; v.Allow || v.Reason == "" {
					t.Errorf("the verdict is %+v", v)
				}
				if len(r.desk.Pending()) > 0 || r.ends("bash") != test.row {
					t.Errorf("%d wait, the row is %q", len(r.desk.Pending()), r.ends("bash"))
				}
				if v := r.Handle(t.Context(), r.asked("bash", object{"command": "make"})); v.Allow {
					t.Error("a call that was not approved has a ticket")
				}
			})
		})
	}
}

func TestRefused(t *testing.T) {
	read := object{"command": "ls"}
	t.Run("paused", func(t *testing.T) {
		r := newRig(t)
		r.paused = "tools are paused"
		if v := r.Handle(t.Context(), r.event("bash", read)); v.Allow || v.Reason != r.paused {
			t.Errorf("the verdict is %+v", v)
		}
	})
	t.Run("no record", func(t *testing.T) {
		r := newRig(t)
		r.broken = errors.New("disk full")
		if v := r.Handle(t.Context(), r.event("bash", read)); v.Allow || !strings.Contains(v.Reason, "disk full") {
			t.Errorf("the verdict is %+v", v)
		}
	})
	t.Run("a rule denies a read", func(t *testing.T) {
		r := newRig(t)
		if err := r.rules.Load([]approvals.Rule{{Action: approvals.Deny, Server: "copilot", Tool: "bash"}}); err != nil {
			t.Fatal(err)
		}
		if v := r.Handle(t.Context(), r.event("bash", read)); v.Allow {
			t.Error("it is allowed")
		}
	})
	t.Run("a panic", func(t *testing.T) {
		k := hooks.NewKeeper(hooks.Options{Judge: func() hooks.Judge { panic("x") }})
		if v := k.Handle(t.Context(), newRig(t).event("bash", read)); v.Allow {
			t.Error("it is allowed")
		}
	})
}

// TestCommandRule: a rule made for a command's first words in a folder lets the
// same command run there and nowhere else, and nothing that is destructive.
func TestCommandRule(t *testing.T) {
	r := newRig(t)
	sub := filepath.Join(r.dir, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	asked := r.answer(t, approvals.Decision{Outcome: approvals.Allowed, Scope: &approvals.Scope{
		Lifetime: approvals.ForSession, CommandPrefix: []string{"git", "push"}, Folder: r.dir,
	}})
	if v := r.Handle(t.Context(), r.event("bash", object{"command": "git push"})); !v.Allow {
		t.Fatalf("the verdict is %+v", v)
	}
	<-asked
	if len(r.rules.List()) != 1 {
		t.Fatal("no rule was made")
	}
	alone := r.keeper(approvals.NewGate(approvals.GateOptions{Require: true, Rules: r.rules})) // there is nobody to ask
	tests := map[string]bool{                                                                  // whether the rule lets it run
		"git push":                true,
		"git push origin main":    true,
		"git push --force":        false,
		"git push origin +x":      false,
		"git push; rm x":          false,
		"git push > x":            false,
		"X=1 git push":            false,
		"git pushy":               false,
		"git":                     false,
		"git -c a=b push":         false,
		"sudo git push":           false,
		"git push && git push":    false,
		"git push $(rm -rf x)":    false,
		"cd /elsewhere; git push": false,
	}
	for command, allowed := range tests {
		for dir, there := range map[string]bool{r.dir: true, sub: true, filepath.Dir(r.dir): false} {
			t.Run(command+" in "+filepath.Base(dir), func(t *testing.T) {
				e := r.event("bash", object{"command": command})
				e.Payload = json.RawMessage(strings.Replace(string(e.Payload), fmt.Sprintf("%q", r.dir), fmt.Sprintf("%q", dir), 1))
				if v := alone.Handle(t.Context(), e); v.Allow != (allowed && there) {
					t.Errorf("the verdict is %+v", v)
				}
			})
		}
	}
	all := approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk, Scope: &approvals.Scope{Lifetime: approvals.Always}}
	if approvals.Check(all, approvals.Request{Tool: "bash", Shell: true, Command: []string{"git", "push"}}) == nil {
		t.Error("one answer permits every command")
	}
}

func TestSessions(t *testing.T) {
	r := newRig(t)
	sub := func(session, parent, command string, more ...string) hooks.Event {
		e := r.event("bash", object{"command": command}, append(more, fmt.Sprintf(`,"agentId":%q,"agentType":"general-purpose","parentAgentId":%q`, session, parent))...)
		e.Payload = json.RawMessage(strings.Replace(string(e.Payload), `"s1"`, fmt.Sprintf("%q", session), 1))
		return e
	}
	for _, e := range []hooks.Event{sub("a", "s1", "ls"), sub("b", "a", "pwd")} {
		if v := r.Handle(t.Context(), e); !v.Allow {
			t.Fatalf("the verdict is %+v", v)
		}
	}
	for _, row := range r.rows {
		if row.Session != "s1" {
			t.Errorf("a sub-agent's call is of the session %q", row.Session)
		}
	}
	// Its own session ends; what is open in it is closed, and nothing else.
	r.Handle(t.Context(), hooks.Event{Payload: json.RawMessage(`{"sessionId":"a","cwd":"/","reason":"complete"}`)})
	if got := r.ends("bash"); got != "open unknown" {
		t.Errorf("the rows are %q", got)
	}
}

// TestDoor: a tool of our own MCP door is allowed at once, and not recorded: the
// door does both.
func TestDoor(t *testing.T) {
	r := newRig(t)
	if v := r.Handle(t.Context(), r.event("pointsman-gpt6_chat", object{"prompt": "x"})); !v.Allow {
		t.Fatalf("the verdict is %+v", v)
	}
	if v := r.Handle(t.Context(), r.asked("pointsman/gpt6_chat", object{"prompt": "x"})); !v.Allow {
		t.Errorf("the answer to Copilot's question is %+v", v)
	}
	r.Handle(t.Context(), r.event("pointsman-gpt6_chat", object{"prompt": "x"}, ran))
	if len(r.rows) > 0 || len(r.alarms) > 0 {
		t.Errorf("%d rows, alarms %q", len(r.rows), r.alarms)
	}
}

func TestDoorNames(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	config := fmt.Sprintf(`{"mcpServers":{
		"ours":   {"command":%q,"args":["mcp"]},
		"chat":   {"command":%q,"args":["chat"]},
		"other":  {"command":"/bin/sh","args":["mcp"]},
		"remote": {"type":"http","url":"http://127.0.0.1:8640/mcp"}}}`, program, program)
	if err := os.WriteFile(filepath.Join(home, "mcp-config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if names := hooks.DoorNames(home, program); !slices.Equal(names, []string{"ours"}) {
		t.Errorf("the names are %q", names)
	}
	if names := hooks.DoorNames(t.TempDir(), program); names != nil {
		t.Errorf("without a file they are %q", names)
	}
	for tool, want := range map[string]string{
		"ours-fs__write_file": "fs__write_file", "ours-": "", "oursx-a": "", "ours": "", "ours-a-b": "", "evil-ours-a": "",
		"ours-" + strings.Repeat("x", 60): "",
	} {
		if own, ok := hooks.DoorTool("ours", tool); ok != (want != "") || ok && own != want {
			t.Errorf("%s is %q, %v", tool, own, ok)
		}
	}
}

func TestOutput(t *testing.T) {
	tests := []struct {
		event string
		v     hooks.Verdict
		want  string
	}{
		{hooks.PreToolUse, hooks.Verdict{Allow: true}, `{"permissionDecision":"allow"}`},
		{hooks.PreToolUse, hooks.Verdict{Reason: "no"}, `{"permissionDecision":"deny","permissionDecisionReason":"no"}`},
		{hooks.PreToolUse, hooks.Verdict{}, `{"permissionDecision":"deny","permissionDecisionReason":"Pointsman did not allow it"}`},
		{hooks.PreToolUse, hooks.Verdict{Allow: true, Arguments: json.RawMessage(`{`)}, `{"permissionDecision":"deny","permissionDecisionReason":"Pointsman did not allow it"}`},
		{"", hooks.Verdict{}, `{"permissionDecision":"deny","permissionDecisionReason":"Pointsman did not allow it"}`},
		{hooks.PermissionRequest, hooks.Verdict{Allow: true}, `{"behavior":"allow"}`},
		{hooks.PermissionRequest, hooks.Verdict{Reason: "no"}, `{"behavior":"deny","message":"no"}`},
		{hooks.PostToolUse, hooks.Verdict{}, `{}`},
		{hooks.SessionEnd, hooks.Verdict{Allow: true}, `{}`},
	}
	for _, test := range tests {
		if got := string(test.v.Output(test.event)); got != test.want {
			t.Errorf("%s: %s, not %s", test.event, got, test.want)
		}
	}
}

// FuzzHandle: no event is ever allowed that could write and was not asked about.
func FuzzHandle(f *testing.F) {
	r := &rig{dir: "/work"}
	for _, e := range []hooks.Event{
		r.event("view", object{"path": "a"}), r.event("bash", object{"command": "ls"}), r.event("bash", object{"command": "rm x"}),
		r.event("apply_patch", "*** Begin Patch\n*** Add File: x\n+y"), r.event("bash", object{"command": "ls"}, ran), r.asked("edit", object{"file_path": "/x", "diff": "@@\n+x"}),
	} {
		f.Add([]byte(e.Payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		e := hooks.Event{Payload: payload}
		v := hooks.Alone(e, hooks.Judge{Own: calls.Own{File: func(string) bool { return false }, Folder: func(string, bool) bool { return false }}})
		if out := v.Output(hooks.EventOf(e)); !json.Valid(out) {
			t.Errorf("%s is no JSON", out)
		}
		call, err := hooks.Read(e)
		if v.Allow && err != nil {
			t.Errorf("it is allowed: %v", err)
		}
		if v.Allow && (call.Event == hooks.PermissionRequest || call.Event == hooks.PreToolUse && strings.Contains("create edit apply_patch", call.Tool)) {
			t.Errorf("%s of %s is allowed", call.Event, call.Tool)
		}
	})
}
