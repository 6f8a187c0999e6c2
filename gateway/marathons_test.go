package gateway_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/gateway"
	"pointsman/gateway/journal"
	"pointsman/gateway/marathon"
	"pointsman/gateway/mcpapi"
)

// climbers is a provider of models that answer a marathon: "wrong" fails, "filtered"
// and "silent" bring nothing, "slow" waits until it is let go, and any other says
// its name.
type climbers struct {
	*httptest.Server
	letGo   chan struct{} // closed to have slow answer
	waiting chan struct{} // receives when slow was asked

	mu     sync.Mutex // guards the field below
	bodies []string
}

func newClimbers(t *testing.T) *climbers {
	c := &climbers{letGo: make(chan struct{}), waiting: make(chan struct{}, 8)}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

func (c *climbers) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	c.bodies = append(c.bodies, string(body))
	c.mu.Unlock()
	model := gjson.GetBytes(body, "model").String()
	finish, content := "stop", "I am "+model
	switch model {
	case "wrong":
		http.Error(w, `{"error":{"message":"it is on fire"}}`, http.StatusInternalServerError)
		return
	case "filtered":
		finish = "content_filter"
	case "silent":
		content = ""
	case "slow":
		c.waiting <- struct{}{}
		select {
		case <-c.letGo:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"id":"x","model":%q,"choices":[{"index":0,"finish_reason":%q,"message":{"role":"assistant","content":%q}}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`, model, finish, content)
}

// asked are the models that were asked, in order.
func (c *climbers) asked() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, body := range c.bodies {
		names = append(names, gjson.Get(body, "model").String())
	}
	return names
}

// config is a ladder of some of its models.
func (c *climbers) config(ladder ...string) string {
	var list strings.Builder
	for _, model := range ladder {
		fmt.Fprintf(&list, "- {model_name: %[1]s, litellm_params: {model: openai/%[1]s, api_base: '%[2]s/v1', api_key: k, input_cost_per_token: 0.001, output_cost_per_token: 0.01}}\n", model, c.URL)
	}
	return "gateway: {api_key: the-key-0123456789}\nrouter_settings: {num_retries: 0}\nmarathon: {ladder: [" + strings.Join(ladder, ", ") + "]}\nmodel_list:\n" + list.String()
}

// climbed waits until a marathon is over.
func (d *desk) climbed(t *testing.T, id string) (job *marathon.Job) {
	t.Helper()
	d.await(t, "the marathon's end", func() bool {
		var err error
		if job, err = d.Marathon(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return job.Finished != nil
	})
	return job
}

func questions(t *testing.T, list ...string) marathon.Request {
	t.Helper()
	req, err := marathon.ParseRequest([]byte(`{"tasks":[{"question":"` + strings.Join(list, `"},{"question":"`) + `"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// TestMarathonIsRouted looks at what the models are asked, and at what is kept of
// their answers.
func TestMarathonIsRouted(t *testing.T) {
	c := newClimbers(t)
	d := newDesk(t, c.config("low", "wrong", "filtered", "silent", "high")+"mcpServers: {scratch: {type: builtin}}\n", nil)
	begun, err := d.BeginMarathon(t.Context(), questions(t, "Why?"))
	if err != nil {
		t.Fatal(err)
	}
	job := d.climbed(t, begun.ID)
	rungs := job.Tasks[0].Rungs
	var got []string
	for _, rung := range rungs {
		said := ""
		switch {
		case rung.Error != nil:
			said = string(rung.Error.Code)
		case rung.Answer != nil:
			said = *rung.Answer
		}
		got = append(got, rung.Model+": "+said)
	}
	if want := "low: I am low, wrong: upstream_error, filtered: content_filtered, silent: upstream_error, high: I am high"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if cost := rungs[0].Usage.CostUSD; cost == nil || *cost < 0.0299 || *cost > 0.0301 || rungs[0].Usage.TotalTokens != 12 {
		t.Errorf("a rung's usage: %+v", rungs[0].Usage)
	}
	if job.Status != marathon.Completed || job.Faults != 3 || job.Door != "go" {
		t.Errorf("the job: %+v", job)
	}
	for _, body := range c.bodies {
		if gjson.Get(body, "tools").Exists() {
			t.Errorf("a rung was offered tools: %s", body)
		}
	}
	last := gjson.Get(c.bodies[len(c.bodies)-1], "messages").Raw
	if !strings.Contains(last, "I am low") || strings.Contains(last, "I am filtered") {
		t.Errorf("the last rung was sent %s", last)
	}
	if runs := d.runsOf(t, job.ID); len(runs) != 5 || runs[0].ID != rungs[4].Run || runs[4].Door != "marathon" {
		t.Errorf("the record of its runs: %+v", runs)
	}
}

// runsOf returns the runs of a session, the newest first.
func (d *desk) runsOf(t *testing.T, session string) (runs []journal.Run) {
	t.Helper()
	d.await(t, "the runs' ends", func() bool {
		runs = nil
		reader, err := journal.OpenReader(filepath.Join(filepath.Dir(d.configPath), "state", "journal.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reader.Close() }()
		for run, err := range reader.Runs(t.Context(), journal.Filter{Session: session}) {
			if err != nil {
				t.Fatal(err)
			}
			if run.Outcome == "" {
				return false
			}
			runs = append(runs, run)
		}
		return len(runs) > 0
	})
	return runs
}

// TestMarathonRoutes looks at the routes' shapes and refusals.
func TestMarathonRoutes(t *testing.T) {
	c := newClimbers(t)
	d := newDesk(t, c.config("low", "high"), withoutMCP)
	web := httptest.NewServer(d.Handler())
	t.Cleanup(web.Close)
	const path = "/v1/debug/marathon"
	ask := func(method, path, body string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, web.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer the-key-0123456789")
		req.Header.Set("User-Agent", "curl/8 x")
		reply, err := web.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		data, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply, string(data)
	}
	reply, body := ask("POST", "/v1"+path, `{"tasks":[{"question":"a","priority":1},{"question":"b","title":"B","difficulty":5}]}`)
	id := gjson.Get(body, "job_id").String()
	if reply.StatusCode != http.StatusAccepted || id == "" || reply.Header.Get("Location") != path+"/"+id {
		t.Fatalf("begun: %d, %s, %s", reply.StatusCode, reply.Header, body)
	}
	if gjson.Get(body, "tasks.#").Int() != 2 || gjson.Get(body, "tasks.0.title").String() != "B" || gjson.Get(body, "tasks.0.priority_score").Int() != 353 ||
		gjson.Get(body, "tasks.1.queue_position").Int() != 2 || gjson.Get(body, "tasks.1.priority_score").Int() != 133 || gjson.Get(body, "tasks.0.task_id").String() == "" {
		t.Errorf("begun: %s", body)
	}
	d.climbed(t, id)
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		want               map[string]string
	}{
		"the job":         {"GET", path + "/" + id, "", 200, map[string]string{"status": `"completed"`, "client": `"curl/8"`, "door": `"http"`, "tasks.0.answer": `"I am high"`, "tasks.0.rungs.1.error": "null", "tasks.0.rungs.1.usage.prompt_tokens": "10"}},
		"the list":        {"GET", path, "", 200, map[string]string{"jobs.#": "1", "jobs.0.job_id": `"` + id + `"`, "jobs.0.tasks.0.answer": "null"}},
		"cancelled late":  {"POST", path + "/" + id + "/cancel", "", 200, map[string]string{"status": `"completed"`}},
		"unknown":         {"GET", path + "/job_x", "", 404, map[string]string{"error.code": `"invalid_request"`, "error.param": `"id"`}},
		"unknown, cancel": {"POST", path + "/job_x/cancel", "", 404, map[string]string{"error.code": `"invalid_request"`}},
		"a bad task":      {"POST", path, `{"tasks":[{"question":"a"},{"question":"b","priority":6}]}`, 400, map[string]string{"error.param": `"tasks[1].priority"`, "error.type": `"invalid_request_error"`}},
		"no JSON":         {"POST", path, `hello`, 400, map[string]string{"error.code": `"invalid_request"`}},
		"another way":     {"DELETE", path, "", 405, map[string]string{"error.code": `"invalid_request"`}},
		"another way too": {"DELETE", path + "/" + id, "", 405, map[string]string{"error.code": `"invalid_request"`}},
	} {
		t.Run(name, func(t *testing.T) {
			reply, body := ask(c.method, c.path, c.body)
			if reply.StatusCode != c.status {
				t.Errorf("status %d, want %d: %s", reply.StatusCode, c.status, body)
			}
			for key, want := range c.want {
				if got := gjson.Get(body, key).Raw; got != want {
					t.Errorf("%s is %s, want %s", key, got, want)
				}
			}
		})
	}
	if reply, err := web.Client().Get(web.URL + path); err != nil || reply.Body.Close() != nil || reply.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a key: %v, %v", reply, err)
	}
}

// TestMarathonTools begins a marathon over MCP and asks how it stands.
func TestMarathonTools(t *testing.T) {
	c := newClimbers(t)
	d := newDesk(t, c.config("low", "high"), withoutMCP)
	session := d.overStream(t, mcpapi.Client{}, nil)
	call := func(name string, arguments map[string]any) (string, bool) {
		t.Helper()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		return textOf(t, result), result.IsError
	}
	said, failed := call("gpt6_debug_marathon", map[string]any{"tasks": []any{map[string]any{"question": "Why?", "title": "T"}}})
	id := gjson.Get(said, "job_id").String()
	if failed || id == "" {
		t.Fatalf("begun: %s", said)
	}
	d.climbed(t, id)
	said, failed = call("gpt6_debug_marathon_status", map[string]any{"job_id": id})
	if failed || gjson.Get(said, "status").String() != "completed" || gjson.Get(said, "tasks.0.answer").String() != "I am high" || gjson.Get(said, "door").String() != "mcp" {
		t.Errorf("its state: %s", said)
	}
	for what, arguments := range map[string]map[string]any{
		"a bad grade": {"tasks": []any{map[string]any{"question": "q", "priority": true}}},
		"a fraction":  {"tasks": []any{map[string]any{"question": "q", "priority": 2.5}}},
		"no task":     {"tasks": []any{}},
	} {
		if said, failed := call("gpt6_debug_marathon", arguments); !failed {
			t.Errorf("%s was taken: %s", what, said)
		}
	}
	if said, failed := call("gpt6_debug_marathon_status", map[string]any{"job_id": "job_x"}); !failed || !strings.Contains(said, "job_x") {
		t.Errorf("an unknown job: %s", said)
	}
}

// TestMarathonOutlivesItsGateway closes a gateway in the middle of a rung: it does
// not wait for it, and the next gateway goes on.
func TestMarathonOutlivesItsGateway(t *testing.T) {
	c := newClimbers(t)
	var home gateway.Options
	d := newDesk(t, c.config("low", "slow", "high"), func(o *gateway.Options) { o.NoMCP, home = true, *o })
	begun, err := d.BeginMarathon(t.Context(), questions(t, "Why?"))
	if err != nil {
		t.Fatal(err)
	}
	<-c.waiting
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	close(c.letGo)
	home.NoMCP = true
	g, err := gateway.New(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	again := &desk{Gateway: g}
	defer func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}()
	if job, err := g.Marathon(t.Context(), begun.ID); err != nil || job.Status != marathon.Left || job.Done != 1 {
		t.Errorf("what was left: %+v, %v", job, err)
	}
	g.Start()
	job := again.climbed(t, begun.ID)
	if got := strings.Join(c.asked(), " "); got != "low slow slow high" || job.Status != marathon.Completed || job.Tasks[0].Rungs[1].Attempts != 2 {
		t.Errorf("asked were %s; the job: %+v", got, job)
	}
	if _, err := g.Marathon(t.Context(), "job_x"); !errors.Is(err, journal.ErrNoJob) {
		t.Errorf("an unknown job: %v", err)
	}
}

// TestMarathonIsCancelled cancels one while a model is asked.
func TestMarathonIsCancelled(t *testing.T) {
	c := newClimbers(t)
	d := newDesk(t, c.config("low", "slow", "high"), withoutMCP)
	begun, err := d.BeginMarathon(t.Context(), questions(t, "Why?"))
	if err != nil {
		t.Fatal(err)
	}
	<-c.waiting
	job, counted, err := d.CancelMarathon(t.Context(), begun.ID)
	if err != nil || !counted || job.Status != marathon.Cancelled || job.Tasks[0].Rungs[1].Status != marathon.Cancelled {
		t.Errorf("cancelled: %+v, %v, %v", job, counted, err)
	}
	if runs := d.runsOf(t, begun.ID); len(runs) != 2 || runs[0].Outcome != journal.Cancelled {
		t.Errorf("its runs: %+v", runs)
	}
}
