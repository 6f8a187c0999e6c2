package models

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/gateway/secrets"
)

// maxReply is the longest plain reply that is read, in bytes. A stream, of which
// no more than an event is held at a time, may bring maxStream bytes of data.
const (
	maxReply  = 32 << 20
	maxStream = 128 << 20
)

var errLongReply = errors.New("the reply is too long")

// errTimeout is the cause of a context that ended because a provider took too long.
var errTimeout = errors.New("the provider did not answer in time")

// Reply is a provider's answer whose first byte has come. Its owner closes it.
type Reply struct {
	Deployment *Deployment
	Header     http.Header
	Body       *Body     // a plain reply, whole; nil for a stream
	Notices    []string  // what had to be changed in the request, in sentences
	Attempts   []Attempt // who was asked, the one that answers last

	visit    *visit
	router   *Router
	patience time.Duration // of each wait for the stream's next event

	dialect     Dialect // nil: the provider answers in chat completions
	keep        bool
	translation Translation // of a dialect's stream
	pending     [][]byte    // chunks that it has made
	failed      error       // what Next returns when pending is empty
	items       [][]byte    // of a dialect's plain answer

	first  []byte
	events *Events
	pool   *eventPool // where events go in the end
	read   int        // bytes of events so far
	done   bool       // the stream has said that it is
	closed bool
	body   io.ReadCloser
	cancel context.CancelFunc
	detach func() bool     // makes ctx outlive the caller's, unless that has ended
	ctx    context.Context // bounds each wait for the stream's next event
}

// Next returns the data of the stream's next event, valid until the next call or
// Close, and io.EOF after the last.
func (r *Reply) Next() ([]byte, error) {
	if first := r.first; first != nil {
		r.first = nil
		return first, nil
	}
	if r.translation != nil {
		return r.nextTranslated()
	}
	return r.nextEvent()
}

func (r *Reply) nextEvent() ([]byte, error) {
	data, err := r.events.Next()
	if r.read += len(data); r.read > maxStream {
		err = errLongReply
	}
	if err != nil && !errors.Is(err, io.EOF) {
		e := late(r.Deployment.failure(r.ctx, err), r.Deployment, r.patience)
		r.blame(e)
		return nil, e
	}
	r.done = r.done || string(data) == "[DONE]"
	return data, err
}

// nextTranslated returns the next chunk that the translation makes.
func (r *Reply) nextTranslated() ([]byte, error) {
	for len(r.pending) == 0 && r.failed == nil {
		r.translate()
	}
	if len(r.pending) == 0 {
		return nil, r.failed
	}
	chunk := r.pending[0]
	r.pending = r.pending[1:]
	r.done = r.done || string(chunk) == "[DONE]"
	return chunk, nil
}

// translate takes one event of the provider's.
func (r *Reply) translate() {
	data, err := r.nextEvent()
	if err == nil {
		r.pending, err = r.translation.Event(data)
		var e *Error
		if errors.As(err, &e) {
			r.failed = r.accuse(e)
			return
		}
	}
	r.failed = err
}

// accuse returns an error that the provider has told in its stream.
func (r *Reply) accuse(e *Error) *Error {
	e.Message = fmt.Sprintf("provider %s failed: %s", r.Deployment.Provider, e.Message)
	e = r.Deployment.clean(e)
	r.blame(e)
	return e
}

// Buffered reports whether Next has an event to give without waiting.
func (r *Reply) Buffered() bool {
	if r.translation == nil {
		return r.first != nil || r.events.Buffered()
	}
	for r.first == nil && len(r.pending) == 0 && r.failed == nil && r.events.Buffered() {
		r.translate()
	}
	return r.first != nil || len(r.pending) > 0 || r.failed != nil
}

// Items returns what the answer is made of, where the provider has given it by the
// Responses API: of a stream once it is over. They must not be changed.
func (r *Reply) Items() [][]byte {
	if r.translation != nil {
		return r.translation.Items()
	}
	return r.items
}

// Translated reports whether the provider has answered by the Responses API.
func (r *Reply) Translated() bool { return r.dialect != nil }

// Close ends the exchange. It may be called more than once.
func (r *Reply) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.visit.leave()
	if r.events != nil {
		r.pool.put(r.events)
		r.events = nil
	}
	if r.done && r.detach() {
		go r.drain()
		return
	}
	r.abandon()
}

func (r *Reply) abandon() {
	_ = r.body.Close() // the answer has been used; nothing is left to save
	r.cancel()
}

const (
	// drainPatience is how long a stream may take to end after it has said so.
	drainPatience = 500 * time.Millisecond
	// drainLimit is how much may still come then, in bytes.
	drainLimit = 4 << 10
)

// drain reads a stream that is done to its end, since a connection is kept only
// then, and the end comes a moment later. Nobody has to wait for it.
func (r *Reply) drain() {
	limit := time.AfterFunc(drainPatience, r.cancel)
	defer limit.Stop()
	_, _ = io.CopyN(io.Discard, r.body, drainLimit) // when it fails, the connection is lost and no more
	r.abandon()
}

func (r *Router) resolveKey(ctx context.Context, d *Deployment) (string, error) {
	if d.key == "" {
		if d.local || loopback(d.BaseURL) || d.Provider == DemoProvider {
			return "", nil
		}
		return "", d.noKey(errors.New("no api_key is configured"))
	}
	key, err := r.opts.Resolve(ctx, string(d.key))
	if err != nil {
		return "", d.noKey(err)
	}
	return key, nil
}

func (d *Deployment) noKey(err error) *Error {
	advice := fmt.Sprintf("store one with `pointsman keys set %s` and write `providers: {%s: {api_key: keychain:%s}}`, or name an environment variable that holds it: os.environ/NAME",
		d.Provider, d.Provider, d.Provider)
	if errors.Is(err, secrets.ErrUnavailable) { // there is no keychain to store one in
		advice = fmt.Sprintf("put one into an environment variable and write `providers: {%s: {api_key: os.environ/NAME}}`", d.Provider)
	}
	return d.clean(&Error{
		Code: AuthFailed, Status: http.StatusForbidden, Err: err,
		Message: fmt.Sprintf("no key for provider %s: %v; %s", d.Provider, err, advice),
	})
}

// KeyPresent reports whether the deployment's key can be had now (a local
// endpoint that needs none counts as one without).
func (r *Router) KeyPresent(ctx context.Context, d *Deployment) bool {
	key, err := r.resolveKey(ctx, d)
	return err == nil && key != ""
}

// failure describes an exchange that broke before or while it was read.
func (d *Deployment) failure(ctx context.Context, err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(context.Cause(ctx), errTimeout):
		return &Error{
			Code: Timeout, Status: http.StatusGatewayTimeout, Err: errTimeout,
			Message: fmt.Sprintf("provider %s did not answer within %s", d.Provider, d.Timeout), // whoever knows it better says it
		}
	case ctx.Err() != nil:
		return &Error{Code: UpstreamError, Status: http.StatusBadGateway, Err: context.Cause(ctx), Message: "the request was cancelled"}
	default:
		return d.clean(&Error{
			Code: UpstreamError, Status: http.StatusBadGateway, Err: err,
			Message: fmt.Sprintf("provider %s at %s: %s", d.Provider, d.BaseURL, plainCause(err)),
		})
	}
}

// plainCause says what went wrong on the network in few words.
func plainCause(err error) string {
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.Is(err, errLongReply):
		return fmt.Sprintf("its reply is longer than %d bytes", maxReply)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection was cut in the middle of the answer"
	case errors.As(err, &dns):
		return "the host name cannot be resolved"
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection: " + op.Err.Error()
	default:
		return err.Error()
	}
}

// readPlain reads a whole plain answer and checks that it is one.
func (r *Reply) readPlain(response *http.Response) error {
	data, err := readAll(response.Body, response.ContentLength)
	if err != nil {
		return r.Deployment.failure(r.ctx, err)
	}
	if r.dialect != nil {
		if data, err = r.translatePlain(data); err != nil {
			return err
		}
	}
	r.Body, err = r.checkPlain(data)
	return err
}

// translatePlain makes a response object a chat completion.
func (r *Reply) translatePlain(data []byte) ([]byte, error) {
	reply, items, err := r.dialect.Plain(data, r.keep)
	if err != nil {
		return nil, r.accuse(AsError(err))
	}
	r.items = items
	return reply, nil
}

// checkPlain returns a plain answer's parts, or why it is none.
func (r *Reply) checkPlain(data []byte) (*Body, error) {
	reply, end := index(data)
	switch {
	case end < 0 || reply == nil:
		return nil, r.Deployment.malformed("its reply is not a JSON object: " + cut(saidBy(data), 200))
	case reply.Get("error").IsObject():
		return nil, r.Deployment.malformed(saidBy(data))
	case !hasMessage(reply.Elements("choices")):
		return nil, r.Deployment.malformed("its reply has no choices")
	default:
		return reply, nil
	}
}

func hasMessage(choices [][]byte) bool {
	return len(choices) > 0 && Lookup(choices[0], "message").IsObject()
}

func (d *Deployment) malformed(why string) *Error {
	return d.clean(&Error{
		Code: UpstreamError, Status: http.StatusBadGateway,
		Message: fmt.Sprintf("provider %s failed: %s", d.Provider, why),
	})
}

// begin waits for a stream's first event. A provider that answers plainly
// although a stream was asked for is turned into a stream of one event.
func (r *Reply) begin(body io.Reader, response *http.Response) error {
	if isJSON(response.Header.Get("Content-Type")) {
		data, err := readAll(body, response.ContentLength)
		if err != nil {
			return r.Deployment.failure(r.ctx, err)
		}
		if body, err = r.wholeAsEvents(data); err != nil {
			return err
		}
	}
	r.events = r.pool.get(body)
	if r.dialect != nil {
		return r.beginTranslated()
	}
	data, err := r.events.Next()
	switch {
	case errors.Is(err, io.EOF):
		return r.Deployment.malformed("its stream ended before it began")
	case err != nil:
		return r.Deployment.failure(r.ctx, err)
	}
	if chunk, ok := ParseChunk(data); ok && chunk.Failure() != "" {
		return r.Deployment.malformed(chunk.Failure())
	}
	r.first = data
	return nil
}

// wholeAsEvents makes events of a plain answer.
func (r *Reply) wholeAsEvents(data []byte) (io.Reader, error) {
	if r.dialect != nil {
		if _, err := r.translatePlain(data); err != nil { // the check; the stream's own translation follows
			return nil, err
		}
		return bytes.NewReader(fmt.Appendf(nil, "data: {\"type\":\"response.completed\",\"response\":%s}\n\n", OneLine(data))), nil
	}
	if _, err := r.checkPlain(data); err != nil {
		return nil, err
	}
	return bytes.NewReader(asEvents(data)), nil
}

// beginTranslated waits for the first event that says something: one that the
// response has failed may follow those that it has begun.
func (r *Reply) beginTranslated() error {
	r.translation = r.dialect.Translation(r.keep)
	chunk, err := r.nextTranslated()
	switch {
	case errors.Is(err, io.EOF):
		return r.Deployment.malformed("its stream ended before it began")
	case err != nil:
		return err
	}
	r.first = chunk
	return nil
}

func isJSON(contentType string) bool {
	if strings.HasPrefix(contentType, "text/event-stream") {
		return false // without looking closer, as nearly always
	}
	media, _, _ := mime.ParseMediaType(contentType)
	return media == "application/json"
}

// Broken returns the error of a stream that failed after it had begun.
func (r *Reply) Broken(why string) *Error {
	e := r.Deployment.malformed(why)
	r.blame(e)
	return e
}

// blame notes that the deployment has failed after it had begun to answer,
// unless it is the caller who has gone.
func (r *Reply) blame(e *Error) {
	if r.visit != nil && (e.Code == Timeout || r.ctx.Err() == nil) {
		r.router.changed(r.visit.fail(e, r.router.policy, time.Now()))
	}
}

// Spent counts tokens that the request has used, for limits of tokens a minute.
func (r *Reply) Spent(tokens int64) {
	if r.visit != nil {
		r.visit.health.spend(tokens, time.Now())
	}
}

// asEvents writes a plain reply as the events of a stream.
func asEvents(reply []byte) []byte {
	var choices [][]byte
	for _, choice := range gjson.GetBytes(reply, "choices").Array() {
		delta := Delta(choice.Get("message"))
		choices = append(choices, WithMember(WithMember([]byte(choice.Raw), "message", nil), "delta", delta))
	}
	chunk := WithMember(reply, "choices", Append(nil, choices...))
	chunk = WithMember(chunk, "object", []byte(`"chat.completion.chunk"`))
	return fmt.Appendf(nil, "data: %s\n\ndata: [DONE]\n\n", OneLine(chunk))
}

// Delta returns a message as the one delta of a stream: its calls have an index.
func Delta(message gjson.Result) []byte {
	calls := message.Get("tool_calls")
	if !calls.IsArray() {
		return []byte(message.Raw)
	}
	var list [][]byte
	for i, call := range calls.Array() {
		list = append(list, WithMember([]byte(call.Raw), "index", strconv.AppendInt(nil, int64(i), 10)))
	}
	return WithMember([]byte(message.Raw), "tool_calls", Append(nil, list...))
}

// OneLine returns JSON without line breaks, which an event's data may not hold.
// Strings in JSON hold none, so that only spaces change.
func OneLine(data []byte) []byte {
	if bytes.IndexByte(data, '\n') < 0 && bytes.IndexByte(data, '\r') < 0 {
		return data
	}
	return bytes.Map(func(c rune) rune {
		if c == '\n' || c == '\r' {
			return ' '
		}
		return c
	}, data)
}

// readAll reads a reply to its end, at most maxReply bytes.
func readAll(r io.Reader, announced int64) ([]byte, error) {
	data, err := ReadSized(io.LimitReader(r, maxReply+1), announced)
	if err == nil && len(data) > maxReply {
		return nil, errLongReply
	}
	return data, err
}

// ReadSized reads r to its end. A size in bytes that was announced saves growing
// the buffer; it is believed only up to 1 MiB before bytes have come.
func ReadSized(r io.Reader, announced int64) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(min(max(announced, 512), 1<<20)) + bytes.MinRead)
	_, err := buf.ReadFrom(r)
	return buf.Bytes(), err
}

// patientReader gives each read of a stream its own time to wait; the first has
// what is left of the request's. Between reads, while the caller takes its time,
// the timer stands.
type patientReader struct {
	r        io.Reader
	timer    *time.Timer
	patience time.Duration
	begun    bool
}

func (p *patientReader) Read(buf []byte) (int, error) {
	if p.begun {
		p.timer.Reset(p.patience)
	}
	p.begun = true
	n, err := p.r.Read(buf)
	p.timer.Stop()
	return n, err
}

// Cost returns what a number of tokens costs at this deployment, in US dollars,
// and whether its prices are known.
func (d *Deployment) Cost(promptTokens, completionTokens int64) (float64, bool) {
	if d.inputCost == nil || d.outputCost == nil {
		return 0, false
	}
	return float64(promptTokens)**d.inputCost + float64(completionTokens)**d.outputCost, true
}
