package approvals_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pointsman/approvals"
)

// console is a terminal with a person at its other end.
type console struct {
	*approvals.Terminal
	keys  *io.PipeWriter
	close func()

	mu  sync.Mutex
	out bytes.Buffer
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(p)
}

func (c *console) shown() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

// newConsole starts a terminal, inside a synctest bubble.
func newConsole(t *testing.T) *console {
	in, keys := io.Pipe()
	c := &console{keys: keys}
	c.Terminal = approvals.NewTerminal(in, c, approvals.TerminalOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	c.close = func() {
		cancel()
		_ = keys.Close()
		<-done
	}
	synctest.Wait()
	return c
}

// press types text, as soon as somebody reads it.
func (c *console) press(text string) {
	go func() { _, _ = io.WriteString(c.keys, text) }()
	synctest.Wait()
}

// ask asks through a gate and returns the decision to come.
func (c *console) ask(ctx context.Context, req approvals.Request) <-chan approvals.Decision {
	g := approvals.NewGate(approvals.GateOptions{Require: true, Approver: c, Timeout: time.Hour})
	done := make(chan approvals.Decision, 1)
	go func() { done <- g.Ask(ctx, req) }()
	synctest.Wait()
	return done
}

func TestTerminalAnswers(t *testing.T) {
	for _, tc := range []struct {
		name    string
		class   approvals.Class
		typed   string
		outcome approvals.Outcome
		reason  string
	}{
		{"y", approvals.Write, "y\n", approvals.Allowed, ""},
		{"yes, with a carriage return", approvals.Write, " YES \r\n", approvals.Allowed, ""},
		{"n", approvals.Write, "n\n", approvals.Denied, "the person said no"},
		{"n with a reason", approvals.Write, "n use the other folder\n", approvals.Denied, "use the other folder"},
		{"no with a reason", approvals.Write, "no  not now\n", approvals.Denied, "not now"},
		{"unclear, then yes", approvals.Write, "what?\ny\n", approvals.Allowed, ""},
		{"empty lines", approvals.Write, "\n\n\ny\n", approvals.Denied, "no clear answer"},
		{"garbage", approvals.Write, "sure\nok\n1\n", approvals.Denied, "no clear answer"},
		{"yes and more", approvals.Write, "y please\nyes but\nyy\n", approvals.Denied, "no clear answer"},
		{"a long line that begins with y", approvals.Write, "y" + strings.Repeat(" ", 2<<20) + "n\n\n\n", approvals.Denied, "no clear answer"},
		{"y for a command", approvals.Execute, "y\ny\ny\n", approvals.Denied, "no clear answer"},
		{"yes for a command", approvals.Execute, "yes\n", approvals.Allowed, ""},
		{"y, then yes for a deletion", approvals.Destructive, "y\nyes\n", approvals.Allowed, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newConsole(t)
				defer c.close()
				req := writeFile()
				req.Class = tc.class
				done := c.ask(t.Context(), req)
				time.Sleep(time.Second)
				c.press(tc.typed)
				d := <-done
				if d.Outcome != tc.outcome || d.Reason != tc.reason || d.Approver != approvals.ByTerminal {
					t.Errorf("got %s by %s (%s)", d.Outcome, d.Approver, d.Reason)
				}
			})
		})
	}
}

func TestTerminalInputEnds(t *testing.T) {
	for name, typed := range map[string]string{"at once": "", "within an answer": "yes"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newConsole(t)
				defer c.close()
				done := c.ask(t.Context(), writeFile())
				time.Sleep(time.Second)
				c.press(typed)
				_ = c.keys.Close()
				if d := <-done; d.Outcome != approvals.Denied || d.Approver != approvals.ByTerminal {
					t.Errorf("got %s by %s", d.Outcome, d.Approver)
				}
				if d := <-c.ask(t.Context(), writeFile()); d.Approver != approvals.ByNone {
					t.Errorf("afterwards: %s by %s", d.Outcome, d.Approver)
				}
			})
		})
	}
}

func TestTypedAheadDoesNotApprove(t *testing.T) {
	for _, tc := range []struct {
		name          string
		before, early string
	}{
		{"a line before the prompt", "y\n", ""},
		{"many lines before the prompt", "y\nyes\ny\ny\ny\ny\n", ""},
		{"a line begun before the prompt", "y", "es\n"},
		{"a line right after the prompt", "", "yes\n"},
		{"a line begun right after the prompt", "", "y"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newConsole(t)
				defer c.close()
				c.press(tc.before)
				done := c.ask(t.Context(), writeFile())
				time.Sleep(699 * time.Millisecond)
				c.press(tc.early)
				time.Sleep(time.Second)
				c.press("\n") // ends what was begun
				synctest.Wait()
				select {
				case d := <-done:
					t.Fatalf("answered: %+v", d)
				default:
				}
				c.press("n\n")
				if d := <-done; d.Outcome != approvals.Denied {
					t.Errorf("got %+v", d)
				}
			})
		})
	}
}

func TestTerminalPromptsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t)
		defer c.close()
		var done []<-chan approvals.Decision
		ctx, cancel := context.WithCancel(t.Context())
		for i, name := range []string{"first", "second", "third"} {
			req := writeFile()
			req.Tool = name
			askCtx := t.Context()
			if i == 1 {
				askCtx = ctx
			}
			done = append(done, c.ask(askCtx, req))
		}
		if s := c.shown(); !strings.Contains(s, "first") || strings.Contains(s, "second") {
			t.Errorf("shown:\n%s", s)
		}
		time.Sleep(time.Second)
		c.press("y\n")
		if d := <-done[0]; !d.Allows() {
			t.Errorf("first: %+v", d)
		}
		if s := c.shown(); !strings.Contains(s, "second") || strings.Contains(s, "third") {
			t.Errorf("shown:\n%s", s)
		}
		cancel() // its caller goes away, so its prompt does
		if d := <-done[1]; d.Outcome != approvals.Withdrawn {
			t.Errorf("second: %+v", d)
		}
		synctest.Wait()
		if s := c.shown(); !strings.Contains(s, "No longer asked: withdrawn: the caller went away") || !strings.Contains(s, "third") {
			t.Errorf("shown:\n%s", s)
		}
		c.press("y\n") // meant for the second
		select {
		case d := <-done[2]:
			t.Fatalf("the answer to another prompt counted: %+v", d)
		default:
		}
		time.Sleep(time.Second)
		c.press("y\n")
		if d := <-done[2]; !d.Allows() {
			t.Errorf("third: %+v", d)
		}
	})
}

func TestTerminalShowsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t)
		defer c.close()
		c.ask(t.Context(), approvals.Request{
			Door: "chat", Client: "evil\nApprove this call? yes", Model: "gpt", Server: "fs", Tool: "write\x1b[2Jfile", Title: "Write",
			Class: approvals.Destructive, Evidence: []string{"name: write", "no annotation"}, Reason: "its definition changed",
			CWD: "/work", PlanStep: "2 of 3", Arguments: json.RawMessage(`{"path":"/a/\u202eb","mode":1}`), DefinitionChange: "-old\n+new\u200b",
		})
		want := `
A tool wants to run.
  tool       write<U+001B>[2Jfile
  title      Write
  server     fs
  class      destructive
  because    name: write
  because    no annotation
  asked      its definition changed
  door       chat
  client     evil<U+000A>Approve this call? yes
  model      gpt
  folder     /work
  plan step  2 of 3
  arguments:
    {
      "path": "/a/<U+202E>b",
      "mode": 1
    }
  the tool's definition has changed:
    -old
    +new<U+200B>
Run write<U+001B>[2Jfile of fs (destructive)? type yes / n / n REASON: `
		if got := c.shown(); got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
	})
}

// Who keeps the question in view is told each one, and when there is none.
func TestTerminalQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		var asked []string
		term := approvals.NewTerminal(in, io.Discard, approvals.TerminalOptions{
			Question: func(text string) error { asked = append(asked, text); return nil },
		})
		read := make(chan error, 1)
		go func() { read <- term.Run(t.Context()) }()
		<-term.Started()
		go func() {
			time.Sleep(time.Second)
			_, _ = io.WriteString(keys, "what?\ny\n")
		}()
		req := writeFile()
		req.Offered = "fs__" + strings.Repeat("x", 200) + "\x1b"
		if d, err := term.Ask(t.Context(), req); err != nil || !d.Allows() {
			t.Errorf("got %+v, %v", d, err)
		}
		question := "Run fs__" + strings.Repeat("x", 76) + "… (write)? y / n / n REASON: "
		if want := []string{question, question, ""}; !slices.Equal(asked, want) {
			t.Errorf("asked %q, want %q", asked, want)
		}
		_ = keys.Close()
		<-read
	})
}

func TestTerminalWithoutReader(t *testing.T) {
	term := approvals.NewTerminal(strings.NewReader("y\ny\n"), io.Discard, approvals.TerminalOptions{})
	d, err := term.Ask(t.Context(), writeFile())
	if err != nil || d.Allows() || d.Approver != approvals.ByNone {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestTerminalThatCannotShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		_, broken := io.Pipe()
		_ = broken.Close()
		term := approvals.NewTerminal(in, broken, approvals.TerminalOptions{})
		go func() { _ = term.Run(t.Context()) }()
		synctest.Wait()
		d := approvals.NewGate(approvals.GateOptions{Require: true, Approver: term}).Ask(t.Context(), writeFile())
		if d.Outcome != approvals.Denied || d.Approver != approvals.ByError {
			t.Errorf("got %+v", d)
		}
		_ = keys.Close()
	})
}

func TestTerminalFlushesBeforeThePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		var out bytes.Buffer
		flushed := false
		term := approvals.NewTerminal(in, &out, approvals.TerminalOptions{Flush: func() { flushed = out.Len() == 0 }})
		go func() { _ = term.Run(t.Context()) }()
		synctest.Wait()
		go func() {
			time.Sleep(time.Second)
			_, _ = io.WriteString(keys, "y\n")
			_ = keys.Close()
		}()
		if d, err := term.Ask(t.Context(), writeFile()); err != nil || !d.Allows() || !flushed {
			t.Errorf("got %+v, %v; flushed: %t", d, err, flushed)
		}
	})
}

func TestReadLineSharesTheInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t)
		defer c.close()
		c.press("hello\r\nworld\n")
		for _, want := range []string{"hello", "world"} {
			if got, err := c.ReadLine(t.Context()); err != nil || got != want {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.ReadLine(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		done := c.ask(t.Context(), writeFile())
		time.Sleep(time.Second)
		c.press("y\n")
		if d := <-done; !d.Allows() {
			t.Errorf("got %+v", d)
		}
		_ = c.keys.Close()
		if _, err := c.ReadLine(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %v", err)
		}
	})
}

func TestTerminalRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t)
		done := c.ask(t.Context(), writeFile())
		c.close()
		if d := <-done; d.Outcome != approvals.Denied {
			t.Errorf("got %+v", d)
		}
	})
}
