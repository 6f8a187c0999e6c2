package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// forgetful is a provider that answers a question when it is put the second time;
// the first time it holds it until the caller goes.
type forgetful struct {
	*httptest.Server
	held chan string // receives what is held

	mu    sync.Mutex // guards the field below
	asked []string   // MODEL QUESTION, in order
}

func newForgetful(t *testing.T) *forgetful {
	f := &forgetful{held: make(chan string, 8)}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *forgetful) serve(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	body := gjson.ParseBytes(data)
	question := body.Get("model").String() + " " + body.Get("messages.1.content").String()
	f.mu.Lock()
	first := !slices.Contains(f.asked, question)
	f.asked = append(f.asked, question)
	f.mu.Unlock()
	if first {
		f.held <- question
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"%s, and %d messages"}}]}`,
		question, body.Get("messages.#").Int())
}

// TestMarathonIsKilled kills the program in the middle of each rung of a marathon,
// with another one behind it. Whoever starts next goes on with the rung: of that
// one nobody knows whether it was answered, so it is asked again; no other is.
func TestMarathonIsKilled(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	extra := "marathon: {ladder: [luna, sol, astra]}\nmodel_list:\n"
	for _, model := range []string{"luna", "sol", "astra"} {
		extra += fmt.Sprintf("- {model_name: %[1]s, litellm_params: {model: openai/%[1]s, api_base: '%[2]s/v1', api_key: k}}\n", model, f.URL)
	}
	p := serve(t, setup{extra: extra})
	one := p.beginMarathon(t, "one")
	two := p.beginMarathon(t, "two")
	rungs := []string{"luna one", "sol one", "astra one", "luna two", "sol two", "astra two"}
	for i, rung := range rungs {
		expect(t, "the rung in flight", <-f.held, rung)
		job := p.marathon(t, []string{one, two}[i/3])
		expect(t, "its status", job.Get("status").String(), "running")
		expect(t, "the rungs done before", job.Get("rungs_done").Int(), int64(i%3))
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-p.exited
		p.start(t, "serve", "--listen", freeAddress(t))
	}
	await(t, "the marathons' end", func() bool { return p.marathon(t, two).Get("status").String() == "completed" })
	for _, id := range []string{one, two} {
		job := p.marathon(t, id)
		expect(t, "the status", job.Get("status").String(), "completed")
		for i, rung := range job.Get("tasks.0.rungs").Array() {
			question := rung.Get("model").String() + " " + job.Get("tasks.0.question").String()
			expect(t, "the answer of "+question, rung.Get("answer").String(), fmt.Sprintf("%s, and %d messages", question, 2+2*i))
			expect(t, "the times that it was asked", rung.Get("attempts").Int(), int64(2))
		}
	}
	var want []string
	for _, rung := range rungs {
		want = append(want, rung, rung)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	expect(t, "what the models were asked", strings.Join(f.asked, ", "), strings.Join(want, ", "))
}

// beginMarathon begins a marathon of one question over HTTP and returns its id.
func (p *pointsman) beginMarathon(t *testing.T, question string) string {
	t.Helper()
	status, body := p.marathonDoor(t, http.MethodPost, "", `{"tasks":[{"question":"`+question+`"}]}`)
	expect(t, "the status of the beginning", status, http.StatusAccepted)
	return body.Get("job_id").String()
}

// marathon returns a marathon as it stands.
func (p *pointsman) marathon(t *testing.T, id string) gjson.Result {
	t.Helper()
	status, body := p.marathonDoor(t, http.MethodGet, "/"+id, "")
	expect(t, "the status of "+id, status, http.StatusOK)
	return body
}

func (p *pointsman) marathonDoor(t *testing.T, method, path, body string) (int, gjson.Result) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.url+"/v1/debug/marathon"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, gjson.ParseBytes(data)
}
