package models

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"pointsman/gateway/models/stage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const coolingQuickly = "router_settings: {num_retries: 0, allowed_fails: 0, cooldown_time: 10}\n"

// TestOneRequestTriesACooledDeployment has many requests arrive when the pause
// is over, while the one that tries is under way.
func TestOneRequestTriesACooledDeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage.New(map[string]string{"a": "500 hang"})
		router := onStage(t, "model_list:\n"+stage.Deploy("coding", "a", "timeout: 5")+coolingQuickly, s)
		ask := func() string { return said(do(t, router, `{"model":"coding"}`, false)) }
		ask()
		time.Sleep(10 * time.Second)
		var wg sync.WaitGroup
		var refused atomic.Int32
		for range 20 {
			wg.Go(func() {
				if saw := ask(); saw == "no_deployment 503 after 1s" {
					refused.Add(1)
				}
			})
		}
		synctest.Wait()
		if state := router.Health()[0].State; state != Trying {
			t.Errorf("while it is tried it is %s", state)
		}
		wg.Wait()
		if refused.Load() != 19 || len(strings.Fields(s.Asked())) != 2 {
			t.Errorf("%d of 20 were refused at once, and %s asked; want 19 and one more", refused.Load(), s.Asked())
		}
		time.Sleep(10 * time.Second) // the try has failed at 15
		if saw := ask(); saw != "ok" {
			t.Errorf("after it the caller saw %s", saw)
		}
	})
}

func TestACallerWhoGoesDecidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage.New(map[string]string{"a": "500 hang"})
		router := onStage(t, "model_list:\n"+stage.Deploy("coding", "a", "")+coolingQuickly, s)
		said(do(t, router, `{"model":"coding"}`, false))
		time.Sleep(10 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		route, err := router.Resolve("coding")
		if err != nil {
			t.Fatal(err)
		}
		body, err := ParseBody([]byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := router.Do(ctx, route, body, false); !errors.Is(err, context.Canceled) {
			t.Errorf("the caller who goes gets %v", err)
		}
		if saw := said(do(t, router, `{"model":"coding"}`, false)); saw != "ok" {
			t.Errorf("the next one saw %s, want to be the one who tries", saw)
		}
		if row := router.Health()[0]; row.InFlight != 0 || row.State != Healthy || row.Failures != 1 {
			t.Errorf("in the end it is %+v", row)
		}
	})
}

// TestNothingIsRetriedOnceAnAnswerHasBegun breaks a stream in its middle.
func TestNothingIsRetriedOnceAnAnswerHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage.New(map[string]string{"a": "broken"})
		router := onStage(t, "model_list:\n"+stage.Deploy("coding", "a", "")+stage.Deploy("coding", "b", "")+coolingQuickly, s)
		reply, err := do(t, router, `{"model":"coding","stream":true}`, true)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = reply.Next()
		}
		if row := router.Health()[0]; row.InFlight != 1 || row.State != Healthy {
			t.Errorf("while it is read it is %+v", row)
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		_ = reply.Broken("it ended in the middle")
		reply.Close()
		row := router.Health()[0]
		if row.InFlight != 0 || row.State != Cooling || row.LastError == nil || !strings.Contains(row.LastError.Message, "in the middle") {
			t.Errorf("in the end it is %+v", row)
		}
		if diff := cmp.Diff("a@0", s.Asked()); diff != "" {
			t.Errorf("asked: %s", diff)
		}
	})
}

// TestHealthSurvivesAChange inherits from a router whose configuration differs
// in one deployment.
func TestHealthSurvivesAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := map[string]string{"a": "500", "b": "500", "o": "401"}
		settings := coolingQuickly + "providers: {openai: {base_url: 'http://o.example/v1', api_key: k}}\n"
		text := "model_list:\n" + stage.Deploy("one", "a", "") + stage.Deploy("two", "b", "") + settings
		s := stage.New(fails)
		old := onStage(t, text, s)
		for _, model := range []string{"one", "two", "sol"} {
			said(do(t, old, `{"model":"`+model+`"}`, false))
		}
		changed := onStage(t, strings.Replace(strings.Replace(text, "api_key: k}", "api_key: other}", 1), "num_retries: 0", "num_retries: 1", 1), s)
		changed.Inherit(old)
		var saw []string
		for _, model := range []string{"one", "two", "sol"} {
			saw = append(saw, said(do(t, changed, `{"model":"`+model+`"}`, false)))
		}
		if diff := cmp.Diff([]string{"ok", "no_deployment 503 after 10s", "auth_failed 403 after 10s"}, saw); diff != "" {
			t.Errorf("what callers saw: %s", diff)
		}
		changed.Forgive()
		if got := said(do(t, changed, `{"model":"sol"}`, false)); got != "ok" {
			t.Errorf("with another key: %s", got)
		}
	})
}

func TestHealthReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage.New(map[string]string{"a": "500"})
		router := onStage(t, "model_list:\n"+stage.Deploy("coding", "a", "weight: 3, input_cost_per_token: 0.5, output_cost_per_token: 1")+stage.Deploy("coding", "b", "weight: 1")+
			"router_settings: {allowed_fails: 0, cooldown_time: 60}\nproviders: {openai: {api_key: k}, corp: {base_url: 'http://c.example/v1'}}\n", s)
		now := time.Now()
		for _, model := range []string{"coding", "corp/x"} {
			if saw := said(do(t, router, `{"model":"`+model+`"}`, false)); saw != "ok" {
				t.Fatal(saw)
			}
		}
		until := now.Add(time.Minute)
		half, whole := 0.5, 1.0
		want := []DeploymentHealth{
			{
				Group: "coding", Deployment: "openai/m", Provider: "openai", Model: "m", BaseURL: "http://a.example/v1/", State: Cooling, Until: &until, Requests: 1, Failures: 1,
				LastError: &Failure{UpstreamError, "provider openai failed (500): it said 500", now}, Share: 0.75, InputCost: &half, OutputCost: &whole,
			},
			{Group: "coding", Deployment: "openai/m", Provider: "openai", Model: "m", BaseURL: "http://b.example/v1/", State: Healthy, Requests: 1, Share: 0.25},
			{Group: "gpt-6-sol", Deployment: "openai/gpt-6-sol", Provider: "openai", Model: "gpt-6-sol", BaseURL: "https://api.openai.com/v1/", State: Healthy, Share: 1},
			{Group: "corp/x", Deployment: "corp/x", Provider: "corp", Model: "x", BaseURL: "http://c.example/v1/", State: Healthy, Requests: 1, Share: 1},
		}
		ignorePrices := cmpopts.IgnoreFields(DeploymentHealth{}, "InputCost", "OutputCost")
		got := router.Health()
		if diff := cmp.Diff(want, got, ignorePrices); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want[0], got[0]); diff != "" {
			t.Error(diff)
		}
	})
}

// random is a network of three providers, each of which fails at random, and
// which notes who was asked while at rest.
type random struct {
	mu    sync.Mutex // guards dice and count
	fails float64
	how   []string // lines for perform
	dice  *rand.Rand
	count map[string]int
}

func (r *random) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	host, _, _ := strings.Cut(req.URL.Hostname(), ".")
	r.mu.Lock()
	r.count[host]++
	line, pause := "ok", time.Duration(1+r.dice.IntN(20))*time.Millisecond
	if r.dice.Float64() < r.fails {
		line = r.how[r.dice.IntN(len(r.how))]
	}
	r.mu.Unlock()
	time.Sleep(pause)
	return stage.Perform(req, line)
}

// TestManyRequests sends 10,000 requests from 64 clients to three deployments of
// which each fails three times in ten.
func TestManyRequests(t *testing.T) {
	for name, c := range map[string]struct {
		settings string
		how      []string           // the deployments fail
		shares   map[string]float64 // nil: they cool down, which changes them
	}{
		"weights":  {"num_retries: 3, allowed_fails: 1000000, timeout: 2", []string{"500", "refused", "503", "429", "hang"}, map[string]float64{"a": 0.5, "b": 0.3, "c": 0.2}},
		"cooldown": {"num_retries: 2, allowed_fails: 2, cooldown_time: 2, timeout: 2", []string{"500", "refused", "503", "429+1", "hang"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &random{fails: 0.3, how: c.how, dice: rand.New(rand.NewPCG(1, 2)), count: map[string]int{}}
				router := onStage(t, "model_list:\n"+stage.Deploy("coding", "a", "weight: 5")+stage.Deploy("coding", "b", "weight: 3")+stage.Deploy("coding", "c", "weight: 2")+
					"limits: {request_timeout_s: 10}\nrouter_settings: {"+c.settings+"}\n", s)
				router.opts.Client = staying(&http.Client{Transport: watched{s, router, t}})
				outcomes := storm(t, router, 64, 10_000)
				total := 0
				for _, n := range s.count {
					total += n
				}
				for host, share := range c.shares {
					if got := float64(s.count[host]) / float64(total); got < share*0.95 || got > share*1.05 {
						t.Errorf("%s had %.3f of %d requests, want %.2f", host, got, total, share)
					}
				}
				for _, row := range router.Health() {
					if row.InFlight != 0 {
						t.Errorf("%d requests are still counted at %s", row.InFlight, row.BaseURL)
					}
				}
				t.Log(outcomes, s.count)
			})
		})
	}
}

// watched fails the test when a deployment is asked while it rests.
type watched struct {
	random *random
	router *Router
	t      *testing.T
}

func (w watched) RoundTrip(req *http.Request) (*http.Response, error) {
	for _, row := range w.router.Health() {
		if row.LastError != nil && row.LastError.Time.Equal(time.Now()) {
			continue // it rests since this very moment, and was chosen before
		}
		if strings.HasPrefix(req.URL.String(), row.BaseURL) && (row.State == Cooling || row.State == Limited) && row.Until != nil {
			w.t.Errorf("%s was asked while %s until %s", row.BaseURL, row.State, row.Until)
		}
	}
	return w.random.RoundTrip(req)
}

// storm sends requests from a number of clients and counts how they ended; each
// must end within the deadline, in an answer or in an error of the known kinds.
func storm(t *testing.T, router *Router, clients, requests int) map[string]int {
	outcomes := map[string]int{}
	var mu sync.Mutex // guards outcomes
	var left atomic.Int64
	left.Store(int64(requests))
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				began := time.Now()
				route, err := router.Resolve("coding")
				if err != nil {
					t.Error(err)
					return
				}
				body, err := ParseBody([]byte(`{"messages":[]}`))
				if err != nil {
					t.Error(err)
					return
				}
				reply, err := router.Do(t.Context(), route, body, false)
				outcome, pause := "ok", 5*time.Millisecond
				if err == nil {
					reply.Close()
				} else if e := (*Error)(nil); errors.As(err, &e) {
					outcome, pause = string(e.Code), max(pause, e.RetryAfter)
				} else {
					t.Errorf("an error of no kind: %v", err)
				}
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("a request took %s", took)
				}
				mu.Lock()
				outcomes[outcome]++
				mu.Unlock()
				time.Sleep(pause)
			}
		})
	}
	wg.Wait()
	for outcome := range outcomes {
		switch outcome {
		case "ok", string(UpstreamError), string(RateLimited), string(Timeout), string(NoDeployment):
		default:
			t.Errorf("%d requests ended with %s", outcomes[outcome], outcome)
		}
	}
	return outcomes
}

// TestLeastBusyAmongEquals keeps one of two equals busy.
func TestLeastBusyAmongEquals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage.New(map[string]string{"a": "hang hang"})
		router := onStage(t, "model_list:\n"+stage.Deploy("coding", "a", "timeout: 60")+stage.Deploy("coding", "b", "")+"router_settings: {num_retries: 0}\n", s)
		var wg sync.WaitGroup
		wg.Go(func() { said(do(t, router, `{"model":"coding"}`, false)) })
		synctest.Wait()
		for range 3 {
			said(do(t, router, `{"model":"coding"}`, false))
		}
		if got := s.Asked(); got != "a@0 b@0 b@0 b@0" {
			t.Errorf("asked %s", got)
		}
		wg.Wait()
	})
}

// BenchmarkPick is what choosing among three deployments costs.
func BenchmarkPick(b *testing.B) {
	router := onStage(b, "model_list:\n"+stage.Deploy("coding", "a", "weight: 5")+stage.Deploy("coding", "b", "weight: 3")+stage.Deploy("coding", "c", "weight: 2"), stage.New(nil))
	b.ReportAllocs()
	for b.Loop() {
		route, err := router.Resolve("coding")
		if err != nil {
			b.Fatal(err)
		}
		_, visit := route.group.pick(time.Now(), nil)
		visit.answer(time.Now())
		visit.leave()
	}
}

// BenchmarkSingle is what finding and choosing a model of the catalogue costs.
func BenchmarkSingle(b *testing.B) {
	router := onStage(b, "providers: {openai: {api_key: k}}\n", stage.New(nil))
	b.ReportAllocs()
	for b.Loop() {
		route, err := router.Resolve("gpt-6-sol")
		if err != nil {
			b.Fatal(err)
		}
		_, visit := route.group.pick(time.Now(), nil)
		visit.answer(time.Now())
		visit.leave()
	}
}
