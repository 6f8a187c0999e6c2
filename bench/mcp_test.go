package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"pointsman/gateway/config"
)

func TestToolServer(t *testing.T) {
	s := newToolServer(3)
	for name, test := range map[string]struct{ message, want string }{
		"handshake":    {string(messageFor(1, "initialize", shakeParams)), `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"`},
		"notification": {shaken, ""},
		"list":         {string(messageFor(2, "tools/list", "{}")), `"name":"get_item_02"`},
		"call":         {string(messageFor(3, "tools/call", callParams("get_item_00"))), answerText},
		"unknown":      {string(messageFor(4, "server/discover", "{}")), `"id":4,"error":{"code":-32601`},
	} {
		var out bytes.Buffer
		if err := s.serve(strings.NewReader(test.message+"\n"), &out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := out.String(); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: the answer is %q, want %q in it", name, got, test.want)
		}
	}
}

// TestCallersCheckWhatTheyGet: directly and hosted, a call and a list succeed, and
// a list that is not whole does not.
func TestCallersCheckWhatTheyGet(t *testing.T) {
	at := served(t, newToolServer(3))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	direct, err := newHTTPCaller(ctx, at, toolName(0), toolName(2))
	if err != nil {
		t.Fatal(err)
	}
	defer direct.close()
	ours, err := newHosted(ctx, map[string]config.MCPServer{serverName: {URL: "http://" + at.addr + "/mcp"}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.close()
	for name, way := range map[string]caller{"direct": direct, "hosted": ours} {
		samples, err := burst(ctx, way, 2, 20*time.Millisecond, caller.call)
		if err != nil || len(samples) < 2 || quantile(samples, 0) <= 0 {
			t.Errorf("%s: %d calls, %v", name, len(samples), err)
		}
		if err := way.list(ctx, 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	short, err := newHTTPCaller(ctx, at, toolName(0), toolName(3))
	if err != nil {
		t.Fatal(err)
	}
	defer short.close()
	if short.list(ctx, 0) == nil {
		t.Error("a list without the last tool passes")
	}
	if h, err := newHosted(ctx, map[string]config.MCPServer{serverName: {URL: "http://" + at.addr + "/mcp"}}, 4); err == nil {
		h.close()
		t.Error("a host without the last tool passes")
	}
}

func TestMCPTable(t *testing.T) {
	var out strings.Builder
	if err := (&report{MCP: []mcpRow{{"tools/call", "µs", [ways]float64{40, 60}}}}).print(&out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "60 (1.50)") || strings.Contains(got, "proxy") {
		t.Errorf("the table is\n%s", got)
	}
}
