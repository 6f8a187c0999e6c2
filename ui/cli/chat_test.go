package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pointsman/ui/cli"
)

// withProvider is a configuration whose default model is served at url.
func withProvider(url, more string) string {
	return fmt.Sprintf("default_model: corp/m\nproviders:\n  corp: {base_url: '%s', api_key: corp-key-1}\n%s", url, more)
}

const scratchServer = "mcpServers:\n  scratch: {type: builtin}\n"

func TestChatStreamsAndShowsProgress(t *testing.T) {
	r := newRig(t, scratchConfig)
	got := r.must("chat", "write a note")
	if !strings.HasPrefix(got.out, "[demo script] I will") || !strings.HasSuffix(got.out, "the denied one too.\n") {
		t.Errorf("the answer is %q", got.out)
	}
	at := 0
	for _, line := range []string{
		"plan     [----------] 0/3 Look into the scratch folder\n", "call     scratch__list_files {}\n", "done     scratch__list_files in ",
		"denied   scratch__write_file: nobody to ask\n",
	} {
		found := strings.Index(got.errors[at:], line)
		if found < 0 {
			t.Fatalf("no %q after %q", line, got.errors)
		}
		at += found
	}
}

// Where the answer and the progress end in one file, each has lines of its own.
func TestProgressBeginsALine(t *testing.T) {
	r := newRig(t, withProvider(actor{says: "On it.", tool: "scratch__list_files", arguments: "{}", stubborn: true}.serve(t), scratchServer+"tools: {max_rounds: 2}\n"))
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	all := make(chan string, 1)
	go func() {
		data, _ := io.ReadAll(read) // of a pipe that closes
		all <- string(data)
	}()
	code := cli.Run(t.Context(), r.options(strings.NewReader(""), write, write, []string{"chat", "hi"}))
	_ = write.Close()
	text := <-all
	calls := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "call     ") {
			calls++
		}
	}
	if code != 0 || calls == 0 || strings.Count(text, "call     ") != calls {
		t.Errorf("ended with %d and %d lines of calls: %s", code, calls, text)
	}
}

func TestChatFromStdinWithoutTools(t *testing.T) {
	r := newRig(t, scratchConfig)
	for _, args := range [][]string{{"chat", "--no-tools", "-"}, {"chat", "--no-tools"}} {
		got := r.run("hello\n", args...)
		if got.code != 0 || !strings.HasPrefix(got.out, "[demo script] Hello!") || got.errors != "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestChatJSON(t *testing.T) {
	r := newRig(t, scratchConfig)
	got := r.must("chat", "--json", "write a note")
	want := "content error invocations loop_stopped model plan plan_progress rounds usage used_tools"
	if keys := strings.Join(keysOf(t, got.out), " "); keys != want {
		t.Errorf("the keys are %s, want %s", keys, want)
	}
	var d struct {
		Content     string
		Rounds      int
		UsedTools   []string `json:"used_tools"`
		Invocations []struct {
			Tool     string
			Approved *bool
		}
		Plan  []any
		Error any
	}
	if err := json.Unmarshal([]byte(got.out), &d); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(d.Content, "not allowed") || d.Rounds < 3 || len(d.Plan) != 3 || d.Error != nil {
		t.Errorf("got %+v", d)
	}
	denied := false
	for _, call := range d.Invocations {
		denied = denied || call.Tool == "scratch__write_file" && call.Approved != nil && !*call.Approved
	}
	if !denied {
		t.Errorf("no denied call in %+v", d.Invocations)
	}
}

func TestChatFailures(t *testing.T) {
	write := `{"path":"a.txt","content":"x"}`
	tests := []struct {
		name   string
		config string
		args   []string
		code   int
		says   string
	}{
		{"unknown model", scratchConfig, []string{"--model", "nope", "hi"}, 1, `"nope" is unknown`},
		{"unreachable provider", withProvider("http://127.0.0.1:1/v1", "router_settings: {num_retries: 0}\n"), []string{"hi"}, 1, "corp"},
		{"a denial left no answer", withProvider(provider(t, "scratch__write_file", write, ""), scratchServer), []string{"hi"}, 3, "was not approved"},
		{"a denial left the gateway's own sentence", withProvider(actor{tool: "scratch__write_file", arguments: write, stubborn: true}.serve(t), scratchServer+"tools: {max_rounds: 2}\n"), []string{"hi"}, 3, "was not approved"},
		{"a denial left what was said before", withProvider(actor{says: "I will write.", tool: "scratch__write_file", arguments: write}.serve(t), scratchServer), []string{"hi"}, 3, "was not approved"},
		{"a denial left an answer", withProvider(provider(t, "scratch__write_file", write, "I may not."), scratchServer), []string{"hi"}, 0, "denied"},
	}
	for _, test := range tests {
		for _, format := range []string{"text", "json"} {
			t.Run(test.name+" "+format, func(t *testing.T) {
				args := append([]string{"chat"}, test.args...)
				if format == "json" {
					args = append(args, "--json")
				}
				got := newRig(t, test.config).run("", args...)
				if got.code != test.code || !strings.Contains(got.errors, test.says) {
					t.Errorf("got %+v, want %d and %q", got, test.code, test.says)
				}
				if format == "json" && (got.code == 1) != (strings.Contains(got.out, `"error": {`)) {
					t.Errorf("the document does not tell of the failure: %s", got.out)
				}
			})
		}
	}
}

// endless is input that never ends.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'y'
	}
	e.read.Add(int64(len(p)))
	return len(p), nil
}

func TestPromptIsBounded(t *testing.T) {
	r := newRig(t, "default_model: demo\ngateway: {max_body_bytes: 1048576}\n")
	in, errs := &endless{}, &syncBuffer{}
	code := cli.Run(t.Context(), r.options(in, io.Discard, errs, []string{"chat", "-"}))
	if code != 1 || !strings.Contains(errs.String(), "gateway.max_body_bytes") || in.read.Load() > 4<<20 {
		t.Errorf("ended with %d after %d bytes: %s", code, in.read.Load(), errs)
	}
}

// A configuration that the resident does not have is not taken for its own.
func TestAnotherConfiguration(t *testing.T) {
	r := newRig(t, scratchConfig)
	r.serve()
	own, other := filepath.Join(r.home, "config.yaml"), filepath.Join(r.home, "other.yaml")
	if err := os.WriteFile(other, []byte("default_model: demo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"chat hi", "tools", "servers", "models"} {
		got := r.run("", append(strings.Fields(args), "--config", other)...)
		if got.code != 1 || got.out != "" || !strings.Contains(got.errors, own) || !strings.Contains(got.errors, other) {
			t.Errorf("%s: %+v", args, got)
		}
		r.must(append(strings.Fields(args), "--config", own)...)
	}
	if got := r.must("status", "--config", other); !strings.Contains(got.errors, own) || !strings.Contains(got.errors, other) {
		t.Errorf("status: %+v", got)
	}
	r.env["POINTSMAN_CONFIG"] = other
	if got := r.run("", "models"); got.code != 1 || !strings.Contains(got.errors, own) {
		t.Errorf("named by the environment: %+v", got)
	}
}

func TestConfigInForceIsTheResidents(t *testing.T) {
	r := newRig(t, scratchConfig)
	const listen = "127.0.0.1:0" // as the flag of serve says, and the file does not
	r.serve()
	for _, args := range []string{"config show", "config show --json"} {
		got := r.must(strings.Fields(args)...)
		if !strings.Contains(got.out, listen) || !strings.Contains(got.errors, "the running Pointsman") {
			t.Errorf("%s: %+v", args, got)
		}
	}
	loosened := scratchConfig + "approvals: {require: false}\n"
	if err := os.WriteFile(filepath.Join(r.home, "config.yaml"), []byte(loosened), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the change is held back", func() bool { return strings.Contains(r.must("config", "show").errors, "approvals.require") })
	if got := r.must("status").out; !strings.Contains(got, "held back  approvals.require: off") || !strings.Contains(got, filepath.Join(r.home, "config.yaml")) {
		t.Errorf("status is %s", got)
	}
	if got := r.must("config", "show").out; !strings.Contains(got, listen) || strings.Contains(got, "require: false") {
		t.Errorf("not what is in force: %s", got)
	}
}

func TestChatIsCancelled(t *testing.T) {
	r := newRig(t, scratchConfig)
	ctx, cancel := context.WithCancel(t.Context())
	out := &syncBuffer{}
	errs := &syncBuffer{}
	code := make(chan int, 1)
	go func() { code <- cli.Run(ctx, r.options(strings.NewReader(""), out, errs, []string{"chat", "hi"})) }()
	eventually(t, "the answer begins", func() bool { return out.String() != "" })
	cancel()
	select {
	case c := <-code:
		if c != 1 || !strings.Contains(errs.String(), "cancelled") || strings.Contains(out.String(), "Every call is in the journal") {
			t.Errorf("ended with %d, %q, %q", c, out, errs)
		}
	case <-time.After(patience):
		t.Fatal("chat goes on")
	}
}

// The calls of an attached chat wait at the resident's desk, and the command
// line answers them where approvals.control lets it.
func TestApprovalsFromTheCommandLine(t *testing.T) {
	for _, verdict := range []string{"approve", "deny"} {
		t.Run(verdict, func(t *testing.T) {
			r := newRig(t, scratchConfig+"approvals: {control: true}\n")
			r.serve("--ask", "none")
			chat := make(chan ended, 1)
			go func() { chat <- r.run("", "chat", "write a note") }()
			var waiting string
			eventually(t, "a call waits", func() bool {
				waiting = r.must("approvals", "list", "--json").out
				return strings.TrimSpace(waiting) != "[]"
			})
			var req struct{ ID, Door, Tool, Client string }
			if err := json.Unmarshal([]byte(firstOf(t, waiting)), &req); err != nil {
				t.Fatal(err)
			}
			if req.Door != "chat" || req.Tool != "write_file" || req.Client != "pointsman-chat/v1.2.3" {
				t.Errorf("%+v waits", req)
			}
			if table := r.must("approvals", "list").out; !strings.Contains(table, req.ID) {
				t.Errorf("the table is %q", table)
			}
			args := []string{"approvals", verdict, req.ID}
			if verdict == "deny" {
				args = append(args, "--reason", "not on a Friday")
			}
			r.must(args...)
			if again := r.run("", "approvals", "approve", req.ID); again.code != 1 || !strings.Contains(again.errors, "not waiting any more") {
				t.Errorf("a second answer: %+v", again)
			}
			got := <-chat
			if !strings.Contains(got.errors, "answer at the running Pointsman") {
				t.Errorf("chat does not say where to answer: %q", got.errors)
			}
			if approved := strings.Contains(got.out, "you approved it"); approved != (verdict == "approve") {
				t.Errorf("after %s the answer is %q", verdict, got.out)
			}
			if told := strings.Contains(got.out, "not on a Friday"); told != (verdict == "deny") {
				t.Errorf("after %s the model says %q", verdict, got.out)
			}
		})
	}
}

func TestApprovalsNeedTheRight(t *testing.T) {
	r := newRig(t, scratchConfig)
	for _, args := range [][]string{{"approve", "x"}, {"deny", "x"}, {"watch"}} {
		if got := r.run("", append([]string{"approvals"}, args...)...); got.code != 1 || !strings.Contains(got.errors, "no Pointsman is running") {
			t.Errorf("without a resident, %v: %+v", args, got)
		}
	}
	s := r.serve("--ask", "none")
	for _, args := range [][]string{{"approve", "x"}, {"deny", "x"}, {"watch"}} {
		if got := r.run("", append([]string{"approvals"}, args...)...); got.code != 1 || !strings.Contains(got.errors, "approvals.control: true") {
			t.Errorf("without the right, %v: %+v", args, got)
		}
	}
	// Nobody could answer, so nothing waits.
	if got := r.must("chat", "write a note"); !strings.Contains(got.errors, "denied   scratch__write_file: nobody to ask") {
		t.Errorf("chat: %+v", got)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("serve ended with %d: %s", code, s.log)
	}
}
