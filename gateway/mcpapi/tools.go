package mcpapi

//lint:file-ignore SA1019 MCP 2026-07-28 deprecates roots, sampling and logging; clients in use have them all the same.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway/calls"
	"pointsman/gateway/journal"
	"pointsman/gateway/models"
	"pointsman/gateway/servers"
)

// listTools lists the tools as their servers define them, but for their names.
func (s *service) listTools(ctx context.Context, req *mcp.ListToolsRequest) (mcp.Result, error) {
	s.awaitServers(ctx)
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	entries := s.tools()
	items := make([]item, 0, len(entries))
	for _, e := range entries {
		body := raw(e.Raw)
		if e.Name != e.Offered {
			body = models.WithMember(body, "name", models.Quote(e.Offered))
		}
		items = append(items, item{key: e.Offered, body: body})
	}
	return page(req, "tools", cursor, items)
}

// callTool calls a tool, or goes on with a call whose client was asked something.
func (s *service) callTool(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
	p := req.Params
	return s.errand(ctx, req, errandParams{state: p.RequestState, answers: p.InputResponses, token: p.GetProgressToken(), call: journal.NewID("call_")},
		func(ctx context.Context, e *errand) (mcp.Result, error) { return s.runTool(ctx, e, req) })
}

// runTool takes a call through the gates and answers with its result.
func (s *service) runTool(ctx context.Context, e *errand, req *mcp.CallToolRequest) (mcp.Result, error) {
	name := req.Params.Name
	entry, caller := s.find(name)
	if entry == nil {
		s.awaitServers(ctx)
		if entry, caller = s.find(name); entry == nil {
			return nil, invalid("unknown tool %q", name)
		}
	}
	bar := newBar(e)
	defer bar.end()
	result := caller.Call(ctx, calls.Call{
		ID: e.call, Door: "mcp", Client: e.peer.program, Session: e.peer.session, CWD: s.who.CWD,
		Name: name, Arguments: string(req.Params.Arguments), Meta: forServer(req.Params.Meta),
		OnWaiting:  bar.waiting,
		OnRunning:  func(approvals.Decision) { bar.running() },
		OnProgress: bar.progress,
		OnLog:      e.log, LogLevel: logLevel(req), Answerer: e.party, Party: e.party.name,
	})
	return toolAnswer(req, result)
}

// forServer is what a client has in _meta that is for the server, too: all but what
// it says of its own connection to us. It is nil when there is nothing.
func forServer(meta mcp.Meta) raw {
	meta = maps.Clone(meta)
	for _, ours := range []string{"progressToken", mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities, mcp.MetaKeyLogLevel} {
		delete(meta, ours)
	}
	if len(meta) == 0 {
		return nil
	}
	body, err := json.Marshal(meta)
	if err != nil { // it was JSON a moment ago
		return nil
	}
	return body
}

// logLevel is the least grave level of messages that a request of the stateless
// protocol wants; "" when it does not say.
func logLevel(req request) string {
	level, _ := req.GetParams().GetMeta()[mcp.MetaKeyLogLevel].(string)
	return level
}

// toolAnswer is how the client is told how a call ended: with what the server
// answered, or with why the call did not run.
func toolAnswer(req request, result calls.Result) (mcp.Result, error) {
	var refused *servers.ProtocolError
	switch {
	case errors.As(result.Err, &refused):
		return nil, passedOn(refused)
	case result.Raw == nil:
		return answered(req, toolError(result.Text)), nil
	case result.Edited && gjson.GetBytes(result.Raw, "content").IsArray():
		return answered(req, withText(result.Raw, calls.EditedNote(result.Arguments))), nil
	}
	return answered(req, result.Raw), nil
}

// toolError is the result of a call that has none of its own.
func toolError(text string) raw {
	return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}],"isError":true}`, models.Quote(text))
}

// withText puts a text before a result's content.
func withText(result raw, text string) raw {
	content := []byte(gjson.GetBytes(result, "content").Raw)
	block := fmt.Appendf(nil, `[{"type":"text","text":%s}`, models.Quote(text))
	if rest := gjson.ParseBytes(content); len(rest.Array()) > 0 {
		block = append(block, ',')
	}
	return models.WithMember(result, "content", append(block, content[1:]...))
}
