package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/journal"
)

// serve serves a desk's HTTP door on a free port, until the test ends.
func (d *desk) serve(t *testing.T) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- d.Serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// freeAddress is one that nobody listens on now.
func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// post sends JSON and returns the answer.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body)) //nolint:noctx // the test's own server
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}

// TestOllamaChat goes through the loop: a read runs, a write waits for the person,
// and the record says by which door it all came.
func TestOllamaChat(t *testing.T) {
	address := freeAddress(t)
	d := newDesk(t, fmt.Sprintf("ollama: {enabled: true, listen: %q}\n", address), nil)
	d.serve(t)
	d.await(t, "the door", func() bool { return d.Ollama().Serving })
	if s := d.Ollama(); s.Listen != address || s.Error != "" || !s.Enabled {
		t.Errorf("the status is %+v", s)
	}
	d.answer(t, func(approvals.Request) approvals.Decision {
		return approvals.Decision{Outcome: approvals.Denied, Reason: "not on my disk"}
	})
	status, body := post(t, "http://"+address+"/api/chat", `{"model":"demo","messages":[{"role":"user","content":"go"}]}`)
	lines := strings.Split(strings.TrimSpace(body), "\n")
	var said strings.Builder
	for _, line := range lines {
		said.WriteString(gjson.Get(line, "message.content").String())
	}
	last := lines[len(lines)-1]
	if status != 200 || !strings.Contains(said.String(), "not on my disk") || !gjson.Get(last, "done").Bool() || gjson.Get(last, "x_gateway.rounds").Int() < 2 {
		t.Errorf("got %d: %q, ending %s", status, said.String(), last)
	}
	reader, err := journal.OpenReader(filepath.Join(filepath.Dir(d.configPath), "state", "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	rows := 0
	for row, err := range reader.Calls(t.Context(), journal.Filter{}) {
		if rows++; err != nil || row.Door != "ollama" {
			t.Errorf("a row names the door %q, %v", row.Door, err)
		}
	}
	if rows < 2 {
		t.Errorf("%d calls are in the record", rows)
	}
}

// TestOllamaDoorFollowsTheConfiguration: it opens, moves and closes while the
// gateway runs, and one that cannot be opened says why and is tried again.
func TestOllamaDoorFollowsTheConfiguration(t *testing.T) {
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	d := newDesk(t, "", nil)
	d.serve(t)
	set := func(enabled bool, address string) {
		t.Helper()
		text := fmt.Sprintf("default_model: demo\nollama: {enabled: %v, listen: %q}\n", enabled, address)
		if err := os.WriteFile(d.configPath, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answers := func(address string) bool {
		response, err := http.Get("http://" + address + "/api/version") //nolint:noctx // the test's own server
		if err == nil {
			_ = response.Body.Close()
		}
		return err == nil && response.StatusCode == 200
	}
	wait := func(what string, ok func(gateway.OllamaStatus) bool) {
		t.Helper()
		d.await(t, what, func() bool { return ok(d.Ollama()) })
	}
	if d.Ollama().Serving {
		t.Error("the door is open although nobody has switched it on")
	}
	first, second := freeAddress(t), freeAddress(t)
	set(true, first) // made outside, it loosens a gate
	wait("the door that waits for a yes", func(gateway.OllamaStatus) bool { return len(d.Status(t.Context()).Config.Held) == 1 })
	if answers(first) {
		t.Error("the door opened without a yes")
	}
	now, err := d.Manager().Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Manager().AcceptHeld(t.Context(), now.Revision); err != nil {
		t.Fatal(err)
	}
	wait("the door", func(s gateway.OllamaStatus) bool { return s.Serving && answers(first) })
	set(true, held.Addr().String())
	wait("why it cannot move", func(s gateway.OllamaStatus) bool { return strings.Contains(s.Error, "ollama.listen") })
	if s := d.Ollama(); !s.Serving || s.Listen != first || !answers(first) {
		t.Errorf("it should stay where it was: %+v", s)
	}
	set(true, second)
	wait("the door elsewhere", func(s gateway.OllamaStatus) bool { return s.Listen == second && s.Error == "" && answers(second) })
	if answers(first) {
		t.Error("it is still where it was")
	}
	set(false, second)
	wait("the closed door", func(s gateway.OllamaStatus) bool { return !s.Serving && !answers(second) })
}

// TestOllamaPortTaken: that somebody has the port keeps nothing else from working.
func TestOllamaPortTaken(t *testing.T) {
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, fmt.Sprintf("ollama: {enabled: true, listen: %q}\n", held.Addr()), nil)
	d.serve(t)
	d.await(t, "why the door is closed", func() bool { return strings.Contains(d.Ollama().Error, held.Addr().String()) })
	if s := d.Status(t.Context()); s.Ollama.Serving || !s.Resident {
		t.Errorf("the status is %+v", s.Ollama)
	}
	_ = held.Close()
	if err := os.WriteFile(d.configPath, fmt.Appendf(nil, "default_model: demo\nollama: {enabled: true, listen: %q}\nlog: {level: warn}\n", held.Addr()), 0o600); err != nil {
		t.Fatal(err)
	}
	d.await(t, "the door, once the port is free", func() bool { return d.Ollama().Serving })
}

// TestOllamaDoorAndWebPages: that every page may call the door that asks for a key
// says nothing of the one that asks for none.
func TestOllamaDoorAndWebPages(t *testing.T) {
	d := newDesk(t, "ollama: {enabled: true, listen: '127.0.0.1:0'}\ngateway: {cors_origins: ['*', 'https://mine.example']}\n", nil)
	d.serve(t)
	d.await(t, "the door", func() bool { return d.Ollama().Serving })
	for origin, want := range map[string]int{"https://any.example": http.StatusForbidden, "https://mine.example": http.StatusOK} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+d.Ollama().Listen+"/api/tags", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", origin)
		response, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close() // its status is all that counts
		if response.StatusCode != want {
			t.Errorf("a page of %s is answered with %d, want %d", origin, response.StatusCode, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}
