//go:build unix

package cli_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"pointsman/ui/cli"
)

// gated is a provider whose model "high" answers when it is let go.
func gated(t *testing.T) (address string, waiting chan struct{}, letGo chan struct{}) {
	t.Helper()
	waiting, letGo = make(chan struct{}, 8), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		model := gjson.GetBytes(body, "model").String()
		if model == "high" {
			waiting <- struct{}{}
			select {
			case <-letGo:
			case <-r.Context().Done():
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"model":%q,"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"the answer of %s"}}]}`, model, model)
	}))
	t.Cleanup(server.Close)
	return server.URL, waiting, letGo
}

// TestMarathonAtATerminal has a bar, and no lines for what went well.
func TestMarathonAtATerminal(t *testing.T) {
	address, waiting, letGo := gated(t)
	r, p := newRig(t, ladderConfig(address)), newPerson(t)
	file := t.TempDir() + "/marathon.json"
	if err := os.WriteFile(file, []byte(`{"tasks":[{"question":"Why is it slow?"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	out, done := p.run(r, "marathon", "run", file)
	<-waiting
	p.sees("[#####-----] 1/2 1/1 high: Why is it slow?")
	close(letGo)
	if code := p.ends(done); code != 0 || !strings.Contains(out.String(), "the answer of high\n") {
		t.Errorf("it ended with %d and printed %s", code, out)
	}
	if shown := p.screen.String(); strings.Contains(shown, "answered 1/1") || !strings.Contains(shown, "completed, 2 of 2 rungs") {
		t.Errorf("the screen shows %s", shown)
	}
}

// TestMarathonIsLeft interrupts the waiting: a resident goes on with the marathon;
// without one the next process does that may.
func TestMarathonIsLeft(t *testing.T) {
	for _, resident := range []bool{false, true} {
		t.Run(fmt.Sprint("resident ", resident), func(t *testing.T) {
			address, waiting, letGo := gated(t)
			r := newRig(t, ladderConfig(address))
			if resident {
				r.serve("--ask", "none")
			}
			ctx, interrupt := context.WithCancel(t.Context())
			var out, errs syncBuffer
			done := make(chan int, 1)
			go func() {
				done <- cli.Run(ctx, r.options(strings.NewReader(`{"tasks":[{"question":"Why?"}]}`), &out, &errs, []string{"marathon", "run", "-"}))
			}()
			<-waiting
			eventually(t, "the marathon's id", func() bool { return strings.Contains(errs.String(), "marathon job_") })
			interrupt()
			if code := <-done; code != 1 || !strings.Contains(errs.String(), "The marathon goes on") || out.String() != "" {
				t.Errorf("it ended with %d: %s%s", code, out.String(), errs.String())
			}
			list := r.must("marathon", "list", "--json").out
			id, want := gjson.Get(list, "0.job_id").String(), map[bool]string{false: "left", true: "running"}[resident]
			if got := gjson.Get(list, "0.status").String(); got != want {
				t.Errorf("it is %s, want %s", got, want)
			}
			close(letGo)
			if !resident {
				r.must("models") // opens a gateway, and leaves the marathon alone
				if got := gjson.Get(r.must("marathon", "status", id, "--json").out, "status").String(); got != "left" {
					t.Errorf("after a command that has nothing to do with it, it is %s", got)
				}
				r.serve("--ask", "none")
			}
			eventually(t, "the marathon's end", func() bool {
				return gjson.Get(r.must("marathon", "status", id, "--json").out, "status").String() == "completed"
			})
		})
	}
}

// TestMarathonIsCancelledFromOutside cancels one that another command waits for.
func TestMarathonIsCancelledFromOutside(t *testing.T) {
	address, waiting, _ := gated(t)
	r := newRig(t, ladderConfig(address))
	r.serve("--ask", "none")
	done := make(chan ended, 1)
	go func() { done <- r.run(`{"tasks":[{"question":"Why?"}]}`, "marathon", "run", "-") }()
	<-waiting
	id := gjson.Get(r.must("marathon", "list", "--json").out, "0.job_id").String()
	if e := r.must("marathon", "cancel", id); !strings.Contains(e.errors, "cancelled, 1 of 2 rungs") {
		t.Errorf("cancel printed %s", e.errors)
	}
	if e := <-done; e.code != 1 || !strings.Contains(e.errors, "it was cancelled") || !strings.Contains(e.out, "## high (cancelled)") {
		t.Errorf("who waited ended with %d: %s%s", e.code, e.out, e.errors)
	}
}
