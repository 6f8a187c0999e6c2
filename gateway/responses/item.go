package responses

import (
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// openItem is an item that is being written.
type openItem struct {
	kind  string
	id    string
	place int
	call  gjson.Result // of a call: as it began
	name  namespaced   // … and what it calls
	parts []*part
}

// part is a text within an item.
type part struct {
	kind *partKind
	text strings.Builder
}

// partKind is what events tell of one kind of text, and by which names.
type partKind struct {
	delta string   // the member of a chunk's delta that brings it
	event string   // what the names of its events begin with
	part  string   // … and those of the part around it; "" for none
	index string   // the member that counts the parts; "" when there is one alone
	field string   // the member that has the text when it is complete
	shape []member // of the part, besides its text
	extra []member // of each of the text's events
}

var (
	outputText = &partKind{
		delta: "content", event: "response.output_text", part: "response.content_part", index: "content_index", field: "text",
		shape: []member{text("type", "output_text"), {"annotations", []byte("[]")}, {"logprobs", []byte("[]")}},
		extra: []member{{"logprobs", []byte("[]")}},
	}
	refusal = &partKind{
		delta: "refusal", event: "response.refusal", part: "response.content_part", index: "content_index", field: "refusal",
		shape: []member{text("type", "refusal")},
	}
	summaryText = &partKind{
		event: "response.reasoning_summary_text", part: "response.reasoning_summary_part", index: "summary_index", field: "text",
		shape: []member{text("type", "summary_text")},
	}
	functionArguments = &partKind{event: "response.function_call_arguments", field: "arguments"}
	customInput       = &partKind{event: "response.custom_tool_call_input", field: "input"}
)

// prefixes are what the ids of items begin with.
var prefixes = map[string]string{messageItem: "msg_", reasoningItem: "rs_", functionCall: "fc_", customCall: "ctc_"}

// newCall returns the item of a call that begins with that delta.
func newCall(delta gjson.Result, flat map[namespaced]string) *openItem {
	item := &openItem{kind: functionCall, call: delta, name: namespaced{name: delta.Get("function.name").String()}}
	if delta.Get("custom").IsObject() {
		item.kind, item.name.name = customCall, delta.Get("custom.name").String()
	}
	for tool, name := range flat {
		if name == item.name.name {
			item.name = tool
			break
		}
	}
	return item
}

func (i *openItem) isCall() bool { return i.kind == functionCall || i.kind == customCall }

// argumentsKind is the kind of a call's one text.
func (i *openItem) argumentsKind() *partKind {
	if i.kind == customCall {
		return customInput
	}
	return functionArguments
}

// begin tells of the item.
func (i *openItem) begin(w *Writer) {
	i.id = newID(prefixes[i.kind])
	w.send("response.output_item.added", i.at(), member{"item", i.item("in_progress")})
	if i.isCall() {
		i.parts = []*part{{kind: i.argumentsKind()}}
	}
}

// at is the member that says which item an event is about.
func (i *openItem) at() member { return member{"output_index", number(int64(i.place))} }

// write adds to a text of that kind, the last of the item or a new one.
func (i *openItem) write(w *Writer, kind *partKind, piece string) {
	if n := len(i.parts); n == 0 || i.parts[n-1].kind != kind {
		i.endPart(w)
		i.parts = append(i.parts, &part{kind: kind})
		i.tellPart(w, "added")
	}
	if piece == "" {
		return
	}
	i.parts[len(i.parts)-1].text.WriteString(piece)
	i.tell(w, ".delta", text("delta", piece))
}

// tell sends an event of the last text.
func (i *openItem) tell(w *Writer, suffix string, told member) {
	kind := i.parts[len(i.parts)-1].kind
	w.send(kind.event+suffix, append(append(i.where(), told), kind.extra...)...)
}

// where are the members that say which text an event is about.
func (i *openItem) where() []member {
	where := []member{text("item_id", i.id), i.at()}
	if index := i.parts[len(i.parts)-1].kind.index; index != "" {
		where = append(where, member{index, number(int64(len(i.parts) - 1))})
	}
	return where
}

// tellPart sends an event of the part around the last text, where there is one.
func (i *openItem) tellPart(w *Writer, what string) {
	p := i.parts[len(i.parts)-1]
	if p.kind.part != "" {
		w.send(p.kind.part+"."+what, append(i.where(), member{"part", p.json()})...)
	}
}

// json returns the part as it stands in its item.
func (p *part) json() []byte {
	return object(append([]member{p.kind.shape[0], text(p.kind.field, p.text.String())}, p.kind.shape[1:]...)...)
}

// endPart ends the last text.
func (i *openItem) endPart(w *Writer) {
	if len(i.parts) == 0 {
		return
	}
	p := i.parts[len(i.parts)-1]
	i.tell(w, ".done", text(p.kind.field, p.text.String()))
	i.tellPart(w, "done")
}

// end ends the item.
func (i *openItem) end(w *Writer) {
	if i.kind == functionCall && i.parts[0].text.Len() == 0 {
		i.write(w, functionArguments, "{}") // no text means no arguments
	}
	i.endPart(w)
	status := "completed"
	if incompleteFor[w.finish] != "" {
		status = "incomplete"
	}
	w.output[i.place] = i.item(status)
	w.send("response.output_item.done", i.at(), member{"item", w.output[i.place]})
}

// item returns the item with what has been written of it.
func (i *openItem) item(status string) []byte {
	var parts [][]byte
	said := ""
	for _, p := range i.parts {
		if i.isCall() {
			said = p.text.String()
		} else {
			parts = append(parts, p.json())
		}
	}
	head := []member{text("id", i.id), text("type", i.kind), text("status", status)}
	switch i.kind {
	case messageItem:
		return object(append(head, text("role", "assistant"), member{"content", models.Append(nil, parts...)})...)
	case reasoningItem:
		return object(append(head, member{"summary", models.Append(nil, parts...)})...)
	default:
		return object(append(head, raw("call_id", i.call.Get("id")), text("name", i.name.name),
			text(i.argumentsKind().field, said), textIf("namespace", i.name.namespace))...)
	}
}
