package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"pointsman/gateway/loop"
)

// TestSession: a request belongs to the session that its program names.
func TestSession(t *testing.T) {
	const id, other = "bac7d8e5-c64a-4af8-907e-74a25ba1e33c", "50f5f96b-ffe1-466e-ab2f-ab08cb435969"
	told := func(folder string) string {
		return "You are a program's.\n\n<session_context>\nSession folder: " + folder + "\n\nContents:\n</session_context>\n"
	}
	type message struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	}
	for _, test := range []struct {
		name, header, key string
		messages          []message
		want              string
	}{
		{name: "nothing", messages: []message{{"user", "hello"}}},
		{name: "a key of the cache", key: "k1", messages: []message{{"user", "hello"}}, want: "k1"},
		{name: "Copilot", key: "k1", messages: []message{{"system", told("/home/me/.copilot/session-state/" + id)}, {"user", "hello"}}, want: id},
		{name: "Copilot on Windows", messages: []message{{"developer", told(`C:\Users\me\.copilot\session-state\` + id)}}, want: id},
		{name: "a header", header: "h1", key: "k1", messages: []message{{"system", told("/x/session-state/" + id)}}, want: "h1"},
		{name: "quoted once more", key: "k1", messages: []message{{"system", told("/x/session-state/"+id) + told("/x/session-state/"+id)}}, want: id},
		{name: "two of them", key: "k1", messages: []message{{"system", told("/x/session-state/"+id) + told("/x/session-state/"+other)}}, want: "k1"},
		{name: "in the user's words", messages: []message{{"user", told("/x/session-state/" + id)}}},
		{name: "in a later message", messages: []message{{"system", "be nice"}, {"system", told("/x/session-state/" + id)}}},
		{name: "another folder", messages: []message{{"system", told("/x/session-state/" + id + "/files")}}},
		{name: "no id", messages: []message{{"system", told("/x/session-state/mine")}}},
		{name: "in passing", messages: []message{{"system", "Session folder: /x/session-state/" + id + "\n"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got loop.Request
			server := newDoor(t, func(ctx context.Context, req loop.Request) (*loop.Result, error) {
				got = req
				return ok(ctx, req)
			}, settings)
			body, err := json.Marshal(map[string]any{"messages": test.messages, "prompt_cache_key": test.key})
			if err != nil {
				t.Fatal(err)
			}
			send(t, server, "POST", "/v1/chat/completions", string(body), func(r *http.Request) { r.Header.Set("X-Pointsman-Session", test.header) })
			if got.Session != test.want {
				t.Errorf("the session is %q, not %q", got.Session, test.want)
			}
		})
	}
}
