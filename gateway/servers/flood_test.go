package servers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

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

// flooded is how long a fake server does not read after a flood: as long as it takes
// to see what it has asked.
const flooded = 500 * time.Millisecond

// Its requests have long ids, so that a few hundred answers fill the pipe.
func (f *fake) flood(req request) {
	f.flooding = &flood{call: req}
	if err := json.Unmarshal(req.Params.Arguments, f.flooding); err != nil {
		panic(err)
	}
	for i := range f.flooding.N {
		fmt.Fprintf(f.out, `{"jsonrpc":"2.0","id":"f%0500d","method":%q,"params":%s}`+"\n", i, f.flooding.Method, f.flooding.Params)
	}
	f.out.Flush()
	time.Sleep(flooded)
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

// A server that asks and does not read is not read from for ever: what it asks
// beyond what fits the pipe is refused.
func TestFloodOfRequests(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	got := h.text("fake", "flood", `{"method":"ping","params":{},"n":500,"enough":500}`)
	if !strings.Contains(got, "more than 256 requests") {
		t.Errorf("of 500 requests that were not read %s", got)
	}
	if got := h.text("fake", "flood", `{"method":"ping","params":{},"n":9,"enough":9}`); got != "0 refused: " {
		t.Errorf("afterwards %s", got)
	}
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
	if n := person.asked.Load(); n != 32 {
		t.Errorf("the person was asked %d things", n)
	}
	close(hold)
	h.await("the questions are closed", func() bool {
		return h.text("fake", "flood", fmt.Sprintf(question, 1, 1)) == "0 refused: "
	})
}
