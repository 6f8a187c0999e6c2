package control

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/loop"
	"pointsman/gateway/tools"
)

// Manager is what the windows change and see through a Server, besides what
// everybody may. Its errors are told to the client in their own words; a
// *ConflictError, an *InvalidError and a *RefusedError arrive as what they are.
type Manager interface {
	SettingsManager
	SecretManager
	RuleManager
	RunManager
	Tester
}

// SettingsManager reads and changes the configuration.
type SettingsManager interface {
	Settings(ctx context.Context) (Settings, error)
	Edit(ctx context.Context, revision string, edits []Edit) (Settings, error)
	AcceptHeld(ctx context.Context, revision string) (Settings, error)
	RefuseHeld(ctx context.Context, revision string) (Settings, error)
}

// SecretManager keeps the keychain's secrets, and the key that clients show.
type SecretManager interface {
	SetSecret(ctx context.Context, name, value string) error
	DeleteSecret(ctx context.Context, name string) error
	HasSecret(ctx context.Context, names []string) (map[string]bool, error)
	Key(ctx context.Context) (string, error)
	NewKey(ctx context.Context) (string, error)
}

// RuleManager shows and removes the remembered decisions.
type RuleManager interface {
	Rules(ctx context.Context) ([]approvals.Rule, error)
	RemoveRule(ctx context.Context, id string) (bool, error)
	RestoreRule(ctx context.Context, rule approvals.Rule) error
}

// RunManager shows and stops the active runs.
type RunManager interface {
	ActiveRuns(ctx context.Context) ([]loop.Active, error)
	StopRun(ctx context.Context, id string) (bool, error)
}

// Tester tries settings out before they are saved, and shows what servers say.
type Tester interface {
	TestServer(ctx context.Context, name string, entry config.MCPServer, secrets map[string]string) (ServerTest, error)
	TestProvider(ctx context.Context, name string, p config.Provider, key string) (ProviderTest, error)
	ServerLog(ctx context.Context, name string) ([]string, error)
}

// maxManaged bounds the body of a request to a Manager, in bytes.
const maxManaged = 8 << 20

// manage adds the Manager's routes.
func (s *Server) manage() {
	s.settingsRoutes()
	s.secretRoutes()
	s.ruleRoutes()
	s.runRoutes()
	s.testRoutes()
}

// managed serves one of the Manager's routes to who holds the secret. That
// approvals are open to everybody opens none of these.
func (s *Server) managed(pattern string, handle func(m Manager, r *http.Request) (any, error)) {
	s.guarded(guard{
		pattern: pattern, open: s.opts.Manager != nil,
		forbidden: "settings, keys and rules are seen and changed in Pointsman's window alone; the command line has `pointsman config`, `pointsman keys` and the configuration file",
		absent:    "this Pointsman has no settings to manage",
	}, func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxManaged)
		reply, err := handle(s.opts.Manager, r)
		if err != nil {
			failWith(w, err)
			return
		}
		write(w, http.StatusOK, reply)
	})
}

// guard is a route for who holds the secret alone.
type guard struct {
	pattern   string
	open      bool // there is something behind it
	forbidden string
	absent    string
}

// guarded serves a route. Who does not hold the secret is not told whether there
// is anything behind it.
func (s *Server) guarded(g guard, handle http.HandlerFunc) {
	s.mux.HandleFunc(g.pattern, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.holdsSecret(r):
			fail(w, http.StatusForbidden, g.forbidden)
		case !g.open:
			fail(w, http.StatusNotFound, g.absent)
		default:
			handle(w, r)
		}
	})
}

// holdsSecret reports whether a request comes from who was given the secret.
func (s *Server) holdsSecret(r *http.Request) bool {
	given := sha256.Sum256([]byte(r.Header.Get(answerHeader)))
	return s.opts.Secret != "" && subtle.ConstantTimeCompare(given[:], s.secret[:]) == 1
}

// readBody reads a request's JSON.
func readBody[T any](r *http.Request) (T, error) {
	var v T
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&v); err != nil {
		return v, &RefusedError{Status: http.StatusBadRequest, Message: "the request cannot be read: " + err.Error()}
	}
	return v, nil
}

// done is the reply to what has nothing to say.
type done struct {
	Done bool `json:"done"` // false: there was nothing to do
}

// failure is the body of an error reply.
type failure struct {
	Error    string           `json:"error"`
	Conflict *Settings        `json:"conflict,omitempty"`
	Problems []config.Problem `json:"problems,omitempty"`
}

func failWith(w http.ResponseWriter, err error) {
	status, body := http.StatusInternalServerError, failure{Error: err.Error()}
	var conflict *ConflictError
	var invalid *InvalidError
	var refused *RefusedError
	switch {
	case errors.As(err, &conflict):
		status, body.Conflict = http.StatusConflict, &conflict.Current
	case errors.As(err, &invalid):
		status, body.Problems = http.StatusUnprocessableEntity, invalid.Problems
	case errors.As(err, &refused) && refused.Status >= 400:
		status = refused.Status
	}
	write(w, status, body)
}

// asError makes of an error reply what it was.
func asError(status int, data []byte) error {
	var body failure
	if json.Unmarshal(data, &body) == nil {
		switch {
		case body.Conflict != nil:
			return &ConflictError{Current: *body.Conflict}
		case status == http.StatusUnprocessableEntity:
			return &InvalidError{Problems: body.Problems, Message: body.Error}
		}
	}
	return &RefusedError{Status: status, Message: refusal(data)}
}

// Tools returns every tool of every server, offered or not, and why not.
// Everybody may ask.
func (c *Client) Tools(ctx context.Context) ([]tools.Row, error) {
	return ask[[]tools.Row](ctx, c, http.MethodGet, "/tools", nil)
}
