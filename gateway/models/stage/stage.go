// Package stage is for tests alone: a network of scripted providers, and the table
// of the rules of routing, which hold behind every door.
package stage

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Good is a provider's plain answer, Event the beginning of a streamed one.
const (
	Good  = `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`
	Event = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":null}]}\n\n"
)

// Network is a network of scripted providers. It answers in the place of the real
// one; see Perform.
type Network struct {
	mu     sync.Mutex // guards the fields below
	script map[string][]string
	asked  []string // host@seconds
	begin  time.Time
}

// New returns a network that begins now. script says, by host (of HOST.example),
// what each answers in turn, in words; then it is always "ok".
func New(script map[string]string) *Network {
	n := &Network{script: map[string][]string{}, begin: time.Now()}
	for host, lines := range script {
		n.script[host] = strings.Fields(lines)
	}
	return n
}

// Asked tells who was asked, and in which second: "a@0 b@3".
func (n *Network) Asked() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.asked, " ")
}

// RoundTrip answers as the script says.
func (n *Network) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	host, _, _ := strings.Cut(req.URL.Hostname(), ".")
	n.mu.Lock()
	n.asked = append(n.asked, fmt.Sprintf("%s@%d", host, int(time.Since(n.begin).Seconds())))
	line := "ok"
	if script := n.script[host]; len(script) > 0 {
		line, n.script[host] = script[0], script[1:]
	}
	n.mu.Unlock()
	return Perform(req, line)
}

// Perform answers as a line of a script says: ok, a status (with "+N" for
// Retry-After), or one of a few words.
func Perform(req *http.Request, line string) (*http.Response, error) {
	status, body, header := http.StatusOK, Good, http.Header{"Content-Type": {"application/json"}}
	switch word, after, _ := strings.Cut(line, "+"); word {
	case "ok":
	case "hang":
		<-req.Context().Done()
		return nil, req.Context().Err()
	case "refused":
		return nil, errors.New("connection refused")
	case "long":
		status, body = 400, `{"error":{"message":"too long","code":"context_length_exceeded"}}`
	case "policy":
		status, body = 400, `{"error":{"message":"not nice","code":"content_policy_violation"}}`
	case "filtered":
		body = `{"choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"content_filter"}]}`
	case "stream", "broken":
		body = Event
		if word == "stream" {
			body += "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
		}
		header.Set("Content-Type", "text/event-stream")
	default:
		status, _ = strconv.Atoi(word)
		body = `{"error":{"message":"it said ` + word + `"}}`
		if after != "" {
			header.Set("Retry-After", after)
		}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// Deploy is a line of model_list: a Deployment of a group at a host.
func Deploy(group, host, more string) string {
	if more != "" {
		more = ", " + more
	}
	return fmt.Sprintf("- {model_name: %s, litellm_params: {model: openai/m, api_base: 'http://%s.example/v1', api_key: k%s}}\n", group, host, more)
}

// Scene is a row of the table: requests one after the other, "MODEL" or "SECONDS
// MODEL" after a wait, and what came of them.
type Scene struct {
	Models   string // lines of model_list
	Settings string // router_settings
	More     string // further sections
	Script   map[string]string
	Requests []string
	Asked    string   // host@second, in order
	Saw      []string // by the callers; see Failure
}

// YAML is the scene's configuration.
func (s Scene) YAML() string {
	return "model_list:\n" + s.Models + "router_settings: {" + s.Settings + "}\n" + s.More
}

// Play makes the requests of the scene, and returns what the callers saw: what ask
// says of a request for a model with a prompt.
func (s Scene) Play(ask func(model, prompt string) string) (saw []string) {
	for _, request := range s.Requests {
		wait, model, later := strings.Cut(request, " ")
		if !later {
			model = wait
		} else if seconds, err := strconv.Atoi(wait); err == nil {
			time.Sleep(time.Duration(seconds) * time.Second)
		}
		saw = append(saw, ask(model, strings.Repeat("word ", 100)))
	}
	return saw
}

// Failure words what a caller saw that got no answer.
func Failure(code string, status int, retryAfter time.Duration) string {
	if retryAfter > 0 {
		return fmt.Sprintf("%s %d after %s", code, status, retryAfter.Round(time.Second))
	}
	return fmt.Sprintf("%s %d", code, status)
}
