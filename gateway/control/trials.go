package control

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// ServerTest is how a server did that was tried out. Nothing of it stays.
type ServerTest struct {
	State      servers.State   `json:"state"`       // connected, failed, needs-auth …
	Error      string          `json:"error"`       // why it is not connected; "" when it is
	Tools      []tools.Row     `json:"tools"`       // what it offers, judged as in use
	Stderr     []string        `json:"stderr"`      // its last lines there, oldest first
	ServerInfo json.RawMessage `json:"server_info"` // as it calls itself, or null
	Protocol   string          `json:"protocol"`    // the version that was agreed on
	Duration   time.Duration   `json:"duration_ns"`
}

// ProviderTest is how a provider did that was tried out.
type ProviderTest struct {
	OK bool `json:"ok"` // a model of it has answered
	// Message is the outcome in plain words.
	Message  string        `json:"message"`
	Detail   string        `json:"detail"` // the error in the provider's words, or ""
	Models   []string      `json:"models"` // what it says it has
	Model    string        `json:"model"`  // which one was asked; "" when none was
	Duration time.Duration `json:"duration_ns"`
}

// serverTrial is the body of POST /test/server, providerTrial that of POST
// /test/provider. Entry and Provider are written as the file would hold them.
type serverTrial struct {
	Name    string            `json:"name"`
	Entry   string            `json:"entry"`
	Secrets map[string]string `json:"secrets,omitempty"`
}

type providerTrial struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	Key      string `json:"key,omitempty"`
}

func (s *Server) testRoutes() {
	s.managed("POST /test/server", func(m Manager, r *http.Request) (any, error) {
		trial, err := readBody[serverTrial](r)
		if err != nil {
			return nil, err
		}
		var entry config.MCPServer
		if err := config.Decode(trial.Entry, &entry); err != nil {
			return nil, &RefusedError{Status: http.StatusBadRequest, Message: "the server's entry cannot be read: " + err.Error()}
		}
		return m.TestServer(r.Context(), trial.Name, entry, trial.Secrets)
	})
	s.managed("POST /test/provider", func(m Manager, r *http.Request) (any, error) {
		trial, err := readBody[providerTrial](r)
		if err != nil {
			return nil, err
		}
		var p config.Provider
		if err := config.Decode(trial.Provider, &p); err != nil {
			return nil, &RefusedError{Status: http.StatusBadRequest, Message: "the provider's entry cannot be read: " + err.Error()}
		}
		return m.TestProvider(r.Context(), trial.Name, p, trial.Key)
	})
	s.managed("GET /servers/{name}/log", func(m Manager, r *http.Request) (any, error) {
		return m.ServerLog(r.Context(), r.PathValue("name"))
	})
}

// TestServer starts or reaches a server as the entry says, lists its tools, and
// ends it. secrets are values for keychain references in the entry that are not
// in the keychain yet, by name; a masked literal is what it is in the saved
// entry of that name. That the server does not work is no error but part of the
// answer; an entry that is not valid is an *InvalidError. It takes as long as
// the entry's startTimeout (default 60 s).
func (c *Client) TestServer(ctx context.Context, name string, entry config.MCPServer, secrets map[string]string) (ServerTest, error) {
	text, err := config.Encode(entry)
	if err != nil {
		return ServerTest{}, err
	}
	return ask[ServerTest](ctx, c, http.MethodPost, "/test/server", serverTrial{name, text, secrets})
}

// TestProvider asks a provider for its models, then one of them for a single
// token. key is used in the place of p's own reference; "" means the reference.
// That the provider does not work is no error but part of the answer; an entry
// that is not valid is an *InvalidError.
func (c *Client) TestProvider(ctx context.Context, name string, p config.Provider, key string) (ProviderTest, error) {
	text, err := config.Encode(p)
	if err != nil {
		return ProviderTest{}, err
	}
	return ask[ProviderTest](ctx, c, http.MethodPost, "/test/provider", providerTrial{name, text, key})
}

// ServerLog returns the last lines, at most 200, that a server wrote to its
// standard error, oldest first.
func (c *Client) ServerLog(ctx context.Context, name string) ([]string, error) {
	return ask[[]string](ctx, c, http.MethodGet, "/servers/"+url.PathEscape(name)+"/log", nil)
}
