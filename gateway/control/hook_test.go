package control_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/hooks"
)

func TestHook(t *testing.T) {
	r := newRig(t)
	v, err := r.client.Hook(t.Context(), hooks.Event{Client: "copilot-cli/1", Payload: json.RawMessage(`{}`)})
	if err != nil || !v.Allow || v.Reason != "copilot-cli/1" {
		t.Errorf("the answer is %+v, %v", v, err)
	}
}

// TestHookGone: when a hook's process goes, the resident learns of it while it
// waits for a person.
func TestHookGone(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	v, err := r.client.Hook(ctx, hooks.Event{Name: "wait", Payload: json.RawMessage(`{}`)})
	if !errors.Is(err, context.DeadlineExceeded) || v.Allow {
		t.Errorf("the answer is %+v, %v", v, err)
	}
	select {
	case <-r.gateway.left:
	case <-time.After(10 * time.Second):
		t.Error("the resident still waits")
	}
}

// TestHookCutShort: whatever is less than a whole answer is an error.
func TestHookCutShort(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nX-Pointsman-Timeout: 60\r\nConnection: close\r\n"
	tests := map[string]string{
		"nothing":            "",
		"half a head":        "HTTP/1.1 200",
		"no body":            head + "\r\n",
		"half a body":        head + "Transfer-Encoding: chunked\r\n\r\nf\r\n{\"allow\":true}\n",
		"half an answer":     head + "\r\n{\"allow\":tr",
		"no answer":          head + "\r\n[true]",
		"an error":           "HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\n{\"allow\":true}",
		"two answers in one": head + "\r\n{\"allow\":true}{\"allow\":true}",
	}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			home := config.Home{Runtime: t.TempDir()}
			resident, err := control.Claim(home)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = resident.Release() })
			ln, err := resident.Listen("127.0.0.1:1", filepath.Join(home.Runtime, "config.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			go answerOnce(ln, answer)
			client, err := control.Dial(t.Context(), home)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.Close)
			if v, err := client.Hook(t.Context(), hooks.Event{Payload: json.RawMessage(`{}`)}); err == nil || v.Allow {
				t.Errorf("the answer is %+v, %v", v, err)
			}
			ln.Close()
		})
	}
}

// answerOnce reads one request to its end and answers it. It ends with ln.
func answerOnce(ln net.Listener, answer string) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil && strings.HasSuffix(req.URL.Path, "/hook") {
			fmt.Fprint(conn, answer)
		}
		conn.Close()
	}
}
