package servers_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// do runs one of the host's commands, which must not fail.
func (h *harness) do(command func(context.Context, string) (servers.Status, error), name string) servers.Status {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	s, err := command(ctx, name)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func TestStopAndStart(t *testing.T) {
	entries := oneFake(t, "normal")
	entries["other"] = fakeServer(t, "normal")
	h := start(t, servers.Options{}, entries)
	pid, other := h.awaitState("fake", servers.Connected).Live.PID, h.text("other", "pid", `{}`)

	s := h.do(h.Stop, "fake")
	if s.Live.Status != servers.Stopped || !s.Enabled || s.Tools != 0 || isRunning(pid) {
		t.Errorf("stopped, it is %+v; its process runs: %t", s, isRunning(pid))
	}
	if names := strings.Join(h.toolNames(), " "); names != "echo second" { // the other one's
		t.Errorf("the tools are %s", names)
	}
	var away *servers.UnavailableError
	if _, err := h.call("fake", "echo", `{}`); !errors.As(err, &away) || away.Status != servers.Stopped || !strings.Contains(err.Error(), "servers start") {
		t.Errorf("a call says %v", err)
	}
	if again := h.do(h.Stop, "fake"); again.Live.Status != servers.Stopped {
		t.Errorf("stopped twice, it is %+v", again)
	}

	if s = h.do(h.Start, "fake"); s.Live.Status != servers.Connected || s.Live.PID == pid {
		t.Errorf("started, it is %+v", s)
	}
	if again := h.do(h.Start, "fake"); again.Live.ConnectionID != s.Live.ConnectionID {
		t.Error("to start what runs has restarted it")
	}
	if again := h.do(h.Restart, "fake"); again.Live.Status != servers.Connected || again.Live.PID == s.Live.PID {
		t.Errorf("restarted, it is %+v", again)
	}
	if got := h.text("other", "pid", `{}`); got != other {
		t.Error("the other server was restarted, too")
	}
}

// Neither an edited entry nor a changed secret starts what the user has stopped.
func TestStoppedStaysStopped(t *testing.T) {
	entry := fakeServer(t, "normal")
	h := start(t, servers.Options{}, map[string]config.MCPServer{"fake": entry})
	h.awaitState("fake", servers.Connected)
	h.do(h.Stop, "fake")
	entry.Args = []string{"another"}
	h.Apply(map[string]config.MCPServer{"fake": entry}, nil)
	h.Refresh("fake")
	h.Check()
	if got := h.status("fake"); got.Live.Status != servers.Stopped || h.Connecting() {
		t.Errorf("it is %+v", got)
	}
	h.Apply(map[string]config.MCPServer{"fake": entry}, []string{"fake"})
	h.Apply(map[string]config.MCPServer{"fake": entry}, nil)
	if got := h.status("fake").Live.Status; got != servers.Stopped {
		t.Errorf("disabled and enabled, it is %s", got)
	}
	if got := h.do(h.Start, "fake").Live.Status; got != servers.Connected {
		t.Errorf("started, it is %s", got)
	}
	h.do(h.Stop, "fake")
	h.Apply(nil, nil)
	h.Apply(map[string]config.MCPServer{"fake": entry}, nil)
	h.awaitState("fake", servers.Connected) // an entry that is added is a new one
}

func TestWhatCannotBeStarted(t *testing.T) {
	h := start(t, servers.Options{}, nil)
	h.Apply(map[string]config.MCPServer{"off": {Command: "true", Disabled: true}, "listed": {Command: "true"}, "empty": {}}, []string{"listed"})
	for name, want := range map[string]servers.State{
		"off": servers.Disabled, "listed": servers.Disabled, "empty": servers.NotConfigured, "nobody": servers.NotConfigured,
	} {
		for _, command := range []func(context.Context, string) (servers.Status, error){h.Start, h.Restart} {
			var state *servers.StateError
			if _, err := command(t.Context(), name); !errors.As(err, &state) || state.Status != want || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	var state *servers.StateError
	if _, err := h.Stop(t.Context(), "nobody"); !errors.As(err, &state) {
		t.Errorf("stopping a server that is not there: %v", err)
	}
	if s := h.do(h.Stop, "off"); s.Live.Status != servers.Disabled {
		t.Errorf("a disabled server that is stopped is %s", s.Live.Status)
	}
	if _, err := servers.New(servers.Options{}).Start(t.Context(), "x"); err == nil {
		t.Error("a host that does not run starts a server")
	}
}

func TestStartTellsWhyItFails(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "broken"))
	h.awaitState("fake", servers.Failed)
	s := h.do(h.Start, "fake")
	for _, part := range []string{"exit status 3", "cannot find the database"} {
		if s.Live.Status != servers.Failed || !strings.Contains(s.Live.Error, part) {
			t.Errorf("it does not say %q: %+v", part, s.Live)
		}
	}
}

// A program that crashes whenever it is started is left alone after five times,
// until somebody starts it.
func TestCrashingServerRests(t *testing.T) {
	for mode, how := range map[string]string{"broken": "exit status 3", "crashing": "exit status 9"} {
		t.Run(mode, func(t *testing.T) {
			log, told := logOf()
			h := start(t, servers.Options{Logger: log}, oneFake(t, mode))
			defer h.stop()
			rests := func() bool { return strings.Contains(h.status("fake").Live.Error, "rests until it is started") }
			h.awaitResting("fake")
			s := h.status("fake")
			if s.Live.Status != servers.Failed || !strings.Contains(s.Live.Error, how) || !strings.Contains(s.Live.Error, "last line on stderr") {
				t.Errorf("it rests as %+v", s.Live)
			}
			h.Check() // no event wakes it
			var away *servers.UnavailableError
			if _, err := h.call("fake", "echo", `{}`); !errors.As(err, &away) || !rests() {
				t.Errorf("a call of it: %v, and it is %+v", err, h.status("fake").Live)
			}
			if h.do(h.Start, "fake"); rests() {
				t.Error("started, it rests still")
			}
			if text := told(); !strings.Contains(text, "rests until") {
				t.Errorf("the log says %s", text)
			}
		})
	}
}

// awaitResting calls the server until it rests: each call is an attempt.
func (h *harness) awaitResting(name string) {
	h.t.Helper()
	for range 50 {
		if strings.Contains(h.status(name).Live.Error, "rests until") {
			return
		}
		_, _ = h.call(name, "echo", `{}`) // whether it gets through is not the point
	}
	h.t.Fatalf("it does not rest: %+v", h.status(name))
}

// The delays between attempts grow from a second to five minutes, each a little
// longer than before by chance; a call makes an attempt at once.
func TestBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var attempts []time.Time
		down := func(context.Context) (mcp.Transport, error) {
			mu.Lock()
			defer mu.Unlock()
			attempts = append(attempts, time.Now())
			return nil, errors.New("nobody is at home")
		}
		h := servers.New(servers.Options{Path: "/nowhere", Builtin: map[string]func(context.Context) (mcp.Transport, error){"down": down}})
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { _ = h.Run(ctx) })
		h.Apply(nil, nil)
		time.Sleep(time.Hour)
		mu.Lock()
		made := attempts
		mu.Unlock()
		uneven := false
		for i := 1; i < len(made); i++ {
			least := min(time.Second<<(i-1), 5*time.Minute)
			if i > 9 {
				least = 5 * time.Minute
			}
			delay := made[i].Sub(made[i-1])
			if delay < least || delay > min(least+least/4, 5*time.Minute) {
				t.Errorf("delay %d is %s, want %s and up to a quarter more", i, delay, least)
			}
			uneven = uneven || delay > least
		}
		if len(made) < 15 || !uneven {
			t.Errorf("%d attempts in an hour, with chance in the delays: %t", len(made), uneven)
		}
		if s := h.Status()[0]; s.Live.Status != servers.Failed || !strings.Contains(s.Live.Error, "nobody is at home") {
			t.Errorf("it is %+v", s.Live)
		}
		if s, err := h.Start(ctx, "down"); err != nil || s.Live.Status != servers.Failed {
			t.Errorf("started, it is %+v, %v", s.Live, err)
		}
		time.Sleep(1300 * time.Millisecond)
		mu.Lock()
		if len(attempts) != len(made)+2 {
			t.Errorf("started anew it has made %d attempts, want 2: its delays begin again", len(attempts)-len(made))
		}
		mu.Unlock()
		cancel()
		running.Wait()
	})
}

// While the server of an old entry ends, its connection is what there is.
func TestStatusShowsTheRealConnection(t *testing.T) {
	entry := fakeServer(t, "lingering") // takes its time to end
	h := start(t, servers.Options{}, map[string]config.MCPServer{"fake": entry})
	old := h.awaitState("fake", servers.Connected)
	entry.Args = []string{"another"}
	h.Apply(map[string]config.MCPServer{"fake": entry}, nil)
	if got := h.status("fake"); !got.ConfigChanged || got.Live.PID != old.Live.PID || got.Live.Status != servers.Connected || got.Tools != 0 {
		t.Errorf("under the changed entry it is %+v", got)
	}
	h.await("the new one is connected", func() bool {
		s := h.status("fake")
		return s.Live.Status == servers.Connected && s.Live.PID != old.Live.PID && !s.ConfigChanged
	})
}

func TestSettle(t *testing.T) {
	absent := config.MCPServer{Command: "no-such-command-anywhere"}
	entries := map[string]config.MCPServer{
		"fine": fakeServer(t, "normal"), "slow": fakeServer(t, "slow"), "absent": absent, "off": {Command: "x", Disabled: true}, "empty": {},
	}
	h := start(t, servers.Options{}, entries)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := h.Settle(ctx); err != nil || h.Connecting() {
		t.Errorf("%v; connecting: %t", err, h.Connecting())
	}
	for name, want := range map[string]servers.State{"fine": servers.Connected, "slow": servers.Connected, "absent": servers.Failed} {
		if got := h.status(name).Live.Status; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	hanging := start(t, servers.Options{}, oneFake(t, "silent"))
	short, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := hanging.Settle(short); !errors.Is(err, context.DeadlineExceeded) || !hanging.Connecting() {
		t.Errorf("with one that hangs: %v; connecting: %t", err, hanging.Connecting())
	}
}
