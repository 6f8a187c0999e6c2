package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/gateway/mcpapi/lines"
	"pointsman/gateway/models"
)

// stream is one client's stream of messages, one a line. Calls of tools, which
// are most of what comes, are answered here: the SDK decodes and encodes each
// message several times, which takes longer than everything else that a call
// passes through. It reads and writes the rest, and what it has settled with the
// client holds for the calls, too: none is answered here before a session of an
// initialized client is there.
type stream struct {
	service *service
	conn    io.ReadWriteCloser
	in      *lines.Reader
	limit   int // of a message, in bytes
	rest    []byte

	session atomic.Pointer[mcp.ServerSession]

	writing sync.Mutex // held while a line is written

	mu     sync.Mutex                         // guards the field below
	flight map[string]context.CancelCauseFunc // of the calls, by id
}

func newStream(s *service, conn io.ReadWriteCloser, limit int) *stream {
	return &stream{service: s, conn: conn, in: lines.NewReader(conn, limit), limit: limit, flight: map[string]context.CancelCauseFunc{}}
}

// open has calls be answered here from now on.
func (t *stream) open(session *mcp.ServerSession) { t.session.Store(session) }

// Read reads for the SDK what is not answered here.
func (t *stream) Read(p []byte) (int, error) {
	for len(t.rest) == 0 {
		line, err := t.in.Next()
		if errors.Is(err, lines.ErrTooLong) {
			t.answer("null", nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the message is longer than %d bytes", t.limit)})
			continue
		}
		if len(line) > 0 && !t.take(line) {
			t.rest = line
		} else if err != nil {
			t.service.cancel(errGone) // nothing can be answered any more
			return 0, err
		}
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// Write writes what the SDK sends: a message at a time.
func (t *stream) Write(p []byte) (int, error) {
	t.writing.Lock()
	defer t.writing.Unlock()
	return t.conn.Write(p)
}

// Close closes the stream.
func (t *stream) Close() error { return t.conn.Close() }

// Methods that are looked at here.
const (
	methodCall      = "tools/call"
	methodCancelled = "notifications/cancelled"
)

// take answers a call, or cancels one. It reports whether the line was for it.
func (t *stream) take(line []byte) bool {
	session := t.session.Load()
	switch {
	case session == nil:
		return false
	case bytes.Contains(line, []byte(methodCall)):
		id, params := readCall(line)
		return params != nil && t.call(id, &mcp.CallToolRequest{Session: session, Params: params})
	case bytes.Contains(line, []byte(methodCancelled)) && json.Valid(line):
		v := gjson.ParseBytes(line)
		return v.Get("method").Str == methodCancelled && t.cancel(v.Get("params.requestId").Raw)
	}
	return false
}

// readCall reads a call of a tool as a client of before 2026-07-28 makes it; nil
// for every other message, and for what the SDK has to judge.
func readCall(line []byte) (id string, _ *mcp.CallToolParamsRaw) {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  *struct {
			Name      *string         `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Meta      json.RawMessage `json:"_meta"`
			State     json.RawMessage `json:"requestState"`
			Answers   json.RawMessage `json:"inputResponses"`
		} `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil || m.Version != "2.0" || m.Method != methodCall || !plainID(m.ID) {
		return "", nil
	}
	p := m.Params
	if p == nil || p.Name == nil || p.State != nil || p.Answers != nil {
		return "", nil
	}
	params := &mcp.CallToolParamsRaw{Name: *p.Name, Arguments: p.Arguments}
	if p.Meta != nil {
		d := json.NewDecoder(bytes.NewReader(p.Meta))
		d.UseNumber() // a progress token comes back as it was sent
		if d.Decode(&params.Meta) != nil || params.Meta[mcp.MetaKeyProtocolVersion] != nil {
			return "", nil
		}
	}
	return string(m.ID), params
}

// plainID reports whether an id is a whole number, or a string with nothing in it
// that could be written otherwise.
func plainID(id []byte) bool {
	if len(id) > 2 && id[0] == '"' {
		return !bytes.ContainsRune(id, '\\')
	}
	for i, c := range id {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return len(id) > 0
}

// maxFlight is how many calls of one client may be under way: none has that many
// people, or servers, to wait for.
const maxFlight = 1000

// codeBusy is from the range that JSON-RPC leaves to servers.
const codeBusy = -32000

// call answers a call, in a goroutine of the service, unless it refuses it.
func (t *stream) call(id string, req *mcp.CallToolRequest) bool {
	ctx, cancel := context.WithCancelCause(t.service.ctx)
	if refused := t.depart(id, cancel); refused != nil {
		cancel(nil)
		if refused.Code == codeBusy {
			t.answer(id, nil, refused)
		} else {
			t.answer("null", nil, refused) // the id is another request's
		}
		return true
	}
	begun := t.service.work.begin(func() {
		defer cancel(nil)
		result, err := t.service.callTool(ctx, req)
		if t.landed(id) {
			t.answer(id, result, err)
		}
	})
	if !begun {
		cancel(nil)
	}
	return true // of a service that has ended nobody waits for an answer
}

// depart notes that a call is under way, or returns why it cannot be.
func (t *stream) depart(id string, cancel context.CancelCauseFunc) *jsonrpc.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.flight[id] != nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the request id %s is in use", id)}
	case len(t.flight) >= maxFlight:
		return &jsonrpc.Error{Code: codeBusy, Message: fmt.Sprintf("%d calls are under way; wait for one to end", maxFlight)}
	}
	t.flight[id] = cancel
	return nil
}

// landed notes that a call has ended. It reports whether the client waits for its
// answer.
func (t *stream) landed(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, waits := t.flight[id]
	delete(t.flight, id)
	return waits
}

// cancel cancels a call, which is not answered then. It reports whether there was
// one.
func (t *stream) cancel(id string) bool {
	t.mu.Lock()
	cancel := t.flight[id]
	delete(t.flight, id)
	t.mu.Unlock()
	if cancel != nil {
		cancel(errGone)
	}
	return cancel != nil
}

// answer writes the answer to a request.
func (t *stream) answer(id string, result mcp.Result, err error) {
	kind, body := "result", raw(nil)
	if a, ok := result.(*answer); ok && err == nil {
		body = models.OneLine(a.body)
	} else {
		kind, body = "error", errorBody(err)
	}
	line := make([]byte, 0, len(body)+len(id)+40)
	line = fmt.Appendf(line, `{"jsonrpc":"2.0","id":%s,"%s":`, id, kind)
	line = append(append(line, body...), "}\n"...)
	_, _ = t.Write(line) // of one that takes no more, reading ends, too
}

// errorBody returns what tells a client of an error.
func errorBody(err error) raw {
	var told *jsonrpc.Error
	if !errors.As(err, &told) {
		told = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprint(err)}
	}
	body, encodeErr := json.Marshal(told)
	if encodeErr != nil { // data that is no JSON
		return fmt.Appendf(nil, `{"code":%d,"message":%s}`, told.Code, models.Quote(told.Message))
	}
	return body
}
