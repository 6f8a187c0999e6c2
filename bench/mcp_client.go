package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/tidwall/gjson"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// caller calls a tool, or lists the tools, and checks what comes back. Several
// goroutines may use it at once, each with a number of its own.
type caller interface {
	call(ctx context.Context, who int) error
	list(ctx context.Context, who int) error
	close()
}

// messageFor is a request of a caller.
func messageFor(id int64, method, params string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

const (
	shakeParams = `{"protocolVersion":"` + protocol + `","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`
	shaken      = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func callParams(tool string) string {
	return fmt.Sprintf(`{"name":%q,"arguments":{"id":"42"}}`, tool)
}

// stdioCaller speaks with a process over its standard streams.
type stdioCaller struct {
	process *process
	tool    string
	want    []byte // in a list: the name of its last tool

	mu      sync.Mutex // guards the fields below, and what is written
	out     io.Writer
	lastID  int64
	waiting map[int64]chan []byte
}

// newStdioCaller starts a process and shakes hands with it.
func newStdioCaller(ctx context.Context, tool, lastTool string, env []string, name string, args ...string) (*stdioCaller, error) {
	p, stdout, err := start(ctx, env, name, args...)
	if err != nil {
		return nil, err
	}
	c := &stdioCaller{process: p, tool: tool, want: quoted(lastTool), out: p.stdin, waiting: map[int64]chan []byte{}}
	p.read.Go(func() { c.read(stdout) })
	if err = c.ask(ctx, "initialize", shakeParams, []byte(`"serverInfo"`)); err == nil {
		err = c.write([]byte(shaken))
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, p.end())
	}
	return c, nil
}

func quoted(s string) []byte { return strconv.AppendQuote(nil, s) }

// read hands each reply to who waits for it.
func (c *stdioCaller) read(stdout io.Reader) {
	in := bufio.NewReaderSize(stdout, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		c.mu.Lock()
		waits := c.waiting[gjson.GetBytes(line, "id").Int()]
		c.mu.Unlock()
		if waits != nil {
			waits <- line // has room for one
		}
	}
}

func (c *stdioCaller) write(message []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(message, '\n'))
	return err
}

func (c *stdioCaller) ask(ctx context.Context, method, params string, want []byte) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	reply := make(chan []byte, 1)
	c.mu.Lock()
	c.lastID++
	id := c.lastID
	c.waiting[id] = reply
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	if err := c.write(messageFor(id, method, params)); err != nil {
		return err
	}
	select {
	case line := <-reply:
		if !bytes.Contains(line, want) {
			return fmt.Errorf("the reply to %s lacks %s: %.300s", method, want, line)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the reply to %s: %w", method, ctx.Err())
	}
}

func (c *stdioCaller) call(ctx context.Context, _ int) error {
	return c.ask(ctx, "tools/call", callParams(c.tool), []byte(answerText))
}

func (c *stdioCaller) list(ctx context.Context, _ int) error {
	return c.ask(ctx, "tools/list", "{}", c.want)
}

func (c *stdioCaller) close() { c.process.end() }

// httpCaller posts to a server, in one session if it keeps any.
type httpCaller struct {
	at         target
	tool, last string

	mu    sync.Mutex // guards the field below
	lines map[int]*line
}

// line is the connection of one of those who call, with its requests: their ids
// are its own.
type line struct {
	conn        *conn
	calls, asks load
}

// newHTTPCaller shakes hands with a server.
func newHTTPCaller(ctx context.Context, t *target, tool, lastTool string) (*httpCaller, error) {
	session, err := shakeHTTP(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("shaking hands with %s%s: %w", t.addr, t.path, err)
	}
	c := &httpCaller{at: *t, tool: tool, last: lastTool, lines: map[int]*line{}}
	c.at.headers = mcpHeaders + "MCP-Protocol-Version: " + protocol + "\r\n"
	if session != "" {
		c.at.headers += sessionHeader + ": " + session + "\r\n"
	}
	return c, nil
}

const (
	sessionHeader = "Mcp-Session-Id"
	mcpHeaders    = "Accept: application/json, text/event-stream\r\n"
)

// shakeHTTP returns the session that a server begins; "" if it keeps none.
func shakeHTTP(ctx context.Context, t *target) (session string, err error) {
	for _, message := range [][]byte{messageFor(1, "initialize", shakeParams), []byte(shaken)} {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+t.addr+t.path, bytes.NewReader(message))
		if err != nil {
			return "", err
		}
		req.Close = true
		req.Header = http.Header{
			"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}, "Authorization": {"Bearer " + t.key},
		}
		if session != "" {
			req.Header.Set(sessionHeader, session)
		}
		reply, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		if err != nil || reply.StatusCode >= http.StatusBadRequest {
			return "", errors.Join(fmt.Errorf("status %d: %.300s", reply.StatusCode, text), err)
		}
		if session == "" {
			session = reply.Header.Get(sessionHeader)
		}
	}
	return session, nil
}

// line returns the line of one of those who call.
func (c *httpCaller) line(who int) *line {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lines[who] == nil {
		id := int64(who) + 1
		c.lines[who] = &line{
			conn:  newConn(c.at.addr),
			calls: load{message: c.at.message(messageFor(id, "tools/call", callParams(c.tool))), want: []byte(answerText)},
			asks:  load{message: c.at.message(messageFor(id, "tools/list", "{}")), want: quoted(c.last)},
		}
	}
	return c.lines[who]
}

func (c *httpCaller) call(_ context.Context, who int) error {
	l := c.line(who)
	_, err := l.conn.do(l.calls)
	return err
}

func (c *httpCaller) list(_ context.Context, who int) error {
	l := c.line(who)
	_, err := l.conn.do(l.asks)
	return err
}

func (c *httpCaller) close() {
	for _, l := range c.lines {
		l.conn.close()
	}
}

// hosted is a server that our own hosting has connected.
type hosted struct {
	host  *servers.Host
	tools int
	end   func()
}

// newHosted has a host connect entries and waits until all their tools are there.
func newHosted(ctx context.Context, entries map[string]config.MCPServer, tools int) (*hosted, error) {
	host := servers.New(servers.Options{})
	host.Apply(entries, nil)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- host.Run(ctx) }()
	h := &hosted{host: host, tools: tools, end: func() { cancel(); <-ended }}
	err := host.Settle(ctx)
	if err == nil {
		err = h.list(ctx, 0)
	}
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *hosted) call(ctx context.Context, _ int) error {
	res, err := h.host.Call(ctx, servers.Call{Server: serverName, Tool: toolName(0), Arguments: json.RawMessage(`{"id":"42"}`)})
	if err == nil && !bytes.Contains(res.Raw, []byte(answerText)) {
		err = fmt.Errorf("the result lacks the text: %.300s", res.Raw)
	}
	return err
}

// list takes the list that the host keeps ready.
func (h *hosted) list(context.Context, int) error {
	if got := len(h.host.Tools()); got != h.tools {
		return fmt.Errorf("%d tools are listed, want %d: %+v", got, h.tools, h.host.Status())
	}
	return nil
}

func (h *hosted) close() { h.end() }
