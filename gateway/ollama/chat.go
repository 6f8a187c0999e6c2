package ollama

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// Chat is a request to /api/chat.
type Chat struct {
	Model  string
	Stream bool // true unless the client says otherwise
	// Quiet reports whether the client wants no thinking.
	Quiet bool
	// Loading reports whether there is nothing to answer: the client wants the
	// model to be loaded, or, with Unload, to be put away.
	Loading, Unload bool

	asked *models.Body
	body  *models.Body
}

// ParseChat reads a request to /api/chat. Its error is the client's fault.
func ParseChat(data []byte) (*Chat, error) {
	asked, err := models.ParseBody(data)
	if err != nil {
		return nil, models.Invalid("", "%v", err)
	}
	body, err := models.ParseObject([]byte("{}"))
	if err != nil {
		return nil, fmt.Errorf("making an empty request: %w", err)
	}
	c := &Chat{Stream: true, asked: asked, body: body}
	for _, read := range []func() error{c.readHead, c.readMessages, c.readFormat, c.readThink, c.readOptions} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if tools := asked.Get("tools"); tools.IsArray() && len(tools.Array()) > 0 {
		body.Set("tools", asked.Raw("tools"))
	}
	return c, nil
}

// Body returns the request in OpenAI's shape, for a model that takes these
// reasoning efforts.
func (c *Chat) Body(efforts []string) *models.Body {
	body := c.body.Clone()
	body.SetString("model", c.Model)
	if c.Stream {
		body.Set("stream", []byte("true"))
		body.Set("stream_options", []byte(`{"include_usage":true}`))
	}
	if c.Quiet && slices.Contains(efforts, "none") {
		body.SetString("reasoning_effort", "none")
	}
	return body
}

func given(value gjson.Result) bool { return value.Exists() && value.Type != gjson.Null }

func (c *Chat) readHead() error {
	model := c.asked.Get("model")
	if given(model) && model.Type != gjson.String {
		return models.Invalid("model", "model must be a string")
	}
	c.Model = model.String()
	if stream := c.asked.Get("stream"); given(stream) {
		if !stream.IsBool() {
			return models.Invalid("stream", "stream must be true or false")
		}
		c.Stream = stream.Bool()
	}
	return nil
}

// readFormat takes "json", or a JSON Schema.
func (c *Chat) readFormat() error {
	format := c.asked.Get("format")
	switch {
	case !given(format), format.Type == gjson.String && format.String() == "":
	case format.Type == gjson.String && format.String() == "json":
		c.body.Set("response_format", []byte(`{"type":"json_object"}`))
	case format.IsObject():
		c.body.Set("response_format", fmt.Appendf(nil, `{"type":"json_schema","json_schema":{"name":"answer","schema":%s}}`, format.Raw))
	default:
		return models.Invalid("format", `format must be "json" or a JSON schema`)
	}
	return nil
}

// readThink takes true, which leaves it to the model how hard it thinks, false, or
// an effort.
func (c *Chat) readThink() error {
	think := c.asked.Get("think")
	switch {
	case !given(think), think.Type == gjson.True, think.Type == gjson.String && think.String() == "":
	case think.Type == gjson.False:
		c.Quiet = true
	case think.Type == gjson.String:
		c.body.SetString("reasoning_effort", think.String())
	default:
		return models.Invalid("think", `think must be true, false, or an effort such as "low"`)
	}
	return nil
}

// renamed are the options that OpenAI has as well, with its names for them. The
// others say how a model is run on one's own machine, and have no meaning here.
var renamed = map[string]string{
	"temperature": "temperature", "top_p": "top_p", "seed": "seed", "stop": "stop", "num_predict": "max_tokens",
	"presence_penalty": "presence_penalty", "frequency_penalty": "frequency_penalty",
}

func (c *Chat) readOptions() error {
	options := c.asked.Get("options")
	if !given(options) {
		return nil
	}
	if !options.IsObject() {
		return models.Invalid("options", "options must be an object such as {\"temperature\": 0}")
	}
	var fault error
	options.ForEach(func(key, value gjson.Result) bool {
		name := renamed[key.String()]
		switch {
		case name == "" || !given(value):
		case name == "stop":
			if value.Type != gjson.String && !value.IsArray() {
				fault = models.Invalid("options.stop", "options.stop must be a list of strings")
			} else if value.Raw != "[]" {
				c.body.Set(name, []byte(value.Raw))
			}
		case value.Type != gjson.Number:
			fault = models.Invalid("options."+key.String(), "options.%s must be a number", key.String())
		case name == "max_tokens" && value.Num <= 0: // Ollama's -1 and -2: as much as there is
		default:
			c.body.Set(name, []byte(value.Raw))
		}
		return fault == nil
	})
	return fault
}

// message is one message of a request.
type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Images     []string   `json:"images"` // in base64
	ToolCalls  []toolCall `json:"tool_calls"`
	ToolName   string     `json:"tool_name"` // of a tool's result
	Name       string     `json:"name"`      // what some clients write for it
	ToolCallID string     `json:"tool_call_id"`
}

// toolCall is a call as Ollama has it: its arguments are an object.
type toolCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

func (c *Chat) readMessages() error {
	raw := c.asked.Get("messages")
	if given(raw) && !raw.IsArray() {
		return models.Invalid("messages", "messages must be a list of objects")
	}
	elements := c.asked.Elements("messages")
	if len(elements) == 0 {
		keep := c.asked.Get("keep_alive")
		c.Loading, c.Unload = true, keep.String() != "" && strings.Trim(keep.String(), "0smh") == ""
		return nil
	}
	h := history{}
	for i, element := range elements {
		var m message
		if err := json.Unmarshal(element, &m); err != nil {
			return models.Invalid("messages", "messages[%d]: %v", i, err)
		}
		if err := h.add(i, m); err != nil {
			return err
		}
	}
	h.flush()
	c.body.Set("messages", models.Append(nil, h.messages...))
	return nil
}

// history puts messages into OpenAI's shape, one after the other.
type history struct {
	messages [][]byte
	calls    []openCall // without a result as yet
	pictures []any      // of results: a tool message holds none, so they follow
}

type openCall struct{ id, name string }

// part is one of the parts that a message's content consists of.
type part map[string]any

func (h *history) add(i int, m message) error {
	var pictures []any
	for n, image := range m.Images {
		url, err := dataURL(image)
		if err != nil {
			return models.Invalid("messages", "messages[%d].images[%d]: %v", i, n, err)
		}
		pictures = append(pictures, part{"type": "image_url", "image_url": part{"url": url}})
	}
	if m.Role == "tool" {
		h.pictures = append(h.pictures, pictures...)
		return h.put(part{"role": "tool", "tool_call_id": h.callOf(m), "content": m.Content})
	}
	h.flush()
	out := part{"role": m.Role, "content": m.Content}
	if len(pictures) > 0 {
		out["content"] = append([]any{part{"type": "text", "text": m.Content}}, pictures...)
	}
	if len(m.ToolCalls) > 0 {
		out["tool_calls"] = h.open(i, m.ToolCalls)
	}
	return h.put(out)
}

func (h *history) put(message part) error {
	data, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	h.messages = append(h.messages, data)
	return nil
}

// flush puts the pictures of the results before into a message of their own.
func (h *history) flush() {
	if len(h.pictures) == 0 {
		return
	}
	content := append([]any{part{"type": "text", "text": "The images of the tool results above:"}}, h.pictures...)
	h.pictures = nil
	_ = h.put(part{"role": "user", "content": content}) // strings in maps cannot fail to encode
}

// open returns an assistant message's calls in OpenAI's shape. A client that
// leaves out their ids gets ones that stay the same from turn to turn.
func (h *history) open(i int, calls []toolCall) []part {
	h.calls = nil
	var list []part
	for n, call := range calls {
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d_%d", i, n)
		}
		h.calls = append(h.calls, openCall{call.ID, call.Function.Name})
		list = append(list, part{"id": call.ID, "type": "function", "function": part{
			"name": call.Function.Name, "arguments": argumentsText(call.Function.Arguments),
		}})
	}
	return list
}

// argumentsText is a call's arguments as OpenAI has them: JSON in a string.
func argumentsText(raw json.RawMessage) string {
	if value := gjson.ParseBytes(raw); value.Type == gjson.String {
		return value.String()
	}
	if len(raw) == 0 || string(raw) == "null" {
		return "{}"
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil { // it was parsed before
		return string(raw)
	}
	return compact.String()
}

// callOf returns the id of the call that a message is the result of: what the
// client says, or else the first open call of the tool's name, or the first.
func (h *history) callOf(m message) string {
	at := slices.IndexFunc(h.calls, func(c openCall) bool { return c.id == m.ToolCallID })
	if m.ToolCallID == "" {
		name := m.ToolName
		if name == "" {
			name = m.Name
		}
		at = slices.IndexFunc(h.calls, func(c openCall) bool { return c.name == name })
		if at < 0 && len(h.calls) > 0 {
			at = 0
		}
	}
	if at < 0 {
		return m.ToolCallID
	}
	id := h.calls[at].id
	h.calls = slices.Delete(h.calls, at, at+1)
	return id
}

// dataURL makes an image's base64 text a data URL (RFC 2397), which says what
// kind of image it is.
func dataURL(image string) (string, error) {
	if strings.HasPrefix(image, "data:image/") {
		return image, nil
	}
	head, err := base64.StdEncoding.DecodeString(image[:min(len(image), 684)&^3])
	if err != nil {
		return "", fmt.Errorf("it is no base64: %w", err)
	}
	kind := http.DetectContentType(head)
	if !strings.HasPrefix(kind, "image/") {
		return "", fmt.Errorf("it is no image but %s", kind)
	}
	return "data:" + kind + ";base64," + image, nil
}
