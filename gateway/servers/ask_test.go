package servers_test

//lint:file-ignore SA1019 MCP 2026-07-28 deprecates roots, sampling and logging; servers in use ask for them all the same.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// answering is a client that answers everything in one way.
type answering struct {
	name   string
	answer func(ctx context.Context, from servers.Origin, params json.RawMessage) (json.RawMessage, error)
	asked  atomic.Int32
	done   chan string // ids of what is complete; may be nil
}

// accepting returns a client that accepts with its name.
func accepting(name string) *answering {
	return &answering{name: name, answer: func(context.Context, servers.Origin, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"action":"accept","content":{"name":"` + name + `"}}`), nil
	}}
}

func (*answering) Abilities() servers.Abilities {
	return servers.Abilities{Sampling: true, SamplingTools: true, Form: true, URL: true}
}

func (a *answering) Sample(ctx context.Context, from servers.Origin, params json.RawMessage) (json.RawMessage, error) {
	a.asked.Add(1)
	return a.answer(ctx, from, params)
}

func (a *answering) Elicit(ctx context.Context, from servers.Origin, params json.RawMessage) (json.RawMessage, error) {
	a.asked.Add(1)
	return a.answer(ctx, from, params)
}

func (a *answering) Elicited(_, id string) {
	if a.done != nil {
		a.done <- id
	}
}

func (h *harness) callBy(client servers.Client, party, name, tool string) (*servers.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return h.Call(ctx, servers.Call{Server: name, Tool: tool, Client: client, Party: party})
}

// holdUp begins a call that is in flight, at a question to the caller, until the
// function that it returns is called.
func (a *answering) holdUp(t *testing.T, h *harness, party string) (release func()) {
	t.Helper()
	asked, hold, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	answer := a.answer
	a.answer = func(context.Context, servers.Origin, json.RawMessage) (json.RawMessage, error) {
		a.answer = answer
		close(asked)
		<-hold
		return json.RawMessage(`{"action":"cancel"}`), nil
	}
	go func() {
		defer close(ended)
		if _, err := h.callBy(a, party, "fake", "elicit"); err != nil {
			t.Error(err)
		}
	}()
	<-asked
	return func() { close(hold); <-ended }
}

// TestServersAsk: what a server of the older protocol asks gets to the client as
// it came, with the call that caused it, and the answer back.
func TestServersAsk(t *testing.T) {
	for tool, want := range map[string]struct{ params, answer, result string }{
		"elicit": {
			`{"mode":"form","message":"who?","requestedSchema":{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"string"}}},"vendor":1}`,
			`{"action":"accept","content":{"zeta":"z"}}`, `"content":{"zeta":"z"}`,
		},
		"sample": {
			`{"messages":[{"role":"user","content":{"type":"text","text":"hello"}}],"maxTokens":9,"vendor":1}`,
			`{"role":"assistant","model":"m","content":{"type":"text","text":"hi"}}`, `"text":"hi"`,
		},
	} {
		t.Run(tool, func(t *testing.T) {
			client := &answering{answer: func(_ context.Context, from servers.Origin, params json.RawMessage) (json.RawMessage, error) {
				if string(params) != want.params {
					t.Errorf("asked %s, want %s", params, want.params)
				}
				if from.Server != "fake" || len(from.Calls) != 1 || from.Calls[0].Tool != tool {
					t.Errorf("asked by %+v", from)
				}
				return json.RawMessage(want.answer), nil
			}}
			h := start(t, servers.Options{Client: client}, oneFake(t, "normal"))
			if got := h.text("fake", tool, `{}`); !strings.Contains(got, want.result) {
				t.Errorf("the server got %s, want it to hold %s", got, want.result)
			}
		})
	}
}

// TestRefusedQuestions: the server is told why, and the call goes on.
func TestRefusedQuestions(t *testing.T) {
	refusing := &answering{answer: func(context.Context, servers.Origin, json.RawMessage) (json.RawMessage, error) {
		return nil, &jsonrpc.Error{Code: -1, Message: "the user said no"}
	}}
	nonsense := &answering{answer: func(context.Context, servers.Origin, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`"yes"`), nil
	}}
	for name, c := range map[string]struct {
		client servers.Client
		want   string
	}{
		"nobody there": {nil, "does not support"},
		"refused":      {refusing, `{"code":-1,"message":"the user said no"}`},
		"nonsense":     {nonsense, "no JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, servers.Options{Client: c.client}, oneFake(t, "normal"))
			if got := h.text("fake", "elicit", `{}`); !strings.Contains(got, c.want) {
				t.Errorf("the server got %s, want it to hold %s", got, c.want)
			}
		})
	}
}

// TestWhoIsAskedOverStdio: nothing tells which call has caused a question, so a
// caller's own client answers only if all calls in flight are its own.
func TestWhoIsAskedOverStdio(t *testing.T) {
	for name, c := range map[string]struct {
		other string // the party of another call in flight
		want  string
	}{
		"alone":         {"", "a caller"},
		"same party":    {"A", "a caller"},
		"another party": {"B", "the person"},
	} {
		t.Run(name, func(t *testing.T) {
			person, caller := accepting("the person"), accepting("a caller")
			h := start(t, servers.Options{Client: person}, oneFake(t, "normal"))
			if c.other != "" {
				defer caller.holdUp(t, h, c.other)()
			}
			res, err := h.callBy(caller, "A", "fake", "elicit")
			if err != nil || !strings.Contains(res.Text(0), c.want) {
				t.Errorf("answered %v, %v, want by %s", res, err, c.want)
			}
		})
	}
}

// TestCallerThatCannot: what a caller's client cannot answer, a person is asked.
func TestCallerThatCannot(t *testing.T) {
	person := accepting("the person")
	for mode, tool := range map[string]string{"normal": "elicit", "sdk": "asks"} {
		h := start(t, servers.Options{Client: person}, oneFake(t, mode))
		res, err := h.callBy(unable{}, "A", "fake", tool)
		if err != nil || !strings.Contains(res.Text(0), "the person") {
			t.Errorf("%s: answered %v, %v", mode, res, err)
		}
	}
}

// unable is a client that can answer nothing.
type unable struct{ servers.Client }

func (unable) Abilities() servers.Abilities { return servers.Abilities{} }

// TestTimeoutRestsWhileSomebodyAnswers: people have a time of their own.
func TestTimeoutRestsWhileSomebodyAnswers(t *testing.T) {
	entry := fakeServer(t, "normal")
	entry.Timeout = 150
	slow := &answering{answer: func(context.Context, servers.Origin, json.RawMessage) (json.RawMessage, error) {
		time.Sleep(500 * time.Millisecond) // longer than the call may take
		return json.RawMessage(`{"action":"decline"}`), nil
	}}
	h := start(t, servers.Options{Client: slow}, map[string]config.MCPServer{"fake": entry})
	h.awaitState("fake", servers.Connected)
	if got := h.text("fake", "elicit", `{}`); !strings.Contains(got, "decline") {
		t.Errorf("the server got %s", got)
	}
	var timeout *servers.TimeoutError
	if _, err := h.call("fake", "hang", `{}`); !errors.As(err, &timeout) {
		t.Errorf("got %v, want a TimeoutError", err)
	}
}

// TestQuestionEndsWithItsCall: nobody is asked for a call that nobody waits for.
func TestQuestionEndsWithItsCall(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	waiting := &answering{answer: func(ctx context.Context, _ servers.Origin, _ json.RawMessage) (json.RawMessage, error) {
		cancel()
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}}
	h := start(t, servers.Options{Client: waiting}, oneFake(t, "normal"))
	defer h.stop()
	if _, err := h.Call(ctx, servers.Call{Server: "fake", Tool: "elicit"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the question is still open")
	}
}

// TestInputRequired: a server of the newest protocol asks in its results.
func TestInputRequired(t *testing.T) {
	h := start(t, servers.Options{Client: accepting("the person"), Roots: []string{"/r"}}, oneFake(t, "sdk"))
	if got := h.text("fake", "asks", `{}`); got != "accept the person step 2" {
		t.Errorf("the server got %q", got)
	}
	caller := accepting("a caller")
	res, err := h.callBy(caller, "", "fake", "asks")
	if err != nil || res.Text(0) != "accept a caller step 2" {
		t.Errorf("the server got %v, %v", res, err)
	}
	var protocol *servers.ProtocolError
	if _, err := h.callBy(caller, "", "fake", "insatiable"); !errors.As(err, &protocol) || !strings.Contains(err.Error(), "10 times") {
		t.Errorf("a server that never has enough: %v", err)
	}
	if n := caller.asked.Load(); n != 10 {
		t.Errorf("the caller was asked %d times, want 10", n)
	}
	if got := h.text("fake", "meta", `{}`); !strings.Contains(got, `"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"tools":{}}`) {
		t.Errorf("the server saw _meta %s", got)
	}
}

// TestPageToVisitFirst: a call that a server refuses until a page was visited is
// made again when the server says that it was.
func TestPageToVisitFirst(t *testing.T) {
	for action, want := range map[string]string{"accept": "visited", "decline": "visit a page"} {
		t.Run(action, func(t *testing.T) {
			client := &answering{done: make(chan string, 1), answer: func(_ context.Context, _ servers.Origin, params json.RawMessage) (json.RawMessage, error) {
				if !strings.Contains(string(params), "https://example.com/") {
					t.Errorf("asked %s", params)
				}
				return json.RawMessage(`{"action":"` + action + `"}`), nil
			}}
			h := start(t, servers.Options{Client: client}, oneFake(t, "normal"))
			res, err := h.call("fake", "visit", `{}`)
			got := fmt.Sprint(err)
			if err == nil {
				got = res.Text(0)
			}
			if !strings.Contains(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
			select {
			case id := <-client.done:
				if id != "e1" {
					t.Errorf("told that %q is complete", id)
				}
			case <-time.After(10 * time.Second):
				t.Error("nobody was told that it is complete")
			}
		})
	}
}

// TestWhoIsAskedOverHTTP: each call has a stream of its own, on which the server
// asks, so each caller is asked for its own.
func TestWhoIsAskedOverHTTP(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "remote", Version: "1"}, nil)
	both := make(chan struct{})
	var arrived atomic.Int32
	mcp.AddTool(s, &mcp.Tool{Name: "who"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		if arrived.Add(1) == 2 {
			close(both)
		}
		<-both // both calls are in flight
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "warning", Data: "asking"}); err != nil {
			return nil, nil, err
		}
		answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "who?"})
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(answer.Content["name"])}}}, nil, nil
	})
	web := httptest.NewServer(legacyOnly(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)))
	defer web.Close()
	h := start(t, servers.Options{Client: accepting("the person")}, map[string]config.MCPServer{"r": {URL: web.URL}})
	defer h.stop()
	h.awaitState("r", servers.Connected)
	type outcome struct{ want, got string }
	outcomes, logs := make(chan outcome), make(chan string, 8)
	for _, name := range []string{"one", "two"} {
		go func() {
			res, err := h.Call(context.Background(), servers.Call{Server: "r", Tool: "who", Client: accepting(name), OnLog: func(m servers.LogMessage) { logs <- name + string(m.Data) }})
			if err != nil {
				outcomes <- outcome{name, err.Error()}
				return
			}
			outcomes <- outcome{name, res.Text(0)}
		}()
	}
	for range 2 {
		if o := <-outcomes; o.got != o.want {
			t.Errorf("%s's call was answered by %s", o.want, o.got)
		}
	}
	if a, b := <-logs, <-logs; a == b || !strings.HasSuffix(a, `"asking"`) {
		t.Errorf("logged %s and %s", a, b)
	}
}

// TestLogOverStdio: a server's log is its caller's if no other has a call there.
func TestLogOverStdio(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	var got []servers.LogMessage
	_, err := h.Call(context.Background(), servers.Call{Server: "fake", Tool: "log", OnLog: func(m servers.LogMessage) { got = append(got, m) }})
	if err != nil || len(got) != 1 || got[0].Level != "warning" || got[0].Logger != "db" {
		t.Errorf("logged %+v, %v", got, err)
	}
}
