package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
)

// errNotSent is the error of a request that certainly did not reach the server.
var errNotSent = errors.New("the connection was closed before the request was sent")

// firstWireID is where our own request ids begin. The SDK counts its own from
// 1, and never gets here.
const firstWireID = 1 << 30

// maxUnanswered is how many requests of a server's may wait for our answer at a
// time. Beyond that it gets no answer but this, and is not read from until it has
// taken it: one that asks and never reads would fill our memory.
const maxUnanswered = 256

// wire is a connection that carries requests of our own beside the SDK's. The
// SDK reads and writes through it and never sees our requests' responses, so
// they are not decoded into types that lose fields, nor encoded twice.
type wire struct {
	mcp.Connection
	onEnd func(error)                             // called once, with the reason, when the connection ends
	saw   func(arrow string, msg jsonrpc.Message) // is shown each message

	unanswered atomic.Int64 // requests of the server's

	mu      sync.Mutex // guards the fields below
	waiting map[int64]chan<- reply
	ended   bool
}

// reply is the answer to one request of our own.
type reply struct {
	result json.RawMessage
	err    error // a *jsonrpc.Error when it is the server's
}

// wireTransport gives a wire to the SDK and keeps it for us.
type wireTransport struct {
	connect func(ctx context.Context) (mcp.Connection, error)
	onEnd   func(error)
	saw     func(arrow string, msg jsonrpc.Message)
	wire    *wire // set by Connect
}

func (t *wireTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.connect(ctx)
	if err != nil {
		return nil, err
	}
	t.wire = &wire{Connection: conn, onEnd: t.onEnd, saw: t.saw, waiting: map[int64]chan<- reply{}}
	return t.wire, nil
}

// Read returns the next message that is the SDK's business.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		msg, err := w.Connection.Read(ctx)
		if err != nil {
			w.fail(err)
			return nil, err
		}
		w.saw(receivedArrow, msg)
		switch msg := msg.(type) {
		case *jsonrpc.Response:
			if w.deliver(msg) {
				continue
			}
		case *jsonrpc.Request:
			if msg.IsCall() && w.unanswered.Add(1) > maxUnanswered {
				err := w.Write(ctx, &jsonrpc.Response{ID: msg.ID, Error: errTooMany(maxUnanswered)})
				if err != nil {
					w.fail(err)
					return nil, err
				}
				continue
			}
		}
		return msg, nil
	}
}

// errTooMany is the answer to a request of the server's beyond those that may be
// open at a time.
func errTooMany(limit int) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("more than %d requests at a time are not answered; wait for the answers to the others", limit)}
}

// Write sends a message.
func (w *wire) Write(ctx context.Context, msg jsonrpc.Message) error {
	if _, ok := msg.(*jsonrpc.Response); ok {
		defer w.unanswered.Add(-1) // not before it is on its way
	}
	w.saw(sentArrow, msg)
	return w.Connection.Write(ctx, msg)
}

// Close ends the connection, and with it every request that waits.
func (w *wire) Close() error {
	w.fail(mcp.ErrConnectionClosed)
	return w.Connection.Close()
}

func (w *wire) fail(err error) {
	w.mu.Lock()
	waiting, ended := w.waiting, w.ended
	w.waiting, w.ended = nil, true
	w.mu.Unlock()
	if ended {
		return
	}
	w.onEnd(err)
	for _, ch := range waiting {
		ch <- reply{err: err} // has room for one
	}
}

func (w *wire) deliver(resp *jsonrpc.Response) bool {
	id, ok := resp.ID.Raw().(int64)
	if !ok || id < firstWireID {
		return false
	}
	w.mu.Lock()
	ch := w.waiting[id]
	delete(w.waiting, id)
	w.mu.Unlock()
	if ch != nil { // else it was cancelled
		ch <- reply{result: resp.Result, err: resp.Error}
	}
	return true
}

// begin sends a request and returns the channel its one reply will come on.
func (w *wire) begin(ctx context.Context, id int64, method string, p params) (<-chan reply, error) {
	ch := make(chan reply, 1)
	w.mu.Lock()
	if w.ended {
		w.mu.Unlock()
		return nil, errNotSent
	}
	w.waiting[id] = ch
	w.mu.Unlock()
	if err := w.send(ctx, id, method, p); err != nil {
		w.forget(id)
		return nil, err
	}
	return ch, nil
}

func (w *wire) send(ctx context.Context, id int64, method string, p params) error {
	body, err := p.encode(id)
	if err != nil {
		return err
	}
	rpcID, err := jsonrpc.MakeID(float64(id))
	if err != nil {
		return err
	}
	return w.Write(ctx, &jsonrpc.Request{ID: rpcID, Method: method, Params: body})
}

func (w *wire) forget(id int64) {
	w.mu.Lock()
	delete(w.waiting, id)
	w.mu.Unlock()
}

// cancel tells the server that nobody waits for the request any more.
func (w *wire) cancel(ctx context.Context, id int64, reason string) error {
	w.forget(id)
	body, err := json.Marshal(struct {
		RequestID int64  `json:"requestId"`
		Reason    string `json:"reason"`
	}{id, reason})
	if err != nil {
		return err
	}
	return w.Write(ctx, &jsonrpc.Request{Method: "notifications/cancelled", Params: body})
}

// params are the parameters of a request of ours: of tools/list or tools/call,
// or the body of another.
type params struct {
	body       json.RawMessage // a JSON object to be sent as it is, but for _meta; the fields down to cursor are then empty
	name       string          // of the tool; empty for tools/list
	definition json.RawMessage // of the tool, as the server sent it; or nil
	arguments  json.RawMessage // a JSON object
	given      json.RawMessage // what the caller has in _meta; or nil
	cursor     string
	again      repetition
	flight     int64          // that the request is sent for; or zero
	says       statelessMeta  // what a stateless server is told
	fields     map[string]any // that _meta must have; nil but for stateless servers
	progress   bool           // ask for progress, with the request's id as token
}

// encode returns the parameters as JSON, the arguments as they are.
func (p params) encode(id int64) (json.RawMessage, error) {
	var b bytes.Buffer
	meta, err := members(p.fields)
	if err != nil {
		return nil, err
	}
	b.Grow(len(p.arguments) + len(meta) + 128)
	b.WriteByte('{')
	if p.body != nil {
		meta = appendMeta(meta, gjson.GetBytes(p.body, "_meta"))
		writeBody(&b, p.body)
	}
	if p.given != nil {
		meta = appendMeta(meta, gjson.ParseBytes(p.given))
	}
	if p.name != "" {
		writeMember(&b, "name", p.name)
		b.WriteString(`,"arguments":`)
		if err := json.Compact(&b, p.arguments); err != nil {
			return nil, err
		}
	}
	if p.cursor != "" {
		writeMember(&b, "cursor", p.cursor)
	}
	p.again.write(&b)
	p.writeMeta(&b, meta, id)
	b.WriteByte('}')
	return b.Bytes(), nil
}

// writeBody writes the members of an object as they are, but for _meta.
func writeBody(b *bytes.Buffer, body json.RawMessage) {
	gjson.ParseBytes(body).ForEach(func(key, value gjson.Result) bool {
		if key.Str != "_meta" {
			writeComma(b)
			b.WriteString(key.Raw)
			b.WriteByte(':')
			b.WriteString(value.Raw)
		}
		return true
	})
}

// appendMeta adds to the members of _meta those that the caller gave, unless we
// set them. The caller's progress token is none of this connection's.
func appendMeta(meta []byte, given gjson.Result) []byte {
	b := bytes.NewBufferString("{")
	b.Write(meta)
	ours := gjson.Parse("{" + string(meta) + "}").Map()
	if given.IsObject() {
		given.ForEach(func(key, value gjson.Result) bool {
			if _, taken := ours[key.Str]; !taken && key.Str != "progressToken" {
				writeComma(b)
				b.WriteString(key.Raw + ":" + value.Raw)
			}
			return true
		})
	}
	return b.Bytes()[1:]
}

func (p params) writeMeta(b *bytes.Buffer, meta []byte, id int64) {
	if len(meta) == 0 && !p.progress {
		return
	}
	writeComma(b)
	b.WriteString(`"_meta":{`)
	b.Write(meta)
	if p.progress {
		writeComma(b)
		b.WriteString(`"progressToken":`)
		b.Write(strconv.AppendInt(b.AvailableBuffer(), id, 10))
	}
	b.WriteByte('}')
}

// writeMember writes "name":"value" after what is there.
func writeMember(b *bytes.Buffer, name, value string) {
	writeComma(b)
	quoted, _ := json.Marshal(value) // a string cannot fail
	b.WriteByte('"')
	b.WriteString(name)
	b.WriteString(`":`)
	b.Write(quoted)
}

func writeComma(b *bytes.Buffer) {
	if last := b.Bytes()[b.Len()-1]; last != '{' {
		b.WriteByte(',')
	}
}
