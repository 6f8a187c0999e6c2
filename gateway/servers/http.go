package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/gateway/servers/diagnostics"
	"pointsman/gateway/servers/signin"
)

const farewellTimeout = 1500 * time.Millisecond

// authError says that a remote server wants credentials it did not get.
type authError struct {
	status int
	need   *signin.NeededError // nil: its entry holds the credentials
	err    error
}

func (e *authError) Error() string {
	if e.need != nil {
		return fmt.Sprintf("%v (it answered %d %s; credentials that you have already go in `headers`)", e.need, e.status, http.StatusText(e.status))
	}
	return fmt.Sprintf("the server answered %d %s: it needs credentials, or refuses the ones in `headers`", e.status, http.StatusText(e.status))
}

func (e *authError) Unwrap() error { return e.err }

// narrow reports whether only this call lacks something: the rest goes on.
func (e *authError) narrow() bool { return e.need != nil && e.need.Wider != nil }

// remote is the HTTP side of a connection to a remote server: it adds the
// entry's headers, and sees what the SDK's transports do not tell.
type remote struct {
	base    http.RoundTripper
	origin  *url.URL
	headers http.Header
	account *signin.Account // nil: headers hold the credentials
	denied  atomic.Int32    // 401 or 403, if the server has answered that and taken nothing since

	closing context.Context // ends with the session: then nothing is waited for but the farewell

	open chan struct{} // has an element for each request of the server's that waits for our answer

	noted func(req *http.Request, resp *http.Response, err error, took time.Duration)
	body  func(body []byte) // is shown what is sent
	mark  *marker           // of what the server sends to its client
}

// newRemote resolves the entry's url and headers.
func (s *server) newRemote(ctx context.Context, sess *session) (*remote, error) {
	connection := sess.id
	address, err := s.expand(ctx, "url", s.entry.URL)
	if err != nil {
		return nil, err
	}
	origin, err := url.Parse(address)
	if err != nil || origin.Host == "" || origin.Scheme != "http" && origin.Scheme != "https" {
		return nil, fmt.Errorf("reading url: it must be an http or https address")
	}
	r := &remote{base: s.host.opts.HTTPClient.Transport, origin: origin, headers: http.Header{}, closing: sess.calls, mark: sess.mark, open: make(chan struct{}, maxUnanswered)}
	r.noted = func(req *http.Request, resp *http.Response, err error, took time.Duration) {
		if err == nil {
			sess.hear()
		}
		s.noteHTTP(connection, req, resp, err, took)
	}
	r.body = func(body []byte) { s.noteBody(diagnostics.HTTP, connection, sentArrow, body) }
	if r.base == nil {
		r.base = http.DefaultTransport
	}
	for name, ref := range s.entry.Headers {
		value, err := s.expandSecret(ctx, "header "+name, string(ref))
		if err != nil {
			return nil, err
		}
		r.headers.Set(name, value)
	}
	r.account, err = s.accountFor(ctx, address, r.headers)
	return r, err
}

// RoundTrip sends one request. The headers go to the server's own origin only:
// a redirect, or an endpoint a server names, must not carry them elsewhere.
func (r *remote) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	own := req.URL.Scheme == r.origin.Scheme && req.URL.Host == r.origin.Host
	if own {
		for name, values := range r.headers {
			req.Header[name] = values
		}
	} else {
		req.Header.Del("Referer") // the server's address, which may have a secret in it
	}
	for name, values := range callHeaders(req.Context()) {
		req.Header[name] = values
	}
	answers, err := r.restoreMethod(req)
	if err != nil {
		return nil, err
	}
	if answers {
		defer r.answered()
	}
	if req.Method == http.MethodDelete { // the farewell, which must not hold us up
		ctx, cancel := context.WithTimeout(req.Context(), farewellTimeout)
		defer cancel()
		req = req.WithContext(ctx)
	}
	resp, err := r.authorized(req, own)
	if err == nil && resp.StatusCode == http.StatusBadRequest && req.Header.Get(sessionHeader) != "" {
		if err := asSessionLoss(resp); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusNotFound && req.Method == http.MethodPost && req.Header.Get(sessionHeader) != "" {
		return nil, errors.Join(errNotSent, errSessionLost, resp.Body.Close())
	}
	r.note(resp.StatusCode)
	if isDenial(resp.StatusCode) && req.Method == http.MethodPost {
		return nil, r.deny(resp)
	}
	r.mark.markStream(req.Context(), resp, r.open)
	return resp, nil
}

// answered notes that a request of the server's was answered, or cannot be.
func (r *remote) answered() {
	select {
	case <-r.open:
	default: // it was not counted: it did not come on a stream of events
	}
}

// deny makes an error of an answer that denies a request: to the SDK the answer
// itself would be the end of the whole connection.
func (r *remote) deny(resp *http.Response) error {
	denied := &authError{status: resp.StatusCode, need: r.need(), err: errors.New(resp.Status)}
	if denied.narrow() && !strings.Contains(resp.Header.Get("WWW-Authenticate"), "insufficient_scope") {
		denied.need = nil // it is another request that lacks a scope
	}
	return errors.Join(denied, resp.Body.Close())
}

// authorized sends a request, signed in if there is a sign-in and it is the
// server's own origin that the request goes to.
func (r *remote) authorized(req *http.Request, own bool) (*http.Response, error) {
	if r.account == nil || !own {
		return r.send(req)
	}
	resp, err := r.account.Do(req, r.send)
	var unsent *signin.NotSentError
	if errors.As(err, &unsent) {
		err = errors.Join(errNotSent, err)
	}
	return resp, err
}

func (r *remote) send(req *http.Request) (*http.Response, error) {
	release := func() bool { return true }
	if req.Method != http.MethodDelete {
		ctx, cancel := context.WithCancel(req.Context())
		stop := context.AfterFunc(r.closing, cancel)
		release = func() bool { cancel(); return stop() }
		req = req.WithContext(ctx)
	}
	began := time.Now()
	resp, err := r.base.RoundTrip(req)
	r.noted(req, resp, err, time.Since(began))
	if err != nil {
		release()
		return nil, err
	}
	resp.Body = &answerBody{ReadCloser: resp.Body, endless: isEventStream(resp), left: maxLine, release: release}
	return resp, nil
}

// answerBody is the body of an answer, at most maxLine bytes of it, but for a
// stream of events, which is bounded event by event.
type answerBody struct {
	io.ReadCloser
	endless bool
	left    int64
	release func() bool // when it is closed
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 && !b.endless {
		return 0, fmt.Errorf("reading from the server: an answer of more than %d bytes", maxLine)
	}
	return n, err
}

func (b *answerBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

const sessionHeader = "Mcp-Session-Id"

// errSessionLost is why a request was not taken by a server that has forgotten us.
// The SDK would end the connection for it, and then tell the request that was
// refused from those that were under way by chance alone.
var errSessionLost = errors.New("the server does not know the session any more")

// asSessionLoss makes 404, which says that a session is not known, of a 400 that
// says the same: a common SDK for servers answers so.
func asSessionLoss(resp *http.Response) error {
	const enough = 4 << 10 // bytes of such an answer
	beginning, err := io.ReadAll(io.LimitReader(resp.Body, enough))
	if err != nil {
		return errors.Join(err, resp.Body.Close())
	}
	if bytes.Contains(bytes.ToLower(beginning), []byte("session")) {
		resp.StatusCode, resp.Status = http.StatusNotFound, "404 Not Found"
	}
	rest := resp.Body
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(beginning), rest), rest}
	return nil
}

func isDenial(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// note keeps a denial until the server takes something: it is why what the SDK
// tries next, an older handshake, fails.
func (r *remote) note(status int) {
	switch {
	case isDenial(status):
		r.denied.Store(int32(status))
	case status < http.StatusBadRequest:
		r.denied.Store(0)
	}
}

// need is what a person has to do, or nil.
func (r *remote) need() *signin.NeededError {
	if r.account == nil {
		return nil
	}
	return r.account.Need()
}

// explain returns err, as an authError if the server asked for credentials.
func (r *remote) explain(err error) error {
	status := r.denied.Load()
	if err == nil || status == 0 {
		return err
	}
	return &authError{status: int(status), need: r.need(), err: err}
}

func (r *remote) client() *http.Client { return &http.Client{Transport: r} }

func (r *remote) sse() *mcp.SSEClientTransport {
	return &mcp.SSEClientTransport{Endpoint: r.origin.String(), HTTPClient: r.client(), MaxEventSize: maxLine}
}

func (r *remote) streamable() *mcp.StreamableClientTransport {
	return &mcp.StreamableClientTransport{Endpoint: r.origin.String(), HTTPClient: r.client(), MaxEventSize: maxLine}
}

// rawPrefix marks the methods whose results we want as they came. The SDK
// decodes the results of the methods it knows into types that lose fields, and
// its streamable HTTP connection cannot be wrapped as the others are (see wire)
// without losing its session. So tools/call and the other requests of our own are
// asked of the SDK as methods it does not know, and get their names back here.
const rawPrefix = "pointsman:"

// restoreMethod also reports whether what is sent is an answer to the server.
func (r *remote) restoreMethod(req *http.Request) (answers bool, err error) {
	if req.Body == nil || req.Method != http.MethodPost {
		return false, nil
	}
	body, err := io.ReadAll(req.Body)
	req.Body.Close()
	if err != nil {
		return false, err
	}
	body = bytes.Replace(body, []byte(`"method":"`+rawPrefix), []byte(`"method":"`), 1)
	r.body(body)
	req.ContentLength = int64(len(body))
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	if method, ok := strings.CutPrefix(req.Header.Get("Mcp-Method"), rawPrefix); ok {
		req.Header.Set("Mcp-Method", method)
	}
	return !gjson.GetBytes(body, "method").Exists(), nil
}

// rawParams are the parameters of a request whose result we want as it came.
type rawParams struct {
	mcp.ParamsBase
	params params
}

// MarshalJSON writes the parameters as a wire does. What _meta must hold is the
// SDK's to say here.
func (r *rawParams) MarshalJSON() ([]byte, error) {
	p := r.params
	p.fields, p.progress = r.GetMeta(), false
	return p.encode(0)
}

// rawResult is a result as it came.
type rawResult struct {
	mcp.ResultBase
	raw []byte
}

// UnmarshalJSON keeps the result instead of decoding it.
func (r *rawResult) UnmarshalJSON(data []byte) error {
	r.raw = bytes.Clone(data)
	return nil
}
