package servers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// flood is what a fake server has asked at a time, without reading what it is
// answered, as the arguments of a call say.
type flood struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	N      int             `json:"n"`
	Enough int             `json:"enough"` // so many answers end the call

	call              request
	answered, refused int
	said              string // why the last one was refused
}

func (f *fake) flood(req request) {
	f.flooding = &flood{call: req}
	if err := json.Unmarshal(req.Params.Arguments, f.flooding); err != nil {
		panic(err)
	}
	for i := range f.flooding.N {
		fmt.Fprintf(f.out, `{"jsonrpc":"2.0","id":"f%d","method":%q,"params":%s}`+"\n", i, f.flooding.Method, f.flooding.Params)
	}
}

// ebb counts an answer. The call is answered with how many were refused, and why.
func (f *fake) ebb(answer request) {
	w := f.flooding
	w.answered++
	if len(answer.Error) > 0 {
		w.refused++
		w.said = string(answer.Error)
	}
	if w.answered < w.Enough {
		return
	}
	f.flooding = nil
	text, _ := json.Marshal(fmt.Sprintf("%d refused: %s", w.refused, w.said))
	f.answer(w.call, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text))
}

// A person is not buried under questions.
func TestFloodOfQuestions(t *testing.T) {
	hold := make(chan struct{})
	person := &answering{answer: func(ctx context.Context, _ servers.Origin, _ json.RawMessage) (json.RawMessage, error) {
		select {
		case <-hold:
		case <-ctx.Done():
		}
		return json.RawMessage(`{"action":"cancel"}`), nil
	}}
	h := start(t, servers.Options{Client: person}, oneFake(t, "normal"))
	question := `{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}},"n":%d,"enough":%d}`
	if got := h.text("fake", "flood", fmt.Sprintf(question, 40, 8)); !strings.HasPrefix(got, "8 refused") || !strings.Contains(got, "more than 32") {
		t.Errorf("of 40 questions %s", got)
	}
	h.await("the person is asked 32 things, and no more", func() bool { return person.asked.Load() == 32 })
	close(hold)
	h.await("the questions are closed", func() bool {
		return h.text("fake", "flood", fmt.Sprintf(question, 1, 1)) == "0 refused: "
	})
}

// remoteThat is a remote server that answers the handshake, and everything else as
// it is told.
func remoteThat(t *testing.T, otherwise http.HandlerFunc) *httptest.Server {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req request
		body, err := io.ReadAll(r.Body)
		if err == nil && r.Method == http.MethodPost {
			err = json.Unmarshal(body, &req)
		}
		answer := func(result string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, req.ID, result)
		}
		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
		case req.Method == "initialize":
			answer(`"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"r","version":"1"}}`)
		case req.Method == "server/discover":
			answer(`"error":{"code":-32601,"message":"no such method"}`)
		case strings.HasPrefix(req.Method, "notifications/"):
			w.WriteHeader(http.StatusAccepted)
		case req.Method == "tools/list" && r.Header.Get("X-List") == "":
			answer(`"result":{"tools":[` + echoTool + `]}`)
		default:
			otherwise(w, r)
		}
	}))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	return web
}

// An answer without an end is not read to it.
func TestFloodOfAnAnswer(t *testing.T) {
	chunk := strings.Repeat("x", 1<<20)
	web := remoteThat(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for err := error(nil); err == nil; {
			_, err = io.WriteString(w, chunk)
		}
	})
	entry := config.MCPServer{URL: web.URL, Headers: map[string]config.Secret{"X-List": "endless"}}
	h := start(t, servers.Options{}, map[string]config.MCPServer{"r": entry})
	if got := h.awaitState("r", servers.Failed).Live.Error; !strings.Contains(got, "more than 67108864 bytes") {
		t.Errorf("the error says %s", got)
	}
}

// A remote server that asks, and does not take the answers, does not hold up the
// end.
func TestFloodOfARemote(t *testing.T) {
	const many = 3000
	answered, ended := make(chan struct{}), make(chan struct{})
	var once sync.Once
	defer close(ended)
	web := remoteThat(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost: // an answer, which is never taken
			once.Do(func() { close(answered) })
		case http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range many {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q%d\",\"method\":\"ping\"}\n\n", i)
			}
			w.(http.Flusher).Flush()
		default:
			return
		}
		select {
		case <-ended:
		case <-r.Context().Done():
		}
	})
	h := start(t, servers.Options{}, map[string]config.MCPServer{"r": {URL: web.URL}})
	h.awaitState("r", servers.Connected)
	<-answered
	began := time.Now()
	h.stop()
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the end took %s", took)
	}
}
