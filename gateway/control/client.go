package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"pointsman/approvals"
	"pointsman/gateway/loop"
	"pointsman/gateway/tools"
)

// Client talks to a resident. It is safe for concurrent use.
type Client struct {
	Info Info
	// Secret gives the right to answer approvals and to manage; empty for most.
	Secret string

	dial func(ctx context.Context) (net.Conn, error)
	http *http.Client
}

func newClient(info Info, dial func(ctx context.Context) (net.Conn, error)) *Client {
	return &Client{Info: info, dial: dial, http: &http.Client{Transport: &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableCompression: true,
	}}}
}

// Close ends connections that wait to be used again.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do sends a request to the resident. path begins with a slash; the caller
// closes the reply's body.
func (c *Client) Do(ctx context.Context, method, path string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://pointsman"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header.Clone()
	}
	if c.Secret != "" {
		req.Header.Set(answerHeader, c.Secret)
	}
	response, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking the running Pointsman: %w", err)
	}
	return response, nil
}

// Get reads one of the resident's views into v.
func (c *Client) Get(ctx context.Context, path string, v any) error {
	return c.exchange(ctx, http.MethodGet, path, nil, v)
}

// Pending returns what waits for a person.
func (c *Client) Pending(ctx context.Context) ([]approvals.Request, error) {
	return ask[[]approvals.Request](ctx, c, http.MethodGet, "/approvals", nil)
}

// Answer answers a request. It reports whether this answer was the one that
// counted; it was not when the request was not waiting any more.
func (c *Client) Answer(ctx context.Context, id string, d approvals.Decision) (bool, error) {
	reply, err := ask[answered](ctx, c, http.MethodPost, "/approvals/"+url.PathEscape(id), d)
	return reply.Counted, err
}

// Ending returns, in words for a person, why a request does not wait any more;
// "" when it still does, or that is not known. See approvals.Desk.
func (c *Client) Ending(ctx context.Context, id string) (string, error) {
	reply, err := ask[ended](ctx, c, http.MethodGet, "/approvals/"+url.PathEscape(id)+"/ending", nil)
	return reply.Reason, err
}

// MayAnswer reports whether this client may answer approvals.
func (c *Client) MayAnswer(ctx context.Context) (bool, error) {
	reply, err := ask[right](ctx, c, http.MethodGet, "/approvals/right", nil)
	return reply.MayAnswer, err
}

// Watch calls report with what waits, now and after every change, until ctx
// ends or the resident goes.
func (c *Client) Watch(ctx context.Context, report func([]approvals.Request)) error {
	return follow(ctx, c, "/approvals/watch", report)
}

// Events opens a stream of the events of the runs, or of one run. Its owner
// closes it; it ends with ctx, too.
func (c *Client) Events(ctx context.Context, run string) (*Stream[loop.Event], error) {
	return open[loop.Event](ctx, c, "/events?run="+url.QueryEscape(run))
}

// Changes calls report now and after every change of what there is to see,
// until ctx ends or the resident goes.
func (c *Client) Changes(ctx context.Context, report func()) error {
	return follow(ctx, c, "/changes", func(struct{}) { report() })
}

// Pause pauses the resident's tools, or lets them run again.
func (c *Client) Pause(ctx context.Context, paused bool) error {
	return c.send(ctx, http.MethodPost, "/pause", pausing{Paused: paused}, &pausing{})
}

// Raise brings the resident to the user's attention. show says what its window
// shows: ShowOpen, ShowApprovals or ShowSettings; "" means ShowOpen. A
// *RefusedError says that it has neither tray nor windows.
func (c *Client) Raise(ctx context.Context, show string) (Raised, error) {
	return ask[Raised](ctx, c, http.MethodPost, "/window", raising{Show: show})
}

// WhyTool tells how it stands with the tools of a name, as models see it or as
// their servers have it: whether they are offered, and what is in their way. It
// has at least one answer.
func (c *Client) WhyTool(ctx context.Context, name string) ([]tools.Why, error) {
	return ask[[]tools.Why](ctx, c, http.MethodGet, WhyToolPath(name), nil)
}

// WhyToolPath is where the resident tells that of a name.
func WhyToolPath(name string) string { return "/tools/why?name=" + url.QueryEscape(name) }

// exchange makes one request and reads its reply into v.
func (c *Client) exchange(ctx context.Context, method, path string, body []byte, v any) error {
	response, err := c.Do(ctx, method, path, nil, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("reading the running Pointsman's reply: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return asError(response.StatusCode, data)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("reading the running Pointsman's reply: %w", err)
	}
	return nil
}

// send makes one request with a JSON body and reads its reply into v.
func (c *Client) send(ctx context.Context, method, path string, body, v any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.exchange(ctx, method, path, data, v)
}

// ask makes one request and returns its reply. body is sent as JSON; nil sends
// none.
func ask[Reply any](ctx context.Context, c *Client, method, path string, body any) (Reply, error) {
	var reply Reply
	if body == nil {
		err := c.exchange(ctx, method, path, nil, &reply)
		return reply, err
	}
	err := c.send(ctx, method, path, body, &reply)
	return reply, err
}

// RefusedError says that the resident did not do what it was asked.
type RefusedError struct {
	Status  int // of HTTP
	Message string
}

func (e *RefusedError) Error() string { return e.Message }

func refusal(data []byte) string {
	var reply struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(data, &reply) != nil || reply.Error == "" {
		return "the running Pointsman refused: " + string(data)
	}
	return reply.Error
}

// Stream is JSON lines from the resident, read as they come.
type Stream[T any] struct {
	ctx     context.Context // of the request: tells why reading ended
	body    io.ReadCloser
	decoder *json.Decoder
}

// open asks for a stream. When it returns, the resident has begun to watch.
func open[T any](ctx context.Context, c *Client, path string) (*Stream[T], error) {
	response, err := c.Do(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		data, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // what can be read of the reason is enough
		return nil, &RefusedError{Status: response.StatusCode, Message: refusal(data)}
	}
	return &Stream[T]{ctx: ctx, body: response.Body, decoder: json.NewDecoder(bufio.NewReader(response.Body))}, nil
}

// Next waits for the next line. Its error is ctx's cause, or says that the
// resident went away.
func (s *Stream[T]) Next() (T, error) {
	var v T
	err := s.decoder.Decode(&v)
	switch {
	case err == nil:
		return v, nil
	case s.ctx.Err() != nil:
		return v, context.Cause(s.ctx)
	default:
		return v, fmt.Errorf("the running Pointsman went away: %w", err)
	}
}

// Close ends the stream.
func (s *Stream[T]) Close() { _ = s.body.Close() } // there is nothing to lose in a stream that is only read

// follow reports what a stream says until it ends.
func follow[T any](ctx context.Context, c *Client, path string, report func(T)) error {
	stream, err := open[T](ctx, c, path)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		v, err := stream.Next()
		if err != nil {
			return err
		}
		report(v)
	}
}
