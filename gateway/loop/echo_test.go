package loop_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/tidwall/gjson"
)

// echoProvider is a provider whose replies follow from the request alone: a
// plan and a risky call for the number in the user's message, then the result.
func echoProvider(t *testing.T) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		n := gjson.GetBytes(body, "messages.0.content").Int()
		w.Header().Set("Content-Type", "application/json")
		messages := gjson.GetBytes(body, "messages").Array()
		if len(messages) == 1 {
			plan := toolCall("same", "update_plan", fmt.Sprintf(`{"steps":[{"description":"plan %d","status":"pending"}]}`, n))
			fmt.Fprint(w, ask(plan, toolCall("same", "fs__write_file", fmt.Sprintf(`{"path":"/%d","n":%d}`, n, n))))
			return
		}
		fmt.Fprint(w, say(messages[len(messages)-1].Get("content").String()))
	})
}
