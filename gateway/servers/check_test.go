package servers_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// TestCheck: what lives is left alone, what is dead is found without a call, and
// tried again when that is said.
func TestCheck(t *testing.T) {
	for name, remote := range remotes() {
		t.Run(name, func(t *testing.T) {
			handler, kind := remote(sdkServer(t))
			var dead atomic.Bool
			pings := make(chan struct{}, 10)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						return
					}
					if bytes.Contains(body, []byte(`"method":"ping"`)) {
						pings <- struct{}{}
					}
					r.Body = io.NopCloser(bytes.NewReader(body))
				}
				if dead.Load() {
					http.Error(w, "gone", http.StatusServiceUnavailable)
					return
				}
				handler.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			h := start(t, servers.Options{}, map[string]config.MCPServer{"far": {URL: server.URL, Type: kind}})
			t.Cleanup(server.CloseClientConnections)
			first := h.awaitState("far", servers.Connected).Live.ConnectionID
			h.Check()
			<-pings
			if h.call("far", "tag", "{}"); h.status("far").Live.ConnectionID != first {
				t.Error("a connection that lives was given up")
			}
			dead.Store(true)
			h.Check()
			h.awaitState("far", servers.Failed)
			dead.Store(false)
			h.Check()
			if again := h.awaitState("far", servers.Connected).Live.ConnectionID; again == first {
				t.Error("the connection is the old one")
			}
		})
	}
}

// TestCheckLeavesLocalServersAlone: their processes wake with us.
func TestCheckLeavesLocalServersAlone(t *testing.T) {
	h := start(t, servers.Options{}, oneFake(t, "normal"))
	first := h.awaitState("fake", servers.Connected).Live.ConnectionID
	h.Check()
	if got := h.text("fake", "echo", `{"text":"hi"}`); got == "" || h.status("fake").Live.ConnectionID != first {
		t.Errorf("answers %q", got)
	}
}
