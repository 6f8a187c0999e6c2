// Package control is the resident's local API over its control socket: a server
// in the resident, and the client that the windows, the command line and the
// other doors use. It is HTTP with JSON over a Unix domain socket that only its
// user can open.
//
// Whoever can open the socket may look; to answer approvals takes the right to:
// the secret that the resident hands to its window process, or
// approvals.control. Otherwise any program running as the user could approve
// its own calls. To see or change settings, keys, rules and runs takes the
// secret, whatever the configuration says.
//
// Server.Serve owns the goroutines that serve connections and ends them.
package control

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/elicit"
	"pointsman/gateway/hooks"
	"pointsman/gateway/loop"
	"pointsman/gateway/mcpapi"
	"pointsman/gateway/tools"
)

// answerHeader carries the secret that gives the right to answer.
const answerHeader = "X-Pointsman-Answer"

// Gateway is what the control socket serves.
type Gateway interface {
	Desk() *approvals.Desk
	// Questions is the queue of what servers ask a person.
	Questions() *elicit.Desk
	Events() *loop.Bus
	TrustedHandler(door string) http.Handler
	// Subscribe tells of changes of what the views show, but for the desk's.
	Subscribe() (<-chan struct{}, func())
	// Pause pauses the tools, or lets them run again. Everybody may: resuming
	// approves nothing, a risky call still asks.
	Pause(paused bool)
	// CheckEdited says why a request's arguments, as a person has edited them, do
	// not fit its tool; nil when they do.
	CheckEdited(req approvals.Request, arguments json.RawMessage) error
	// Hook answers an event of Copilot's hooks.
	Hook(ctx context.Context, e hooks.Event) hooks.Verdict
	// ApprovalTimeout is how long a person has to answer.
	ApprovalTimeout() time.Duration
	ServerKeeper
	SignInKeeper
	// ServeMCP serves an MCP client at the other end of a stream until it closes
	// the stream or ctx ends. It closes conn.
	ServeMCP(ctx context.Context, conn io.ReadWriteCloser, who mcpapi.Client) error
	// WhyTool tells how it stands with the tools of a name.
	WhyTool(name string) []tools.Why
}

// Options are what a Server is made of.
type Options struct {
	Gateway Gateway
	// Views are further things to look at: what GET /NAME answers.
	Views map[string]func(ctx context.Context) any
	// Manager is what who holds the secret may change and see. If nil, nothing.
	Manager Manager
	// Raise brings the resident's tray or window to the user's attention and
	// says what came of it. show is ShowOpen, ShowApprovals or ShowSettings. If
	// nil, there is neither.
	Raise func(ctx context.Context, show string) Raised
	// Quit ends the resident, for who holds the secret. If nil, it cannot be.
	Quit func()
	// RepairLaunch has the desktop start this program at login, in the place of
	// another one. If nil, there is no desktop.
	RepairLaunch func() error
	// Secret gives the right to answer approvals, and to manage, to who shows
	// it. If empty, nobody has it that way.
	Secret string
	// Open reports whether everybody may answer (approvals.control).
	Open   func() bool
	Logger *slog.Logger
}

// Server serves the control socket.
type Server struct {
	opts   Options
	secret [sha256.Size]byte
	mux    *http.ServeMux

	streams sync.WaitGroup // of MCP clients, which the HTTP server knows nothing of
}

// NewServer returns a server. It starts nothing.
func NewServer(opts Options) *Server {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{opts: opts, secret: sha256.Sum256([]byte(opts.Secret)), mux: http.NewServeMux()}
	for name, view := range opts.Views {
		s.mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { write(w, http.StatusOK, view(r.Context())) })
	}
	s.mux.HandleFunc("GET /approvals", func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, s.pending()) })
	s.mux.HandleFunc("GET /approvals/watch", s.watch)
	s.mux.HandleFunc("GET /approvals/right", func(w http.ResponseWriter, r *http.Request) {
		write(w, http.StatusOK, right{MayAnswer: s.mayAnswer(r)})
	})
	s.mux.HandleFunc("GET /approvals/{id}/ending", func(w http.ResponseWriter, r *http.Request) {
		write(w, http.StatusOK, ended{Reason: s.opts.Gateway.Desk().Ending(r.PathValue("id"))})
	})
	s.mux.HandleFunc("POST /approvals/{id}", s.answer)
	s.mux.HandleFunc("GET /tools/why", func(w http.ResponseWriter, r *http.Request) {
		write(w, http.StatusOK, s.opts.Gateway.WhyTool(r.URL.Query().Get("name")))
	})
	s.mux.HandleFunc("GET /events", s.events)
	s.mux.HandleFunc("GET /changes", s.changes)
	s.mux.HandleFunc("POST /pause", s.pause)
	s.mux.HandleFunc("POST /mcp/stream", s.mcpStream)
	s.mux.HandleFunc("POST /window", s.window)
	s.questionRoutes()
	s.mux.HandleFunc("POST /hook", s.hook)
	s.serverRoutes()
	s.signInRoutes()
	s.manage()
	s.programRoutes()
	s.mux.Handle("/v1/", opts.Gateway.TrustedHandler("control"))
	return s
}

// Serve answers on ln until ctx ends.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	requests, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	server := &http.Server{
		Handler: s.mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving the control socket: %w", err)
	case <-ctx.Done():
		end(approvals.ErrShuttingDown) // what waits for a person is told why
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if server.Shutdown(bounded) != nil {
		_ = server.Close() // what is still open is cut: we are going
	}
	<-failed
	s.streams.Wait() // they ended with requests
	return nil
}

func (s *Server) pending() []approvals.Request {
	return append([]approvals.Request{}, s.opts.Gateway.Desk().Pending()...)
}

// mayAnswer reports whether a request comes from who may answer approvals.
func (s *Server) mayAnswer(r *http.Request) bool {
	if s.opts.Open != nil && s.opts.Open() {
		return true
	}
	return s.holdsSecret(r)
}

// right tells a client what it may do.
type right struct {
	MayAnswer bool `json:"may_answer"`
}

// ended tells why a request does not wait any more.
type ended struct {
	Reason string `json:"reason"` // for a person; "" when that is not known
}

// answered is the reply to an answer.
type answered struct {
	Counted bool `json:"counted"` // false: it was not waiting any more
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	if !s.mayAnswer(r) {
		fail(w, http.StatusForbidden, "approvals are answered in Pointsman's window or at its terminal; approvals.control: true lets the command line answer too")
		return
	}
	var d approvals.Decision
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 8<<20))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		fail(w, http.StatusBadRequest, "the decision cannot be read: "+err.Error())
		return
	}
	if d.Outcome != approvals.Allowed && d.Outcome != approvals.Denied {
		fail(w, http.StatusBadRequest, fmt.Sprintf("the outcome must be %q or %q", approvals.Allowed, approvals.Denied))
		return
	}
	if err := s.checkEdited(r.PathValue("id"), d); err != nil {
		fail(w, http.StatusUnprocessableEntity, fmt.Sprintf("the edited arguments do not fit the tool, and the call still waits: %v", err))
		return
	}
	d.ID, d.Approver = r.PathValue("id"), approvals.ByDesk
	write(w, http.StatusOK, answered{Counted: s.opts.Gateway.Desk().Resolve(r.PathValue("id"), d)})
}

// checkEdited says what is wrong with the arguments of an approval, if it brings
// others than were asked for.
func (s *Server) checkEdited(id string, d approvals.Decision) error {
	if !d.Allows() || d.Arguments == nil {
		return nil
	}
	for _, req := range s.pending() {
		if req.ID == id {
			return s.opts.Gateway.CheckEdited(req, d.Arguments)
		}
	}
	return nil // it does not wait any more, which is told
}

// watch sends what waits, as a line of JSON, now and after every change.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	changed, unsubscribe := s.opts.Gateway.Desk().Subscribe()
	defer unsubscribe()
	lines := newLines(w)
	for {
		if lines.write(s.pending()) != nil {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// events sends the runs' events as lines of JSON. ?run=ID narrows them to one.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	events, unsubscribe := s.opts.Gateway.Events().Subscribe(1024)
	defer unsubscribe()
	run := r.URL.Query().Get("run")
	lines := newLines(w)
	if lines.flush() != nil {
		return
	}
	for {
		select {
		case e := <-events:
			if run != "" && e.Run != run {
				continue
			}
			if lines.write(e) != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// changes sends an empty object, as a line, now and after every change of what
// there is to see.
func (s *Server) changes(w http.ResponseWriter, r *http.Request) {
	waiting, unsubscribe := s.opts.Gateway.Desk().Subscribe()
	defer unsubscribe()
	asked, unsubscribeAsked := s.opts.Gateway.Questions().Subscribe()
	defer unsubscribeAsked()
	others, unsubscribeOthers := s.opts.Gateway.Subscribe()
	defer unsubscribeOthers()
	lines := newLines(w)
	for {
		if lines.write(struct{}{}) != nil {
			return
		}
		select {
		case <-waiting:
		case <-asked:
		case <-others:
		case <-r.Context().Done():
			return
		}
	}
}

// pausing is the body of POST /pause, and of its reply.
type pausing struct {
	Paused bool `json:"paused"`
}

func (s *Server) pause(w http.ResponseWriter, r *http.Request) {
	p := pausing{Paused: true} // what is unclear pauses
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&p); err != nil {
		fail(w, http.StatusBadRequest, `the request cannot be read; it is {"paused": true} or false: `+err.Error())
		return
	}
	s.opts.Gateway.Pause(p.Paused)
	write(w, http.StatusOK, p)
}

// Raised is what came of bringing the resident to the user's attention.
type Raised struct {
	Window  bool   `json:"window"` // a window has come up
	Message string `json:"message"`
}

// What a raised window shows.
const (
	ShowOpen      = "open" // what it showed last
	ShowApprovals = "approvals"
	ShowSettings  = "settings"
)

// raising is the body of POST /window. An empty body means ShowOpen.
type raising struct {
	Show string `json:"show"`
}

func (s *Server) window(w http.ResponseWriter, r *http.Request) {
	if s.opts.Raise == nil {
		fail(w, http.StatusNotFound, "the running Pointsman has neither tray nor windows")
		return
	}
	var asked raising
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&asked); err != nil && !errors.Is(err, io.EOF) {
		fail(w, http.StatusBadRequest, `the request cannot be read; it is {"show": "open"}: `+err.Error())
		return
	}
	show := cmp.Or(asked.Show, ShowOpen)
	if show != ShowOpen && show != ShowApprovals && show != ShowSettings {
		fail(w, http.StatusBadRequest, fmt.Sprintf("the window shows %q, %q or %q", ShowOpen, ShowApprovals, ShowSettings))
		return
	}
	write(w, http.StatusOK, s.opts.Raise(r.Context(), show))
}

// lines writes JSON lines, each sent at once.
type lines struct {
	control *http.ResponseController
	encoder *json.Encoder
}

func newLines(w http.ResponseWriter) *lines {
	w.Header().Set("Content-Type", "application/x-ndjson")
	return &lines{control: http.NewResponseController(w), encoder: json.NewEncoder(w)}
}

func (l *lines) write(v any) error {
	if err := l.encoder.Encode(v); err != nil {
		return err
	}
	return l.flush()
}

func (l *lines) flush() error { return l.control.Flush() }

func write(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		fail(w, http.StatusInternalServerError, "writing the reply: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // a client that has gone cannot be told
}

func fail(w http.ResponseWriter, status int, message string) {
	data, err := json.Marshal(map[string]string{"error": message})
	if err != nil { // a string cannot fail to encode
		data = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // a client that has gone cannot be told
}

// ErrNoResident says that no resident runs for this user.
var ErrNoResident = errors.New("no Pointsman is running")
