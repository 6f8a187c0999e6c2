package responses

import (
	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// echoed are the members of a response object that repeat the request, with what
// stands there when it said nothing.
var echoed = []struct{ key, absent string }{
	{"instructions", "null"}, {"max_output_tokens", "null"}, {"max_tool_calls", "null"}, {"metadata", "{}"},
	{"parallel_tool_calls", "true"}, {"prompt_cache_key", "null"}, {"reasoning", `{"effort":null,"summary":null}`},
	{"safety_identifier", "null"}, {"service_tier", `"auto"`}, {"temperature", "1"}, {"text", `{"format":{"type":"text"}}`},
	{"tool_choice", `"auto"`}, {"tools", "[]"}, {"top_logprobs", "0"}, {"top_p", "1"}, {"truncation", `"disabled"`}, {"user", "null"},
}

// object returns a response object of ours, in progress.
func (r *Request) object(id, model string, created int64) []byte {
	if model == "" {
		model = r.sent.Get("model").String()
	}
	members := []member{
		text("id", id), text("object", "response"), {"created_at", number(created)}, text("status", "in_progress"),
		{"background", []byte("false")}, {"completed_at", []byte("null")}, {"error", []byte("null")}, {"incomplete_details", []byte("null")},
		text("model", model), {"output", []byte("[]")}, {"previous_response_id", []byte("null")}, {"store", []byte("false")}, {"usage", []byte("null")},
	}
	for _, e := range echoed {
		members = append(members, r.echo(e.key, e.absent))
	}
	return object(members...)
}

// echo returns a member of the request, or what stands there when it said nothing.
func (r *Request) echo(key, absent string) member {
	if value := r.sent.Get(key); value.Exists() && value.Type != gjson.Null {
		return member{key, []byte(value.Raw)}
	}
	return member{key, []byte(absent)}
}

// own returns a provider's response object as the caller's: what it repeats of the
// request is what the caller has sent, not what we have made of it.
func (r *Request) own(response []byte) []byte {
	members := []member{{"store", []byte("false")}}
	for _, e := range echoed {
		if e.key == "tools" || e.key == "tool_choice" || e.key == "instructions" {
			members = append(members, r.echo(e.key, e.absent))
		}
	}
	return withMembers(response, members...)
}

// Object makes the response object of a plain chat completion, of the provider's
// own where that is among it.
func Object(req *Request, reply []byte) []byte {
	parsed := gjson.ParseBytes(reply)
	message := parsed.Get("choices.0.message")
	w := NewWriter(req, func(string, []byte) {})
	w.finish = parsed.Get("choices.0.finish_reason").String()
	if response := parsed.Get(models.ResponseMember); response.Exists() {
		w.takeWhole(response, message)
	} else {
		w.begin(parsed)
		w.delta(parsed, gjson.ParseBytes(models.Delta(message)))
	}
	w.closeAll()
	w.usage = parsed.Get("usage")
	w.gateway = []byte(parsed.Get("x_gateway").Raw)
	return w.response()
}

// takeWhole takes a provider's own response object: its items, but for the calls
// that are not the caller's, which the message does not have. What the message
// says when no item does is ours.
func (w *Writer) takeWhole(response, message gjson.Result) {
	w.last = response
	w.base = w.req.own([]byte(response.Raw))
	said := false
	for _, item := range response.Get("output").Array() {
		if !isCall(item) || has(message.Get("tool_calls.#.id"), item.Get("call_id").String()) {
			w.output = append(w.output, []byte(item.Raw))
			said = said || kindOf(item) == messageItem || isCall(item)
		}
	}
	if content := message.Get("content").String(); !said && content != "" {
		w.current(messageItem).write(w, outputText, content)
	}
}

func has(list gjson.Result, value string) bool {
	for _, element := range list.Array() {
		if element.String() == value {
			return true
		}
	}
	return false
}
