package servers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/gateway/nesting"
)

const (
	maxLine      = 64 << 20         // bytes of one message; more ends the connection
	writeTimeout = 30 * time.Second // for a server that does not read its stdin
)

// stdioConn speaks newline-delimited JSON-RPC with a process. Lines that are no
// JSON-RPC are skipped and counted: servers print banners and logs to stdout.
//
// Writes go through a queue and one goroutine, so that a server that does not
// read holds up nobody but itself: a writer stops waiting when its context
// ends, and the connection ends when the pipe takes nothing for writeTimeout.
type stdioConn struct {
	in    *bufio.Reader
	out   io.WriteCloser
	end   func()            // ends the process; may be called twice
	junk  func(line []byte) // is told of each line that was skipped
	ready []jsonrpc.Message // rest of a batch; only Read touches it

	queue     chan []byte
	closed    chan struct{}
	closeOnce sync.Once
	writer    sync.WaitGroup
}

func newStdioConn(in io.Reader, out io.WriteCloser, end func(), junk func(line []byte)) *stdioConn {
	c := &stdioConn{
		in:     bufio.NewReaderSize(in, 64<<10),
		out:    out,
		end:    end,
		junk:   junk,
		queue:  make(chan []byte, 64),
		closed: make(chan struct{}),
	}
	c.writer.Go(c.writeQueued)
	return c
}

var _ mcp.Connection = (*stdioConn)(nil)

func (c *stdioConn) SessionID() string { return "" }

// Read returns the next message.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for ctx.Err() == nil {
		if len(c.ready) > 0 {
			msg := c.ready[0]
			c.ready = c.ready[1:]
			return msg, nil
		}
		line, err := c.readLine()
		if err != nil {
			return nil, err
		}
		if c.ready = decodeLine(line); len(c.ready) == 0 && len(line) > 0 {
			c.junk(line)
		}
	}
	return nil, ctx.Err()
}

// readLine returns the next line, in memory of its own, without its end.
func (c *stdioConn) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := c.in.ReadSlice('\n')
		if len(line) > 0 && cap(line)-len(line) < len(part) {
			line = slices.Grow(line, 2*len(line)) // a long line: copy it few times
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSpace(line), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxLine:
			return nil, fmt.Errorf("reading from the server: a line of more than %d bytes", maxLine)
		}
	}
}

// decodeLine returns the message, or messages, that a line holds, or nothing
// if it is no JSON-RPC.
func decodeLine(line []byte) []jsonrpc.Message {
	if len(line) == 0 || line[0] != '{' && line[0] != '[' || nesting.TooDeep(line) || !gjson.ValidBytes(line) {
		return nil
	}
	if line[0] == '{' {
		if msg := decodeMessage(line); msg != nil {
			return []jsonrpc.Message{msg}
		}
		return nil
	}
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil {
		return nil
	}
	var msgs []jsonrpc.Message
	for _, raw := range batch {
		if msg := decodeMessage(raw); msg != nil {
			msgs = append(msgs, msg)
		}
	}
	return msgs
}

// decodeMessage decodes one valid JSON value, or returns nil if it is no
// JSON-RPC message. A successful response, which may be large, is cut out
// instead of decoded; the SDK decodes the rest.
func decodeMessage(raw []byte) jsonrpc.Message {
	if resp := cutResponse(raw); resp != nil {
		return resp
	}
	msg, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return nil
	}
	return msg
}

// cutResponse returns the response that raw is, or nil if it is anything but a
// successful response with a number as id.
func cutResponse(raw []byte) *jsonrpc.Response {
	var version, id string
	var result []byte
	plain := true
	gjson.ParseBytes(raw).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "jsonrpc":
			version = value.Str
		case "id":
			id = value.Raw
		case "result":
			result = raw[value.Index : value.Index+len(value.Raw)]
		case "error", "method":
			plain = value.Type == gjson.Null && key.Str == "error"
		}
		return plain
	})
	n, err := strconv.ParseInt(id, 10, 64)
	if !plain || version != "2.0" || result == nil || err != nil {
		return nil
	}
	rpcID, err := jsonrpc.MakeID(float64(n))
	if err != nil {
		return nil
	}
	return &jsonrpc.Response{ID: rpcID, Result: result}
}

// Write queues a message. It does not wait for the server to read it.
func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	select {
	case c.queue <- append(data, '\n'):
		return nil
	case <-c.closed:
		return errNotSent
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *stdioConn) writeQueued() {
	stuck := time.AfterFunc(writeTimeout, c.end)
	stuck.Stop()
	for {
		select {
		case data := <-c.queue:
			stuck.Reset(writeTimeout)
			_, err := c.out.Write(data)
			stuck.Stop()
			if err != nil {
				c.end()
				return
			}
		case <-c.closed:
			return
		}
	}
}

// Close ends the process and the goroutine that writes to it.
func (c *stdioConn) Close() error {
	c.closeOnce.Do(func() {
		close(c.closed)
		c.end()
		c.writer.Wait()
	})
	return nil
}
