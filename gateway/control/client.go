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
	"time"

	"pointsman/approvals"
	"pointsman/gateway/loop"
)

// Client talks to a resident. It is safe for concurrent use.
type Client struct {
	Info Info
	// Secret gives the right to answer approvals; empty for most.
	Secret string

	http *http.Client
}

func newClient(info Info) *Client {
	c := &Client{Info: info}
	c.http = &http.Client{Transport: &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return c.dial(ctx) },
		DisableCompression: true,
	}}
	return c
}

func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 2 * time.Second}
	return dialer.DialContext(ctx, "unix", c.Info.Socket)
}

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
	var list []approvals.Request
	return list, c.Get(ctx, "/approvals", &list)
}

// Answer answers a request. It reports whether this answer was the one that
// counted; it was not when the request was not waiting any more.
func (c *Client) Answer(ctx context.Context, id string, d approvals.Decision) (bool, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return false, err
	}
	var reply answered
	err = c.exchange(ctx, http.MethodPost, "/approvals/"+id, body, &reply)
	return reply.Counted, err
}

// Watch calls report with what waits, now and after every change, until ctx
// ends or the resident goes.
func (c *Client) Watch(ctx context.Context, report func([]approvals.Request)) error {
	return follow(ctx, c, "/approvals/watch", report)
}

// Events calls report with each event of the runs, or of one run, until ctx
// ends or the resident goes.
func (c *Client) Events(ctx context.Context, run string, report func(loop.Event)) error {
	return follow(ctx, c, "/events?run="+run, report)
}

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
		return &RefusedError{Status: response.StatusCode, Message: refusal(data)}
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("reading the running Pointsman's reply: %w", err)
	}
	return nil
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

// follow reads lines of JSON as they come.
func follow[T any](ctx context.Context, c *Client, path string, report func(T)) error {
	response, err := c.Do(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // what can be read of the reason is enough
		return &RefusedError{Status: response.StatusCode, Message: refusal(data)}
	}
	decoder := json.NewDecoder(bufio.NewReader(response.Body))
	for {
		var v T
		if err := decoder.Decode(&v); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("the running Pointsman went away: %w", err)
		}
		report(v)
	}
}
