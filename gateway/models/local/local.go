// Package local finds the model servers that run on this machine where they
// usually do: Ollama and LM Studio. It asks loopback addresses alone, follows nobody
// elsewhere, and takes two seconds at most.
//
// Find ends every goroutine that it starts.
package local

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// Server is a model server that has been found.
type Server struct {
	Provider string   `json:"provider"` // the name by which the configuration knows it
	Title    string   `json:"title"`    // what people call it
	Address  string   `json:"address"`  // its OpenAI-compatible base URL
	Version  string   `json:"version"`  // "" when it does not tell
	Models   []string `json:"models"`   // that can chat; never nil
	// Configured reports whether the configuration has a provider at the address.
	Configured bool `json:"configured"`
}

// Place is where a server may be.
type Place struct {
	Provider string // ollama or lmstudio
	Address  string // as Server has it
}

// OllamaAddress is where the Ollama of an OLLAMA_HOST is reached, which may lack a
// scheme, a host and a port. One that listens on every address is on this machine,
// too.
func OllamaAddress(host string) string {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(host), "://")
	if !ok {
		scheme, rest = "http", scheme
	}
	rest, _, _ = strings.Cut(rest, "/")
	name, port, err := net.SplitHostPort(rest)
	if err != nil {
		name, port = strings.Trim(rest, "[]"), ""
	}
	if ip := net.ParseIP(name); name == "" || ip != nil && ip.IsUnspecified() {
		name = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(name, cmp.Or(port, "11434")) + "/v1"
}

// patience bounds a look, and greeting the wait for somebody to be there at all.
const (
	patience = 2 * time.Second
	greeting = 300 * time.Millisecond
)

// Find looks at places and returns the servers that are there, in the same order.
// A Pointsman that stands where Ollama would is none.
func Find(ctx context.Context, places []Place) []Server {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found := make([]*Server, len(places))
	var looking sync.WaitGroup
	for i, place := range places {
		looking.Go(func() { found[i] = look(ctx, place) })
	}
	looking.Wait()
	servers := []Server{}
	for _, s := range found {
		if s != nil {
			servers = append(servers, *s)
		}
	}
	return servers
}

func look(ctx context.Context, place Place) *Server {
	transport := &http.Transport{DialContext: dial}
	defer transport.CloseIdleConnections()
	v := visit{root: strings.TrimSuffix(strings.TrimSuffix(place.Address, "/"), "/v1"), client: &http.Client{
		Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	s := &Server{Provider: place.Provider, Address: place.Address, Models: []string{}}
	there := false
	switch place.Provider {
	case "ollama":
		there = v.ollama(ctx, s)
	case "lmstudio":
		there = v.lmStudio(ctx, s)
	}
	if !there {
		return nil
	}
	return s
}

// dial connects to this machine alone.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%s is not on this machine", address)
	}
	return (&net.Dialer{Timeout: greeting}).DialContext(ctx, network, net.JoinHostPort(host, port))
}

// visit is a look at one address.
type visit struct {
	root   string
	client *http.Client
}

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 4 << 20

// ask returns the JSON object that is answered with status 200. A nil body is a GET.
func (v visit) ask(ctx context.Context, path string, body []byte) (answer gjson.Result, ok bool) {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, v.root+path, bytes.NewReader(body))
	if err != nil {
		return gjson.Result{}, false
	}
	response, err := v.client.Do(req)
	if err != nil {
		return gjson.Result{}, false
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil || response.StatusCode != http.StatusOK || !gjson.ValidBytes(data) {
		return gjson.Result{}, false
	}
	answer = gjson.ParseBytes(data)
	return answer, answer.IsObject()
}

// ollama asks by Ollama's own API.
func (v visit) ollama(ctx context.Context, s *Server) bool {
	version, ok := v.ask(ctx, "/api/version", nil)
	if !ok || version.Get("version").String() == "" {
		return false
	}
	if health, ok := v.ask(ctx, "/health", nil); ok && health.Get("service").String() == "pointsman" {
		return false
	}
	tags, ok := v.ask(ctx, "/api/tags", nil)
	if !ok {
		return false
	}
	s.Title, s.Version = "Ollama", version.Get("version").String()
	for _, m := range tags.Get("models").Array() {
		if name := m.Get("model").String(); usable(name) && v.chats(ctx, name) {
			s.Models = append(s.Models, name)
		}
	}
	return true
}

// chats reports whether one of Ollama's models can chat: those that only make
// embeddings say so.
func (v visit) chats(ctx context.Context, name string) bool {
	asked, err := json.Marshal(map[string]string{"model": name})
	if err != nil { // a string cannot fail to encode
		return false
	}
	shown, ok := v.ask(ctx, "/api/show", asked)
	if !ok || !shown.Get("capabilities").IsArray() { // an older Ollama does not say
		return true
	}
	return shown.Get(`capabilities.#(=="completion")`).Exists()
}

// lmStudio asks by LM Studio's own API, which tells more than OpenAI's.
func (v visit) lmStudio(ctx context.Context, s *Server) bool {
	list, ok := v.ask(ctx, "/api/v0/models", nil)
	if !ok || !list.Get("data").IsArray() {
		return false
	}
	s.Title = "LM Studio"
	for _, m := range list.Get("data").Array() {
		if name := m.Get("id").String(); usable(name) && m.Get("type").String() != "embeddings" {
			s.Models = append(s.Models, name)
		}
	}
	return true
}

// usable reports whether a model's name can stand in the configuration: there, "*"
// makes a pattern of it.
func usable(name string) bool { return name != "" && !strings.Contains(name, "*") }
