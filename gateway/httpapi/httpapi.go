// Package httpapi is the OpenAI-compatible door: its guard, its routes, and how
// answers, streams and errors look on the wire.
//
// The handler starts no goroutine of its own; a stream's keep-alive timer ends
// with its request.
package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/gateway/models"
	"pointsman/gateway/ollama"
	"pointsman/gateway/servers/diagnostics"
)

// Runner runs one chat request.
type Runner interface {
	Run(ctx context.Context, req loop.Request) (*loop.Result, error)
}

// Settings are what can change while the door is open.
type Settings struct {
	Open bool // no key is asked for
	// Key returns what clients must show, or why that cannot be had; then nobody
	// gets in meanwhile. It may take a while, and is not asked for whom the guard
	// refuses before.
	Key          func() (string, error)
	ListenHost   string   // answered besides loopback names
	AllowedHosts []string // further Host names that are answered
	CORSOrigins  []string // browser origins that are answered
	MaxBodyBytes int64
}

// Options are what the door is made of.
type Options struct {
	Runner Runner
	Models func() *models.Router
	Status func(ctx context.Context) any
	// Diagnostics reads what was kept of an MCP server. If nil, there is nothing
	// to be read. A *diagnostics.QueryError is the caller's fault.
	Diagnostics func(ctx context.Context, q diagnostics.Query) (diagnostics.Page, error)
	Settings    func() Settings
	// Ask puts a typed question, as JSON, to a capability; Capabilities lists them.
	// If nil, there is nothing at their routes.
	Ask          func(ctx context.Context, from Client, question []byte) Answer
	Capabilities func() any
	// Marathons keeps the debug marathons. If nil, there is nothing at their routes.
	Marathons Marathons
	// MCP serves /mcp. If nil, there is nothing there.
	MCP     http.Handler
	Version string
	Started time.Time
	Logger  *slog.Logger
	// Door and Trusted are for the control socket, which serves the same routes
	// to our own programs: its name in the record, and no guard, since only the
	// user can open it. Door empty means "http".
	Door    string
	Trusted bool
}

// Handler serves the door. It is safe for concurrent use.
type Handler struct {
	opts      Options
	mux       *http.ServeMux
	endpoints []string // at which models answer
}

// New returns the door's handler.
func New(opts Options) *Handler {
	opts.Door = cmp.Or(opts.Door, "http")
	h := newHandler(opts)
	h.answers("/v1/responses", parseResponses)
	h.handle("/v1/status", http.MethodGet, h.status)
	if opts.Diagnostics != nil {
		h.handle("/v1/diagnostics", http.MethodGet, h.diagnostics)
	}
	if opts.Ask != nil {
		h.handle("/v1/ask", http.MethodPost, h.ask)
	}
	if opts.Capabilities != nil {
		h.handle("/v1/capabilities", http.MethodGet, h.capabilities)
	}
	if opts.Marathons != nil {
		h.marathonRoutes()
	}
	if opts.MCP != nil {
		h.mux.Handle("/mcp", opts.MCP)
	}
	return h
}

// newHandler returns a handler with the routes that every door has.
func newHandler(opts Options) *Handler {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Handler{opts: opts, mux: http.NewServeMux()}
	h.handle("/health", http.MethodGet, h.health)
	h.handle("/v1/models", http.MethodGet, h.models)
	h.handle("/v1/models/{id...}", http.MethodGet, h.model)
	h.answers("/v1/chat/completions", parseChat)
	h.mux.HandleFunc("/", nothing)
	return h
}

func nothing(w http.ResponseWriter, r *http.Request) {
	refuse(w, r, &models.Error{Code: models.InvalidRequest, Status: http.StatusNotFound, Message: fmt.Sprintf("there is nothing at %s", r.URL.Path)})
}

// answers serves a path at which models answer.
func (h *Handler) answers(path string, parse func(data []byte) (*speech, error)) {
	h.endpoints = append(h.endpoints, path)
	h.handle(path, http.MethodPost, h.conversation(parse))
}

// handle serves one method of a path, and says which one to anybody else.
func (h *Handler) handle(path, method string, serve http.HandlerFunc) {
	h.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method && !(method == http.MethodGet && r.Method == http.MethodHead) {
			refuseMethod(w, r, path, method)
			return
		}
		serve(w, r)
	})
}

// refuseMethod says which methods a path takes.
func refuseMethod(w http.ResponseWriter, r *http.Request, path, allowed string) {
	w.Header().Set("Allow", allowed)
	refuse(w, r, &models.Error{
		Code: models.InvalidRequest, Status: http.StatusMethodNotAllowed,
		Message: fmt.Sprintf("%s takes %s, not %s", path, allowed, r.Method),
	})
}

// ServeHTTP guards the door and serves the request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer h.recovered(func(e *models.Error) { refuse(w, r, e) })
	r.URL.Path = cleanPath(r.URL.Path)
	if !h.opts.Trusted && !h.guard(w, r) {
		return
	}
	h.mux.ServeHTTP(w, r)
}

// cleanPath undoes a doubled /v1 (Copilot's custom endpoints build it) and a
// slash at the end.
func cleanPath(path string) string {
	for strings.HasPrefix(path, "/v1/v1/") {
		path = path[len("/v1"):]
	}
	if trimmed := strings.TrimRight(path, "/"); trimmed != "" {
		return trimmed
	}
	return path
}

// recovered gives a panic to fail as an error; what it says goes to the log only.
func (h *Handler) recovered(fail func(*models.Error)) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	h.opts.Logger.Error("a request made the gateway panic", "panic", fmt.Sprint(p))
	fail(&models.Error{Code: models.UpstreamError, Status: http.StatusInternalServerError, Message: "an error inside Pointsman; its log tells more"})
}

func (h *Handler) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok", "service": "pointsman", "version": h.opts.Version})
}

func (h *Handler) status(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, h.opts.Status(r.Context()))
}

// diagnostics serves one page of an MCP server's records. It may wait for one.
func (h *Handler) diagnostics(w http.ResponseWriter, r *http.Request) {
	q, err := diagnostics.ParseQuery(r.URL.Query())
	var page diagnostics.Page
	if err == nil {
		page, err = h.opts.Diagnostics(r.Context(), q)
	}
	var refused *diagnostics.QueryError
	switch {
	case errors.As(err, &refused):
		writeError(w, &models.Error{Code: models.InvalidRequest, Status: http.StatusBadRequest, Param: refused.Param, Message: refused.Error()})
	case err != nil:
		writeError(w, &models.Error{Code: models.UpstreamError, Status: http.StatusInternalServerError, Message: err.Error()})
	default:
		writeJSON(w, http.StatusOK, page)
	}
}

// modelObject is a model in OpenAI's shape, with what we know of it.
type modelObject struct {
	ID       string        `json:"id"`
	Object   string        `json:"object"`
	Created  int64         `json:"created"`
	OwnedBy  string        `json:"owned_by"`
	Metadata modelMetadata `json:"metadata"`
}

type modelMetadata struct {
	Label           string   `json:"label"`
	Tier            string   `json:"tier"`
	ContextWindow   *int64   `json:"context_window"`
	MaxOutput       *int64   `json:"max_output"`
	ReasoningEffort *string  `json:"reasoning_effort"`
	Aliases         []string `json:"aliases"`
	Endpoints       []string `json:"endpoints"` // of this door, where it answers
}

func (h *Handler) object(info models.Info) modelObject {
	meta := modelMetadata{
		Label: info.Label, Tier: info.Tier, ContextWindow: info.ContextWindow, MaxOutput: info.MaxOutput,
		Aliases: append([]string{}, info.Aliases...), Endpoints: h.endpoints,
	}
	if meta.Label == "" {
		meta.Label = info.ID
	}
	if info.ReasoningEffort != "" {
		meta.ReasoningEffort = &info.ReasoningEffort
	}
	return modelObject{ID: info.ID, Object: "model", Created: h.opts.Started.Unix(), OwnedBy: info.OwnedBy, Metadata: meta}
}

func (h *Handler) models(w http.ResponseWriter, _ *http.Request) {
	data := []modelObject{}
	for _, info := range h.opts.Models().List() {
		data = append(data, h.object(info))
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}

func (h *Handler) model(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if info := h.info(id); info != nil {
		writeJSON(w, http.StatusOK, h.object(*info))
		return
	}
	writeError(w, h.noModel(id))
}

// info describes a model that can be asked for, by its id or an alias; nil when
// there is none of that name.
func (h *Handler) info(name string) *models.Info {
	list := h.opts.Models().List()
	for i, info := range list {
		if info.ID == name || slices.Contains(info.Aliases, name) {
			return &list[i]
		}
	}
	return nil
}

// noModel is what is answered of a model that nobody has.
func (h *Handler) noModel(name string) *models.Error {
	return &models.Error{
		Code: models.InvalidRequest, Status: http.StatusNotFound, Param: "model",
		Message: (&models.UnknownModelError{Name: name, Known: h.opts.Models().Names()}).Error(),
	}
}

// bodyPatience is how long a client may take to send its request.
const bodyPatience = 2 * time.Minute

// readBody reads the request whole before anything is sent on: passing a body
// through while its reply streams breaks a few streams in a thousand.
func (h *Handler) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limit := h.opts.Settings().MaxBodyBytes
	tooLarge := &models.Error{
		Code: models.InvalidRequest, Status: http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("the body is longer than %d bytes; gateway.max_body_bytes sets the limit", limit),
	}
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyPatience)) // not all writers can; the size is bounded all the same
	data, err := models.ReadSized(http.MaxBytesReader(w, r.Body, limit), r.ContentLength)
	_ = control.SetReadDeadline(time.Time{})
	var exceeded *http.MaxBytesError
	switch {
	case errors.As(err, &exceeded):
		return nil, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &models.Error{Code: models.InvalidRequest, Status: http.StatusRequestTimeout, Message: fmt.Sprintf("the body did not arrive within %s", bodyPatience)}
	case err != nil:
		return nil, models.Invalid("", "reading the body: %v", err)
	}
	return data, nil
}

// request makes a run of a request, or says what is wrong with it.
func (h *Handler) request(r *http.Request, body *models.Body) (loop.Request, error) {
	if model := body.Get("model"); model.Exists() && model.Raw != "null" && model.Raw[0] != '"' {
		return loop.Request{}, models.Invalid("model", "model must be a string")
	}
	if stream := body.Get("stream"); stream.Exists() && stream.Raw != "null" && stream.Raw != "true" && stream.Raw != "false" {
		return loop.Request{}, models.Invalid("stream", "stream must be true or false")
	}
	router := h.opts.Models()
	route, err := router.Resolve(body.Get("model").String())
	var unknown *models.UnknownModelError
	if errors.As(err, &unknown) {
		return loop.Request{}, models.Invalid("model", "%v", err)
	}
	if err != nil {
		return loop.Request{}, err
	}
	return loop.Request{
		Run: journal.NewID("run_"), Models: router, Route: route, Body: body, Door: cmp.Or(h.door(r), h.opts.Door), Client: client(r),
		Session: session(r, body),
		CWD:     h.trusted(r, "X-Pointsman-Cwd"), ToolsOff: strings.EqualFold(r.Header.Get("X-Pointsman-Tools"), "off"),
	}, nil
}

// door is the name by which one of our own programs came in.
func (h *Handler) door(r *http.Request) string { return h.trusted(r, "X-Pointsman-Door") }

// trusted returns a header that only our own programs may set.
func (h *Handler) trusted(r *http.Request, name string) string {
	if !h.opts.Trusted {
		return ""
	}
	return r.Header.Get(name)
}

// client names the calling program: the first word of its User-Agent.
func client(r *http.Request) string {
	name, _, _ := strings.Cut(r.UserAgent(), " ")
	return named(name)
}

// maxName is how long a name may be that a client gives itself, in bytes: each
// record of its calls repeats it.
const maxName = 100

// named returns name in valid UTF-8 and not longer than maxName.
func named(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), maxName)], "")
}

// run returns the plain answer of a run, or tells the client why there is none.
func (h *Handler) run(w http.ResponseWriter, r *http.Request, req loop.Request) (reply []byte, ok bool) {
	result, err := h.opts.Runner.Run(r.Context(), req)
	if err != nil {
		refuse(w, r, models.AsError(err)) // also when we shut down; a client that has gone cannot be told
		return nil, false
	}
	passHeaders(w.Header(), result.Header)
	w.Header().Set("X-Pointsman-Run", req.Run)
	return result.Reply, true
}

func (h *Handler) stream(w http.ResponseWriter, r *http.Request, req loop.Request, on wire) {
	w.Header().Set("X-Pointsman-Run", req.Run)
	sink := newEventWriter(w, on, func(e *models.Error) { refuse(w, r, e) })
	defer sink.close()
	defer h.recovered(sink.fail)
	req.Stream = sink
	if _, err := h.opts.Runner.Run(r.Context(), req); err != nil {
		sink.fail(models.AsError(err)) // also when we shut down
		return
	}
	sink.done()
}

// passHeaders copies what a provider says about limits and its own request id.
func passHeaders(to, from http.Header) {
	for name, values := range from {
		if strings.HasPrefix(name, "X-Ratelimit-") || strings.HasPrefix(name, "Openai-") || name == "X-Request-Id" {
			to[name] = values
		}
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		writeError(w, &models.Error{Code: models.UpstreamError, Status: http.StatusInternalServerError, Message: "writing the reply: " + err.Error()})
		return
	}
	writeRaw(w, status, data)
}

func writeRaw(w http.ResponseWriter, status int, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writePatience)) // not all writers can
	w.WriteHeader(status)
	_, _ = w.Write(data) // a client that has gone cannot be told
}

func writeError(w http.ResponseWriter, e *models.Error) {
	setRetryAfter(w.Header(), e.RetryAfter)
	writeRaw(w, e.Status, e.JSON())
}

// refuse writes an error as the API has it that the request's path is of.
func refuse(w http.ResponseWriter, r *http.Request, e *models.Error) {
	if !strings.HasPrefix(r.URL.Path, ollamaPrefix) {
		writeError(w, e)
		return
	}
	setRetryAfter(w.Header(), e.RetryAfter)
	writeRaw(w, e.Status, ollama.ErrorJSON(e.Message))
}
