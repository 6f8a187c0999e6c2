package responses

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// translation makes events of the Responses API chunks of a chat completion. What
// has no place in chunks rides along in models.EventMember when keep is set, and
// is left out otherwise.
type translation struct {
	keep bool

	id, model string
	created   int64
	held      [][]byte // chunks of events that come before anything is done
	begun     bool     // something is done
	places    map[int64]*place
	calls     int
	said      bool             // some text has come
	items     map[int64][]byte // those that are complete, by their place
}

// place is where an item stands in the answer.
type place struct {
	kind   string
	call   int  // which of the calls it is, when it is one
	filled bool // its text, or its call's arguments, have come
	done   bool
}

// Translation returns what translates one stream; see models.Dialect.
func (Dialect) Translation(keep bool) models.Translation {
	return &translation{keep: keep, places: map[int64]*place{}, items: map[int64][]byte{}}
}

// Items returns what the answer is made of; see models.Translation.
func (t *translation) Items() [][]byte {
	var list [][]byte
	for _, index := range slices.Sorted(maps.Keys(t.items)) {
		list = append(list, t.items[index])
	}
	return list
}

// Event takes an event; see models.Translation.
func (t *translation) Event(data []byte) ([][]byte, error) {
	if string(data) == "[DONE]" {
		return nil, nil
	}
	if !models.Valid(data) {
		return nil, broken("its stream holds an event that is not JSON")
	}
	event := gjson.ParseBytes(data)
	kind := event.Get("type").String()
	if about[kind] && !event.Get("response").IsObject() {
		return nil, broken(fmt.Sprintf("its event %s has no response", kind))
	}
	switch kind {
	case "response.created", "response.queued", "response.in_progress":
		t.begin(event.Get("response"))
		t.held = append(t.held, t.pass(data)...)
		return nil, nil
	case "response.failed", "response.cancelled", "error":
		return nil, failure(event)
	case "response.completed", "response.incomplete":
		t.begin(event.Get("response"))
		return t.release(t.end(event, data)), nil
	case "":
		return nil, noResponse("its stream holds an event without a type")
	default:
		return t.release(t.inside(kind, event, data)), nil
	}
}

// about are the kinds of events that tell of the response as a whole.
var about = map[string]bool{
	"response.created": true, "response.queued": true, "response.in_progress": true, "response.completed": true, "response.incomplete": true,
}

// release returns chunks with those before them that were held back. An answer has
// begun then, though what it begins with may be thoughts that nobody is told.
func (t *translation) release(chunks [][]byte) [][]byte {
	if !t.begun {
		t.begun = true
		t.held = append(t.held, t.write([]byte(`{"role":"assistant","content":""}`), []byte("null"), nil))
	}
	all := append(t.held, chunks...)
	t.held = nil
	return all
}

// begin notes what all chunks share.
func (t *translation) begin(response gjson.Result) {
	t.id = cmp.Or(t.id, response.Get("id").String())
	t.model = cmp.Or(t.model, response.Get("model").String())
	t.created = cmp.Or(t.created, response.Get("created_at").Int())
}

// inside takes an event between the first and the last.
func (t *translation) inside(kind string, event gjson.Result, data []byte) [][]byte {
	switch kind {
	case "response.output_item.added":
		return t.added(event, data)
	case "response.output_item.done":
		return t.finished(event, data)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		return t.arguments(event, event.Get("delta").String(), data)
	case "response.function_call_arguments.done":
		return t.argumentsDone(event, event.Get("arguments").String(), data)
	case "response.custom_tool_call_input.done":
		return t.argumentsDone(event, event.Get("input").String(), data)
	case "response.output_text.delta":
		return t.text("content", event, event.Get("delta").String(), data)
	case "response.output_text.done":
		return t.textDone("content", event, event.Get("text").String(), data)
	case "response.refusal.delta":
		return t.text("refusal", event, event.Get("delta").String(), data)
	case "response.refusal.done":
		return t.textDone("refusal", event, event.Get("refusal").String(), data)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return t.thought(event.Get("delta").String(), data)
	default:
		return t.pass(data)
	}
}

// at returns the place that an event is about.
func (t *translation) at(event gjson.Result) *place {
	index := event.Get("output_index").Int()
	p := t.places[index]
	if p == nil {
		p = &place{call: -1}
		t.places[index] = p
	}
	return p
}

// added takes the beginning of an item.
func (t *translation) added(event gjson.Result, data []byte) [][]byte {
	p, item := t.at(event), event.Get("item")
	p.kind = kindOf(item)
	if !isCall(item) || p.call >= 0 {
		return t.pass(data)
	}
	return t.beginCall(p, item, data)
}

// beginCall returns the chunk that a call begins with.
func (t *translation) beginCall(p *place, item gjson.Result, data []byte) [][]byte {
	p.call = t.calls
	t.calls++
	p.filled = item.Get("arguments").String() != "" || item.Get("input").String() != ""
	more := []member{{"index", number(int64(p.call))}}
	if t.keep && theirs(item) {
		more = append(more, member{models.TheirsMember, []byte("true")})
	}
	return t.callChunk(chatCall(item, more...), data)
}

// callChunk returns the chunk of a call's delta. The event rides in the delta
// itself, so that it goes where the call goes.
func (t *translation) callChunk(delta, data []byte) [][]byte {
	if t.keep {
		delta = models.AddMember(delta, models.EventMember, data)
	}
	return t.chunk(object(member{"tool_calls", models.Append(nil, delta)}), nil)
}

// arguments takes a piece of a call's arguments, or of its input.
func (t *translation) arguments(event gjson.Result, piece string, data []byte) [][]byte {
	p := t.at(event)
	if p.call < 0 {
		return t.pass(data)
	}
	p.filled = p.filled || piece != ""
	return t.callChunk(p.delta(piece), data)
}

// delta returns a call's delta with a piece of its text.
func (p *place) delta(piece string) []byte {
	index := member{"index", number(int64(p.call))}
	switch {
	case piece == "":
		return object(index)
	case p.kind == customCall:
		return object(index, member{"custom", object(text("input", piece))})
	default:
		return object(index, member{"function", object(text("arguments", piece))})
	}
}

// argumentsDone takes a call's arguments as a whole: some providers send them so
// alone.
func (t *translation) argumentsDone(event gjson.Result, whole string, data []byte) [][]byte {
	p := t.at(event)
	if p.call < 0 {
		return t.pass(data)
	}
	return t.fill(p, whole, data)
}

// fill returns the chunk of a call's arguments as a whole, unless they have come in
// pieces.
func (t *translation) fill(p *place, whole string, data []byte) [][]byte {
	if p.filled {
		whole = ""
	}
	p.filled = true
	if whole == "" && !t.keep {
		return nil
	}
	return t.callChunk(p.delta(whole), data)
}

// text takes a piece of what the model says.
func (t *translation) text(field string, event gjson.Result, piece string, data []byte) [][]byte {
	p := t.at(event)
	before := ""
	if !p.filled && t.said && field == "content" && !t.keep {
		before = "\n\n" // another message of the same answer
	}
	p.filled, t.said = true, true
	return t.chunk(object(text(field, before+piece)), data)
}

// textDone takes a text as a whole.
func (t *translation) textDone(field string, event gjson.Result, whole string, data []byte) [][]byte {
	if t.at(event).filled || whole == "" {
		return t.pass(data)
	}
	return t.text(field, event, whole, data)
}

// thought takes a piece of what the model lets be known of its reasoning.
func (t *translation) thought(piece string, data []byte) [][]byte {
	if t.keep {
		return t.pass(data)
	}
	return t.chunk(object(text("reasoning_content", piece)), nil)
}

// finished takes an item that is complete.
func (t *translation) finished(event gjson.Result, data []byte) [][]byte {
	p, item := t.at(event), event.Get("item")
	if p.done || !item.IsObject() {
		return nil
	}
	p.done = true
	t.items[event.Get("output_index").Int()] = []byte(item.Raw)
	if !isCall(item) {
		return append(t.missed(p, event, item), t.pass(data)...)
	}
	if p.call < 0 {
		p.kind = kindOf(item)
		return t.beginCall(p, item, data)
	}
	return t.fill(p, cmp.Or(item.Get("arguments").String(), item.Get("input").String()), data)
}

// missed returns the text of a message that no earlier event has told.
func (t *translation) missed(p *place, event, item gjson.Result) [][]byte {
	if kindOf(item) != messageItem || p.filled {
		return nil
	}
	whole := joined(item.Get("content"))
	if whole == "" {
		return nil
	}
	if t.keep { // the item itself tells it to the caller, this the loop
		p.filled, t.said = true, true
		return t.chunk(object(text("content", whole)), nothing)
	}
	return t.text("content", event, whole, nil)
}

// nothing is an event that says nothing to the caller.
var nothing = []byte("{}")

// pass returns an event for the caller that the loop has no use for.
func (t *translation) pass(data []byte) [][]byte {
	if !t.keep {
		return nil
	}
	return t.chunk([]byte("{}"), data)
}

// end takes the last event, with the items that no earlier one has told.
func (t *translation) end(event gjson.Result, data []byte) [][]byte {
	response := event.Get("response")
	var chunks [][]byte
	for i, item := range response.Get("output").Array() {
		if p := t.places[int64(i)]; p != nil && p.done || !item.IsObject() {
			continue
		}
		chunks = append(chunks, t.late(i, item)...)
	}
	finish := finishOf(response, t.calls > 0)
	chunks = append(chunks, t.write([]byte("{}"), models.Quote(finish), data))
	if usage := response.Get("usage"); usage.IsObject() {
		chunks = append(chunks, t.usage(usage))
	}
	return append(chunks, []byte("[DONE]"))
}

// late returns the chunks of an item that only the last event tells.
func (t *translation) late(index int, item gjson.Result) [][]byte {
	at := member{"output_index", number(int64(index))}
	var chunks [][]byte
	if t.places[int64(index)] == nil {
		added := object(text("type", "response.output_item.added"), at, raw("item", item))
		chunks = t.added(gjson.ParseBytes(added), added)
	}
	done := object(text("type", "response.output_item.done"), at, raw("item", item))
	return append(chunks, t.finished(gjson.ParseBytes(done), done)...)
}

// finishOf returns the finish_reason of a response.
func finishOf(response gjson.Result, calls bool) string {
	switch reason := response.Get("incomplete_details.reason").String(); {
	case reason == "content_filter":
		return "content_filter"
	case reason != "" || response.Get("status").String() == "incomplete":
		return "length"
	case calls:
		return "tool_calls"
	default:
		return "stop"
	}
}

// chunk returns one chunk with that delta; event may be nil.
func (t *translation) chunk(delta, event []byte) [][]byte {
	return [][]byte{t.write(delta, []byte("null"), event)}
}

func (t *translation) write(delta, finish, event []byte) []byte {
	choice := object(member{"index", []byte("0")}, member{"delta", delta}, member{"finish_reason", finish})
	if !t.keep {
		event = nil
	}
	return object(append(t.head(), member{"choices", models.Append(nil, choice)}, member{models.EventMember, event})...)
}

// head returns what all chunks begin with.
func (t *translation) head() []member {
	return []member{
		text("id", t.id), text("object", "chat.completion.chunk"),
		{"created", number(t.created)}, text("model", t.model),
	}
}

func (t *translation) usage(usage gjson.Result) []byte {
	return object(append(t.head(), member{"choices", []byte("[]")}, member{"usage", chatUsage(usage)})...)
}

func broken(why string) *models.Error {
	return &models.Error{Code: models.UpstreamError, Status: http.StatusBadGateway, Message: why}
}

// noResponse is the error of what is none of the Responses API's answers.
func noResponse(why string) *models.Error {
	e := broken(why)
	e.Err = models.ErrNoResponses
	return e
}

// failure returns the error that an event, or a response object, tells.
func failure(event gjson.Result) *models.Error {
	e := event.Get("response.error")
	switch {
	case e.IsObject():
	case event.Get("error").IsObject():
		e = event.Get("error")
	default:
		e = event
	}
	message := cmp.Or(e.Get("message").String(), fmt.Sprintf("the response ended as %q", cmp.Or(event.Get("response.status").String(), event.Get("type").String())))
	switch code := e.Get("code").String(); code {
	case "rate_limit_exceeded":
		return &models.Error{Code: models.RateLimited, Status: http.StatusTooManyRequests, Message: message}
	case "context_length_exceeded":
		return &models.Error{Code: models.ContextExceeded, Status: http.StatusBadRequest, Message: message}
	default:
		return broken(message)
	}
}
