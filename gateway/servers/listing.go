package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"
)

// maxPages bounds the pages of a tool list that are asked for.
const maxPages = 1000

// listTools asks for all pages of the server's tools.
func (s *server) listTools(ctx context.Context, sess *session) ([]Tool, error) {
	var tools []Tool
	cursor := ""
	for range maxPages {
		raw, err := sess.roundTrip(ctx, "tools/list", params{cursor: cursor, says: statelessMeta{able: abilities(s.host.opts.Client)}})
		if isMissing(err) {
			return nil, nil // a server without tools
		}
		if err != nil {
			return nil, fmt.Errorf("listing its tools: %w", err)
		}
		page := gjson.ParseBytes(raw) // valid: who read the message has seen to that
		list := page.Get("tools")
		if !page.IsObject() || list.Type != gjson.Null && !list.IsArray() {
			return nil, fmt.Errorf("reading its list of tools: it is no list: %.200s", raw)
		}
		tools = s.appendTools(tools, list, sess)
		next := page.Get("nextCursor").Str
		if next == "" || next == cursor {
			return tools, nil
		}
		cursor = next
	}
	return nil, fmt.Errorf("listing its tools: the list has more than %d pages", maxPages)
}

func isMissing(err error) bool {
	var rpc *jsonrpc.Error
	return errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound
}

// appendTools adds the tools of a page. Lists may be long: they are cut, not
// decoded.
func (s *server) appendTools(tools []Tool, list gjson.Result, sess *session) []Tool {
	for _, def := range list.Array() {
		name := nameOf(def)
		if name == "" {
			s.host.opts.Logger.Warn("leaving out a tool without a name", "server", s.name)
			continue
		}
		listed := Tool{
			Server:  s.name,
			Name:    name,
			Raw:     json.RawMessage(def.Raw),
			Trusted: s.entry.TrustAnnotations || s.kind == "builtin",
		}
		if sess.sendsHeaders() {
			listed.Fault = headersFault(def.Get("inputSchema"))
		}
		tools = append(tools, listed)
	}
	return tools
}

// nameOf returns a tool's name, or "" if it has none. Of several members of that
// name the last counts, as everywhere else.
func nameOf(def gjson.Result) (name string) {
	def.ForEach(func(key, value gjson.Result) bool {
		if key.Str == "name" {
			name = value.Str
		}
		return true
	})
	return name
}
