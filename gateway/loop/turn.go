package loop

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/journal"
	"pointsman/gateway/models"
)

// turn is one answer of a model: its message, and what was held back of it.
type turn struct {
	header http.Header
	finish string
	usage  []byte // as the provider said it, or nil
	calls  []*call
	items  [][]byte // what it is made of, where a provider of the Responses API gave it

	// of a plain answer
	reply   *models.Body // the whole of it
	message []byte       // its message, as it came

	// of a streamed one
	fields      fields // the delta's texts, joined
	finishChunk []byte // held back while calls of ours run
	usageChunk  []byte // held back to the end
	sent        int    // calls passed on to the caller
}

// maxCalls bounds the calls of a turn: more than any model makes, and no way to
// keep us busy.
const maxCalls = 1000

const tooManyCalls = "its answer holds more than 1,000 tool calls"

// call is one tool call of a turn.
type call struct {
	id    string
	name  string
	kind  string // function | custom
	args  strings.Builder
	ours  bool
	named bool    // of a streamed answer: the name has come, and with it whose it is
	key   callKey // of a streamed answer
	index int     // of a streamed answer: where it stands among the caller's calls
	extra fields  // of a streamed answer: members besides the known ones
	raw   []byte  // of a plain answer: as it came
}

// arguments is the text of the call's arguments; no text means no arguments.
func (c *call) arguments() string {
	if strings.TrimSpace(c.args.String()) == "" {
		return "{}"
	}
	return c.args.String()
}

// textKeys are where each kind of call has its text.
var textKeys = map[string]string{"function": "arguments", "custom": "input"}

// message returns the call as it stands in an assistant message.
func (c *call) message() []byte {
	text := c.args.String()
	if c.kind == "function" {
		text = c.arguments()
	}
	if c.raw != nil {
		inner := models.WithMember([]byte(gjson.GetBytes(c.raw, c.kind).Raw), textKeys[c.kind], models.Quote(text))
		return models.WithMember(models.WithMember(models.WithMember(c.raw, "id", models.Quote(c.id)), "type", models.Quote(c.kind)), c.kind, inner)
	}
	message := fmt.Appendf(nil, `{"id":%s,"type":%s,%q:{"name":%s,%q:%s}}`,
		models.Quote(c.id), models.Quote(c.kind), c.kind, models.Quote(c.name), textKeys[c.kind], models.Quote(text))
	return c.extra.addTo(message)
}

// repaired reports whether a call of a plain answer is not fit for clients as
// it came: they drop calls without a type, and arguments that are no text.
func (c *call) repaired() bool {
	raw := gjson.ParseBytes(c.raw)
	return raw.Get("id").String() != c.id || !raw.Get("type").Exists() || raw.Get(c.kind+"."+textKeys[c.kind]).Type != gjson.String
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
	message := t.spoken()
	if len(t.items) > 0 {
		message = models.AddMember(message, models.ItemsMember, models.Append(nil, t.items...))
	}
	return message
}

func (t *turn) spoken() []byte {
	list := make([][]byte, len(t.calls))
	for i, c := range t.calls {
		list[i] = c.message()
	}
	if t.reply != nil {
		return models.WithMember(t.message, "tool_calls", models.Append(nil, list...))
	}
	message := t.fields.addTo([]byte(`{"role":"assistant"}`))
	if !gjson.GetBytes(message, "content").Exists() {
		message = models.AddMember(message, "content", []byte("null"))
	}
	return models.AddMember(message, "tool_calls", models.Append(nil, list...))
}

// isOurs reports whether a call of that name is for us. A name that nobody
// offered is ours too, so that the model is told, not the caller.
func (r *run) isOurs(name string, raw gjson.Result) bool {
	return r.offering && !r.theirs[name] && !raw.Get(models.TheirsMember).Bool()
}

// uniqueID returns id, or one of ours when it is empty or already in the turn.
func (t *turn) uniqueID(id string) string {
	if id == "" {
		return journal.NewID("call_")
	}
	for _, c := range t.calls {
		if c.id == id {
			return journal.NewID("call_")
		}
	}
	return id
}

// fields are the members of a streamed object, put together from its deltas, in
// the order they came.
type fields []*field

// field is a member: what came last of text (joined), list (joined) and value.
type field struct {
	name  string
	text  strings.Builder
	list  [][]byte
	value []byte
}

// add takes a member of a delta.
func (f *fields) add(name string, value gjson.Result) {
	if value.Type == gjson.Null {
		return
	}
	known := f.find(name)
	if known == nil {
		known = &field{name: name}
		*f = append(*f, known)
	}
	switch {
	case value.Type == gjson.String:
		known.text.WriteString(value.String())
	case value.IsArray():
		for _, element := range value.Array() {
			known.list = append(known.list, []byte(element.Raw))
		}
	default:
		known.value = []byte(value.Raw)
	}
}

// addExcept takes a delta's members but for those named.
func (f *fields) addExcept(delta gjson.Result, names ...string) {
	delta.ForEach(func(key, value gjson.Result) bool {
		if !slices.Contains(names, key.String()) {
			f.add(key.String(), value)
		}
		return true
	})
}

func (f fields) find(name string) *field {
	for _, known := range f {
		if known.name == name {
			return known
		}
	}
	return nil
}

// get returns a member's text.
func (f fields) get(name string) string {
	if known := f.find(name); known != nil {
		return known.text.String()
	}
	return ""
}

// addTo returns object with the members that have something to say.
func (f fields) addTo(object []byte) []byte {
	for _, known := range f {
		switch {
		case known.value != nil:
			object = models.AddMember(object, known.name, known.value)
		case known.list != nil:
			object = models.AddMember(object, known.name, models.Append(nil, known.list...))
		case known.text.Len() > 0:
			object = models.AddMember(object, known.name, models.Quote(known.text.String()))
		}
	}
	return object
}

// readPlain reads a plain reply's message and calls.
func (r *run) readPlain(reply *models.Reply) (*turn, error) {
	choice := reply.Body.Elements("choices")[0]
	message := models.Lookup(choice, "message")
	t := &turn{header: reply.Header, reply: reply.Body, message: []byte(message.Raw), items: reply.Items(), finish: models.Lookup(choice, "finish_reason").String()}
	if reply.Body.Get("usage").IsObject() {
		t.usage = reply.Body.Raw("usage")
	}
	r.model = reply.Body.Get("model").String()
	for _, raw := range message.Get("tool_calls").Array() {
		if len(t.calls) == maxCalls {
			return nil, reply.Broken(tooManyCalls)
		}
		if raw.IsObject() {
			t.calls = append(t.calls, r.plainCall(t, raw))
		}
	}
	r.heard(t.text())
	return t, nil
}

// heard tells the listeners what the model says.
func (r *run) heard(text string) {
	if text != "" {
		r.publish(Event{Kind: Text, Text: text})
	}
}

func (r *run) plainCall(t *turn, raw gjson.Result) *call {
	c := &call{id: t.uniqueID(raw.Get("id").String()), kind: kindOf(raw), raw: []byte(raw.Raw)}
	c.name = raw.Get(c.kind + ".name").String()
	c.args.WriteString(argumentsText(raw, c.kind))
	if c.ours = r.isOurs(c.name, raw); !c.ours {
		c.raw = models.WithMember(c.raw, models.TheirsMember, nil)
	}
	return c
}

// kindOf returns the kind of a call, or of a delta of one.
func kindOf(raw gjson.Result) string {
	if raw.Get("custom").IsObject() {
		return "custom"
	}
	return "function"
}

// argumentsText returns a call's arguments or input as text; some providers
// send the arguments as an object.
func argumentsText(raw gjson.Result, kind string) string {
	args := raw.Get(kind + "." + textKeys[kind])
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
	reply := t.reply.Clone()
	_, theirs := t.split()
	if len(theirs) != len(t.calls) || slices.ContainsFunc(theirs, (*call).repaired) {
		reply.Set("choices", r.choicesWith(t, theirs))
	}
	if r.report.Rounds > 1 && r.usage != nil {
		reply.Set("usage", r.usage)
	}
	reply.Set("x_gateway", r.reportJSON(t))
	return reply.Bytes()
}

// choicesWith returns the choices with the caller's calls alone in the message.
func (r *run) choicesWith(t *turn, theirs []*call) []byte {
	message, choices := t.message, t.reply.Elements("choices")
	if len(theirs) == 0 {
		message = models.WithMember(message, "tool_calls", nil)
		if t.text() == "" {
			message = models.WithMember(message, "content", models.Quote(emptyAnswer))
		}
	} else {
		var list [][]byte
		for _, c := range theirs {
			list = append(list, c.message())
		}
		message = models.WithMember(message, "tool_calls", models.Append(nil, list...))
	}
	choices[0] = models.WithMember(models.WithMember(choices[0], "message", message), "finish_reason", models.Quote(t.finishFor(theirs)))
	return models.Append(nil, choices...)
}

// finishFor is the finish_reason of the turn for a caller who gets these of its
// calls. That the answer was cut or filtered stays.
func (t *turn) finishFor(theirs []*call) string {
	switch {
	case t.finish != "" && t.finish != "stop" && t.finish != "tool_calls" && t.finish != "function_call":
		return t.finish
	case len(theirs) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

// reportJSON is the value of x_gateway beside the last turn.
func (r *run) reportJSON(t *turn) []byte {
	_, theirs := t.split()
	r.report.Unanswered = len(theirs) == 0 && t.text() == ""
	r.report.PlanProgress = Progress(r.report.Plan)
	out, err := json.Marshal(r.report)
	if err != nil { // plain values, and raw JSON that was parsed before
		return []byte("null")
	}
	return out
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
	reply.Spent(in + out)
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

// jsonOrString returns text if it is JSON, else text as a JSON string.
func jsonOrString(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return json.RawMessage(models.Quote(text))
}
