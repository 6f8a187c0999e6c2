// Package demo is the demo model: a scripted provider that runs offline, inside
// the process, so that a newcomer without a key sees the whole program work. It
// speaks the wire of a real provider behind an http.RoundTripper, and says in
// every answer that it is a script.
//
// A streamed answer is written by one goroutine, which ends with the answer, or
// when its reader closes it.
package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"pointsman/assets"
)

// Model is the model's name.
const Model = "demo"

// Transport answers chat completions from the script.
type Transport struct {
	// Pace is the pause between two words of a streamed answer. Zero: none.
	Pace time.Duration
}

// script is assets/demo.yaml.
type script struct {
	Rounds  []round           `yaml:"rounds"`
	Answers map[string]string `yaml:"answers"`
}

type round struct {
	When  string       `yaml:"when"` // done | denied; empty: either
	Say   string       `yaml:"say"`
	Calls []scriptCall `yaml:"calls"`
}

type scriptCall struct {
	Tool      string         `yaml:"tool"`
	Arguments map[string]any `yaml:"arguments"`
}

// RoundTrip answers one request.
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		defer req.Body.Close()
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, fmt.Errorf("reading a request to the demo model: %w", err)
		}
	}
	if !strings.HasSuffix(req.URL.Path, "/chat/completions") {
		return reply(req, http.StatusNotFound, "application/json", []byte(`{"error":{"message":"the demo model answers chat completions only"}}`)), nil
	}
	next, err := nextTurn(body)
	if err != nil {
		return nil, err
	}
	if !gjson.GetBytes(body, "stream").Bool() {
		return reply(req, http.StatusOK, "application/json", next.plain()), nil
	}
	response := reply(req, http.StatusOK, "text/event-stream", nil)
	reader, writer := io.Pipe()
	response.Body = reader
	go func() { writer.CloseWithError(next.stream(writer, t.Pace, req.Context().Done())) }()
	return response, nil
}

func reply(req *http.Request, status int, contentType string, body []byte) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(bytes.NewReader(body)),
		ContentLength: -1, Request: req,
	}
}

// turn is one answer of the model.
type turn struct {
	id    string
	say   string
	calls []scriptCall
}

// nextTurn finds where in the script a conversation is: after as many rounds as
// the model has taken since the person last spoke.
func nextTurn(body []byte) (turn, error) {
	var s script
	if err := yaml.Unmarshal(assets.DemoYAML, &s); err != nil {
		return turn{}, fmt.Errorf("reading the demo script: %w", err)
	}
	taken, denied := progress(gjson.GetBytes(body, "messages").Array())
	next := turn{id: fmt.Sprintf("demo-%d", taken)}
	when := "done"
	if denied != "" {
		when = "denied"
	}
	rounds := s.rounds(when)
	switch {
	case !offers(body, rounds):
		next.say = s.Answers["plain"]
	case taken < len(rounds):
		next.say, next.calls = rounds[taken].Say, rounds[taken].Calls
		next.calls = onlyOffered(body, next.calls)
	default:
		next.say = strings.ReplaceAll(s.Answers[when], "{reason}", denied)
	}
	return next, nil
}

func (s script) rounds(when string) []round {
	var list []round
	for _, r := range s.Rounds {
		if r.When == "" || r.When == when {
			list = append(list, r)
		}
	}
	return list
}

// progress counts the model's turns since the last user message, and returns
// why a call was not run, or "".
func progress(messages []gjson.Result) (taken int, denied string) {
	for _, m := range messages {
		switch m.Get("role").String() {
		case "user":
			taken, denied = 0, ""
		case "assistant":
			taken++
		case "tool":
			if _, why, ok := strings.Cut(m.Get("content").String(), "The call was not run ("); ok {
				denied, _, _ = strings.Cut(why, "\n")
				_, reason, _ := strings.Cut(denied, "): ")
				denied = reason
			}
		}
	}
	return taken, denied
}

// offers reports whether the request offers the tools the script needs.
func offers(body []byte, rounds []round) bool {
	for _, r := range rounds {
		for _, c := range r.Calls {
			if strings.HasPrefix(c.Tool, "scratch__") && !offered(body, c.Tool) {
				return false
			}
		}
	}
	return true
}

func offered(body []byte, tool string) bool {
	for _, name := range gjson.GetBytes(body, "tools.#.function.name").Array() {
		if name.String() == tool {
			return true
		}
	}
	return false
}

func onlyOffered(body []byte, calls []scriptCall) []scriptCall {
	var list []scriptCall
	for _, c := range calls {
		if offered(body, c.Tool) {
			list = append(list, c)
		}
	}
	return list
}

// toolCalls returns the calls in OpenAI's shape, indexed for streams.
func (t turn) toolCalls() []map[string]any {
	var list []map[string]any
	for i, c := range t.calls {
		arguments, err := json.Marshal(c.Arguments)
		if err != nil { // it came from YAML with string keys
			arguments = []byte("{}")
		}
		list = append(list, map[string]any{
			"index": i, "id": fmt.Sprintf("call_%s_%d", t.id, i), "type": "function",
			"function": map[string]any{"name": c.Tool, "arguments": string(arguments)},
		})
	}
	return list
}

func (t turn) finish() string {
	if len(t.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (t turn) plain() []byte {
	message := map[string]any{"role": "assistant", "content": t.say}
	if calls := t.toolCalls(); calls != nil {
		message["tool_calls"] = calls
	}
	return encode(map[string]any{
		"id": t.id, "object": "chat.completion", "created": time.Now().Unix(), "model": Model, "usage": usage(t),
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": t.finish()}},
	})
}

// usage counts words: the demo has no tokens, but a reader of usage wants some.
func usage(t turn) map[string]any {
	words := len(strings.Fields(t.say))
	return map[string]any{"prompt_tokens": 0, "completion_tokens": words, "total_tokens": words}
}

// stream writes the answer word by word.
func (t turn) stream(w io.Writer, pace time.Duration, gone <-chan struct{}) error {
	chunk := func(delta map[string]any, finish any) error {
		_, err := fmt.Fprintf(w, "data: %s\n\n", encode(map[string]any{
			"id": t.id, "object": "chat.completion.chunk", "created": time.Now().Unix(), "model": Model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		}))
		return err
	}
	if err := chunk(map[string]any{"role": "assistant", "content": ""}, nil); err != nil {
		return err
	}
	for _, word := range strings.SplitAfter(t.say, " ") {
		if word == "" {
			continue
		}
		if err := chunk(map[string]any{"content": word}, nil); err != nil {
			return err
		}
		select {
		case <-time.After(pace):
		case <-gone:
			return io.ErrUnexpectedEOF
		}
	}
	for _, call := range t.toolCalls() {
		if err := chunk(map[string]any{"tool_calls": []any{call}}, nil); err != nil {
			return err
		}
	}
	if err := chunk(map[string]any{}, t.finish()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", encode(map[string]any{
		"id": t.id, "object": "chat.completion.chunk", "created": time.Now().Unix(), "model": Model, "choices": []any{}, "usage": usage(t),
	}))
	return err
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil { // plain values only
		return []byte("{}")
	}
	return data
}
