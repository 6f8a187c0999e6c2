package servers

import (
	"crypto/rand"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// marker marks what a server sends to its client before the SDK sees it, in
// _meta, with what the SDK would lose: the parameters as they came (it would sort
// the fields of a form by name) and the call on whose stream they came. It is
// the name of the mark, which no server can guess.
type marker string

// newMarker returns the marker of a session. It has no character that a path of
// sjson gives a meaning to.
func newMarker() marker { return marker("pointsman/" + rand.Text()) }

// marked are the methods whose messages are marked.
var marked = []string{methodSample, methodElicit, methodLog}

// request marks a request.
func (m marker) request(req *jsonrpc.Request) {
	if slices.Contains(marked, req.Method) {
		req.Params = m.put(req.Params, "", req.Params, 0)
	}
}

// message marks a whole JSON-RPC message that came on the stream of a flight;
// zero when it was none's.
func (m marker) message(data []byte, flight int64) []byte {
	if !slices.Contains(marked, gjson.GetBytes(data, "method").Str) {
		return data
	}
	return m.put(data, "params.", []byte(gjson.GetBytes(data, "params").Raw), flight)
}

// put sets the mark in the parameters that are at the path under, or leaves the
// document alone when it cannot hold one.
func (m marker) put(doc []byte, under string, params []byte, flight int64) []byte {
	if !gjson.ParseBytes(params).IsObject() {
		return doc
	}
	out, err := sjson.SetBytes(doc, under+"_meta."+string(m), map[string]any{"params": string(params), "flight": flight})
	if err != nil {
		return doc
	}
	return out
}

// lift takes the mark off parameters that the SDK has read, and returns them as
// they came, and the flight on whose stream they came, or zero.
func (m marker) lift(params any, meta *mcp.Meta) (json.RawMessage, int64) {
	mark, _ := (*meta)[string(m)].(map[string]any)
	delete(*meta, string(m))
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
