package control

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"pointsman/gateway/servers"
)

// ServerKeeper starts and stops the MCP servers. Everybody may: it runs nothing
// but what the configuration holds, and overrides nothing that keeps a server
// from starting. Their errors may be a *servers.StateError.
type ServerKeeper interface {
	StartServer(ctx context.Context, name string) (servers.Status, error)
	StopServer(ctx context.Context, name string) (servers.Status, error)
	RestartServer(ctx context.Context, name string) (servers.Status, error)
}

func (s *Server) serverRoutes() {
	s.keeping("start", s.opts.Gateway.StartServer)
	s.keeping("stop", s.opts.Gateway.StopServer)
	s.keeping("restart", s.opts.Gateway.RestartServer)
}

// keeping serves one command of the ServerKeeper.
func (s *Server) keeping(verb string, command func(ctx context.Context, name string) (servers.Status, error)) {
	s.mux.HandleFunc("POST /servers/{name}/"+verb, func(w http.ResponseWriter, r *http.Request) {
		status, err := command(r.Context(), r.PathValue("name"))
		var state *servers.StateError
		switch {
		case errors.As(err, &state) && state.Status == servers.NotConfigured:
			fail(w, http.StatusNotFound, err.Error())
		case errors.As(err, &state):
			fail(w, http.StatusConflict, err.Error())
		case err != nil:
			fail(w, http.StatusInternalServerError, err.Error())
		default:
			write(w, http.StatusOK, status)
		}
	})
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
	var status servers.Status
	return status, c.exchange(ctx, http.MethodPost, "/servers/"+url.PathEscape(name)+"/"+verb, nil, &status)
}
