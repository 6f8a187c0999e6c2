package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/gateway/config"
)

// TestErrorsHoldNoCredential lets a provider repeat our key in all that it says.
func TestErrorsHoldNoCredential(t *testing.T) {
	const key = "the-key"
	for name, answer := range map[string]reply{
		"400":        {status: 400, body: `{"error":{"message":"bad key the-key","headers":{"Authorization":"Bearer the-key"}}}`},
		"401":        {status: 401, body: `{"error":{"message":"bad key the-key"}}`},
		"500":        {status: 500, body: `oops the-key`},
		"no JSON":    {status: 200, body: `the-key`},
		"an error":   {status: 200, body: `{"error":{"message":"the-key"}}`},
		"no network": {err: errors.New("proxy said the-key")},
	} {
		t.Run(name, func(t *testing.T) {
			router := rig(t, &upstream{replies: []reply{answer}}, func(c *config.Config) { c.RouterSettings.NumRetries = 0 })
			router.opts.Redact = func(text string) string { return strings.ReplaceAll(text, key, "[key]") }
			_, err := do(t, router, `{"messages":[]}`, false)
			e := AsError(err)
			if err == nil || strings.Contains(e.Message, key) || strings.Contains(string(e.JSON()), key) || !strings.Contains(string(e.JSON()), "[key]") {
				t.Errorf("error %v, as JSON %s", err, e.JSON())
			}
		})
	}
}

// TestRepliesMayRepeatKeys: a reply is not refused for it, and what is changed
// is changed everywhere.
func TestRepliesMayRepeatKeys(t *testing.T) {
	const object = `{"a":1,"b":2,"\u0061":3}`
	if got := string(WithMember([]byte(object), "a", []byte("4"))); got != `{"a":4,"b":2}` {
		t.Errorf("set gives %s", got)
	}
	if got := string(WithMember([]byte(object), "a", nil)); got != `{"b":2}` {
		t.Errorf("delete gives %s", got)
	}
	if got := string(WithMember([]byte(`[1]`), "a", nil)); got != `[1]` {
		t.Errorf("an array became %s", got)
	}
}

func TestHostileDepth(t *testing.T) {
	if deep := []byte(`{"choices":` + strings.Repeat("[", 4_000_000)); Valid(deep) {
		t.Error("endless depth is held to be valid")
	}
	if !Valid([]byte(` [{"a":null}] `)) || Valid([]byte(`{} x`)) || Valid(nil) {
		t.Error("Valid is wrong about plain cases")
	}
}

// TestLongEvents: many short lines of one event must not fill the memory either.
func TestLongEvents(t *testing.T) {
	line := "data: " + strings.Repeat("x", 1<<20) + "\n"
	_, err := NewEvents(io.MultiReader(readers(line, 40)...)).Next()
	if !errors.Is(err, errLongEvent) {
		t.Errorf("error %v", err)
	}
	e := NewEvents(iotest.OneByteReader(strings.NewReader("data: {\"a\":\ndata: 1}")))
	if data, err := e.Next(); err != nil || string(data) != "{\"a\":\n1}" {
		t.Errorf("a last event in two lines is %q, %v", data, err)
	}
}

func TestLongStreams(t *testing.T) {
	event := "data: {\"x\":\"" + strings.Repeat("x", 1<<20) + "\"}\n\n"
	r := &Reply{Deployment: &Deployment{Provider: "p"}, events: NewEvents(io.MultiReader(readers(event, 200)...)), ctx: t.Context()}
	for n := 0; ; n++ {
		if _, err := r.Next(); err != nil {
			if n < 100 || !strings.Contains(err.Error(), "longer than") {
				t.Errorf("after %d MiB: %v", n, err)
			}
			return
		}
	}
}

func readers(text string, n int) (list []io.Reader) {
	for range n {
		list = append(list, strings.NewReader(text))
	}
	return list
}

// TestPrettyReplyAsStream: line breaks of a plain reply must not end its event.
func TestPrettyReplyAsStream(t *testing.T) {
	events := string(asEvents([]byte("{\r\n\"choices\":[\r\n{\"message\":{\"content\":\"x\"}}]}")))
	if strings.Contains(events, "\r") || strings.Count(events, "\n") != 4 {
		t.Errorf("events are %q", events)
	}
	if got := gjson.Get(strings.TrimPrefix(events, "data: "), "choices.0.delta.content").String(); got != "x" {
		t.Errorf("the text is %q", got)
	}
}

// TestChoicesMustBeAList: what looks like one to a path is none.
func TestChoicesMustBeAList(t *testing.T) {
	router := rig(t, &upstream{replies: []reply{{status: 200, body: `{"choices":{"0":{"message":{"content":"x"}}}}`}}}, func(c *config.Config) { c.RouterSettings.NumRetries = 0 })
	if _, err := do(t, router, `{"messages":[]}`, false); err == nil || !strings.Contains(fmt.Sprint(err), "no choices") {
		t.Errorf("error is %v", err)
	}
}

// TestSlowCallers: the time a caller takes between two events is not the
// provider's.
func TestSlowCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		router := rig(t, &upstream{}, nil)
		router.opts.Client = &http.Client{Transport: transport(func(req *http.Request) *http.Response {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(&oneByOne{ctx: req.Context(), left: 3}), Request: req}
		})}
		reply, err := do(t, router, `{"messages":[]}`, true)
		for range 3 {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			_, err = reply.Next()
		}
		if err != nil {
			t.Error(err)
		}
	})
}

type transport func(*http.Request) *http.Response

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req), nil }

// oneByOne gives one event to each read, as long as the request lives.
type oneByOne struct {
	ctx  context.Context
	left int
}

func (o *oneByOne) Read(buf []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	if o.left--; o.left < 0 {
		return 0, io.EOF
	}
	return copy(buf, event), nil
}

// TestDiscoveredModelsOutliveAChange: what was found stays known while the next
// router asks again, but for providers that are not asked any more.
func TestDiscoveredModelsOutliveAChange(t *testing.T) {
	asks := func(discover bool) func(*config.Config) {
		return func(c *config.Config) {
			c.Providers = map[string]config.Provider{"corp": {BaseURL: "http://corp.example/v1", APIKey: "k", Models: config.ProviderModels{Discover: discover}}}
		}
	}
	old := rig(t, &upstream{}, asks(true))
	old.discovered["corp-1"] = "corp"
	for _, discover := range []bool{true, false} {
		next := rig(t, &upstream{}, asks(discover))
		next.Inherit(old)
		if _, err := next.Resolve("corp-1"); (err == nil) != discover {
			t.Errorf("discover %v: %v", discover, err)
		}
	}
}
