package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/journal"
)

// TestShutDownTellsWhy stops the door, and the gateway, while a call waits for a
// person: the client and the record are told that it was us.
func TestShutDownTellsWhy(t *testing.T) {
	for name, closes := range map[string]bool{"the door": false, "the gateway": true} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, "gateway: {auth: none}\n", nil)
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			served := make(chan error, 1)
			go func() { served <- d.Serve(ctx, ln) }()
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			answer := make(chan string, 1)
			go func() {
				response, err := client.Post("http://"+ln.Addr().String()+"/v1/chat/completions", "application/json", bytes.NewReader([]byte(`{"stream":true,"messages":[{"role":"user","content":"go"}]}`)))
				if err != nil {
					answer <- err.Error()
					return
				}
				defer response.Body.Close()
				body, err := io.ReadAll(response.Body)
				if err != nil {
					answer <- err.Error()
					return
				}
				answer <- string(body)
			}()
			d.await(t, "the request for approval", func() bool { return len(d.Desk().Pending()) == 1 })
			if !closes {
				cancel()
				if err := <-served; err != nil {
					t.Error(err)
				}
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if body := <-answer; !strings.Contains(body, `"message":"Pointsman is shutting down`) || strings.Contains(body, "[DONE]") {
				t.Errorf("the client got %q", body)
			}
			if _, err := d.Chat(t.Context(), gateway.ChatRequest{Prompt: "go"}); !errors.Is(err, approvals.ErrShuttingDown) {
				t.Errorf("a run of a closed gateway ended with %v", err)
			}
			d.checkRecord(t, journal.Withdrawn, "shutting down")
			if closes {
				cancel()
				if err := <-served; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// checkRecord looks at the last call and the last run of a closed gateway.
func (d *desk) checkRecord(t *testing.T, outcome journal.Outcome, reason string) {
	t.Helper()
	reader := d.reader(t)
	found := false
	for call, err := range reader.Calls(t.Context(), journal.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		found = found || call.Outcome == outcome && call.Reason == reason
	}
	if !found {
		t.Errorf("no call is recorded as %s, %q", outcome, reason)
	}
	for run, err := range reader.Runs(t.Context(), journal.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if run.Outcome != journal.Cancelled || run.Error != reason {
			t.Errorf("the run is recorded as %s, %q", run.Outcome, run.Error)
		}
	}
}

// reader reads the record of a gateway.
func (d *desk) reader(t *testing.T) *journal.Reader {
	t.Helper()
	where, err := config.Locate(func(name string) string {
		return map[string]string{"POINTSMAN_HOME": filepath.Dir(d.configPath)}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := journal.OpenReader(filepath.Join(where.State, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	return reader
}
