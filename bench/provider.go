package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The mock provider's models: how each answers is in its name.
const (
	plainModel  = "plain"   // a short text
	toolModel   = "tool"    // one call of firstTool, then a short text
	riskyModel  = "risky"   // one call of riskyTool, at once, then a short text
	slowModel   = "slow"    // the same, after thinking
	chunksModel = "chunks-" // so many pieces of text, as fast as they can be written
)

// answerText is what every answer says.
const answerText = "The quick brown fox jumps over the lazy dog, then rests a while. "

// provider is a mock of an OpenAI-compatible provider. It finds its way by a few
// searches in the request, so that its own work stays small beside what is measured.
type provider struct {
	bodies sync.Pool // of *bytes.Buffer
}

func newProvider() *provider {
	return &provider{bodies: sync.Pool{New: func() any { return new(bytes.Buffer) }}}
}

// ServeHTTP answers a chat completion.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	buf := p.bodies.Get().(*bytes.Buffer)
	defer p.bodies.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q := parseQuery(buf.Bytes())
	if q.stream {
		q.answerStream(w)
		return
	}
	if q.model == slowModel && q.call != "" {
		select {
		case <-time.After(thinking):
		case <-r.Context().Done():
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, q.plainReply()) // a client that has gone cannot be told
}

// thinking is how long a slow model takes.
const thinking = time.Second

// query is what the provider needs of a request.
type query struct {
	model  string
	stream bool
	usage  bool
	call   string // answer with this one
}

func parseQuery(body []byte) query {
	head, tail := body[:min(len(body), 200)], body[max(0, len(body)-200):]
	q := query{
		model:  between(head, `"model":"`, '"'),
		stream: bytes.Contains(head, []byte(`"stream":true`)),
		usage:  bytes.Contains(tail, []byte(`"include_usage":true`)),
	}
	if !bytes.Contains(body, []byte(`"role":"tool"`)) {
		q.call = callOf(q.model)
	}
	return q
}

// callOf is the call that a model makes first, or "".
func callOf(model string) string {
	switch model {
	case toolModel:
		return `{"name":"` + firstTool + `","arguments":"{\"id\":\"7\"}"}`
	case riskyModel, slowModel:
		return `{"name":"` + riskyTool + `","arguments":"{\"path\":\"bench.txt\",\"content\":\"one\\ntwo\"}"}`
	default:
		return ""
	}
}

// between returns what stands between a mark and the next end, or "".
func between(text []byte, mark string, end byte) string {
	_, rest, found := bytes.Cut(text, []byte(mark))
	if !found {
		return ""
	}
	value, _, _ := bytes.Cut(rest, []byte{end})
	return string(value)
}

const usageJSON = `{"prompt_tokens":40,"completion_tokens":20,"total_tokens":60}`

func (q query) plainReply() string {
	message, finish := `"content":"`+answerText+`"`, "stop"
	if q.call != "" {
		finish = "tool_calls"
		message = `"content":null,"tool_calls":[{"id":"call_1","type":"function","function":` + q.call + `}]`
	}
	return `{"id":"chatcmpl-1","object":"chat.completion","created":1790000000,"model":"` + q.model +
		`","choices":[{"index":0,"message":{"role":"assistant",` + message + `},"logprobs":null,"finish_reason":"` + finish +
		`"}],"usage":` + usageJSON + `}`
}

// answerStream writes the chunks of an answer, each flushed at once.
func (q query) answerStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	prefix := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1790000000,"model":"` + q.model + `","system_fingerprint":"fp_1","choices":[`
	send := func(text string) error {
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		return control.Flush()
	}
	text := prefix + `{"index":0,"delta":{"content":"` + answerText + `"},"finish_reason":null}]}` + "\n\n"
	err := send(prefix + `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n")
	for range q.chunks() {
		if err == nil {
			err = send(text)
		}
	}
	end := prefix + `{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	if q.usage {
		end += prefix + `],"usage":` + usageJSON + "}\n\n"
	}
	if err == nil {
		_ = send(end + "data: [DONE]\n\n") // a client that has gone cannot be told
	}
}

// chunks is how many pieces of text a stream has.
func (q query) chunks() int {
	text, ok := strings.CutPrefix(q.model, chunksModel)
	n, err := strconv.Atoi(text)
	if !ok || err != nil {
		return 1
	}
	return n
}

// request is a chat request with a user message of some size.
func request(model string, stream bool, size int) []byte {
	const line = `The model said \"yes\", and the file C:\\temp\\log.txt has the rest.\n`
	text := strings.Repeat(line, size/len(line)+1)
	return fmt.Appendf(nil, `{"model":%q,"stream":%t,"temperature":0.2,"messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":"%s"}]}`,
		model, stream, text[:len(line)*max(1, size/len(line))])
}
