package responses

import (
	"cmp"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// Writer makes the events of a response of the chunks of a chat completion: of the
// provider's own events that they carry, where a provider of the Responses API has
// given them, else by itself. What the caller sees is one response, however many
// rounds there were: its id is the first round's, and its events and items are
// numbered anew, since calls that are not the caller's are not among them.
//
// It is used by one goroutine.
type Writer struct {
	req  *Request
	emit func(kind string, data []byte)

	sequence int64
	base     []byte // the response object, as far as it is known; nil: nothing has been told
	rounds   int    // of a provider of the Responses API
	output   [][]byte
	places   map[int64]int // the provider's output_index in this round, and ours
	open     []*openItem   // items that we write ourselves, in their order
	calls    map[int64]*openItem
	finish   string
	last     gjson.Result // the provider's own response object, at the end
	usage    gjson.Result
	gateway  []byte // x_gateway
}

// NewWriter returns a writer of the answer to a request. It gives each event to
// emit: its type, and its data.
func NewWriter(req *Request, emit func(kind string, data []byte)) *Writer {
	return &Writer{req: req, emit: emit, places: map[int64]int{}, calls: map[int64]*openItem{}}
}

// Take takes a chunk of the answer. It keeps nothing of it.
func (w *Writer) Take(data []byte) {
	chunk := gjson.ParseBytes(data)
	if g := chunk.Get("x_gateway"); g.Exists() {
		w.gateway = []byte(g.Raw)
	}
	if u := chunk.Get("usage"); u.IsObject() {
		w.usage = u
	}
	choice := chunk.Get("choices.0")
	w.finish = cmp.Or(choice.Get("finish_reason").String(), w.finish)
	if event := chunk.Get(models.EventMember); event.Exists() {
		w.pass(event)
		return
	}
	w.delta(chunk, choice.Get("delta"))
}

// delta takes what a chunk says without an event of the provider's own.
func (w *Writer) delta(chunk, delta gjson.Result) {
	if thought := models.Thought(delta); thought != "" {
		w.begin(chunk)
		w.current(reasoningItem).write(w, summaryText, thought)
	}
	for _, kind := range []*partKind{outputText, refusal} {
		if said := delta.Get(kind.delta); said.Type == gjson.String && said.String() != "" {
			w.begin(chunk)
			w.current(messageItem).write(w, kind, said.String())
		}
	}
	for _, call := range delta.Get("tool_calls").Array() {
		if event := call.Get(models.EventMember); event.Exists() {
			w.pass(event)
			continue
		}
		w.begin(chunk)
		w.call(call)
	}
}

// current returns the message or the reasoning that is being written. Where it is
// another item, that is finished and a new one begun.
func (w *Writer) current(kind string) *openItem {
	if n := len(w.open); n > 0 && w.open[n-1].kind == kind {
		return w.open[n-1]
	}
	w.closeAll()
	return w.start(&openItem{kind: kind})
}

// call takes a piece of a call.
func (w *Writer) call(delta gjson.Result) {
	index := delta.Get("index").Int()
	item := w.calls[index]
	if item == nil {
		if n := len(w.open); n > 0 && !w.open[n-1].isCall() {
			w.closeAll()
		}
		item = w.start(newCall(delta, w.req.flat))
		w.calls[index] = item
	}
	item.write(w, item.argumentsKind(), cmp.Or(delta.Get("function.arguments").String(), delta.Get("custom.input").String()))
}

// start begins an item of our own.
func (w *Writer) start(item *openItem) *openItem {
	item.place = w.take()
	w.open = append(w.open, item)
	item.begin(w)
	return item
}

// take returns the place of the next item.
func (w *Writer) take() int {
	w.output = append(w.output, nil)
	return len(w.output) - 1
}

// closeAll ends the items that we are writing.
func (w *Writer) closeAll() {
	for _, item := range w.open {
		item.end(w)
	}
	w.open = nil
	clear(w.calls)
}

// begin tells of the response before anything else is told.
func (w *Writer) begin(chunk gjson.Result) {
	if w.base != nil {
		return
	}
	w.base = w.req.object(newID("resp_"), chunk.Get("model").String(), cmp.Or(chunk.Get("created").Int(), time.Now().Unix()))
	w.send("response.created", member{"response", w.base})
	w.send("response.in_progress", member{"response", w.base})
}

// send emits an event.
func (w *Writer) send(kind string, members ...member) {
	all := append([]member{text("type", kind), {"sequence_number", number(w.sequence)}}, members...)
	w.sequence++
	w.emit(kind, object(all...))
}

// pass takes an event of the provider's own.
func (w *Writer) pass(event gjson.Result) {
	switch kind := event.Get("type").String(); kind {
	case "response.created", "response.queued", "response.in_progress":
		w.preliminary(kind, event.Get("response"))
	case "response.completed", "response.incomplete":
		w.last = event.Get("response")
	case "":
	default:
		w.closeAll()
		w.begin(event)
		w.forward(kind, event)
	}
}

// preliminary takes an event that comes before anything is done. Those of later
// rounds are none of the caller's business.
func (w *Writer) preliminary(kind string, response gjson.Result) {
	if kind == "response.created" {
		w.rounds++
		clear(w.places)
	}
	if w.base == nil {
		w.base = w.req.own([]byte(response.Raw))
	} else if w.rounds != 1 {
		return
	}
	w.send(kind, member{"response", models.WithMember(w.base, "status", []byte(cmp.Or(response.Get("status").Raw, `"in_progress"`)))})
}

// forward sends an event on as it came, but for its numbers.
func (w *Writer) forward(kind string, event gjson.Result) {
	out := models.WithMember([]byte(event.Raw), "sequence_number", number(w.sequence))
	if index := event.Get("output_index"); index.Exists() {
		place, known := w.places[index.Int()]
		if !known {
			place = w.take()
			w.places[index.Int()] = place
		}
		if kind == "response.output_item.done" {
			w.output[place] = []byte(event.Get("item").Raw)
		}
		out = models.WithMember(out, "output_index", number(int64(place)))
	}
	w.sequence++
	w.emit(kind, out)
}

// End ends the response.
func (w *Writer) End() {
	w.closeAll()
	w.begin(gjson.Result{})
	response := w.response()
	w.send("response."+gjson.GetBytes(response, "status").String(), member{"response", response})
}

// Fail ends a response that has begun with an error.
func (w *Writer) Fail(e *models.Error) {
	w.closeAll()
	w.begin(gjson.Result{})
	failure := object(text("code", codeOf(e)), text("message", e.Message))
	w.send("response.failed", member{"response", withMembers(w.base, text("status", "failed"), member{"error", failure}, member{"output", w.items()})})
}

// codeOf is an error's code in the Responses API.
func codeOf(e *models.Error) string {
	switch e.Code {
	case models.RateLimited:
		return "rate_limit_exceeded"
	case models.ContextExceeded:
		return "context_length_exceeded"
	default:
		return string(e.Code)
	}
}

// items returns those items of the answer that are complete.
func (w *Writer) items() []byte {
	var list [][]byte
	for _, item := range w.output {
		if item != nil {
			list = append(list, item)
		}
	}
	return models.Append(nil, list...)
}

// response returns the response object at the end.
func (w *Writer) response() []byte {
	members := []member{text("status", "completed"), {"output", w.items()}, {"usage", itemUsage(w.usage)}}
	out := w.base
	if w.last.Exists() {
		out = w.req.own([]byte(w.last.Raw))
		members = append(members, raw("id", gjson.GetBytes(w.base, "id")), raw("created_at", gjson.GetBytes(w.base, "created_at")))
	} else {
		members = append(members, member{"completed_at", number(time.Now().Unix())})
	}
	if reason := incompleteFor[w.finish]; reason != "" {
		members[0] = text("status", "incomplete")
		members = append(members, member{"incomplete_details", object(text("reason", reason))})
	}
	return withMembers(out, append(members, member{"x_gateway", w.gateway})...)
}

// incompleteFor are the reasons of an incomplete response, by finish_reason.
var incompleteFor = map[string]string{"length": "max_output_tokens", "content_filter": "content_filter"}

// withMembers returns an object with these members set.
func withMembers(object []byte, members ...member) []byte {
	b, err := models.ParseObject(object)
	if err != nil {
		return object
	}
	for _, m := range members {
		if len(m.value) > 0 {
			b.Set(m.key, m.value)
		}
	}
	return b.Bytes()
}
