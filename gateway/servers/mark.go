package servers

import (
	"crypto/rand"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// marker sees what a server sends to its client before the SDK does, and keeps
// what the SDK would lose. It marks questions in _meta with their parameters as
// they came (the SDK would sort the fields of a form by name) and with the call on
// whose stream they came. The server's log it takes out itself: the SDK hands it
// on beside the results, so that it could come after the result it belongs to.
type marker struct {
	name string // of the mark; no server can guess it
	log  func(flight int64, params json.RawMessage)
}

// newMarker returns the marker of a session.
func newMarker(log func(flight int64, params json.RawMessage)) *marker {
	return &marker{name: "pointsman/" + rand.Text(), log: log} // no character of it means anything in a path of sjson
}

// request sees a request that no call is known to have caused.
func (m *marker) request(req *jsonrpc.Request) {
	switch req.Method {
	case methodLog:
		m.log(0, req.Params)
	case methodSample, methodElicit:
		req.Params = m.put(req.Params, "", req.Params, 0)
	}
}

// message sees a whole JSON-RPC message that came on the stream of a flight; zero
// when it was none's.
func (m *marker) message(data []byte, flight int64) []byte {
	params := []byte(gjson.GetBytes(data, "params").Raw)
	switch gjson.GetBytes(data, "method").Str {
	case methodLog:
		m.log(flight, params)
	case methodSample, methodElicit:
		return m.put(data, "params.", params, flight)
	}
	return data
}

// put sets the mark in the parameters that are at the path under, or leaves the
// document alone when it cannot hold one.
func (m *marker) put(doc []byte, under string, params []byte, flight int64) []byte {
	if !gjson.ParseBytes(params).IsObject() {
		return doc
	}
	out, err := sjson.SetBytes(doc, under+"_meta."+m.name, map[string]any{"params": string(params), "flight": flight})
	if err != nil {
		return doc
	}
	return out
}

// lift takes the mark off parameters that the SDK has read, and returns them as
// they came, and the flight on whose stream they came, or zero.
func (m *marker) lift(params any, meta *mcp.Meta) (json.RawMessage, int64) {
	mark, _ := (*meta)[m.name].(map[string]any)
	delete(*meta, m.name)
	flight, _ := mark["flight"].(float64)
	if raw, ok := mark["params"].(string); ok {
		return json.RawMessage(raw), int64(flight)
	}
	raw, err := json.Marshal(params)
	if err != nil { // it was JSON a moment ago
		return json.RawMessage("{}"), int64(flight)
	}
	return raw, int64(flight)
}
