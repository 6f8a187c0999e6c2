package mcpapi_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pointsman/gateway/mcpapi"
	"pointsman/gateway/servers"
)

// begin initializes, and waits until that is settled.
func (c *client) begin() {
	c.t.Helper()
	c.initialize()
	c.ask(`{"jsonrpc":"2.0","id":"settled","method":"ping"}`)
}

// TestCallsOverAStream: whoever answers a call, it is answered under the id that it
// came with, in one line.
func TestCallsOverAStream(t *testing.T) {
	r := newRig(t)
	r.call = func(_ context.Context, call servers.Call) (*servers.Result, error) {
		return &servers.Result{Raw: fmt.Appendf(nil, "{\n  \"content\": [],\r\n  \"got\": %s\n}", call.Arguments)}, nil
	}
	c := r.connect(mcpapi.Client{})
	c.begin()
	const request = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"fs__read_it","arguments":%s}}`
	for _, test := range []struct{ name, line, path, want string }{
		{"a number", fmt.Sprintf(request, "9007199254740993", `{"path":"a"}`), "result.got.path", `"a"`},
		{"a negative number", fmt.Sprintf(request, "-3", "{}"), "result.got", "{}"},
		{"a text", fmt.Sprintf(request, `"x y"`, "{}"), "result.got", "{}"},
		{"a text with an escape", fmt.Sprintf(request, `"a\"b"`, "{}"), "result.got", "{}"},
		{"a text that cancels", fmt.Sprintf(request, `"notifications/cancelled"`, "{}"), "result.got", "{}"},
		{"blanks between", "  " + strings.ReplaceAll(fmt.Sprintf(request, "4", "{ }"), ",", " , "), "result.got", "{}"},
		{"no arguments", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"fs__read_it"}}`, "result.got", "{}"},
		{"no parameters", `{"jsonrpc":"2.0","id":6,"method":"tools/call"}`, "error.code", "-32600"},
		{"a call inside another request", `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":{"method":"tools/call"}}}`, "result", "{}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := c.ask(test.line).Get(test.path).Raw; got != test.want {
				t.Errorf("%s is %s, not %s", test.path, got, test.want)
			}
		})
	}
}

// held has calls wait until they are cancelled, and tells of each.
func (r *rig) held() (begun chan string, ended chan string) {
	begun, ended = make(chan string, 100), make(chan string, 100)
	r.call = func(ctx context.Context, call servers.Call) (*servers.Result, error) {
		begun <- string(call.Arguments)
		<-ctx.Done()
		ended <- string(call.Arguments)
		return nil, context.Cause(ctx)
	}
	return begun, ended
}

func expectSoon(t *testing.T, what string, from <-chan string) string {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(patience):
		t.Fatalf("%s: nothing happens", what)
		return ""
	}
}

// TestCancelledCalls: what is cancelled ends, and is not answered; an id that is in
// use is refused, and one that was cancelled can be used again.
func TestCancelledCalls(t *testing.T) {
	r := newRig(t)
	begun, ended := r.held()
	c := r.connect(mcpapi.Client{})
	c.begin()
	for _, id := range []string{"1", `"one"`} {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"fs__read_it","arguments":{"path":"x"}}}`, id)
		c.send(line)
		expectSoon(t, "a call", begun)
		c.send(line)
		if got := c.read(); got.Get("id").Raw != "null" || got.Get("error.code").Int() != -32600 {
			t.Errorf("a second call with the id %s is answered with %s", id, got.Raw)
		}
		cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`
		c.send(fmt.Sprintf(cancel, "77")) // no such
		c.send(fmt.Sprintf(cancel, id))
		expectSoon(t, "a cancelled call", ended)
		c.send(line)
		expectSoon(t, "a call with the id of a cancelled one", begun)
		if got := c.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); len(c.other) > 0 || !got.Get("result").Exists() {
			t.Errorf("beside the answer to a ping came %v", c.other)
		}
	}
	_ = c.conn.Close()
	expectSoon(t, "a call whose client has gone", ended)
}

// TestEndlessLine: a message that is too long is refused, and only that.
func TestEndlessLine(t *testing.T) {
	c := newRig(t).connect(mcpapi.Client{})
	c.begin()
	long := call(1, "fs__read_it", `,"x":"`+strings.Repeat("y", 17<<20)+`"`)
	go func() { _, _ = c.conn.Write([]byte(long + "\n")) }() // it may be answered before it was read whole
	if got := c.read(); got.Get("error.code").Int() != -32600 || !strings.Contains(got.Get("error.message").Str, "longer than") {
		t.Errorf("a message of 17 MiB is answered with %.300s", got.Raw)
	}
	if got := c.ask(call(2, "fs__read_it", "")); !got.Get("result").Exists() {
		t.Errorf("the next call is answered with %s", got.Raw)
	}
}

// TestManyCallsPending: a client that does not wait for its answers has them all in
// the end; more than can be waited for are refused meanwhile.
func TestManyCallsPending(t *testing.T) {
	r := newRig(t)
	const many = 1000
	release, waiting := make(chan struct{}), make(chan struct{})
	var count atomic.Int64
	r.call = func(ctx context.Context, _ servers.Call) (*servers.Result, error) {
		if count.Add(1) == many {
			close(waiting)
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return &servers.Result{Raw: raw(`{"content":[]}`)}, nil
	}
	c := r.connect(mcpapi.Client{})
	c.begin()
	for id := range many {
		c.send(call(id, "fs__read_it", ""))
	}
	<-waiting
	if got := c.ask(call(many, "fs__read_it", "")); got.Get("error.code").Int() != -32000 {
		t.Errorf("one call more is answered with %s", got.Raw)
	}
	close(release)
	answered := map[string]bool{}
	for range many {
		answered[c.read().Get("id").Raw] = true
	}
	if len(answered) != many {
		t.Errorf("%d of %d calls are answered", len(answered), many)
	}
}
