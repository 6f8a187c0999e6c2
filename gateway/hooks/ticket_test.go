package hooks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pointsman/approvals"
	"pointsman/gateway/hooks"
)

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
