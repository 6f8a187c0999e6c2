// Package responses is OpenAI's Responses API: how its requests, items, events
// and response objects are those of chat completions, and back. Everything in
// the gateway is held as chat completions; what they have no word for is carried
// beside them in members of our own (models.ItemsMember and the like), as it came,
// so that items and events of kinds unknown to us pass through untouched.
//
// A caller of the Responses API is served by ParseRequest, Writer and Object; a
// provider of it is spoken to through Dialect. The package starts no goroutine.
//
// The specification is https://developers.openai.com/api/reference/resources/responses.
package responses

import (
	"crypto/rand"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// newID returns an id like those of the API: a prefix that tells the kind, and
// what no other has.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// kinds of items that chat completions have, too.
const (
	messageItem    = "message"
	reasoningItem  = "reasoning"
	functionCall   = "function_call"
	functionOutput = "function_call_output"
	customCall     = "custom_tool_call"
	customOutput   = "custom_tool_call_output"
)

// kindOf returns an item's type; an item without one is a message.
func kindOf(item gjson.Result) string {
	if kind := item.Get("type").String(); kind != "" {
		return kind
	}
	if item.Get("role").Exists() {
		return messageItem
	}
	return ""
}

// isCall reports whether an item is a call that the caller's side answers, with
// an item that has its call_id. What a provider runs itself has none.
func isCall(item gjson.Result) bool {
	if item.Get("execution").String() == "server" || item.Get("call_id").String() == "" {
		return false
	}
	return strings.HasSuffix(kindOf(item), "_call")
}

// isOutput reports whether an item answers a call.
func isOutput(item gjson.Result) bool {
	if item.Get("execution").String() == "server" || item.Get("call_id").String() == "" {
		return false
	}
	return strings.HasSuffix(kindOf(item), "_output")
}

// theirs reports whether a call is the caller's to run, whatever its name: those
// of a namespace, and those that are no functions.
func theirs(item gjson.Result) bool {
	kind := kindOf(item)
	return item.Get("namespace").String() != "" || kind != functionCall && kind != customCall
}

// object returns the JSON object with these members, each a key and its value.
// Those without a value are left out.
func object(members ...member) []byte {
	out := []byte{'{'}
	for _, m := range members {
		if len(m.value) == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, models.Quote(m.key)...), ':'), m.value...)
	}
	return append(out, '}')
}

// member is one of an object: a key, and a value in JSON.
type member struct {
	key   string
	value []byte
}

func text(key, value string) member { return member{key, models.Quote(value)} }

// textIf is a member that is left out when its value is "".
func textIf(key, value string) member {
	if value == "" {
		return member{key: key}
	}
	return text(key, value)
}

func raw(key string, value gjson.Result) member { return member{key, []byte(value.Raw)} }

func number(n int64) []byte { return strconv.AppendInt(nil, n, 10) }
