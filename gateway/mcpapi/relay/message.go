package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
	"pointsman/gateway/nesting"
)

// JSON-RPC's error codes; codeLost is from the range it leaves to servers.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeLost           = -32000
)

// Methods that the relay knows.
const (
	methodCall        = "tools/call"
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
// up on; a nil error when nothing is. Only clients of some versions may send
// batches.
func fault(line []byte, batches bool) (code int, err error) {
	if nesting.TooDeep(line) {
		return codeInvalidRequest, fmt.Errorf("the message nests more than %d levels deep", nesting.Most)
	}
	if !gjson.ValidBytes(line) {
		return codeParse, errors.New("the line is no JSON")
	}
	v := gjson.ParseBytes(line)
	if !v.IsArray() {
		return codeInvalidRequest, faultOf(v)
	}
	elements := v.Array()
	if !batches || len(elements) == 0 {
		return codeInvalidRequest, errors.New("a message is a JSON object; this protocol version has no batches, or the batch is empty")
	}
	seen := map[string]bool{}
	for _, element := range elements {
		if err := faultOf(element); err != nil {
			return codeInvalidRequest, err
		}
		if id := element.Get("id").Raw; id != "" && seen[id] {
			return codeInvalidRequest, fmt.Errorf("the batch has the id %s twice", id)
		} else {
			seen[id] = true
		}
	}
	return 0, nil
}

// idOf returns the id of a line that is not passed on, for its client to know what
// was refused; null when it has none that can be given back.
func idOf(line []byte) string {
	id := gjson.GetBytes(line, "id") // it looks for it level by level
	if line[0] == '{' && (id.Type == gjson.String || id.Type == gjson.Number) && json.Valid([]byte(id.Raw)) {
		return id.Raw
	}
	return "null"
}

// faultOf says what is wrong with one message.
func faultOf(v gjson.Result) error {
	id, method := v.Get("id"), v.Get("method")
	switch {
	case !v.IsObject():
		return errors.New("a message is a JSON object")
	case v.Get("jsonrpc").Str != "2.0":
		return errors.New(`the message has no "jsonrpc": "2.0"`)
	case method.Exists() && method.Type != gjson.String:
		return errors.New("the method is no text")
	case id.Type == gjson.String, id.Type == gjson.Number && !strings.ContainsAny(id.Raw, ".eE"):
		return nil
	case id.Type != gjson.Null: // absent, too
		return fmt.Errorf("the id %.100s is neither a text nor a whole number", id.Raw)
	case !method.Exists():
		return errors.New("the message has neither method nor id")
	}
	return nil
}

// refuse answers a request of the client's with an error.
func (r *relay) refuse(id string, code int, text string) {
	r.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, models.Quote(text)))
}
