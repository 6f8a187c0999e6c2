//go:build unix

package cli_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/cli"
)

// person sits at a terminal.
type person struct {
	t      *testing.T
	keys   *os.File // what they type goes here
	tty    *os.File // the program's side
	screen *syncBuffer
	read   chan struct{} // closed when nothing more will be on the screen
}

// settled is longer than a run takes to say that it waits.
const settled = 300 * time.Millisecond

// question is what the terminal asks about the scratch server's one risky tool.
const question = "Run scratch__write_file (destructive)? type yes / n / n REASON: "

func newPerson(t *testing.T) *person {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, keys: master, tty: tty, screen: &syncBuffer{}, read: make(chan struct{})}
	go func() {
		defer close(p.read)
		_, _ = io.Copy(p.screen, master) // a terminal ends with an error
	}()
	t.Cleanup(p.leave)
	return p
}

// leave hangs up. A read of a terminal cannot be interrupted; a last line ends
// the one that may still go on, and the end of that the one of the screen.
func (p *person) leave() {
	_, _ = io.WriteString(p.keys, "\n")
	_ = p.tty.Close()
	<-p.read
	_ = p.keys.Close()
}

func (p *person) sees(text string) {
	p.t.Helper()
	eventually(p.t, "the screen shows "+text+", not only "+p.screen.String(), func() bool { return strings.Contains(p.screen.String(), text) })
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.keys, keys); err != nil {
		p.t.Fatal(err)
	}
}

// answers types an answer until it is taken: a fresh prompt takes none.
func (p *person) answers(line string, taken func() bool) {
	p.t.Helper()
	p.sees(question)
	next := time.Now()
	eventually(p.t, "the answer "+line+" is taken", func() bool {
		if time.Now().After(next) {
			p.types(line + "\n")
			next = time.Now().Add(300 * time.Millisecond)
		}
		return taken()
	})
}

// run runs a command at the terminal; its output goes elsewhere.
func (p *person) run(r *rig, args ...string) (out *syncBuffer, done chan int) {
	out, done = &syncBuffer{}, make(chan int, 1)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.t.Context()), patience)
	go func() {
		defer cancel()
		done <- cli.Run(ctx, r.options(p.tty, out, p.tty, args))
	}()
	return out, done
}

func (p *person) ends(done chan int) int {
	p.t.Helper()
	select {
	case code := <-done:
		return code
	case <-time.After(patience):
		p.t.Fatalf("it goes on; the screen shows %s", p.screen)
		return -1
	}
}

func TestChatAsksAtTheTerminal(t *testing.T) {
	tests := []struct{ answer, says string }{
		{"yes", "you approved it"},
		{"n not this one", "was not allowed (not this one)"},
	}
	for _, test := range tests {
		t.Run(test.answer, func(t *testing.T) {
			r, p := newRig(t, scratchConfig), newPerson(t)
			out, done := p.run(r, "chat", "write a note")
			p.answers(test.answer, func() bool { return strings.Contains(out.String(), test.says) })
			if code := p.ends(done); code != 0 {
				t.Errorf("ended with %d", code)
			}
			shown := p.screen.String()
			for _, text := range []string{"answer here", "Written by the demo after you said yes.", "[###-------] 1/3"} {
				if !strings.Contains(shown, text) {
					t.Errorf("the screen never showed %q: %q", text, shown)
				}
			}
			row := r.must("journal", "--json", "--tool", "write_file").out
			if !strings.Contains(row, `"approver":"terminal"`) {
				t.Errorf("the row is %s", row)
			}
		})
	}
}

// y is not enough for what destroys, and input that ends is no answer.
func TestOnlyAClearYesApproves(t *testing.T) {
	r, p := newRig(t, scratchConfig), newPerson(t)
	out, done := p.run(r, "chat", "write a note")
	p.answers("y", func() bool { return strings.Contains(out.String(), "was not allowed (no clear answer)") })
	if code := p.ends(done); code != 0 {
		t.Errorf("ended with %d", code)
	}
}

func TestHangingUpDenies(t *testing.T) {
	r, p := newRig(t, scratchConfig), newPerson(t)
	out, done := p.run(r, "chat", "write a note")
	p.sees(question)
	p.types("\x04") // the end of input
	if code := p.ends(done); code != 0 || !strings.Contains(out.String(), "was not allowed") {
		t.Errorf("ended with %d, %q", code, out)
	}
}

func TestTalking(t *testing.T) {
	r, p := newRig(t, "default_model: demo\n"), newPerson(t)
	out, done := p.run(r, "chat")
	p.sees("> ")
	p.types("hello\n")
	eventually(t, "the first answer", func() bool { return strings.Count(out.String(), "a real model.\n") == 1 })
	p.types("héllo again\n")
	eventually(t, "the second answer", func() bool { return strings.Count(out.String(), "a real model.\n") == 2 })
	p.types("\x04")
	if code := p.ends(done); code != 0 {
		t.Errorf("ended with %d: %s", code, p.screen)
	}
}

func TestServeAsksAtTheTerminal(t *testing.T) {
	r, p := newRig(t, scratchConfig), newPerson(t)
	s := &serving{log: p.screen}
	r.start(s, p.tty, p.tty)
	reply := make(chan string, 1)
	go func() {
		_, body := s.chat(t, `{"model":"demo","messages":[{"role":"user","content":"write a note"}]}`)
		reply <- body
	}()
	var body string
	p.answers("yes", func() bool {
		select {
		case body = <-reply:
		default:
		}
		return body != ""
	})
	if !strings.Contains(body, "you approved it") {
		t.Errorf("the answer is %s", body)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("serve ended with %d: %s", code, p.screen)
	}
}

// Whatever is printed while a question is asked goes above it.
func TestTheQuestionStaysLast(t *testing.T) {
	r, p := newRig(t, scratchConfig), newPerson(t)
	s := &serving{log: p.screen}
	r.start(s, p.tty, p.tty)
	reply := make(chan ended, 1)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		code := cli.Run(ctx, r.options(strings.NewReader(""), io.Discard, io.Discard, []string{"chat", "write a note"}))
		reply <- ended{code: code}
	}()
	p.sees(question)
	if err := os.WriteFile(filepath.Join(r.home, "config.yaml"), []byte("nonsense: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.sees("the changed configuration is not valid")
	eventually(t, "the question is last again", func() bool { return strings.HasSuffix(p.screen.String(), "\n"+question) })
	leave()
	<-reply
	p.sees("No longer asked: withdrawn: the caller went away.")
	s.stop()
}

func TestChatsQuestionStaysLast(t *testing.T) {
	r, p := newRig(t, scratchConfig), newPerson(t)
	ctx, leave := context.WithTimeout(t.Context(), patience)
	defer leave()
	done := make(chan int, 1)
	go func() { done <- cli.Run(ctx, r.options(p.tty, p.tty, p.tty, []string{"chat", "write a note"})) }()
	p.sees(question)
	p.sees("answer here")
	time.Sleep(settled) // the end of what is on its way: nothing else tells it
	if shown := p.screen.String(); !strings.HasSuffix(shown, question) {
		t.Errorf("the question is not last: %q", shown)
	}
	leave()
	p.ends(done)
}

// What waits at the resident's terminal is withdrawn when we stop, and the
// caller is told.
func TestStoppingWithdrawsWhatWaits(t *testing.T) {
	r, p := newRig(t, scratchConfig), newPerson(t)
	s := &serving{log: p.screen}
	r.start(s, p.tty, p.tty)
	reply := make(chan ended, 1)
	go func() { reply <- r.run("", "chat", "write a note") }()
	p.sees(question)
	if code := s.stop(); code != 0 {
		t.Errorf("serve ended with %d: %s", code, p.screen)
	}
	<-reply
	row := r.must("journal", "--json", "--tool", "write_file").out
	if !strings.Contains(row, `"outcome":"withdrawn"`) {
		t.Errorf("the row is %s", row)
	}
}

// A request that is answered elsewhere leaves the terminal, and the terminal of
// `approvals watch` answers for the resident.
func TestWatching(t *testing.T) {
	r, p := newRig(t, scratchConfig+"approvals: {control: true}\n"), newPerson(t)
	r.serve("--ask", "none")
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan int, 1)
	go func() { watched <- cli.Run(ctx, r.options(p.tty, io.Discard, p.tty, []string{"approvals", "watch"})) }()
	p.sees("asked about here")

	chat := make(chan ended, 1)
	go func() { chat <- r.run("", "chat", "write a note") }()
	p.sees(question)
	id := idIn(t, r.must("approvals", "list", "--json").out)
	r.must("approvals", "deny", id)
	p.sees("No longer asked: it was decided elsewhere.")
	<-chat

	go func() { chat <- r.run("", "chat", "write a note") }()
	var got ended
	eventually(t, "a second prompt", func() bool { return strings.Count(p.screen.String(), question) == 2 })
	p.answers("yes", func() bool {
		select {
		case got = <-chat:
		default:
		}
		return got.out != ""
	})
	if !strings.Contains(got.out, "you approved it") {
		t.Errorf("got %+v", got)
	}
	cancel()
	<-watched
}

// What a model says must not control the terminal; a file gets it as it is.
func TestAnswersAreHarmless(t *testing.T) {
	nasty := "a\x1b[2Jb\u202ec\u2066d\u200be\U000e0041f\u2028g\u00a0h"
	r, p := newRig(t, withProvider(provider(t, "", "", nasty), "")), newPerson(t)
	if code := cli.Run(t.Context(), r.options(strings.NewReader(""), p.tty, io.Discard, []string{"chat", "hi"})); code != 0 {
		t.Fatalf("ended with %d", code)
	}
	p.sees("a[2Jbcdef g\u00a0h")
	if got := r.must("chat", "hi").out; got != nasty+"\n" {
		t.Errorf("a file gets %q", got)
	}
}

// slowDesk is a resident's control socket at which what is answered is gone from
// the desk before its answer is confirmed, and the first answer fails.
func slowDesk(t *testing.T, home string) (answered <-chan string) {
	t.Helper()
	resident, err := control.Claim(config.Home{Runtime: filepath.Join(home, "run")})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := resident.Listen("127.0.0.1:1", "")
	if err != nil {
		t.Fatal(err)
	}
	waiting, answers := make(chan string, 2), make(chan string, 2)
	waiting <- `[{"id":"one","server":"s","tool":"t","class":"write"}]`
	mux := http.NewServeMux()
	mux.HandleFunc("GET /approvals/right", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"may_answer":true}`) })
	mux.HandleFunc("GET /approvals/watch", func(w http.ResponseWriter, r *http.Request) {
		for {
			select {
			case list := <-waiting:
				fmt.Fprintln(w, list)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /approvals/{id}", func(w http.ResponseWriter, r *http.Request) {
		waiting <- `[{"id":"two","server":"s","tool":"t","class":"write"}]`
		select {
		case <-r.Context().Done(): // given up
			return
		case <-time.After(settled):
		}
		answers <- r.PathValue("id")
		if r.PathValue("id") == "one" {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"error":"not now"}`)
			return
		}
		fmt.Fprint(w, `{"counted":true}`)
	})
	server := &http.Server{Handler: mux}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(ln) }()
	t.Cleanup(func() { _ = server.Close(); <-served; _ = resident.Release() })
	return answers
}

// An answer that was given reaches the desk, and one that does not is no reason
// to stop watching.
func TestWatchingGoesOn(t *testing.T) {
	r, p := newRig(t, ""), newPerson(t)
	answered := slowDesk(t, r.home)
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan int, 1)
	go func() { watched <- cli.Run(ctx, r.options(p.tty, io.Discard, p.tty, []string{"approvals", "watch"})) }()
	for _, id := range []string{"one", "two"} {
		eventually(t, id+" is answered", func() bool {
			p.types("y\n")
			time.Sleep(settled)
			select {
			case got := <-answered:
				return got == id
			default:
				return false
			}
		})
	}
	p.sees("The answer did not arrive: not now")
	select {
	case code := <-watched:
		t.Errorf("watching ended with %d: %s", code, p.screen)
	default:
	}
	cancel()
	p.ends(watched)
}

func TestKeyIsTypedUnseen(t *testing.T) {
	r, p := newRig(t, ""), newPerson(t)
	_, done := p.run(r, "keys", "set", "openai")
	p.sees("Key for openai (not shown): ")
	p.types("sk-typed-in\n")
	if code := p.ends(done); code != 0 || strings.Contains(p.screen.String(), "sk-typed") {
		t.Errorf("ended with %d: %s", code, p.screen)
	}
	if value, err := r.keychain.Get(t.Context(), "openai"); err != nil || value != "sk-typed-in" {
		t.Errorf("the keychain has %q, %v", value, err)
	}
}

func TestDemoAsksAtTheTerminal(t *testing.T) {
	r, p := newRig(t, ""), newPerson(t)
	out, done := p.run(r, "demo")
	p.answers("yes", func() bool { return strings.Contains(out.String(), "you approved it") })
	if code := p.ends(done); code != 0 {
		t.Errorf("ended with %d: %s", code, p.screen)
	}
}
