package servers_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/servers"
)

// mute is a connection that swallows what is sent when its line is cut, as one
// that a router has forgotten.
type mute struct {
	mcp.Connection
	cut   *atomic.Bool
	pings *atomic.Int32
}

func (m mute) Write(ctx context.Context, msg jsonrpc.Message) error {
	if req, ok := msg.(*jsonrpc.Request); ok && req.Method == "ping" {
		m.pings.Add(1)
	}
	if m.cut.Load() {
		return nil
	}
	return m.Connection.Write(ctx, msg)
}

// line reaches a server in memory over connections that can be cut.
type line struct {
	server *mcp.Server
	cut    *atomic.Bool // the connection that was made last
	pings  atomic.Int32
	made   int
}

func (l *line) Connect(ctx context.Context) (mcp.Connection, error) {
	near, far := mcp.NewInMemoryTransports()
	if _, err := l.server.Connect(ctx, far, nil); err != nil {
		return nil, err
	}
	conn, err := near.Connect(ctx)
	l.cut, l.made = new(atomic.Bool), l.made+1
	return mute{conn, l.cut, &l.pings}, err
}

// TestSilentConnection: after long silence a connection is looked at before a
// call, and made anew when nobody is at its other end; not so often that calls
// become slower.
func TestSilentConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{server: mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)}
		l.server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, nothing)
		h := start(t, servers.Options{Builtin: map[string]func(context.Context) (mcp.Transport, error){
			"s": func(context.Context) (mcp.Transport, error) { return l, nil },
		}}, nil)
		defer h.stop()
		call := func() {
			t.Helper()
			if _, err := h.Call(t.Context(), servers.Call{Server: "s", Tool: "t"}); err != nil {
				t.Fatal(err)
			}
		}
		call()
		time.Sleep(time.Minute)
		call()
		if l.pings.Load() != 0 {
			t.Errorf("pinged %d times after a minute", l.pings.Load())
		}
		time.Sleep(10 * time.Minute)
		call()
		if l.pings.Load() != 1 || l.made != 1 {
			t.Errorf("after ten minutes: pinged %d times, %d connections", l.pings.Load(), l.made)
		}
		time.Sleep(10 * time.Minute)
		l.cut.Store(true)
		call()
		if l.made != 2 {
			t.Errorf("a dead connection: %d connections were made, want 2", l.made)
		}
	})
}
