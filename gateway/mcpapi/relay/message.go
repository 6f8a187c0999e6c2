package relay

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"
)

// JSON-RPC's error codes; codeLost is from the range it leaves to servers.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeLost           = -32000
)

// Methods that the relay knows.
const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodCancelled   = "notifications/cancelled"
	methodListen      = "subscriptions/listen"
	methodSubscribe   = "resources/subscribe"
	methodUnsubscribe = "resources/unsubscribe"
	methodSetLevel    = "logging/setLevel"
)

// message is one JSON-RPC message, and its line.
type message struct {
	line   []byte
	id     string // as it is written; "" when there is none
	method string // "" of a response
}

func (m message) isRequest() bool  { return m.method != "" && m.id != "" }
func (m message) isResponse() bool { return m.method == "" && m.id != "" }

// param returns a parameter as it is written.
func (m message) param(name string) string {
	return gjson.GetBytes(m.line, "params."+name).Raw
}

// parse reads a line's messages: one, or those of a batch, which share the line.
func parse(line []byte) []message {
	if len(line) == 0 || line[0] != '[' {
		return []message{parseOne(line, gjson.ParseBytes(line))}
	}
	var list []message
	for _, element := range gjson.ParseBytes(line).Array() {
		list = append(list, parseOne(line, element))
	}
	return list
}

func parseOne(line []byte, v gjson.Result) message {
	m := message{line: line, id: v.Get("id").Raw, method: v.Get("method").String()}
	if m.id == "null" {
		m.id = ""
	}
	return m
}

// fault says what is wrong with a line of the client's that a gateway would hang
// up on; a nil error when nothing is.
func fault(line []byte) (code int, err error) {
	if !gjson.ValidBytes(line) {
		return codeParse, fmt.Errorf("the line is no JSON")
	}
	for _, m := range parse(line) {
		v := gjson.ParseBytes(m.line)
		if m.line[0] == '{' && v.Get("jsonrpc").String() != "2.0" {
			return codeInvalidRequest, fmt.Errorf(`the message has no "jsonrpc": "2.0"`)
		}
		if m.id == "" && m.method == "" {
			return codeInvalidRequest, fmt.Errorf("the message has neither method nor id")
		}
	}
	if line[0] != '{' && line[0] != '[' {
		return codeInvalidRequest, fmt.Errorf("a message is a JSON object")
	}
	return 0, nil
}

// refuse answers a request of the client's with an error.
func (r *relay) refuse(id string, code int, text string) {
	said, _ := json.Marshal(text) // strings always encode
	r.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, said))
}

// clean takes the blanks off a line.
func clean(line []byte) []byte { return bytes.TrimSpace(line) }
