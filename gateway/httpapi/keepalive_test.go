package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pointsman/gateway/config"
	"pointsman/gateway/httpapi"
	"pointsman/gateway/loop"
	"pointsman/gateway/models"
)

// TestComments lets a stream be silent while a person decides: headers and a
// comment go out after ten seconds, and every ten seconds from then on.
func TestComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		router, err := models.NewRouter(config.Default(), models.Options{Resolve: func(_ context.Context, ref string) (string, error) { return ref, nil }})
		if err != nil {
			t.Fatal(err)
		}
		handler := httpapi.New(httpapi.Options{
			Models: func() *models.Router { return router }, Settings: settings, Trusted: true,
			Runner: runner(func(_ context.Context, req loop.Request) (*loop.Result, error) {
				time.Sleep(35 * time.Second)
				req.Stream.Begin(http.Header{})
				if err := req.Stream.Data([]byte("{}")); err != nil {
					return nil, err
				}
				return &loop.Result{}, req.Stream.Flush()
			}),
		})
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(`{"stream":true,"messages":[{}]}`)))
		if got, want := w.Body.String(), strings.Repeat(": waiting\n\n", 3)+"data: {}\n\ndata: [DONE]\n\n"; got != want {
			t.Errorf("the stream is %q, want %q", got, want)
		}
		time.Sleep(time.Minute)
		if strings.Count(w.Body.String(), "waiting") != 3 {
			t.Error("something was written after the request had ended")
		}
	})
}
