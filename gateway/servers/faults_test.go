package servers_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/diagnostics"
)

// faulty is a host of a server that is about to fail, and of one that must not
// notice.
type faulty struct {
	*harness
	id  string // of the failing one's connection
	pid string // of the other one's process
}

func newFaulty(t *testing.T, timeout time.Duration) *faulty {
	entry := fakeServer(t, "normal")
	entry.Timeout = timeout.Milliseconds()
	f := &faulty{harness: start(t, servers.Options{}, map[string]config.MCPServer{"bad": entry, "good": fakeServer(t, "normal")})}
	f.id, f.pid = f.awaitState("bad", servers.Connected).Live.ConnectionID, f.text("good", "pid", `{}`)
	return f
}

// check makes sure that the failing server works again, over the same
// connection or another, and that the other one has noticed nothing.
func (f *faulty) check(sameConnection bool) {
	f.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for { // each attempt takes as long as the server's time-out at most
		res, err := f.call("bad", "echo", `{"a":1}`)
		if err == nil && res.Text(0) == `{"a":1}` {
			break
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("it does not answer any more: %v", err)
		}
	}
	if got := f.status("bad").Live.ConnectionID; (got == f.id) != sameConnection {
		f.t.Errorf("the connection was kept: %t, want %t", got == f.id, sameConnection)
	}
	if got := f.text("good", "pid", `{}`); got != f.pid {
		f.t.Error("another server was restarted")
	}
}

func TestFaultsInACall(t *testing.T) {
	isTimeout := func(err error) bool { var e *servers.TimeoutError; return errors.As(err, &e) }
	isLost := func(err error) bool { var e *servers.LostError; return errors.As(err, &e) }
	tests := []struct {
		tool string
		want func(error) bool // how the call ends
		kept bool             // the connection
	}{
		{"crash", isLost, false},
		{"hang", isTimeout, true},
		{"loris", isTimeout, true},
		{"wrong id", isTimeout, true},
		{"many answers", func(err error) bool { return err == nil }, true},
		{"endless", isLost, false},
	}
	for _, test := range tests {
		t.Run(test.tool, func(t *testing.T) {
			timeout := 250 * time.Millisecond
			if test.tool == "endless" { // which takes a while to send
				timeout = time.Minute
			}
			f := newFaulty(t, timeout)
			defer f.stop()
			var others sync.WaitGroup // meanwhile calls of both go on
			for i := range 4 {
				others.Go(func() {
					if got := f.text("good", "echo", fmt.Sprintf(`{"n":%d}`, i)); got != fmt.Sprintf(`{"n":%d}`, i) {
						t.Errorf("the other server answers %s", got)
					}
				})
			}
			res, err := f.call("bad", test.tool, `{}`)
			if !test.want(err) {
				t.Errorf("the call ends with %v", err)
			}
			if err == nil && res.Text(0) != "answer 0" {
				t.Errorf("of many answers it is %s", res.Text(0))
			}
			others.Wait()
			f.check(test.kept)
		})
	}
}

// A server that fails at its start, in each of the ways that there are, says so,
// and nobody else notices.
func TestFaultsAtStart(t *testing.T) {
	const late = "not ready within"
	tests := []struct {
		mode  string
		fails string // is in the error; "" when it is no fault of ours to suffer from
		tools int
	}{
		{"broken", "exit status 3", 0},
		{"silent", late, 0},
		{"dribbling", late, 0},
		{"wrong ids", late, 0},
		{"twice", "", 2},
		{"huge list", "", 345},
	}
	for _, test := range tests {
		t.Run(test.mode, func(t *testing.T) {
			t.Parallel()
			bad := fakeServer(t, test.mode)
			if test.fails == late {
				bad.StartTimeout = 1500
			}
			h := start(t, servers.Options{}, map[string]config.MCPServer{"good": fakeServer(t, "normal")})
			pid := h.text("good", "pid", `{}`)
			h.Apply(map[string]config.MCPServer{"good": fakeServer(t, "normal"), "bad": bad}, nil)
			var beside sync.WaitGroup
			beside.Go(func() {
				for i := range 20 {
					if got := h.text("good", "echo", fmt.Sprintf(`{"n":%d}`, i)); got != fmt.Sprintf(`{"n":%d}`, i) {
						t.Errorf("the other server answers %s", got)
					}
				}
			})
			want := servers.Connected
			if test.fails != "" {
				want = servers.Failed
			}
			live := h.awaitState("bad", want).Live
			beside.Wait()
			if !strings.Contains(live.Error, test.fails) {
				t.Errorf("it says %q, want %q", live.Error, test.fails)
			}
			if got := h.status("bad").Tools; got != test.tools {
				t.Errorf("it has %d tools, want %d", got, test.tools)
			}
			if got := h.text("good", "pid", `{}`); got != pid {
				t.Error("another server was restarted")
			}
			if _, err := h.call("bad", "echo", `{"a":1}`); (err == nil) != (test.fails == "") {
				t.Errorf("a call of it ends with %v", err)
			}
		})
	}
}

// A server that goes on when its stdin is closed is told to end, and then ended.
func TestServersThatIgnoreTheEnd(t *testing.T) {
	for mode, told := range map[string]string{"normal": "", "lingering": "TERM", "stubborn": "KILL"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			h := start(t, servers.Options{}, oneFake(t, mode))
			h.SetDiagnostics(diagnostics.Debug)
			pid := h.awaitState("fake", servers.Connected).Live.PID
			if _, err := h.Stop(t.Context(), "fake"); err != nil { // it takes the 5 seconds at most
				t.Fatal(err)
			}
			if isRunning(pid) {
				t.Error("it still runs")
			}
			page, err := h.Diagnostics(t.Context(), diagnostics.Query{Server: "fake", Max: 100})
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, e := range page.Entries {
				said += e.Message + "\n"
			}
			for _, signal := range []string{"TERM", "KILL"} {
				if want := told == signal || told == "KILL"; strings.Contains(said, signal) != want {
					t.Errorf("%s was sent: %t, want %t; it is told:\n%s", signal, !want, want, said)
				}
			}
		})
	}
}

// A call that is cancelled ends nothing but itself, also beside others.
func TestCancelledCallsAmongOthers(t *testing.T) {
	f := newFaulty(t, 250*time.Millisecond)
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Go(func() {
			tool, want := "echo", true
			if i%2 == 0 {
				tool, want = "hang", false
			}
			if _, err := f.call("bad", tool, fmt.Sprintf(`{"n":%d}`, i)); (err == nil) != want {
				t.Errorf("%s ends with %v", tool, err)
			}
		})
	}
	calls.Wait()
	f.check(true)
}

func TestFiftyServersOfWhichTenFail(t *testing.T) {
	entries := map[string]config.MCPServer{}
	for i := range 40 {
		entries[fmt.Sprintf("good%d", i)] = fakeServer(t, "normal")
	}
	for i, mode := range []string{"broken", "broken", "silent", "silent", "crashing", "crashing", "silent"} {
		entry := fakeServer(t, mode)
		entry.StartTimeout = 3_000 // the good ones have longer: fifty at once take their time on a small machine
		entries[fmt.Sprintf("bad%d", i)] = entry
	}
	entries["bad7"] = config.MCPServer{Command: "no-such-command-anywhere"}
	entries["bad8"] = config.MCPServer{URL: "http://127.0.0.1:1/mcp"}
	entries["bad9"] = config.MCPServer{Command: "$NO_SUCH_VARIABLE_ANYWHERE"}
	h := start(t, servers.Options{Path: "/nowhere"}, entries)
	h.await("the good ones are connected", func() bool {
		connected := 0
		for _, s := range h.Status() {
			if strings.HasPrefix(s.Name, "good") && s.Live.Status == servers.Connected {
				connected++
			}
		}
		return connected == 40
	})
	var calls sync.WaitGroup
	for i := range 40 {
		calls.Go(func() {
			if got := h.text(fmt.Sprintf("good%d", i), "echo", `{"i":1}`); got != `{"i":1}` {
				t.Errorf("server %d answers %s", i, got)
			}
		})
	}
	calls.Wait()
	for i := range 10 {
		name := fmt.Sprintf("bad%d", i)
		h.await(name+" has failed, and says why", func() bool {
			live := h.status(name).Live
			return live.Status == servers.Failed && live.Error != ""
		})
	}
	if n := len(h.Tools()); n < 80 {
		t.Errorf("there are %d tools, want the 80 of the good ones", n)
	}
}

// A server that says thousands of times that its tools have changed, and again
// whenever it was asked, is asked for them a few times.
func TestStormOfChanges(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	h.awaitState("fake", servers.Connected)
	h.text("fake", "storm", `{}`)
	h.await("the last list is there", func() bool { return strings.Join(h.toolNames(), " ") == "echo renamed" })
	time.Sleep(time.Second) // the time in which they are counted
	if lists, err := strconv.Atoi(h.text("fake", "lists", `{}`)); err != nil || lists > 5 {
		t.Errorf("it was asked %d times for its tools, %v", lists, err)
	}
}

// Some servers say with 400 and not with 404 that they do not know a session.
func TestSessionLostAs400(t *testing.T) {
	forgetful := newForgetful(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		if r.Method != http.MethodPost {
			forgetful.ServeHTTP(w, r)
			return
		}
		forgetful.ServeHTTP(rec, r)
		if rec.Code == http.StatusNotFound {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
			return
		}
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	}))
	defer web.Close()
	h := start(t, servers.Options{}, map[string]config.MCPServer{"r": {URL: web.URL}})
	defer h.stop()
	before := h.awaitState("r", servers.Connected).Live.ConnectionID
	forgetful.forget()
	if got := h.text("r", "echo", `{"text":"again"}`); got != `{"text":"again"}` {
		t.Errorf("echo: %s", got)
	}
	if h.status("r").Live.ConnectionID == before {
		t.Error("the session was not made anew")
	}
}

// A remote server that sends its answer a byte at a time holds up its own call.
func TestSlowLorisOverHTTP(t *testing.T) {
	var slow sync.Once
	ended := make(chan struct{})
	s := sdkServer(t)
	next := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		loris := false
		if r.Header.Get("Mcp-Method") == "tools/call" {
			slow.Do(func() { loris = true })
		}
		if !loris {
			next.ServeHTTP(w, r)
			return
		}
		defer close(ended)
		w.Header().Set("Content-Type", "text/event-stream")
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for {
			_, _ = io.WriteString(w, ":")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-ticker.C:
			case <-r.Context().Done():
				return
			}
		}
	}))
	defer web.Close()
	h := start(t, servers.Options{}, map[string]config.MCPServer{"r": {URL: web.URL, Timeout: 200}})
	defer h.stop()
	before := h.awaitState("r", servers.Connected).Live.ConnectionID
	var timeout *servers.TimeoutError
	if _, err := h.call("r", "echo", `{"text":"slow"}`); !errors.As(err, &timeout) {
		t.Errorf("got %v, want a TimeoutError", err)
	}
	<-ended // the request was given up
	if got := h.text("r", "echo", `{"text":"fast"}`); got != `{"text":"fast"}` || h.status("r").Live.ConnectionID != before {
		t.Errorf("then it answers %s", got)
	}
}
