package relay_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"pointsman/gateway/mcpapi/relay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests.
const patience = 20 * time.Second

// end is one end of a stream of lines.
type end struct {
	t    *testing.T
	in   *bufio.Reader
	out  io.Writer
	conn io.Closer
}

func (e end) send(line string) {
	e.t.Helper()
	if _, err := io.WriteString(e.out, line+"\n"); err != nil {
		e.t.Fatal(err)
	}
}

// sendSoon sends a line that nobody reads yet. One that is not sent is missed by
// whoever expects it.
func (e end) sendSoon(line string) {
	go func() { _, _ = io.WriteString(e.out, line+"\n") }()
}

func (e end) read() gjson.Result {
	e.t.Helper()
	line, err := e.in.ReadString('\n')
	if err != nil {
		e.t.Fatal(err)
	}
	return gjson.Parse(line)
}

// expect reads one message and compares it.
func (e end) expect(want string) {
	e.t.Helper()
	if got := strings.TrimSpace(e.read().Raw); got != want {
		e.t.Errorf("came %s, not %s", got, want)
	}
}

// rig is a relay between a client and gateways that the test plays.
type rig struct {
	client   end
	gateways chan end
	refuse   chan error // what dialling fails with, once for each
	ended    chan error
	t        *testing.T
}

func start(t *testing.T) *rig {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	r := &rig{
		t: t, client: end{t: t, in: bufio.NewReader(outRead), out: inWrite, conn: inWrite},
		gateways: make(chan end, 5), refuse: make(chan error, 5), ended: make(chan error, 1),
	}
	go func() {
		r.ended <- relay.Run(context.Background(), relay.Options{In: inRead, Out: outWrite, Dial: r.dial})
		outWrite.Close()
	}()
	t.Cleanup(func() {
		inWrite.Close()
		go func() { _, _ = io.Copy(io.Discard, outRead) }()
		select {
		case err := <-r.ended:
			if err != nil {
				t.Errorf("the relay ended with %v", err)
			}
		case <-time.After(patience):
			t.Error("the relay does not end with its client")
		}
	})
	return r
}

func (r *rig) dial(context.Context) (io.ReadWriteCloser, error) {
	select {
	case err := <-r.refuse:
		return nil, err
	default:
	}
	ours, theirs := net.Pipe()
	_ = theirs.SetDeadline(time.Now().Add(patience))
	r.gateways <- end{t: r.t, in: bufio.NewReader(theirs), out: theirs, conn: theirs}
	return ours, nil
}

func (r *rig) gateway() end {
	r.t.Helper()
	select {
	case g := <-r.gateways:
		return g
	case <-time.After(patience):
		r.t.Fatal("no gateway is looked for")
		return end{}
	}
}

func TestMessagesPassUnchanged(t *testing.T) {
	r := start(t)
	g := r.gateway()
	const request, answer = `{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":12345678901234567890,"a":1e2}}`, `{"id":1,"jsonrpc":"2.0","result":{"<":"\u003c"}}`
	r.client.send(request)
	g.expect(request)
	g.send(answer)
	r.client.expect(answer)
	g.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	r.client.expect(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
}

func TestFaultyLines(t *testing.T) {
	r := start(t)
	for line, code := range map[string]int64{
		"{": -32700, `"x"`: -32600, "5": -32600, `{"id":1,"method":"x"}`: -32600, `{"jsonrpc":"2.0"}`: -32600,
		"[]": -32600, `[1,"x",null]`: -32600, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`: -32600,
		`{"jsonrpc":"2.0","id":1.5,"method":"x"}`: -32600, `{"jsonrpc":"2.0","id":{},"method":"x"}`: -32600,
		`{"jsonrpc":"2.0","id":true,"method":"x"}`: -32600, `{"jsonrpc":"2.0","id":1,"method":7}`: -32600,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":` + strings.Repeat("[", 20_000_000): -32600,
		"\x00": -32700, "\xff\xfe": -32700,
	} {
		r.client.send(line)
		if got := r.client.read(); got.Get("error.code").Int() != code {
			t.Errorf("%.100s is answered with %s", line, got.Raw)
		} else if id := got.Get("id").Raw; id != "null" && id != "1" && id != "1.5" || strings.Contains(line, "[[[[") && id != "1" {
			t.Errorf("%.100s is answered with the id %s", line, id)
		}
	}
	g := r.gateway()
	r.client.send(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
	g.expect(`{"jsonrpc":"2.0","id":1,"method":"x"}`) // and it goes on
}

// TestAnotherGateway begins with one gateway, loses it during a call, and goes on
// with another, which is told what the first one was and never that call.
func TestAnotherGateway(t *testing.T) {
	r := start(t)
	first := r.gateway()
	const initialize, initialized, level = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`
	r.client.send(initialize)
	first.expect(initialize)
	first.send(`{"jsonrpc":"2.0","id":0,"result":{}}`)
	r.client.expect(`{"jsonrpc":"2.0","id":0,"result":{}}`)
	r.client.send(initialized)
	first.expect(initialized)
	r.client.send(level)
	first.expect(level)
	first.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	r.client.read()
	r.client.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}`)
	first.read()
	first.conn.Close()
	if got := r.client.read(); got.Get("id").Int() != 2 || !strings.Contains(got.Get("error.message").Str, "not known") {
		t.Errorf("the call in flight was answered with %s", got.Raw)
	}

	r.client.sendSoon(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"next"}}`)
	second := r.gateway()
	second.expect(initialize)
	second.expect(initialized)
	second.expect(level)
	for _, of := range []string{"tools", "prompts", "resources"} {
		r.client.expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/%s/list_changed"}`, of))
	}
	second.expect(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"next"}}`)
	second.send(`{"jsonrpc":"2.0","id":0,"result":{"second":true}}`) // the client has that answer
	second.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	second.send(`{"jsonrpc":"2.0","id":3,"result":{"ran":true}}`)
	r.client.expect(`{"jsonrpc":"2.0","id":3,"result":{"ran":true}}`)
}

// TestLateAnswers are for no other question than the one that was asked.
func TestLateAnswers(t *testing.T) {
	r := start(t)
	first := r.gateway()
	first.send(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"delete?"}}`)
	asked := r.client.read()
	first.conn.Close()
	if got := r.client.read(); got.Get("method").Str != "notifications/cancelled" || got.Get("params.requestId").Raw != asked.Get("id").Raw {
		t.Errorf("the question was taken back with %s", got.Raw)
	}
	r.client.send(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	second := r.gateway()
	second.read()
	second.send(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"delete all?"}}`)
	again := r.client.read()
	r.client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, asked.Get("id").Raw))
	r.client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, again.Get("id").Raw))
	second.expect(`{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`)
	second.send(`{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{}}`)
	third := r.client.read()
	second.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"late"}}`)
	if got := r.client.read(); got.Get("params.requestId").Raw != third.Get("id").Raw || got.Get("params.reason").Str != "late" {
		t.Errorf("the question was taken back with %s", got.Raw)
	}
}

func TestNoGateway(t *testing.T) {
	r := start(t)
	r.gateway().conn.Close()
	// Dialling fails while there is an error to fail with.
	r.refuse <- errors.New("none there")
	r.client.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	got := r.client.read()
	for !strings.Contains(got.Get("error.message").Str, "none there") { // the loss may be seen only now
		r.client.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		got = r.client.read()
	}
	r.client.sendSoon(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	r.gateway().expect(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
}

// TestAnswersThatAreDue still come when the client has closed its end.
func TestAnswersThatAreDue(t *testing.T) {
	r := start(t)
	g := r.gateway()
	r.client.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	g.read()
	r.client.conn.Close()
	g.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	r.client.expect(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if _, err := g.in.ReadByte(); err == nil {
		t.Error("the stream to the gateway goes on")
	}
}

// TestCancelledIsNotAnswered: when the gateway goes, nothing is said of a request
// that the client has cancelled.
func TestCancelledIsNotAnswered(t *testing.T) {
	r := start(t)
	first := r.gateway()
	const cancelled, other = `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	for _, line := range []string{cancelled, other, cancel} {
		r.client.send(line)
		first.expect(line)
	}
	first.conn.Close()
	if got := r.client.read(); got.Get("id").Raw != "2" {
		t.Errorf("the client, which waits for 2, is told %s", got.Raw)
	}
	r.client.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	second := r.gateway()
	second.expect(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	second.send(`{"jsonrpc":"2.0","id":3,"result":{}}`)
	r.client.expect(`{"jsonrpc":"2.0","id":3,"result":{}}`)
}

// TestBatches: a client that has begun with a version which has batches may send
// them; what its gateway would hang up on is refused.
func TestBatches(t *testing.T) {
	r := start(t)
	g := r.gateway()
	const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`
	r.client.send(initialize)
	g.expect(initialize)
	const batch = `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`
	r.client.send(batch)
	g.expect(batch)
	for _, line := range []string{
		"[]", `[[]]`, `[{"jsonrpc":"2.0","id":3,"method":"ping"},{"id":4,"method":"ping"}]`,
		`[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]`,
	} {
		r.client.send(line)
		if got := r.client.read(); got.Get("error.code").Int() != -32600 {
			t.Errorf("%s is answered with %s", line, got.Raw)
		}
	}
}
