package responses

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// Request is what a caller of the Responses API has sent.
type Request struct {
	// Body is the request as the loop takes it: messages and tools are those of
	// chat completions, and everything else is as it came.
	Body *models.Body
	// Theirs are names of tools that the caller runs and that stand elsewhere than
	// in its list of tools: in what a search for tools has found.
	Theirs []string

	sent *models.Body
	flat map[namespaced]string
}

// ParseRequest reads the body of a request. An error is a *models.Error.
func ParseRequest(data []byte) (*Request, error) {
	sent, err := models.ParseBody(data)
	if err != nil {
		return nil, models.Invalid("", "%v", err)
	}
	if err := refuse(sent); err != nil {
		return nil, err
	}
	items, err := inputItems(sent)
	if err != nil {
		return nil, err
	}
	r := &Request{Body: sent.Clone(), sent: sent, flat: flattened(sent.Elements("tools"))}
	r.Body.Delete("input")
	r.Body.Set("messages", models.Append(nil, messagesOf(items, r.flat)...))
	if sent.Get("tools").IsArray() {
		r.Body.Set("tools", chatTools(sent.Elements("tools")))
	}
	if choice := sent.Get("tool_choice"); choice.IsObject() {
		r.Body.Set("tool_choice", chatChoice(choice))
	}
	if sent.Get("stream").Bool() {
		r.Body.Set("stream_options", withUsage(sent))
	}
	for _, item := range items {
		r.noteFound(gjson.ParseBytes(item))
	}
	return r, nil
}

// withUsage returns the request's stream_options with tokens asked for, which
// every stream of the Responses API tells.
func withUsage(b *models.Body) []byte {
	options := []byte("{}")
	if o := b.Get("stream_options"); o.IsObject() {
		options = []byte(o.Raw)
	}
	return models.WithMember(options, "include_usage", []byte("true"))
}

// noteFound takes the names of the tools that a search has found.
func (r *Request) noteFound(item gjson.Result) {
	if kindOf(item) != "tool_search_output" {
		return
	}
	for _, tool := range item.Get("tools").Array() {
		for _, t := range within(tool) {
			r.Theirs = append(r.Theirs, t.Get("name").String())
		}
	}
}

// refuse says what of the API there is not: nothing is kept between requests.
func refuse(b *models.Body) error {
	if id := b.Get("previous_response_id"); id.String() != "" {
		return &models.Error{
			Code: models.InvalidRequest, Status: http.StatusBadRequest, Param: "previous_response_id", Message: "not found",
			Body: notFound(id.String()),
		}
	}
	if c := b.Get("conversation"); c.Exists() && c.Type != gjson.Null {
		return models.Invalid("conversation", "conversation is not supported: nothing is kept between requests; send the items so far as input")
	}
	if b.Get("background").Bool() {
		return models.Invalid("background", "background is not supported: an answer is given while the caller waits")
	}
	return nil
}

// notFound is the API's own answer to an id that is not, or no longer, known:
// clients then send everything again.
func notFound(id string) []byte {
	message := "Previous response with id '" + id + "' not found: nothing is kept between requests (store is false). Send the items so far as input, without previous_response_id."
	return object(member{"error", object(text("message", message), text("type", "invalid_request_error"),
		text("param", "previous_response_id"), text("code", "previous_response_not_found"))})
}

// inputItems returns the items of a request's input; a text is one.
func inputItems(b *models.Body) ([][]byte, error) {
	input := b.Get("input")
	switch {
	case input.Type == gjson.String:
		return [][]byte{object(text("type", messageItem), text("role", "user"), raw("content", input))}, nil
	case !input.Exists() || input.Type == gjson.Null:
		return nil, models.Invalid("input", "input is missing: send a text, or a list of items")
	case !input.IsArray():
		return nil, models.Invalid("input", "input must be a text or a list of items")
	}
	items := b.Elements("input")
	if len(items) == 0 {
		return nil, models.Invalid("input", "input is empty: send at least one item")
	}
	for i, raw := range items {
		item := gjson.ParseBytes(raw)
		switch {
		case !item.IsObject():
			return nil, models.Invalid("input", `input[%d] must be an object such as {"role": "user", "content": "…"}`, i)
		case kindOf(item) == "":
			return nil, models.Invalid("input", "input[%d] has neither a type nor a role", i)
		case kindOf(item) == "item_reference":
			return nil, models.Invalid("input", "input[%d] refers to the item %q, and nothing is kept between requests (store is false): send the item itself", i, item.Get("id").String())
		}
	}
	return items, nil
}

// messagesOf returns a request's items as messages, each with the items that it
// stands for. What an assistant has said, thought and called stands in one message
// until something follows that is not the assistant's.
func messagesOf(items [][]byte, flat map[namespaced]string) [][]byte {
	var list [][]byte
	var current *message
	flush := func() {
		if current != nil {
			list = append(list, current.bytes())
			current = nil
		}
	}
	for _, item := range items {
		parsed := gjson.ParseBytes(item)
		role := roleOf(parsed)
		if current == nil || !current.takes(role, parsed) {
			flush()
			current = &message{role: role, flat: flat}
		}
		current.add(parsed, item)
	}
	flush()
	return list
}

// roleOf returns the role of the message that an item is, or is part of; "" is
// that of whatever stands before it.
func roleOf(item gjson.Result) string {
	switch kind := kindOf(item); {
	case kind == messageItem:
		return item.Get("role").String()
	case isOutput(item):
		return "tool"
	case strings.HasSuffix(kind, "_output"):
		return ""
	default:
		return "assistant"
	}
}

// message is a message that is put together from items.
type message struct {
	role      string
	flat      map[namespaced]string
	items     [][]byte
	content   []byte // as chat completions have it
	said      bool
	calls     [][]byte
	reasoning strings.Builder
	id        string // of the call that is answered
}

// takes reports whether the item goes into the message.
func (m *message) takes(role string, item gjson.Result) bool {
	if role == "" {
		return true
	}
	return role == "assistant" && m.role == role && !(m.said && kindOf(item) == messageItem)
}

// add takes an item in.
func (m *message) add(item gjson.Result, raw []byte) {
	m.items = append(m.items, raw)
	switch kind := kindOf(item); {
	case kind == messageItem:
		m.content, m.said = chatContent(item.Get("content"), m.role), true
	case kind == reasoningItem:
		m.reasoning.WriteString(thought(item))
	case isCall(item):
		m.calls = append(m.calls, chatCall(flatly(item, m.flat)))
	case isOutput(item):
		m.id, m.content = item.Get("call_id").String(), outputContent(item)
	}
}

// flatly returns a call item under the name that its tool has outside of its
// namespace.
func flatly(item gjson.Result, flat map[namespaced]string) gjson.Result {
	name, ok := flat[namespaced{item.Get("namespace").String(), item.Get("name").String()}]
	if !ok {
		return item
	}
	return gjson.ParseBytes(models.WithMember([]byte(item.Raw), "name", models.Quote(name)))
}

// bytes returns the message.
func (m *message) bytes() []byte {
	role := m.role
	if role == "" {
		role = "assistant" // an item that nothing stands before
	}
	members := []member{text("role", role), textIf("tool_call_id", m.id)}
	content := m.content
	if content == nil {
		content = []byte("null")
	}
	members = append(members, member{"content", content}, textIf("reasoning_content", m.reasoning.String()))
	if m.calls != nil {
		members = append(members, member{"tool_calls", models.Append(nil, m.calls...)})
	}
	return object(append(members, member{models.ItemsMember, models.Append(nil, m.items...)})...)
}

// thought returns the text of a reasoning item that a provider of chat completions
// has given: others keep theirs encrypted, and get it back as it is.
func thought(item gjson.Result) string {
	if item.Get("encrypted_content").String() != "" {
		return ""
	}
	var b strings.Builder
	for _, list := range []string{"content", "summary"} {
		for _, part := range item.Get(list).Array() {
			b.WriteString(part.Get("text").String())
		}
		if b.Len() > 0 {
			break
		}
	}
	return b.String()
}
