package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	p := serve(t, withFiles(t, ""))
	tests := []struct {
		name    string
		script  string
		edit    func(j *job)
		status  int
		code    string
		says    string
		retry   string
		reaches int // requests that reach the provider
	}{
		{name: "wrong key", edit: func(j *job) { j.APIKey = "wrong" }, status: 401, says: "key"},
		{name: "unknown model", edit: func(j *job) { j.Body = []byte(strings.ReplaceAll(string(j.Body), "scripted/test", "nobody")) }, status: 400, code: "invalid_request", says: "gpt-6-sol"},
		{name: "no messages", edit: func(j *job) { j.Body = []byte(`{"model":"scripted/test","messages":[]}`) }, status: 400, code: "invalid_request", says: "messages is empty"},
		{name: "several choices", edit: func(j *job) { j.Body = []byte(strings.Replace(string(j.Body), "{", `{"n":2,`, 1)) }, status: 400, code: "invalid_request", says: "n is 2"},
		{name: "bad request", script: "@fail 422 0", status: 422, code: "scripted", says: "scripted failure 422", reaches: 1},
		{name: "our key refused", script: "@fail 401 0", status: 403, code: "auth_failed", says: "scripted", reaches: 1},
		{name: "rate limit", script: "@fail 429 17", status: 429, code: "rate_limited", says: "scripted failure 429", retry: "17", reaches: 1},
		{name: "broken", script: "@fail 500 0", status: 502, code: "upstream_error", says: "scripted failure 500", reaches: 1},
		{name: "HTML", script: "@html", status: 502, code: "upstream_error", says: "HTML", reaches: 1},
	}
	for name, ask := range sdks() {
		for i, test := range tests {
			for _, streamed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/stream=%v/%s", name, streamed, test.name), func(t *testing.T) {
					mark := fmt.Sprintf("%s-%v-%d", name, streamed, i)
					j := p.job(p.fill(`{`+user(test.script)+`}`, mark), streamed)
					if test.edit != nil {
						test.edit(&j)
					}
					o := ask(t.Context(), t, j)
					if o.Error == nil {
						t.Fatalf("no error, but %s", o.Message)
					}
					expect(t, "status", o.Error.Status, test.status)
					contains(t, "message", o.Error.Message, test.says)
					expect(t, "Retry-After", o.Error.RetryAfter, test.retry)
					if test.code != "" {
						expect(t, "code", o.Error.Code, test.code)
					}
					expect(t, "requests to the provider", len(p.about(mark)), test.reaches)
				})
			}
		}
	}
}

// TestAbortedStream aborts as the SDKs do, while the provider sends.
func TestAbortedStream(t *testing.T) {
	t.Parallel()
	p := serve(t, setup{})
	for name, ask := range sdks() {
		t.Run(name, func(t *testing.T) {
			j := p.job(p.fill(`{`+user("@say one two three\n@hold")+`}`, name), true)
			j.AbortAfter = 2
			if o := ask(t.Context(), t, j); o.Error == nil {
				t.Fatalf("the SDK got a whole answer: %s", o.Message)
			}
			p.awaitGone(t, name)
		})
	}
}

// awaitGone waits until the one request with this mark was cancelled.
func (p *provider) awaitGone(t *testing.T, mark string) {
	t.Helper()
	await(t, "the provider to be asked", func() bool { return len(p.about("mark "+mark)) == 1 })
	select {
	case <-p.about("mark " + mark)[0].gone:
	case <-time.After(patience):
		t.Error("the provider's request was not cancelled")
	}
}

// TestClientGoes ends the client at each stage: nothing of its run stays.
func TestClientGoes(t *testing.T) {
	t.Parallel()
	p := serve(t, withFiles(t, "approvals: {control: true}\n"))
	for name, ask := range sdks() {
		for _, streamed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v/while the provider thinks", name, streamed), func(t *testing.T) {
				mark := fmt.Sprintf("think-%s-%v", name, streamed)
				p.leave(t, ask, p.job(p.fill(`{`+user("@say one two\n@hold")+`}`, mark), streamed), func() {
					await(t, "the provider to be asked", func() bool { return len(p.about(mark)) == 1 })
				})
				p.awaitGone(t, mark)
			})
			t.Run(fmt.Sprintf("%s/stream=%v/while a person is asked", name, streamed), func(t *testing.T) {
				mark := fmt.Sprintf("ask-%s-%v", name, streamed)
				script := `@say Writing now.` + "\n" + `@tool fs__write_file {"path":"%FOLDER%/%MARK%","content":"x"}`
				p.leave(t, ask, p.job(p.fill(`{`+user(script)+`}`, mark), streamed), func() { p.pending(t, 1) })
				p.pending(t, 0)
				if _, err := os.Stat(filepath.Join(p.folder, mark)); err == nil {
					t.Error("the file was written, with nobody to say yes")
				}
			})
		}
	}
	await(t, "the runs to end", func() bool { return p.status(t).Get("runs").Int() == 0 })
	withdrawn := 0
	for _, row := range p.journal(t) {
		if row.Get("outcome").String() == "withdrawn" {
			withdrawn++
		}
	}
	expect(t, "withdrawn calls in the journal", withdrawn, 4)
}

// leave makes a request and ends the client when ready returns.
func (p *pointsman) leave(t *testing.T, ask sdk, j job, ready func()) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	var client sync.WaitGroup
	client.Go(func() {
		if o := ask(ctx, t, j); o.Error == nil {
			t.Errorf("the client got a whole answer: %s", o.Message)
		}
	})
	defer client.Wait()
	defer leave()
	ready()
}
