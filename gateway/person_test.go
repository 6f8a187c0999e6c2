package gateway_test

//lint:file-ignore SA1019 MCP 2026-07-28 deprecates roots, sampling and logging; servers in use ask for them all the same.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/elicit"
	"pointsman/gateway/journal"
)

// asker is an MCP server whose tools ask its client for something, and answer with
// what they get.
func asker(context.Context) (mcp.Transport, error) {
	s := mcp.NewServer(&mcp.Implementation{Name: "asker", Version: "1"}, nil)
	asking := func(name string, question mcp.InputRequest) {
		tool := &mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}
		s.AddTool(tool, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if answer, ok := req.Params.InputResponses["q"]; ok {
				text, err := json.Marshal(answer)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, err
			}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": question}}, nil
		})
	}
	asking("get_sample", &mcp.CreateMessageParams{ //nolint:staticcheck // servers in use sample
		MaxTokens: 7, ModelPreferences: &mcp.ModelPreferences{Hints: []*mcp.ModelHint{{Name: "SPECIAL"}}}, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "what is 6*7?"}}}, //nolint:staticcheck // as above
	})
	asking("get_form", &mcp.ElicitParams{Message: "who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
	near, far := mcp.NewInMemoryTransports()
	_, err := s.Connect(context.Background(), far, nil)
	return near, err
}

// caller is a provider whose model calls one tool and says what came of it. It
// answers everything else, which is the sample, with 42.
func caller(t *testing.T, tool string) *httptest.Server {
	reply := func(w http.ResponseWriter, message, finish string) {
		fmt.Fprintf(w, `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"message":%s,"finish_reason":%q}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}`, message, finish)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		messages := gjson.GetBytes(body, "messages").Array()
		last := messages[len(messages)-1]
		w.Header().Set("Content-Type", "application/json")
		switch {
		case last.Get("role").Str == "tool":
			text, _ := json.Marshal(map[string]string{"role": "assistant", "content": "it said " + last.Get("content").Str}) // plain strings
			reply(w, string(text), "stop")
		case last.Get("content").Str == "what is 6*7?":
			if gjson.GetBytes(body, "tools").Exists() || gjson.GetBytes(body, "max_tokens").Int() > 7 {
				t.Errorf("the sample was asked for with %s", body)
			}
			reply(w, `{"role":"assistant","content":"42"}`, "stop")
		default:
			reply(w, `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"asker__`+tool+`","arguments":"{}"}}]}`, "tool_calls")
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// newAsked is a gateway whose model calls one tool of the asker.
func newAsked(t *testing.T, tool string, edit func(*gateway.Options)) *desk {
	t.Helper()
	yaml := fmt.Sprintf("providers: {local: {base_url: %q, api_key: x}}\nmodels: [{id: special, provider: local}]\ntools: {safe: [asker__*]}\n", caller(t, tool).URL)
	d := newDesk(t, yaml, func(o *gateway.Options) {
		o.Builtin["asker"] = asker
		if edit != nil {
			edit(o)
		}
	})
	d.await(t, "the asker's tools", func() bool { return len(d.Tools()) >= 6 })
	return d
}

func (d *desk) said(t *testing.T) string {
	t.Helper()
	result, err := d.Chat(t.Context(), gateway.ChatRequest{Prompt: "go", Model: "local/m"})
	if err != nil {
		t.Fatal(err)
	}
	return result.Content
}

// TestServerAsksForASample: after approval of the whole prompt, one of our models
// answers, as a run of its own; else the server is told that it was refused.
func TestServerAsksForASample(t *testing.T) {
	for name, c := range map[string]struct {
		outcome approvals.Outcome
		want    string
		record  journal.Outcome
	}{
		"approved": {approvals.Allowed, `"text":"42"`, journal.OK},
		"denied":   {approvals.Denied, "the request was rejected: not mine", journal.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			d := newAsked(t, "get_sample", nil)
			d.answer(t, func(req approvals.Request) approvals.Decision {
				if req.Server != "asker" || !req.Risky || req.Class != approvals.OpenWorld || !strings.Contains(string(req.Arguments), "what is 6*7?") {
					t.Errorf("the person was shown %+v with %s", req, req.Arguments)
				}
				return approvals.Decision{Outcome: c.outcome, Approver: approvals.ByDesk, Reason: "not mine"}
			})
			if got := d.said(t); !strings.Contains(got, c.want) {
				t.Errorf("the server got %s, want it to hold %s", got, c.want)
			}
			d.checkSample(t, c.record)
		})
	}
}

// checkSample checks that the sample is recorded as a call, and as a run if it was
// taken.
func (d *desk) checkSample(t *testing.T, outcome journal.Outcome) {
	t.Helper()
	reader := d.reader(t)
	calls, runs := 0, 0
	for call, err := range reader.Calls(t.Context(), journal.Filter{Tool: "sampling/createMessage"}) {
		if calls++; err != nil || call.Outcome != outcome || call.Approver != approvals.ByDesk || call.Server != "asker" {
			t.Errorf("recorded as %+v, %v", call, err)
		}
	}
	for run, err := range reader.Runs(t.Context(), journal.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if run.Door == "sampling" {
			runs++
		}
	}
	if calls != 1 || (runs == 1) != (outcome == journal.OK) {
		t.Errorf("%d calls and %d runs are recorded", calls, runs)
	}
}

// TestServerAsksAPerson: the form waits beside the approvals, and what is answered
// gets to the server.
func TestServerAsksAPerson(t *testing.T) {
	d := newAsked(t, "get_form", nil)
	changed, stop := d.Questions().Subscribe()
	defer stop()
	go func() {
		<-changed
		q := d.Questions().Open()[0]
		if q.Server != "asker" || q.Message != "who?" || len(q.Tools) != 1 || q.Tools[0] != "get_form" || q.Run == "" || q.Deadline.Before(time.Now()) {
			t.Errorf("the person was asked %+v", q)
		}
		if ok, err := d.Questions().Answer(q.ID, elicit.Answer{Action: elicit.Accept, Content: json.RawMessage(`{"name":"Ada"}`)}); !ok || err != nil {
			t.Errorf("answering: %t, %v", ok, err)
		}
	}()
	if got := d.said(t); !strings.Contains(got, `"content":{"name":"Ada"}`) {
		t.Errorf("the server got %s", got)
	}
}

// TestServerAsksNobody: what nobody could answer is not asked, and the server knows.
func TestServerAsksNobody(t *testing.T) {
	for _, tool := range []string{"get_form", "get_sample"} {
		d := newAsked(t, tool, func(o *gateway.Options) { o.Attended = nil })
		if got := d.said(t); !strings.Contains(got, "nobody is there to answer") {
			t.Errorf("%s: %s", tool, got)
		}
	}
}
