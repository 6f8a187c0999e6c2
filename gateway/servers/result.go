package servers

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Call is one tool call.
type Call struct {
	Server     string
	Tool       string          // the server's own name of it
	Arguments  json.RawMessage // a JSON object; empty means {}
	Meta       json.RawMessage // what the caller has in _meta, a JSON object; what we say there ourselves goes before it. May be nil
	OnProgress func(Progress)  // called in order, possibly after Call returned; nil: progress only extends the time-out

	// ID names the call in the record, and Run, Door and Program whose it is; they
	// are for whoever answers what the server asks because of it (see Origin).
	ID, Run, Door, Program string
	// Party names whose call it is, to tell which of several calls in flight belong
	// together: a session of a door, say. If empty, it belongs with no other.
	Party string
	// Client answers what the server asks because of this call, when it is certain
	// that it was this call, or others of the same Party and Client. What it cannot
	// answer, and whenever it is not certain, is Options.Client's. May be nil.
	Client Client
	// LogLevel is the least grave level of messages that OnLog is to be given, as
	// in LogMessage. If empty, "info". Only servers that speak 2026-07-28 are told.
	LogLevel string
	// OnLog is given what the server logs meanwhile, when it is certain that it is
	// about this call or others of the same party. It must not block. May be nil.
	OnLog func(LogMessage)
}

// Progress is what a server reports while a call runs.
type Progress struct {
	Progress float64 `json:"progress"`
	Total    float64 `json:"total"` // zero: unknown
	Message  string  `json:"message"`
}

// Result is a server's answer to a call.
type Result struct {
	Raw     json.RawMessage // the whole CallToolResult, as the server sent it
	IsError bool            // the tool ran and says that it failed
}

type block struct {
	Type     string   `json:"type"`
	Text     string   `json:"text"`
	Data     string   `json:"data"`
	MIMEType string   `json:"mimeType"`
	URI      string   `json:"uri"`
	Name     string   `json:"name"`
	Resource resource `json:"resource"`
}

type resource struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType"`
	Text     *string `json:"text"`
	Blob     string  `json:"blob"`
}

// Text renders the result for a model: text as it is, structured content as
// JSON unless a text block already says the same, and a note for what is not
// text. It is cut to maxBytes, at a character, with a note of what was cut;
// zero or less means no limit.
func (r *Result) Text(maxBytes int) string {
	var content struct {
		Content           []block         `json:"content"`
		StructuredContent json.RawMessage `json:"structuredContent"`
	}
	var parts []string
	if err := json.Unmarshal(r.Raw, &content); err != nil {
		content.Content, parts = nil, []string{string(r.Raw)} // not a CallToolResult: the model sees what came
	}
	for _, b := range content.Content {
		parts = append(parts, b.render())
	}
	if s := content.StructuredContent; isPresent(s) && !saidBy(content.Content, s) {
		parts = append(parts, compact(s))
	}
	text := strings.Join(parts, "\n")
	if text == "" {
		text = "(no output)"
	}
	return cut(text, maxBytes)
}

func (b block) render() string {
	switch b.Type {
	case "text":
		return b.Text
	case "resource":
		return b.Resource.render()
	case "resource_link":
		return strings.TrimSpace(fmt.Sprintf("[resource %s %s]", b.URI, b.Name))
	case "image", "audio":
		return fmt.Sprintf("[%s %s, %d bytes]", b.Type, b.MIMEType, decodedSize(b.Data))
	default:
		return fmt.Sprintf("[%s]", b.Type)
	}
}

func (r resource) render() string {
	if r.Text != nil {
		return *r.Text
	}
	return fmt.Sprintf("[resource %s %s, %d bytes]", r.URI, r.MIMEType, decodedSize(r.Blob))
}

func decodedSize(b64 string) int {
	return base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(b64, "=")))
}

func isPresent(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}

// saidBy reports whether one text block is the JSON value s.
func saidBy(blocks []block, s json.RawMessage) bool {
	for _, b := range blocks {
		if b.Type == "text" && sameJSON([]byte(b.Text), s) {
			return true
		}
	}
	return false
}

func sameJSON(a, b []byte) bool {
	var va, vb any
	if decodeNumbers(a, &va) != nil || decodeNumbers(b, &vb) != nil {
		return false
	}
	return reflect.DeepEqual(va, vb)
}

// decodeNumbers decodes without rounding: large numbers that differ stay different.
func decodeNumbers(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(v)
}

func compact(raw json.RawMessage) string {
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return string(raw)
	}
	return buf.String()
}

func cut(s string, maxBytes int) string {
	if maxBytes <= 0 || len(s) <= maxBytes {
		return s
	}
	n := maxBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s\n[cut: %d of %d bytes shown]", s[:n], n, len(s))
}
