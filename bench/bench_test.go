package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// served returns a target that handler serves.
func served(t *testing.T, handler http.Handler) *target {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &target{name: "t", addr: server.Listener.Addr().String(), path: "/v1/chat/completions"}
}

func TestClientsReadWhatTheProviderAnswers(t *testing.T) {
	at := served(t, newProvider())
	c := newConn(at.addr)
	defer c.close()
	for name, l := range map[string]load{
		"plain":    loadFor(at, plainModel, 200, 0),
		"100 KB":   loadFor(at, plainModel, 100_000, 0),
		"stream":   loadFor(at, chunksModel+"20", 200, 20),
		"no round": {message: at.message(request(toolModel, false, 10)), want: []byte(firstTool)},
	} {
		if took, err := c.do(l); err != nil || took.first <= 0 || took.first > took.whole {
			t.Errorf("%s: %v, %+v", name, err, took)
		}
	}
}

func TestClientsNoticeWhatIsMissing(t *testing.T) {
	const event = `data: {"choices":[{"index":0,"delta":{"content":"` + answerText + `"}}]}` + "\n\n"
	for name, test := range map[string]struct {
		reply string
		l     load
		want  string
	}{
		"cut before [DONE]": {event + event, load{chunks: 2}, "without [DONE]"},
		"a chunk lost":      {event + "data: [DONE]\n\n", load{chunks: 2}, "brought 1 chunks"},
		"no round":          {`{"finish_reason":"stop"}`, load{want: []byte("executed")}, "lacks executed"},
	} {
		t.Run(name, func(t *testing.T) {
			at := served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, test.reply)
			}))
			c := newConn(at.addr)
			defer c.close()
			test.l.message = at.message(nil)
			if _, err := c.do(test.l); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}

func TestFloors(t *testing.T) {
	for name, test := range map[string]struct {
		floor        floor
		proxy, value float64
		text, want   string
	}{
		"none":           {nothing, 1, 9, "", ""},
		"under a limit":  {atMost(45), 1, 45, "≤ 45", "ok"},
		"over it":        {atMost(45), 1, 46, "≤ 45", "miss"},
		"slow enough":    {ratioAtMost(1.3), 100, 130, "≤ 1.3×", "ok"},
		"too slow":       {ratioAtMost(1.3), 100, 131, "≤ 1.3×", "miss"},
		"fast enough":    {ratioAtLeast(0.8), 100, 80, "≥ 0.8×", "ok"},
		"not so":         {ratioAtLeast(0.8), 100, 79, "≥ 0.8×", "miss"},
		"with no proxy":  {ratioAtLeast(0.8), 0, 79, "≥ 0.8×", ""},
		"nothing is cut": {atMost(0), 0, 0, "≤ 0", "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRow("f", "u", test.floor)
			r.setBeside(gateway, test.value, test.proxy)
			(&report{}).add(r)
			if r.Floor != test.text || r.Result != test.want {
				t.Errorf("%q is %q, want %q to be %q", r.Floor, r.Result, test.text, test.want)
			}
		})
	}
}

func TestQuantile(t *testing.T) {
	samples := []float64{4, 1, 3, 2, 5}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 0.625: 3.5, 1: 5} {
		if got := quantile(samples, q); got != want {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("of nothing: %g", got)
	}
}

func TestRiskyModelsCallOnce(t *testing.T) {
	at := served(t, newProvider())
	c := newConn(at.addr)
	defer c.close()
	for model, least := range map[string]time.Duration{riskyModel: 0, slowModel: thinking} {
		ask := request(model, false, 10)
		took, err := c.do(load{message: at.message(ask), want: []byte(riskyTool)})
		if err != nil || took.whole < least {
			t.Errorf("%s: %v after %s", model, err, took.whole)
		}
		after := bytes.Replace(ask, []byte(`"role":"system"`), []byte(`"role":"tool"`), 1)
		if _, err := c.do(load{message: at.message(after), want: []byte(`"finish_reason":"stop"`)}); err != nil {
			t.Errorf("%s after its call: %v", model, err)
		}
	}
}

func TestWorkOf(t *testing.T) {
	before, err := workOf(os.Getpid())
	if os.IsNotExist(err) || runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(50 * time.Millisecond); time.Now().Before(deadline); {
	}
	after, err := workOf(os.Getpid())
	if spent := after.cpu - before.cpu; err != nil || spent <= 0 || spent > time.Minute {
		t.Errorf("working took %s of CPU (%v)", spent, err)
	}
	if _, err := workOf(-1); err == nil {
		t.Error("a process that is not there has done work")
	}
}

func TestReportTellsWhatWasSkipped(t *testing.T) {
	var out strings.Builder
	rep := newReport()
	rep.Skipped = "the tray: there is no panel"
	if err := rep.print(&out); err != nil || !strings.HasSuffix(out.String(), "\nskipped: the tray: there is no panel\n") {
		t.Errorf("%v: %s", err, out.String())
	}
}
