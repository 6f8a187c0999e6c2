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

func (r *rig) FinishSoon(id string, end journal.End) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows[id] != nil && r.rows[id].End == nil {
		r.rows[id].End = &end
	}
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
