package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pointsman/approvals"
	"pointsman/ui/model"
)

func TestWaitingNotice(t *testing.T) {
	call := approvals.Request{Tool: "write_file", Server: "notes", Class: approvals.Destructive, Client: "copilot", Arguments: json.RawMessage(`{"path":"/secret"}`)}
	odd := approvals.Request{Tool: "run\n\u202ex", Server: "s", Class: approvals.Execute}
	for _, test := range []struct {
		name    string
		waiting []approvals.Request
		title   string
		body    string
	}{
		{"one", []approvals.Request{call}, "1 tool call waits for you", "write_file of notes (destructive), for copilot"},
		{"five", []approvals.Request{call, call, call, call, call}, "5 tool calls wait for you", strings.Repeat("write_file of notes (destructive), for copilot\n", 3) + "and 2 more"},
		{"what would hide", []approvals.Request{odd}, "1 tool call waits for you", approvals.Visible(odd.Tool) + " of s (execute)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			title, body := model.WaitingNotice(test.waiting)
			if title != test.title || body != test.body {
				t.Errorf("got %q, %q; want %q, %q", title, body, test.title, test.body)
			}
			if strings.Contains(body, "/secret") || strings.Contains(body, "\u202e") {
				t.Errorf("the body shows %q", body)
			}
		})
	}
}
