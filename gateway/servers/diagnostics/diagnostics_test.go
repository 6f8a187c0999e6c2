package diagnostics_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pointsman/gateway/servers/diagnostics"
)

func at(level diagnostics.Level) *diagnostics.Log {
	l := &diagnostics.Log{}
	l.SetLevel(level)
	return l
}

func add(l *diagnostics.Log, level diagnostics.Level, messages ...string) {
	for _, m := range messages {
		l.Writer(level).Write(diagnostics.Entry{Server: "s", ConnectionID: "c", Category: diagnostics.Protocol, Message: m})
	}
}

func read(t *testing.T, l *diagnostics.Log, q diagnostics.Query) diagnostics.Page {
	t.Helper()
	q.Server = "s"
	page, err := l.Read(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if page.Cursor == "" || page.Entries == nil {
		t.Fatalf("a page without a cursor or entries: %+v", page)
	}
	return page
}

func said(page diagnostics.Page) string {
	var all []string
	for _, e := range page.Entries {
		all = append(all, e.Message)
	}
	return strings.Join(all, " ")
}

func TestPages(t *testing.T) {
	l := at(diagnostics.Info)
	add(l, diagnostics.Info, "a", "b", "c")
	add(l, diagnostics.Debug, "left out")
	add(l, diagnostics.Error, "d")
	first := read(t, l, diagnostics.Query{Max: 3})
	if said(first) != "a b c" || first.CursorStatus != "ok" || first.Level != "info" || first.Entries[0].Time.IsZero() || first.Entries[0].Level != "info" {
		t.Errorf("the first page is %+v", first)
	}
	second := read(t, l, diagnostics.Query{Cursor: first.Cursor})
	if said(second) != "d" {
		t.Errorf("the second page is %+v", second)
	}
	if third := read(t, l, diagnostics.Query{Cursor: second.Cursor}); said(third) != "" || third.CursorStatus != "ok" || third.DroppedCount != 0 {
		t.Errorf("the third page is %+v", third)
	}
	if grave := read(t, l, diagnostics.Query{Level: diagnostics.Warning}); said(grave) != "d" {
		t.Errorf("warnings are %s", said(grave))
	}
}

func TestDefaultAndGreatestPage(t *testing.T) {
	l := at(diagnostics.Info)
	add(l, diagnostics.Info, strings.Fields(strings.Repeat("x ", 700))...)
	for given, want := range map[int]int{0: 100, 500: 500} {
		if got := len(read(t, l, diagnostics.Query{Max: given}).Entries); got != want {
			t.Errorf("max %d gives %d records, want %d", given, got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	l := at(diagnostics.Info)
	add(l, diagnostics.Info, "first")
	start := read(t, l, diagnostics.Query{})
	for i := range 1100 {
		add(l, diagnostics.Info, fmt.Sprint("n", i))
	}
	page := read(t, l, diagnostics.Query{Cursor: start.Cursor, Max: 1})
	if page.CursorStatus != "expired" || page.DroppedCount != 76 || said(page) != "n76" {
		t.Errorf("after too many records: %+v", page)
	}
	long := strings.Repeat("é", 9<<10) // 18 KiB
	for range 300 {
		add(l, diagnostics.Info, long)
	}
	bytes, kept, cursor := 0, 0, ""
	for {
		page := read(t, l, diagnostics.Query{Cursor: cursor, Max: 500})
		if len(page.Entries) == 0 {
			break
		}
		for _, e := range page.Entries {
			bytes += len(e.Message)
			kept++
			if e.Message != strings.TrimSuffix(e.Message, "\xc3") || len(e.Message) > 16<<10 || !e.Truncated {
				t.Fatalf("a record of %d bytes, truncated: %t", len(e.Message), e.Truncated)
			}
		}
		cursor = page.Cursor
	}
	if bytes > 4<<20 || bytes < 3<<20 {
		t.Errorf("%d records of %d bytes are kept", kept, bytes)
	}
}

func TestOffByDefaultAndClears(t *testing.T) {
	var l diagnostics.Log
	add(&l, diagnostics.Error, "nobody asked")
	if page := read(t, &l, diagnostics.Query{Wait: time.Minute}); said(page) != "" || page.Level != "off" {
		t.Errorf("off, it has %+v", page)
	}
	l.SetLevel(diagnostics.Trace)
	add(&l, diagnostics.Trace, "kept")
	before := read(t, &l, diagnostics.Query{})
	late := l.Writer(diagnostics.Error)
	l.SetLevel(diagnostics.Off)
	l.SetLevel(diagnostics.Trace)
	late.Write(diagnostics.Entry{Server: "s", Message: "in flight"})
	add(&l, diagnostics.Trace, "anew")
	if page := read(t, &l, diagnostics.Query{}); said(page) != "anew" {
		t.Errorf("off and on, it has %s", said(page))
	}
	if page := read(t, &l, diagnostics.Query{Cursor: before.Cursor}); said(page) != "anew" || page.CursorStatus != "ok" {
		t.Errorf("from a cursor of before: %+v", page)
	}
	l.SetLevel("loud")
	if l.Level() != diagnostics.Off {
		t.Errorf("an unknown level is %s", l.Level())
	}
}

func TestLongPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := at(diagnostics.Info)
		cursor := read(t, l, diagnostics.Query{}).Cursor
		wait := func(q diagnostics.Query) (diagnostics.Page, time.Duration) {
			began := time.Now()
			q.Cursor = cursor
			return read(t, l, q), time.Since(began)
		}
		time.AfterFunc(2*time.Second, func() { add(l, diagnostics.Info, "left out") })
		time.AfterFunc(3*time.Second, func() { add(l, diagnostics.Error, "late") })
		if page, took := wait(diagnostics.Query{Wait: time.Minute, Level: diagnostics.Error}); said(page) != "late" || took != 3*time.Second {
			t.Errorf("after %s: %+v", took, page)
		}
		cursor = read(t, l, diagnostics.Query{}).Cursor
		if page, took := wait(diagnostics.Query{Wait: 5 * time.Second}); said(page) != "" || took != 5*time.Second {
			t.Errorf("after %s: %+v", took, page)
		}
		time.AfterFunc(time.Second, func() { l.SetLevel(diagnostics.Off) })
		if page, took := wait(diagnostics.Query{Wait: time.Minute}); said(page) != "" || page.Level != "off" || took != time.Second {
			t.Errorf("turned off after %s: %+v", took, page)
		}
		l.SetLevel(diagnostics.Info)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if page, err := l.Read(ctx, diagnostics.Query{Server: "s", Wait: time.Minute}); err != nil || page.Cursor == "" {
			t.Errorf("given up: %+v, %v", page, err)
		}
		time.AfterFunc(time.Second, func() { l.Retain(func(string) bool { return false }) })
		if page, took := wait(diagnostics.Query{Wait: time.Minute}); page.CursorStatus != "expired" || took != time.Second {
			t.Errorf("of a server that went, after %s: %+v", took, page)
		}
	})
}

func TestRefusedQueries(t *testing.T) {
	l := at(diagnostics.Info)
	add(l, diagnostics.Info, "x")
	good := read(t, l, diagnostics.Query{}).Cursor
	forged := func(edit func(map[string]any)) string {
		data, err := base64.RawURLEncoding.DecodeString(good)
		if err != nil {
			t.Fatal(err)
		}
		var c map[string]any
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatal(err)
		}
		edit(c)
		if data, err = json.Marshal(c); err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(data)
	}
	tests := map[string]struct{ query, param string }{
		"no server":         {"", "server"},
		"no number":         {"server=s&max=many", "max"},
		"none":              {"server=s&max=0", "max"},
		"negative":          {"server=s&max=-1", "max"},
		"too many":          {"server=s&max=501", "max"},
		"too long":          {"server=s&waitMs=60001", "waitMs"},
		"far too long":      {"server=s&waitMs=9223372036854775807", "waitMs"},
		"negative wait":     {"server=s&waitMs=-5", "waitMs"},
		"level":             {"server=s&level=loud", "level"},
		"off":               {"server=s&level=off", "level"},
		"unknown":           {"server=s&limit=5", "limit"},
		"no cursor":         {"server=s&cursor=xyz", "cursor"},
		"another server's":  {"server=other&cursor=" + good, "cursor"},
		"of what is not":    {"server=s&cursor=" + forged(func(c map[string]any) { c["n"] = 2 }), "cursor"},
		"before everything": {"server=s&cursor=" + forged(func(c map[string]any) { c["n"] = -1 }), "cursor"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			values, err := url.ParseQuery(test.query)
			if err != nil {
				t.Fatal(err)
			}
			q, err := diagnostics.ParseQuery(values)
			if err == nil {
				_, err = l.Read(t.Context(), q)
			}
			var refused *diagnostics.QueryError
			if !errors.As(err, &refused) || refused.Param != test.param {
				t.Errorf("got %v, want a refusal of %s", err, test.param)
			}
		})
	}
	earlier := forged(func(c map[string]any) { c["r"] = "ANOTHERRUN" })
	if page := read(t, l, diagnostics.Query{Cursor: earlier}); page.CursorStatus != "expired" || said(page) != "x" {
		t.Errorf("from a cursor of another run: %+v", page)
	}
}

func TestQueryAsValues(t *testing.T) {
	want := diagnostics.Query{Server: "a b", Cursor: "c", Max: 7, Wait: 1500 * time.Millisecond, Level: diagnostics.Debug}
	if got, err := diagnostics.ParseQuery(want.Values()); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestScrub(t *testing.T) {
	tests := map[string]string{
		"nothing to see":       "nothing to see",
		"see https://h.x/p/q.": "see https://h.x/p/q.",
		"at https://me:pw@h.x:8/p?token=abc&b=&c#frag now": "at https://h.x:8/p?token=[redacted]&b=[redacted]&[redacted] now",
		"postgres://u:p@ss@db/name?sslmode=off":            "postgres://db/name?sslmode=[redacted]",
		"Cookie: a=b; c=d\nnext":                           "Cookie: [redacted]\nnext",
		`{"Set-Cookie":"sid=1; Path=/","x":1}`:             `{"Set-Cookie":"[redacted]","x":1}`,
		"mcp-session-id: 0123-4567":                        "mcp-session-id: [redacted]",
		"Authorization: Bearer tok":                        "Authorization: [redacted]",
		"sessionId=abc":                                    "sessionId=[redacted]",
	}
	for text, want := range tests {
		if got := diagnostics.Scrub(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestScrubJSON(t *testing.T) {
	tests := map[string]string{
		`{"method":"tools/call","params":{"n":12345678901234567890}}`:           `{"method":"tools/call","params":{"n":12345678901234567890}}`,
		`{"headers":{"A":"b"},"requestHeaders":[["A","b"]],"headers2":"plain"}`: `{"headers":"[redacted]","headers2":"plain","requestHeaders":"[redacted]"}`,
		`{"a":["https://u:p@h/?k=v"],"sessionId":"s","cookie":{"a":1}}`:         `{"a":["https://h/?k=[redacted]"],"cookie":"[redacted]","sessionId":"[redacted]"}`,
		`no JSON, https://h/?k=v`: `"no JSON, https://h/?k=[redacted]"`,
	}
	for doc, want := range tests {
		if got := string(diagnostics.ScrubJSON(json.RawMessage(doc))); got != want {
			t.Errorf("%s became %s, want %s", doc, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("server=s&cursor=eyJzIjoicyIsInIiOiJ4IiwibiI6MH0&max=3")
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		values.Del("waitMs")
		l := at(diagnostics.Info)
		add(l, diagnostics.Info, "x", "y")
		q, err := diagnostics.ParseQuery(values)
		if err != nil {
			return
		}
		page, err := l.Read(t.Context(), q)
		var refused *diagnostics.QueryError
		if err != nil && !errors.As(err, &refused) || err == nil && (page.Cursor == "" || len(page.Entries) > 500) {
			t.Errorf("%+v, %v", page, err)
		}
	})
}

// Whatever stands before and after, the password of an address does not survive.
func FuzzScrub(f *testing.F) {
	f.Add("see ", "/path?q=1")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "hunter2hunter2"
		if strings.Contains(before, secret) || strings.Contains(after, secret) {
			return
		}
		if got := diagnostics.Scrub(before + " https://user:" + secret + "@host.example/x" + after); strings.Contains(got, secret) {
			t.Errorf("%q survives", got)
		}
	})
}
