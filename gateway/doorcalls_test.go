package gateway_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway"
	"pointsman/gateway/hooks"
	"pointsman/gateway/loop"
	"pointsman/gateway/mcpapi"
)

// bash puts a command of Copilot's to the hooks, before it runs or after.
func (d *desk) bash(ctx context.Context, session, command, after string) hooks.Verdict {
	payload := fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"toolName":"bash","toolArgs":{"command":%q}%s}`, session, d.folder, command, after)
	return d.Hook(ctx, hooks.Event{Client: "copilot-cli/1", Payload: []byte(payload)})
}

// TestDoorCallsAreTold: listeners hear of the calls that MCP clients and hooks
// make as they do of a run's, and of a run's once.
func TestDoorCallsAreTold(t *testing.T) {
	d := newDesk(t, "", nil)
	events, unsubscribe := d.Events().Subscribe(1000)
	defer unsubscribe()
	deciding, stop := context.WithCancel(t.Context())
	decided := make(chan struct{})
	go func() { defer close(decided); d.decideAll(deciding) }()
	defer func() { stop(); <-decided }()

	session := d.overStream(t, mcpapi.Client{Session: "s1", CWD: "/work"}, nil)
	for _, call := range []*mcp.CallToolParams{
		{Name: "scratch__list_files", Arguments: map[string]any{}},
		{Name: "scratch__write_file", Arguments: map[string]any{"path": "a.txt", "content": "x"}},
		{Name: "scratch__write_file", Arguments: map[string]any{"path": "deny-b.txt", "content": "x"}},
	} {
		if _, err := session.CallTool(t.Context(), call); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"ls", "touch c.txt"} {
		if v := d.bash(t.Context(), "s1", command, ""); !v.Allow {
			t.Fatalf("%s: %+v", command, v)
		}
		d.bash(t.Context(), "s1", command, `,"toolResult":{"resultType":"success","textResultForLlm":"done"}`)
	}
	if _, err := d.Chat(t.Context(), gateway.ChatRequest{Prompt: "hello"}); err != nil {
		t.Fatal(err)
	}

	told := map[string][]string{} // of each call, what was heard
	var order []string
	for e := range drained(events) {
		if e.Run != "" {
			continue
		}
		if e.Session != "s1" || e.Time.IsZero() || e.Record == "" || e.Class == "" || e.Server == "" || e.CWD == "" || e.Client == "" {
			t.Errorf("it is not told whose the call is, and what: %+v", e)
		}
		if _, known := told[e.Record]; !known {
			order = append(order, e.Record)
		}
		told[e.Record] = append(told[e.Record], strings.TrimPrefix(string(e.Kind), "call_")+" "+e.Approver+" "+e.Outcome+" "+e.Reason)
	}
	var got []string
	for _, id := range order {
		got = append(got, strings.Join(told[id], ", "))
	}
	want := []string{
		"requested   , running   , finished  ok ",
		"requested   , waiting   , running desk  , finished desk ok ",
		"requested   , waiting   , finished desk denied not deny-b.txt",
		"requested   , running   , finished  ok ",
		"requested   , waiting   , running desk  , finished  ok ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("told\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestDoorCallsKeepSecrets: an event shows as little of a credential as the record.
func TestDoorCallsKeepSecrets(t *testing.T) {
	d := newDesk(t, "", nil)
	events, unsubscribe := d.Events().Subscribe(100)
	defer unsubscribe()
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	d.bash(t.Context(), "s1", "echo "+secret, "")
	heard := 0
	for e := range drained(events) {
		heard++
		if strings.Contains(string(e.Arguments), secret) {
			t.Errorf("the event tells %s", e.Arguments)
		}
	}
	if heard < 2 {
		t.Errorf("%d events", heard)
	}
}

// drained yields the events that have come: each is told before what caused it ends.
func drained(events <-chan loop.Event) iter.Seq[loop.Event] {
	return func(yield func(loop.Event) bool) {
		for {
			select {
			case e := <-events:
				if !yield(e) {
					return
				}
			default:
				return
			}
		}
	}
}
