package gateway

import (
	"context"

	"pointsman/gateway/servers"
	"pointsman/gateway/servers/diagnostics"
)

// Diagnostics reads what was kept of what happened with an MCP server; nothing
// is unless diagnostics.mcp is on. See servers.Host.Diagnostics.
func (g *Gateway) Diagnostics(ctx context.Context, q diagnostics.Query) (diagnostics.Page, error) {
	return g.host.Diagnostics(ctx, q)
}

// StartServer starts an MCP server that was stopped or rests after crashes, and
// waits for the outcome; then its tools can be called. See servers.Host.Start.
func (g *Gateway) StartServer(ctx context.Context, name string) (servers.Status, error) {
	return g.keep(ctx, name, g.host.Start)
}

// StopServer ends an MCP server and keeps it stopped. See servers.Host.Stop.
func (g *Gateway) StopServer(ctx context.Context, name string) (servers.Status, error) {
	return g.keep(ctx, name, g.host.Stop)
}

// RestartServer ends an MCP server and starts it anew. See servers.Host.Restart.
func (g *Gateway) RestartServer(ctx context.Context, name string) (servers.Status, error) {
	return g.keep(ctx, name, g.host.Restart)
}

func (g *Gateway) keep(ctx context.Context, name string, command func(context.Context, string) (servers.Status, error)) (servers.Status, error) {
	status, err := command(ctx, name)
	g.buildCatalogue()
	return status, err
}
