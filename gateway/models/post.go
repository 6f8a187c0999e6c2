package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"
)

// post sends the request and turns every failure into an *Error. It is the path
// of every forwarded byte and uses net/http alone: openai-go took 17 of 118 µs
// of CPU here and put the requests per second below their floor (go run ./bench),
// and it takes a large body in one piece only.
func (r *Router) post(ctx context.Context, x exchange) (*http.Response, error) {
	d := x.deployment
	req, err := r.httpRequest(ctx, x)
	if err != nil {
		return nil, d.failure(ctx, err)
	}
	client := r.opts.Client
	if d.Provider == DemoProvider && r.demo != nil {
		client = r.demo
	}
	response, err := client.Do(req)
	if err != nil {
		return nil, d.failure(ctx, err)
	}
	if response.StatusCode >= 300 {
		defer response.Body.Close()
		said, err := readAll(response.Body, response.ContentLength)
		if err != nil {
			return nil, d.failure(ctx, err)
		}
		failed := d.fromStatus(response.StatusCode, response.Header, said)
		if x.dialect != nil && absent(response.StatusCode, gjson.GetBytes(said, "error.code").String()) {
			failed.Err = ErrNoResponses
		}
		return nil, failed
	}
	return response, nil
}

// httpRequest makes the HTTP request of an exchange.
func (r *Router) httpRequest(ctx context.Context, x exchange) (*http.Request, error) {
	pieces, size := x.body.pieces()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.url(), bytes.NewReader(pieces[0]))
	if err != nil {
		return nil, err
	}
	if len(pieces) > 1 { // one piece goes out together with the headers
		req.ContentLength = size
		req.GetBody = func() (io.ReadCloser, error) { // for a kept connection that turns out to be closed
			unread := net.Buffers(slices.Clone(pieces))
			return io.NopCloser(&unread), nil
		}
		if req.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	req.Header["Content-Type"] = []string{"application/json"}
	req.Header["Accept"] = []string{"application/json"}
	req.Header["User-Agent"] = []string{r.opts.UserAgent}
	return req, r.addCredentials(ctx, x.deployment, req.Header)
}

// addCredentials adds the deployment's key, and the headers configured for it.
func (r *Router) addCredentials(ctx context.Context, d *Deployment, header http.Header) error {
	key, err := r.resolveKey(ctx, d)
	if err != nil {
		return err
	}
	switch {
	case key == "":
	case d.azure:
		header["Api-Key"] = []string{key}
	default:
		header["Authorization"] = []string{"Bearer " + key}
	}
	for name, ref := range d.headers {
		value, err := r.opts.Resolve(ctx, string(ref))
		if err != nil {
			return d.noKey(fmt.Errorf("header %s: %w", name, err))
		}
		header.Set(name, value)
	}
	return nil
}

// staying returns a client like the given one that follows redirects within a
// provider only: what the user wrote goes nowhere else.
func staying(client *http.Client) *http.Client {
	own := *client
	own.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch from := via[0].URL; {
		case req.URL.Scheme != from.Scheme || req.URL.Host != from.Host:
			return fmt.Errorf("it redirects to %s, which is not followed; if that is the provider, make it the base_url", req.URL.Host)
		case client.CheckRedirect != nil:
			return client.CheckRedirect(req, via)
		case len(via) >= 10:
			return errors.New("stopped after 10 redirects")
		default:
			return nil
		}
	}
	return &own
}
