package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/config"
)

// stage is a network of scripted providers, by host: what each answers in turn,
// and then always "ok".
type stage struct {
	mu     sync.Mutex // guards the fields below
	script map[string][]string
	asked  []string // host@seconds
	begin  time.Time
}

func (s *stage) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	host, _, _ := strings.Cut(req.URL.Hostname(), ".")
	s.mu.Lock()
	s.asked = append(s.asked, fmt.Sprintf("%s@%d", host, int(time.Since(s.begin).Seconds())))
	line := "ok"
	if script := s.script[host]; len(script) > 0 {
		line, s.script[host] = script[0], script[1:]
	}
	s.mu.Unlock()
	return perform(req, line)
}

// perform answers as a line of a script says: ok, a status (with "+N" for
// Retry-After), or one of a few words.
func perform(req *http.Request, line string) (*http.Response, error) {
	status, body, header := http.StatusOK, goodBody, http.Header{"Content-Type": {"application/json"}}
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
		body = event
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

// onStage returns a router for a configuration in YAML, over a stage.
func onStage(t testing.TB, text string, s *stage) *Router {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := config.Load(config.Options{Path: path, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	s.begin = time.Now()
	router, err := NewRouter(store.Config(), Options{
		Resolve: func(_ context.Context, ref string) (string, error) { return ref, nil }, Client: &http.Client{Transport: s},
	})
	if err != nil {
		t.Fatal(err)
	}
	return router
}

// deploy is a line of model_list: a deployment of a group at a host.
func deploy(group, host, more string) string {
	if more != "" {
		more = ", " + more
	}
	return fmt.Sprintf("- {model_name: %s, litellm_params: {model: openai/m, api_base: 'http://%s.example/v1', api_key: k%s}}\n", group, host, more)
}

// said words what the caller saw of a request.
func said(reply *Reply, err error) string {
	if err == nil {
		defer reply.Close()
		if strings.Contains(string(reply.Body.Raw("choices")), "content_filter") {
			return "filtered"
		}
		return "ok"
	}
	e := AsError(err)
	if e.RetryAfter > 0 {
		return fmt.Sprintf("%s %d after %s", e.Code, e.Status, e.RetryAfter.Round(time.Second))
	}
	return fmt.Sprintf("%s %d", e.Code, e.Status)
}

// scene is a table's row: requests one after the other, "MODEL" or "+SECONDS
// MODEL" after a wait, and what came of them.
type scene struct {
	models   string // lines of model_list
	settings string // router_settings
	more     string // further sections
	script   map[string]string
	requests []string
	asked    string   // host@second, in order
	saw      []string // by the callers
}

func (c scene) play(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{script: map[string][]string{}}
		for host, lines := range c.script {
			s.script[host] = strings.Fields(lines)
		}
		router := onStage(t, "model_list:\n"+c.models+"router_settings: {"+c.settings+"}\n"+c.more, s)
		var saw []string
		for _, request := range c.requests {
			wait, model, later := strings.Cut(request, " ")
			if !later {
				model = wait
			} else if seconds, err := strconv.Atoi(wait); err == nil {
				time.Sleep(time.Duration(seconds) * time.Second)
			}
			saw = append(saw, said(do(t, router, `{"model":"`+model+`","messages":[{"role":"user","content":"`+strings.Repeat("word ", 100)+`"}]}`, false)))
		}
		if diff := cmp.Diff(c.asked, strings.Join(s.asked, " ")); diff != "" {
			t.Errorf("who was asked, and when: %s", diff)
		}
		if diff := cmp.Diff(c.saw, saw); diff != "" {
			t.Errorf("what the callers saw: %s", diff)
		}
	})
}

func TestRoutingRules(t *testing.T) {
	one, two := deploy("coding", "a", ""), deploy("coding", "a", "")+deploy("coding", "b", "")
	withFast := one + deploy("fast", "f", "")
	for name, c := range map[string]scene{
		"equals take turns":  {models: two, requests: []string{"coding", "coding", "coding"}, asked: "a@0 b@0 a@0", saw: []string{"ok", "ok", "ok"}},
		"weight":             {models: deploy("coding", "a", "weight: 3") + deploy("coding", "b", "weight: 1"), requests: strings.Fields(strings.Repeat("coding ", 8)), asked: "a@0 a@0 b@0 a@0 a@0 a@0 b@0 a@0", saw: strings.Fields(strings.Repeat("ok ", 8))},
		"rpm is a weight":    {models: deploy("coding", "a", "rpm: 200") + deploy("coding", "b", "rpm: 100"), requests: strings.Fields("coding coding coding"), asked: "a@0 b@0 a@0", saw: strings.Fields("ok ok ok")},
		"tpm is a weight":    {models: deploy("coding", "a", "tpm: 200") + deploy("coding", "b", "tpm: 100"), requests: strings.Fields("coding coding coding"), asked: "a@0 b@0 a@0", saw: strings.Fields("ok ok ok")},
		"weight before rpm":  {models: deploy("coding", "a", "rpm: 1, weight: 2") + deploy("coding", "b", "rpm: 900, weight: 1"), requests: strings.Fields("coding coding coding"), asked: "a@0 b@0 a@0", saw: strings.Fields("ok ok ok")},
		"weight 0 stands by": {models: deploy("coding", "a", "weight: 1") + deploy("coding", "b", "weight: 0"), script: map[string]string{"a": "ok ok 500"}, requests: strings.Fields("coding coding coding"), asked: "a@0 a@0 a@0 b@0", saw: strings.Fields("ok ok ok")},

		"a retry goes to another at once":      {models: two, script: map[string]string{"a": "500"}, requests: []string{"coding"}, asked: "a@0 b@0", saw: []string{"ok"}},
		"num_retries":                          {models: two + deploy("coding", "c", ""), settings: "num_retries: 1", script: map[string]string{"a": "500", "b": "500"}, requests: []string{"coding"}, asked: "a@0 b@0", saw: []string{"upstream_error 502"}},
		"no retries":                           {models: two, settings: "num_retries: 0", script: map[string]string{"a": "500"}, requests: []string{"coding"}, asked: "a@0", saw: []string{"upstream_error 502"}},
		"retry_after is the least wait":        {models: one, settings: "retry_after: 3", script: map[string]string{"a": "500 500"}, requests: []string{"coding"}, asked: "a@0 a@3 a@6", saw: []string{"ok"}},
		"retry_after is not for another":       {models: two, settings: "retry_after: 3", script: map[string]string{"a": "500"}, requests: []string{"coding"}, asked: "a@0 b@0", saw: []string{"ok"}},
		"Retry-After, alone":                   {models: one, script: map[string]string{"a": "429+7"}, requests: []string{"coding"}, asked: "a@0 a@7", saw: []string{"ok"}},
		"Retry-After of a 503":                 {models: one, script: map[string]string{"a": "503+9"}, requests: []string{"coding"}, asked: "a@0 a@9", saw: []string{"ok"}},
		"Retry-After beyond the deadline":      {models: one, script: map[string]string{"a": "429+500"}, requests: []string{"coding", "coding", "+499 coding", "+1 coding"}, asked: "a@0 a@500", saw: []string{"rate_limited 429 after 8m20s", "no_deployment 503 after 8m20s", "no_deployment 503 after 1s", "ok"}},
		"Retry-After, another free":            {models: two, script: map[string]string{"a": "429+60"}, requests: []string{"coding", "coding", "coding", "+60 coding", "coding"}, asked: "a@0 b@0 b@0 b@0 b@60 a@60", saw: []string{"ok", "ok", "ok", "ok", "ok"}},
		"Retry-After, a fallback free":         {models: withFast, settings: "fallbacks: [{coding: [fast]}]", script: map[string]string{"a": "429+30"}, requests: []string{"coding", "coding", "+30 coding"}, asked: "a@0 f@0 f@0 a@30", saw: []string{"ok", "ok", "ok"}},
		"a 400 is the caller's":                {models: two + deploy("fast", "f", ""), settings: "allowed_fails: 0, fallbacks: [{coding: [fast]}]", script: map[string]string{"a": "400 404 413 422"}, requests: []string{"coding", "coding", "coding", "coding"}, asked: "a@0 b@0 a@0 b@0", saw: []string{"invalid_request 400", "ok", "invalid_request 404", "ok"}},
		"a bad key goes out":                   {models: two, script: map[string]string{"a": "401"}, settings: "num_retries: 0", requests: []string{"coding", "coding", "coding"}, asked: "a@0 b@0 b@0 b@0", saw: []string{"ok", "ok", "ok"}},
		"a bad key, alone":                     {models: one, script: map[string]string{"a": "403"}, requests: []string{"coding", "coding", "+60 coding"}, asked: "a@0 a@60", saw: []string{"auth_failed 403", "auth_failed 403 after 1m0s", "ok"}},
		"a bad key, with a fallback":           {models: withFast, settings: "fallbacks: [{coding: [fast]}]", script: map[string]string{"a": "401"}, requests: []string{"coding"}, asked: "a@0 f@0", saw: []string{"ok"}},
		"allowed_fails":                        {models: one, settings: "allowed_fails: 1, num_retries: 0", script: map[string]string{"a": "500 500"}, requests: []string{"coding", "coding", "coding", "+59 coding", "+1 coding"}, asked: "a@0 a@0 a@60", saw: []string{"upstream_error 502", "upstream_error 502", "no_deployment 503 after 1m0s", "no_deployment 503 after 1s", "ok"}},
		"allowed_fails count in a minute":      {models: one, settings: "allowed_fails: 1, num_retries: 0", script: map[string]string{"a": "500 500 500"}, requests: []string{"coding", "+60 coding", "+60 coding", "coding"}, asked: "a@0 a@60 a@120 a@120", saw: []string{"upstream_error 502", "upstream_error 502", "upstream_error 502", "ok"}},
		"without allowed_fails most must fail": {models: one, settings: "num_retries: 0", script: map[string]string{"a": "ok ok ok ok 500 500 500 500 500"}, requests: strings.Fields(strings.Repeat("coding ", 10)), asked: strings.TrimSpace(strings.Repeat("a@0 ", 9)), saw: []string{"ok", "ok", "ok", "ok", "upstream_error 502", "upstream_error 502", "upstream_error 502", "upstream_error 502", "upstream_error 502", "no_deployment 503 after 1m0s"}},
		"cooldown_time":                        {models: two, settings: "allowed_fails: 0, cooldown_time: 5", script: map[string]string{"a": "500"}, requests: []string{"coding", "coding", "+4 coding", "+1 coding", "coding"}, asked: "a@0 b@0 b@0 b@4 b@5 a@5", saw: []string{"ok", "ok", "ok", "ok", "ok"}},
		"without cooldown_time nobody rests":   {models: one, settings: "allowed_fails: 0, num_retries: 0, cooldown_time: 0", script: map[string]string{"a": "500 401 429+30"}, requests: []string{"coding", "coding", "coding", "coding"}, asked: "a@0 a@0 a@0 a@0", saw: []string{"upstream_error 502", "auth_failed 403", "rate_limited 429 after 30s", "ok"}},
		"a try that fails cools again":         {models: one, settings: "allowed_fails: 0, num_retries: 0, cooldown_time: 5", script: map[string]string{"a": "500 500"}, requests: []string{"coding", "+5 coding", "+4 coding", "+1 coding"}, asked: "a@0 a@5 a@10", saw: []string{"upstream_error 502", "upstream_error 502", "no_deployment 503 after 1s", "ok"}},
		"a single failed try is enough":        {models: one, settings: "allowed_fails: 1, num_retries: 0", script: map[string]string{"a": "500 500 500"}, requests: []string{"coding", "coding", "+60 coding", "coding"}, asked: "a@0 a@0 a@60", saw: []string{"upstream_error 502", "upstream_error 502", "upstream_error 502", "no_deployment 503 after 1m0s"}},
		"cooling ends the retries":             {models: one, settings: "allowed_fails: 0", script: map[string]string{"a": "500"}, requests: []string{"coding"}, asked: "a@0", saw: []string{"upstream_error 502"}},
		"timeout":                              {models: deploy("coding", "a", "timeout: 5") + deploy("coding", "b", ""), script: map[string]string{"a": "hang"}, requests: []string{"coding"}, asked: "a@0 b@5", saw: []string{"ok"}},
		"timeout of the router":                {models: two, settings: "timeout: 4", script: map[string]string{"a": "hang"}, requests: []string{"coding"}, asked: "a@0 b@4", saw: []string{"ok"}},
		"a part of the time is kept":           {models: withFast, settings: "fallbacks: [{coding: [fast]}], num_retries: 0", script: map[string]string{"a": "hang"}, requests: []string{"coding"}, asked: "a@0 f@90", saw: []string{"ok"}},
		"one deadline":                         {models: two + deploy("fast", "f", ""), settings: "timeout: 50, fallbacks: [{coding: [fast]}], num_retries: 1", script: map[string]string{"a": "hang", "b": "hang", "f": "hang"}, requests: []string{"coding"}, asked: "a@0 b@50 f@100", saw: []string{"timeout 504"}},

		"fallbacks in their order":         {models: withFast + deploy("cheap", "c", ""), settings: "num_retries: 0, fallbacks: [{coding: [fast, cheap]}]", script: map[string]string{"a": "500", "f": "refused"}, requests: []string{"coding"}, asked: "a@0 f@0 c@0", saw: []string{"ok"}},
		"fallbacks of fallbacks":           {models: withFast + deploy("cheap", "c", "") + deploy("last", "l", ""), settings: "num_retries: 0, fallbacks: [{coding: [fast, last]}, {fast: [cheap]}]", script: map[string]string{"a": "500", "f": "500", "c": "500", "l": "500"}, requests: []string{"coding"}, asked: "a@0 f@0 c@0 l@0", saw: []string{"upstream_error 502"}},
		"a fallback after the retries":     {models: withFast, settings: "fallbacks: [{coding: [fast]}]", script: map[string]string{"a": "500 500 500"}, requests: []string{"coding"}, asked: "a@0 a@0 a@0 f@0", saw: []string{"ok"}},
		"a fallback for all":               {models: withFast, settings: "num_retries: 0, fallbacks: [{'*': [fast]}]", script: map[string]string{"a": "500"}, requests: []string{"coding"}, asked: "a@0 f@0", saw: []string{"ok"}},
		"default_fallbacks":                {models: withFast + deploy("cheap", "c", ""), settings: "num_retries: 0, default_fallbacks: [fast], fallbacks: [{cheap: [coding]}]", script: map[string]string{"a": "500 500", "c": "500"}, requests: []string{"coding", "cheap"}, asked: "a@0 f@0 c@0 a@0 f@0", saw: []string{"ok", "ok"}},
		"a group that cools falls back":    {models: withFast, settings: "num_retries: 0, allowed_fails: 0, fallbacks: [{coding: [fast]}]", script: map[string]string{"a": "500"}, requests: []string{"coding", "coding"}, asked: "a@0 f@0 f@0", saw: []string{"ok", "ok"}},
		"all groups cool":                  {models: withFast, settings: "num_retries: 0, allowed_fails: 0, fallbacks: [{coding: [fast]}]", script: map[string]string{"a": "500", "f": "500"}, requests: []string{"coding", "coding"}, asked: "a@0 f@0", saw: []string{"upstream_error 502", "no_deployment 503 after 1m0s"}},
		"too long":                         {models: withFast, settings: "fallbacks: [{coding: [fast]}]", script: map[string]string{"a": "long"}, requests: []string{"coding"}, asked: "a@0", saw: []string{"context_exceeded 400"}},
		"context_window_fallbacks":         {models: withFast + deploy("big", "g", ""), settings: "fallbacks: [{coding: [fast]}], context_window_fallbacks: [{coding: [big]}]", script: map[string]string{"a": "long"}, requests: []string{"coding"}, asked: "a@0 g@0", saw: []string{"ok"}},
		"against the policy":               {models: withFast, settings: "fallbacks: [{coding: [fast]}]", script: map[string]string{"a": "policy"}, requests: []string{"coding"}, asked: "a@0", saw: []string{"content_filtered 400"}},
		"content_policy_fallbacks":         {models: withFast, settings: "content_policy_fallbacks: [{coding: [fast]}]", script: map[string]string{"a": "policy filtered"}, requests: []string{"coding", "coding"}, asked: "a@0 f@0 a@0 f@0", saw: []string{"ok", "ok"}},
		"content_policy_fallbacks in vain": {models: withFast, settings: "content_policy_fallbacks: [{coding: [fast]}], num_retries: 0", script: map[string]string{"a": "filtered", "f": "500"}, requests: []string{"coding"}, asked: "a@0 f@0", saw: []string{"filtered"}},
		"filtered without others":          {models: one, script: map[string]string{"a": "filtered"}, requests: []string{"coding"}, asked: "a@0", saw: []string{"filtered"}},

		"model_group_alias":           {models: withFast, settings: "model_group_alias: {smart: coding, quick: fast}, fallbacks: [{smart: [quick]}], num_retries: 0", script: map[string]string{"a": "500"}, requests: []string{"smart"}, asked: "a@0 f@0", saw: []string{"ok"}},
		"a pattern":                   {models: deploy("'my-*'", "p", "") + one, requests: []string{"my-thing", "coding"}, asked: "p@0 a@0", saw: []string{"ok", "ok"}},
		"the most exact pattern":      {models: deploy("'*'", "z", "") + deploy("'my-*'", "p", ""), requests: []string{"my-thing", "other"}, asked: "p@0 z@0", saw: []string{"ok", "ok"}},
		"rpm is no limit by itself":   {models: deploy("coding", "a", "rpm: 1"), requests: []string{"coding", "coding"}, asked: "a@0 a@0", saw: []string{"ok", "ok"}},
		"rpm with checks":             {models: deploy("coding", "a", "rpm: 1") + deploy("coding", "b", "rpm: 1"), settings: "enable_pre_call_checks: true", requests: []string{"coding", "coding", "+10 coding", "+50 coding"}, asked: "a@0 b@0 b@60", saw: []string{"ok", "ok", "no_deployment 503 after 50s", "ok"}},
		"window with checks":          {models: strings.Replace(one, "}}", "}, model_info: {max_input_tokens: 100}}", 1) + deploy("coding", "b", ""), settings: "enable_pre_call_checks: true", requests: []string{"coding", "coding"}, asked: "b@0 b@0", saw: []string{"ok", "ok"}},
		"window too small for all":    {models: strings.Replace(one, "}}", "}, model_info: {max_input_tokens: 100}}", 1) + deploy("big", "g", ""), settings: "enable_pre_call_checks: true, context_window_fallbacks: [{coding: [big]}]", requests: []string{"coding"}, asked: "g@0", saw: []string{"ok"}},
		"window too small, no other":  {models: strings.Replace(one, "}}", "}, model_info: {max_input_tokens: 100}}", 1), settings: "enable_pre_call_checks: true", requests: []string{"coding"}, saw: []string{"context_exceeded 400"}},
		"window without checks":       {models: strings.Replace(one, "}}", "}, model_info: {max_input_tokens: 100}}", 1), requests: []string{"coding"}, asked: "a@0", saw: []string{"ok"}},
		"settings of LiteLLM's":       {models: withFast, more: "litellm_settings: {num_retries: 0, fallbacks: [{coding: [fast]}], drop_params: true}\n", script: map[string]string{"a": "500"}, requests: []string{"coding"}, asked: "a@0 f@0", saw: []string{"ok"}},
		"router_settings come before": {models: one, settings: "num_retries: 1", more: "litellm_settings: {num_retries: 0}\n", script: map[string]string{"a": "500"}, requests: []string{"coding"}, asked: "a@0 a@0", saw: []string{"ok"}},
		"the fallback section last":   {models: withFast, settings: "num_retries: 0, fallbacks: [{coding: [fast]}]", more: "fallback: {enabled: true, base_url: 'http://x.example/v1', api_key: k}\n", script: map[string]string{"a": "500", "f": "hang"}, requests: []string{"coding"}, asked: "a@0 f@0 x@120", saw: []string{"ok"}},
		"a model of the catalogue":    {models: one, more: "providers: {openai: {base_url: 'http://o.example/v1', api_key: k}}\n", settings: "num_retries: 0, allowed_fails: 0, default_fallbacks: [coding]", script: map[string]string{"o": "500"}, requests: []string{"sol", "sol"}, asked: "o@0 a@0 a@0", saw: []string{"ok", "ok"}},
	} {
		t.Run(name, c.play)
	}
}
