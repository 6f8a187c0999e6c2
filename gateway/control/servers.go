package control

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"pointsman/gateway/servers"
	"pointsman/gateway/servers/diagnostics"
)

// ServerKeeper starts and stops the MCP servers, and shows what happened with
// them. Everybody may: it runs nothing but what the configuration holds, and
// overrides nothing that keeps a server from starting. Their errors may be a
// *servers.StateError.
type ServerKeeper interface {
	StartServer(ctx context.Context, name string) (servers.Status, error)
	StopServer(ctx context.Context, name string) (servers.Status, error)
	RestartServer(ctx context.Context, name string) (servers.Status, error)
	// Diagnostics reads what was kept of a server. Its error may be a
	// *diagnostics.QueryError.
	Diagnostics(ctx context.Context, q diagnostics.Query) (diagnostics.Page, error)
	// Request asks a server for its prompts or resources; see
	// servers.Host.Request.
	Request(ctx context.Context, r servers.Request) (json.RawMessage, error)
}

func (s *Server) serverRoutes() {
	s.keeping("start", s.opts.Gateway.StartServer)
	s.keeping("stop", s.opts.Gateway.StopServer)
	s.keeping("restart", s.opts.Gateway.RestartServer)
	s.mux.HandleFunc("GET /diagnostics", s.diagnostics)
	s.mux.HandleFunc("POST /servers/{name}/request", s.request)
}

// keeping serves one command of the ServerKeeper.
func (s *Server) keeping(verb string, command func(ctx context.Context, name string) (servers.Status, error)) {
	s.serving("POST /servers/{name}/"+verb, func(r *http.Request) (any, error) { return command(r.Context(), r.PathValue("name")) })
}

// maxCommand bounds the body of a command about a server, in bytes.
const maxCommand = 64 << 10

// serving serves one command about a server.
func (s *Server) serving(pattern string, command func(r *http.Request) (any, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxCommand)
		reply, err := command(r)
		if err != nil {
			failServer(w, err)
			return
		}
		write(w, http.StatusOK, reply)
	})
}

// failServer answers with an error of a command about a server.
func failServer(w http.ResponseWriter, err error) {
	var state *servers.StateError
	switch {
	case errors.As(err, &state) && state.Status == servers.NotConfigured:
		fail(w, http.StatusNotFound, err.Error())
	case errors.As(err, &state):
		fail(w, http.StatusConflict, err.Error())
	default:
		failWith(w, err)
	}
}

func (s *Server) diagnostics(w http.ResponseWriter, r *http.Request) {
	q, err := diagnostics.ParseQuery(r.URL.Query())
	var page diagnostics.Page
	if err == nil {
		page, err = s.opts.Gateway.Diagnostics(r.Context(), q)
	}
	var refused *diagnostics.QueryError
	switch {
	case errors.As(err, &refused):
		fail(w, http.StatusBadRequest, err.Error())
	case err != nil:
		fail(w, http.StatusInternalServerError, err.Error())
	default:
		write(w, http.StatusOK, page)
	}
}

// Diagnostics returns a page of what was kept of an MCP server, and waits for a
// record as long as the query says. Page.Level is off when nothing is kept. A
// *RefusedError says what is wrong with the query.
func (c *Client) Diagnostics(ctx context.Context, q diagnostics.Query) (diagnostics.Page, error) {
	return ask[diagnostics.Page](ctx, c, http.MethodGet, "/diagnostics?"+q.Values().Encode(), nil)
}

// StartServer starts an MCP server that was stopped, or that rests after
// crashes, and waits for the outcome: at most the entry's startTimeout (default
// 60 s). That it cannot be connected is no error but in the Status. A server
// that runs is left as it is. A *RefusedError says that there is no such server
// (404), or that the configuration disables it (409).
func (c *Client) StartServer(ctx context.Context, name string) (servers.Status, error) {
	return c.keep(ctx, name, "start")
}

// StopServer ends an MCP server and keeps it stopped until it is started again.
// It returns when nothing of the server is left: within 5 seconds. A
// *RefusedError says that there is no such server.
func (c *Client) StopServer(ctx context.Context, name string) (servers.Status, error) {
	return c.keep(ctx, name, "stop")
}

// RestartServer ends an MCP server, if it runs, and starts it. See StartServer.
func (c *Client) RestartServer(ctx context.Context, name string) (servers.Status, error) {
	return c.keep(ctx, name, "restart")
}

func (c *Client) keep(ctx context.Context, name, verb string) (servers.Status, error) {
	return ask[servers.Status](ctx, c, http.MethodPost, "/servers/"+url.PathEscape(name)+"/"+verb, nil)
}

// serverRequest is the body of POST /servers/NAME/request.
type serverRequest struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
}

func (s *Server) request(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxManaged)
	asked, err := readBody[serverRequest](r)
	if err != nil {
		failWith(w, err)
		return
	}
	raw, err := s.opts.Gateway.Request(r.Context(), servers.Request{Server: r.PathValue("name"), Method: asked.Method, Params: asked.Params})
	if err != nil {
		fail(w, statusOfRequest(err), err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // as it came; a client that has gone cannot be told
}

// statusOfRequest tells the errors of servers.Host.Request apart.
func statusOfRequest(err error) int {
	var lacking *servers.LackingError
	var unavailable *servers.UnavailableError
	var timeout *servers.TimeoutError
	var refused *servers.ProtocolError
	var lost *servers.LostError
	switch {
	case errors.As(err, &lacking):
		return http.StatusNotFound
	case errors.As(err, &unavailable):
		return http.StatusServiceUnavailable
	case errors.As(err, &timeout):
		return http.StatusGatewayTimeout
	case errors.As(err, &refused), errors.As(err, &lost):
		return http.StatusBadGateway
	}
	return http.StatusBadRequest
}

// Request asks an MCP server for its prompts or resources, and returns the
// result as the server sent it. method is one of servers.Methods; params is a
// JSON object, or empty. A *RefusedError says why there is none: 404 that the
// server has nothing of the kind.
func (c *Client) Request(ctx context.Context, server, method string, params json.RawMessage) (json.RawMessage, error) {
	return ask[json.RawMessage](ctx, c, http.MethodPost, "/servers/"+url.PathEscape(server)+"/request", serverRequest{method, params})
}
