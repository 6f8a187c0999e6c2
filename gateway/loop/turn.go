package loop

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// turn is one answer of a model: its message, and what was held back of it.
type turn struct {
	header http.Header
	finish string
	usage  []byte // as the provider said it, or nil
	calls  []*call

	// of a plain answer
	reply   []byte // the whole of it
	message []byte // its message, as it came

	// of a streamed one
	fields      fields    // the delta's texts, joined
	finishChunk []byte    // held back while calls of ours run
	usageChunk  []byte    // held back to the end
	sent        int       // calls passed on to the caller
	keys        []callKey // how the provider names each of calls
}

// call is one tool call of a turn.
type call struct {
	id    string
	name  string
	kind  string // function | custom
	args  strings.Builder
	ours  bool
	index int    // where it stands among the caller's calls
	raw   []byte // of a plain answer: as it came
}

// arguments is the text of the call's arguments; no text means no arguments.
func (c *call) arguments() string {
	if strings.TrimSpace(c.args.String()) == "" {
		return "{}"
	}
	return c.args.String()
}

// message returns the call as it stands in an assistant message.
func (c *call) message() []byte {
	if c.raw != nil {
		if b, err := models.ParseBody(c.raw); err == nil {
			b.SetString("id", c.id)
			b.SetString("type", c.kind)
			if c.kind == "function" {
				b.Set("function", c.function("arguments"))
			}
			return b.Bytes()
		}
	}
	key, text := "function", "arguments"
	if c.kind == "custom" {
		key, text = "custom", "input"
	}
	return fmt.Appendf(nil, `{"id":%s,"type":%s,%q:%s}`, quoted(c.id), quoted(c.kind), key, c.function(text))
}

func (c *call) function(text string) []byte {
	arguments := c.args.String()
	if c.kind == "function" {
		arguments = c.arguments()
	}
	return fmt.Appendf(nil, `{"name":%s,%q:%s}`, quoted(c.name), text, quoted(arguments))
}

// split returns the turn's calls of ours and the caller's.
func (t *turn) split() (ours, theirs []*call) {
	for _, c := range t.calls {
		if c.ours {
			ours = append(ours, c)
		} else {
			theirs = append(theirs, c)
		}
	}
	return ours, theirs
}

// text is what the model said.
func (t *turn) text() string {
	if t.reply != nil {
		return models.Lookup(t.message, "content").String()
	}
	return t.fields.get("content")
}

// assistantMessage returns the turn as a message of the history, all calls included.
func (t *turn) assistantMessage() []byte {
	list := make([][]byte, len(t.calls))
	for i, c := range t.calls {
		list[i] = c.message()
	}
	if t.reply != nil {
		if b, err := models.ParseBody(t.message); err == nil {
			b.Set("tool_calls", models.Append(nil, list...))
			return b.Bytes()
		}
	}
	message := []byte(`{"role":"assistant"}`)
	if t.fields.get("content") == "" {
		message = models.AddMember(message, "content", []byte("null"))
	}
	for _, f := range t.fields {
		message = models.AddMember(message, f.name, quoted(f.text.String()))
	}
	return models.AddMember(message, "tool_calls", models.Append(nil, list...))
}

// isOurs reports whether a call of that name is for us. A name that nobody
// offered is ours too, so that the model is told, not the caller.
func (r *run) isOurs(name string) bool {
	return len(r.ours) > 0 && !r.theirs[name]
}

// uniqueID returns id, or one of ours when it is empty or already in the turn.
func (t *turn) uniqueID(id string) string {
	if id == "" {
		return NewID("call_")
	}
	for _, c := range t.calls {
		if c.id == id {
			return NewID("call_")
		}
	}
	return id
}

// fields are the texts of a streamed message, by name, in the order they came.
type fields []*field

type field struct {
	name string
	text strings.Builder
}

func (f *fields) add(name, text string) {
	for _, known := range *f {
		if known.name == name {
			known.text.WriteString(text)
			return
		}
	}
	next := &field{name: name}
	next.text.WriteString(text)
	*f = append(*f, next)
}

func (f fields) get(name string) string {
	for _, known := range f {
		if known.name == name {
			return known.text.String()
		}
	}
	return ""
}

// readPlain reads a plain reply's message and calls.
func (r *run) readPlain(reply *models.Reply) *turn {
	choice := models.Lookup(reply.Body, "choices.0")
	message := choice.Get("message")
	t := &turn{header: reply.Header, reply: reply.Body, message: []byte(message.Raw), finish: choice.Get("finish_reason").String()}
	if usage := gjson.GetBytes(reply.Body, "usage"); usage.IsObject() {
		t.usage = []byte(usage.Raw)
	}
	r.model = gjson.GetBytes(reply.Body, "model").String()
	for _, raw := range message.Get("tool_calls").Array() {
		t.calls = append(t.calls, r.plainCall(t, raw))
	}
	return t
}

func (r *run) plainCall(t *turn, raw gjson.Result) *call {
	c := &call{id: t.uniqueID(raw.Get("id").String()), kind: "function", raw: []byte(raw.Raw)}
	if raw.Get("custom").IsObject() {
		c.kind = "custom"
	}
	c.name = raw.Get(c.kind + ".name").String()
	c.args.WriteString(argumentsText(raw, c.kind))
	c.ours = r.isOurs(c.name)
	return c
}

// argumentsText returns a call's arguments or input as text; some providers
// send the arguments as an object.
func argumentsText(raw gjson.Result, kind string) string {
	path := "function.arguments"
	if kind == "custom" {
		path = "custom.input"
	}
	args := raw.Get(path)
	if args.IsObject() || args.IsArray() {
		return args.Raw
	}
	return args.String()
}

// emptyAnswer stands for the answer of a model that only wanted to call tools
// after it was told that it could not: clients take an empty one for a failure.
const emptyAnswer = "(The model gave no answer after its tool calls were stopped.)"

// plainReply makes the caller's reply of the last turn.
func (r *run) plainReply(t *turn) []byte {
	reply := t.reply
	_, theirs := t.split()
	if len(theirs) != len(t.calls) || r.idsChanged(t) {
		reply = r.withCalls(t, theirs)
	}
	if r.report.Rounds > 1 && r.usage != nil {
		reply = setMember(reply, "usage", r.usage)
	}
	return setMember(reply, "x_gateway", r.reportJSON())
}

func (r *run) idsChanged(t *turn) bool {
	for _, c := range t.calls {
		if gjson.GetBytes(c.raw, "id").String() != c.id || !gjson.GetBytes(c.raw, "type").Exists() {
			return len(r.ours) > 0 || gjson.GetBytes(c.raw, "id").String() != c.id
		}
	}
	return false
}

// withCalls returns the reply with the caller's calls alone in its message.
func (r *run) withCalls(t *turn, theirs []*call) []byte {
	message, choices := t.message, models.Elements([]byte(gjson.GetBytes(t.reply, "choices").Raw))
	finish := "tool_calls"
	if len(theirs) == 0 {
		finish = "stop"
		message = setMember(message, "tool_calls", nil)
		if t.text() == "" {
			message = setMember(message, "content", quoted(emptyAnswer))
		}
	} else {
		var list [][]byte
		for _, c := range theirs {
			list = append(list, c.message())
		}
		message = setMember(message, "tool_calls", models.Append(nil, list...))
	}
	choices[0] = setMember(setMember(choices[0], "message", message), "finish_reason", quoted(finish))
	return setMember(t.reply, "choices", models.Append(nil, choices...))
}

// reportJSON is the value of x_gateway.
func (r *run) reportJSON() []byte {
	r.report.PlanProgress = progress(r.report.Plan)
	out, err := json.Marshal(r.report)
	if err != nil { // plain values, and raw JSON that was parsed before
		return []byte("null")
	}
	return out
}

// setMember returns object with key set to value, or without key when value is
// nil. What is not an object comes back as it is.
func setMember(object []byte, key string, value []byte) []byte {
	b, err := models.ParseBody(object)
	if err != nil {
		return object
	}
	if value == nil {
		b.Delete(key)
	} else {
		b.Set(key, value)
	}
	return b.Bytes()
}

// count adds a turn's usage to the run's.
func (r *run) count(reply *models.Reply, t *turn) {
	if t.usage == nil {
		return
	}
	in := gjson.GetBytes(t.usage, "prompt_tokens").Int()
	out := gjson.GetBytes(t.usage, "completion_tokens").Int()
	r.tokensIn += in
	r.tokensOut += out
	if cost, known := reply.Deployment.Cost(in, out); known {
		r.cost += cost
		r.costKnown = true
	}
	if r.usage == nil {
		r.usage = t.usage
		return
	}
	r.usage = sumUsage(r.usage, t.usage)
}

// sumUsage adds two usage objects, number by number at every depth.
func sumUsage(a, b []byte) []byte {
	var x, y map[string]any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return b
	}
	out, err := json.Marshal(sum(x, y))
	if err != nil {
		return b
	}
	return out
}

func sum(a, b any) any {
	switch b := b.(type) {
	case float64:
		if n, ok := a.(float64); ok {
			return n + b
		}
	case map[string]any:
		m, ok := a.(map[string]any)
		if !ok {
			return b
		}
		for key, value := range b {
			m[key] = sum(m[key], value)
		}
		return m
	}
	if b == nil {
		return a
	}
	return b
}

// quoted returns s as a JSON string.
func quoted(s string) []byte { return gjson.AppendJSONString(make([]byte, 0, len(s)+2), s) }

// jsonOrString returns text if it is JSON, else text as a JSON string.
func jsonOrString(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return json.RawMessage(quoted(text))
}
