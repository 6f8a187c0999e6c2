package responses_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/gateway/calls"
	"pointsman/gateway/config"
	"pointsman/gateway/httpapi"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/gateway/models"
	"pointsman/gateway/responses"
	"pointsman/gateway/tools"
)

// provider is a scripted provider. It answers each request with the next reply, at
// the paths that it has.
type provider struct {
	*httptest.Server
	paths   []string                                    // "/chat/completions", "/responses"
	refused func(path string, body gjson.Result) string // the message of a 400, or ""
	plainly bool                                        // streams are not given, though asked for
	read    sync.Once
	seen    chan struct{} // a reply that waits goes on when it is closed
	gone    chan struct{} // gets one when a caller went from a reply that was held

	mu       sync.Mutex // guards the fields below
	replies  []string   // JSON; of a stream one event a line
	requests []asked
}

// asked is a request that the provider got at one of its paths.
type asked struct {
	path string
	body gjson.Result
}

func newProvider(t *testing.T, paths []string, replies ...string) *provider {
	p := &provider{paths: paths, replies: replies, seen: make(chan struct{}), gone: make(chan struct{}, 1)}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	p.mu.Lock()
	p.requests = append(p.requests, asked{path, gjson.ParseBytes(data)})
	body := gjson.ParseBytes(data)
	reply, status := "", 0
	switch why := p.refuses(path, body); {
	case why != "":
		reply, status = fmt.Sprintf(`{"error":{"message":%q}}`, why), http.StatusBadRequest
		if why == nothingHere {
			status = http.StatusNotFound
		}
	case len(p.replies) == 0:
		reply, status = `{"error":{"message":"the script is over"}}`, http.StatusBadRequest
	default:
		reply, p.replies = p.replies[0], p.replies[1:]
	}
	p.mu.Unlock()
	if status != 0 || p.plainly || !body.Get("stream").Bool() {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(max(status, http.StatusOK))
		fmt.Fprint(w, reply)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for line := range strings.Lines(strings.TrimSpace(reply)) {
		line = strings.TrimSpace(line)
		if line == "@wait" {
			w.(http.Flusher).Flush()
			select {
			case <-p.seen:
			case <-r.Context().Done():
			}
			continue
		}
		if line == "@hold" {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			p.gone <- struct{}{}
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", line)
		w.(http.Flusher).Flush()
	}
}

const nothingHere = "there is nothing here"

func (p *provider) refuses(path string, body gjson.Result) string {
	for _, known := range p.paths {
		if path == known {
			if p.refused != nil {
				return p.refused(path, body)
			}
			return ""
		}
	}
	return nothingHere
}

// got returns the requests so far.
func (p *provider) got() []asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]asked{}, p.requests...)
}

// door is a gateway's HTTP door with one tool of ours, time__now, before a provider.
type door struct {
	*httptest.Server
	provider *provider
	router   *models.Router

	mu  sync.Mutex // guards ran
	ran []string   // calls of ours
}

// Call runs a call of ours.
func (d *door) Call(_ context.Context, call calls.Call) calls.Result {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ran = append(d.ran, call.Name+call.Arguments)
	return calls.Result{Name: call.Name, Arguments: []byte(call.Arguments), Allowed: true, Executed: true, Outcome: journal.OK, Text: "noon"}
}

// newDoor opens a door. The models of the provider are scripted/NAME.
func newDoor(t *testing.T, p *provider, change func(*config.Config)) *door {
	t.Helper()
	d := &door{provider: p}
	cfg := config.Default()
	cfg.Providers = map[string]config.Provider{"scripted": {BaseURL: p.URL + "/v1"}}
	cfg.RouterSettings.NumRetries = 0
	if change != nil {
		change(cfg)
	}
	var err error
	d.router, err = models.NewRouter(cfg, models.Options{
		Resolve: func(_ context.Context, ref string) (string, error) { return ref, nil }, Responses: responses.Dialect{},
	})
	if err != nil {
		t.Fatal(err)
	}
	def, err := tools.Parse("time", []byte(`{"name":"now","description":"Tell the time.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`), true)
	if err != nil {
		t.Fatal(err)
	}
	classifier, err := tools.NewClassifier(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	catalogue := tools.NewCatalogue([]tools.Definition{def}, tools.Settings{Classifier: classifier, MaxOffered: 100})
	runner := loop.New(loop.Options{
		Caller: d, Catalogue: func() *tools.Catalogue { return catalogue },
		Settings: func() loop.Settings { return loop.Settings{MaxRounds: 4, Parallel: 4} },
	})
	d.Server = httptest.NewServer(httpapi.New(httpapi.Options{
		Runner: runner, Models: func() *models.Router { return d.router }, Started: time.Now(),
		Settings: func() httpapi.Settings { return httpapi.Settings{Open: true, MaxBodyBytes: 1 << 20} },
	}))
	t.Cleanup(d.Close)
	return d
}

// post sends a request and returns the status and the reply.
func (d *door) post(t *testing.T, path, body string) (int, []byte) {
	t.Helper()
	response, err := http.Post(d.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	first := make([]byte, 1)
	if _, err := io.ReadFull(response.Body, first); err != nil {
		t.Fatal(err)
	}
	d.provider.read.Do(func() { close(d.provider.seen) })
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, append(first, data...)
}

// event is one of a stream.
type event struct {
	name string
	data gjson.Result
}

// readEvents returns the events of a stream, and fails when one is not named for
// its type.
func readEvents(t *testing.T, stream []byte) []event {
	t.Helper()
	var list []event
	name := ""
	lines := bufio.NewScanner(bytes.NewReader(stream))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = value
		}
		if value, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			list = append(list, event{name, gjson.Parse(value)})
			name = ""
		}
	}
	return list
}
