package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// httpCaller posts to a server that keeps no sessions.
type httpCaller struct {
	conns       []*conn // one for each who
	calls, asks load
	process     *process // nil: another's
}

func newHTTPCaller(t *target, callers int, lastTool string, p *process) *httpCaller {
	c := &httpCaller{process: p}
	c.calls = load{message: t.message(messageFor(1, "tools/call", callParams(toolName(0)))), want: []byte(answerText)}
	c.asks = load{message: t.message(messageFor(1, "tools/list", "{}")), want: quoted(lastTool)}
	for range callers {
		c.conns = append(c.conns, newConn(t.addr))
	}
	return c
}

func (c *httpCaller) call(_ context.Context, who int) error {
	_, err := c.conns[who].do(c.calls)
	return err
}

func (c *httpCaller) list(_ context.Context, who int) error {
	_, err := c.conns[who].do(c.asks)
	return err
}

func (c *httpCaller) close() {
	for _, conn := range c.conns {
		conn.close()
	}
	if c.process != nil {
		c.process.end()
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
	changed := make(chan struct{}, 1)
	host := servers.New(servers.Options{OnChange: func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}})
	host.Apply(entries, nil)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- host.Run(ctx) }()
	h := &hosted{host: host, tools: tools, end: func() { cancel(); <-ended }}
	for host.Connecting() {
		select {
		case <-changed:
		case <-ctx.Done():
			h.close()
			return nil, context.Cause(ctx)
		}
	}
	if err := h.list(ctx, 0); err != nil {
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
