package control_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/elicit"
	"pointsman/gateway/hooks"
	"pointsman/gateway/loop"
	"pointsman/gateway/mcpapi"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/diagnostics"
	"pointsman/gateway/servers/signin"
	"pointsman/gateway/tools"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("CONTROL_TEST_CLAIM"); dir != "" {
		holdForever(dir)
	}
	goleak.VerifyTestMain(m)
}

// holdForever is the resident in a process of its own.
func holdForever(dir string) {
	resident, err := control.Claim(config.Home{Runtime: dir})
	if err == nil {
		_, err = resident.Listen("127.0.0.1:1", "/a/config.yaml")
	}
	fmt.Println("claimed", err)
	select {}
}

// gateway is what a server needs of one.
type gateway struct {
	questions *elicit.Desk
	desk      *approvals.Desk
	events    *loop.Bus
	changed   chan struct{}
	paused    atomic.Bool
	left      chan struct{} // closed when a hook that waited has gone
}

func (g *gateway) Subscribe() (<-chan struct{}, func()) { return g.changed, func() {} }
func (g *gateway) ApprovalTimeout() time.Duration       { return time.Minute }
func (g *gateway) Hook(ctx context.Context, e hooks.Event) hooks.Verdict {
	if e.Name == "wait" {
		<-ctx.Done()
		close(g.left)
		return hooks.Verdict{Allow: true}
	}
	return hooks.Verdict{Allow: true, Reason: e.Client}
}
func (g *gateway) Pause(paused bool) { g.paused.Store(paused) }

// StartServer knows the servers "good/one", which starts, and "off".
func (g *gateway) StartServer(_ context.Context, name string) (servers.Status, error) {
	switch name {
	case "good/one":
		return servers.Status{Name: name, Live: servers.Live{Status: servers.Connected}}, nil
	case "off":
		return servers.Status{}, &servers.StateError{Server: name, Status: servers.Disabled, Reason: "it is disabled"}
	}
	return servers.Status{}, &servers.StateError{Server: name, Status: servers.NotConfigured, Reason: "there is none"}
}

// Diagnostics repeats what it was asked.
func (g *gateway) Diagnostics(_ context.Context, q diagnostics.Query) (diagnostics.Page, error) {
	if q.Server == "nobody" {
		return diagnostics.Page{}, &diagnostics.QueryError{Param: "server", Reason: "there is none"}
	}
	return diagnostics.Page{Entries: []diagnostics.Entry{{Server: q.Server, Level: q.Level, Message: q.Wait.String()}}, Cursor: q.Cursor}, nil
}

// Request repeats what it was asked, unless the server has nothing.
func (g *gateway) Request(_ context.Context, r servers.Request) (json.RawMessage, error) {
	if r.Server == "empty" {
		return nil, &servers.LackingError{Server: r.Server, What: "prompts"}
	}
	return json.RawMessage(`{"z": "<` + r.Method + `>","a":` + string(r.Params) + `}`), nil
}

func (g *gateway) StopServer(context.Context, string) (servers.Status, error) {
	return servers.Status{Live: servers.Live{Status: servers.Stopped}}, nil
}

func (g *gateway) RestartServer(context.Context, string) (servers.Status, error) {
	return servers.Status{}, errors.New("it went away")
}

// SignIn repeats what it was asked.
func (g *gateway) SignIn(_ context.Context, name string, how signin.How) (servers.SignIn, error) {
	if name == "local" {
		return servers.SignIn{}, &servers.StateError{Server: name, Status: servers.Connected, Reason: "nothing to sign in to"}
	}
	return servers.SignIn{ID: "7/7", Server: name, RedirectURI: how.RedirectURI}, nil
}

func (g *gateway) AwaitSignIn(_ context.Context, id string) (servers.Status, error) {
	return servers.Status{Name: "of " + id}, nil
}

func (g *gateway) CompleteSignIn(_ context.Context, id, callback string) (servers.Status, error) {
	return servers.Status{}, errors.New(id + " is not at " + callback)
}

func (g *gateway) CancelSignIn(name string) bool { return name == "good/one" }

func (g *gateway) SignOut(_ context.Context, name string) (signin.SignedOut, error) {
	return signin.SignedOut{Was: name == "good/one"}, nil
}

func (g *gateway) WhyTool(name string) []tools.Why {
	return []tools.Why{{Asked: name, Reasons: []tools.Reason{{Cause: tools.Unknown, Text: "none has it"}}}}
}

// CheckEdited wants a number n.
func (g *gateway) CheckEdited(_ approvals.Request, arguments json.RawMessage) error {
	var args struct{ N *int }
	if err := json.Unmarshal(arguments, &args); err != nil || args.N == nil {
		return errors.New("n is missing")
	}
	return nil
}

func (g *gateway) Desk() *approvals.Desk { return g.desk }

func (g *gateway) Questions() *elicit.Desk { return g.questions }

// ServeMCP says who came, and what it sends, until it goes.
func (g *gateway) ServeMCP(ctx context.Context, conn io.ReadWriteCloser, who mcpapi.Client) error {
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "%+v\n", who); err != nil {
		return err
	}
	_, err := io.Copy(conn, conn)
	return err
}

func (g *gateway) Events() *loop.Bus { return g.events }
func (g *gateway) TrustedHandler(door string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, door, " ", r.URL.Path) })
}

type rig struct {
	*gateway
	home   config.Home
	client *control.Client
	open   bool
}

const secret = "the window's secret"

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{gateway: &gateway{events: loop.NewBus(), changed: make(chan struct{}), left: make(chan struct{})}, home: config.Home{Runtime: t.TempDir()}}
	r.desk = approvals.NewDesk(approvals.DeskOptions{Attended: func() bool { return true }})
	r.questions = elicit.NewDesk(elicit.Options{Attended: func() bool { return true }})
	resident, err := control.Claim(r.home)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := resident.Listen("127.0.0.1:8640", "/a/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	server := control.NewServer(control.Options{
		Gateway: r.gateway, Secret: secret, Open: func() bool { return r.open },
		Raise: func(_ context.Context, show string) control.Raised {
			return control.Raised{Message: "in the tray: " + show}
		},
		Views: map[string]func(context.Context) any{"status": func(context.Context) any { return map[string]int{"pid": 7} }},
	})
	ctx, cancel := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() {
		if err := server.Serve(ctx, ln); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		served.Wait()
		if err := resident.Release(); err != nil {
			t.Error(err)
		}
	})
	if r.client, err = control.Dial(t.Context(), r.home); err != nil {
		t.Fatal(err)
	}
	return r
}

// ask puts a request on the desk and returns where its answer comes.
func (r *rig) ask(t *testing.T, id string) <-chan approvals.Decision {
	t.Helper()
	answer := make(chan approvals.Decision, 1)
	changed, stop := r.desk.Subscribe()
	defer stop()
	go func() {
		d, _ := r.desk.Ask(t.Context(), approvals.Request{ID: id, Tool: "x"})
		answer <- d
	}()
	<-changed
	return answer
}

func TestWhyTool(t *testing.T) {
	r := newRig(t)
	const name = "a b&name=c__é"
	got, err := r.client.WhyTool(t.Context(), name)
	if err != nil || len(got) != 1 || got[0].Asked != name || got[0].Reasons[0].Cause != tools.Unknown {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestViews(t *testing.T) {
	r := newRig(t)
	var status struct{ PID int }
	if err := r.client.Get(t.Context(), "/status", &status); err != nil || status.PID != 7 {
		t.Errorf("status is %+v, %v", status, err)
	}
	var refused *control.RefusedError
	if err := r.client.Get(t.Context(), "/nothing", &status); !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("an unknown view gives %v", err)
	}
	response, err := r.client.Do(t.Context(), "POST", "/v1/chat/completions", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); string(body) != "control /v1/chat/completions" {
		t.Errorf("the door's routes answer %q", body)
	}
}

func TestWhoMayAnswer(t *testing.T) {
	r := newRig(t)
	yes := approvals.Decision{Outcome: approvals.Allowed}
	for _, test := range []struct {
		name   string
		secret string
		open   bool
		may    bool
	}{
		{"nobody in particular", "", false, false},
		{"a wrong secret", secret + "x", false, false},
		{"the window", secret, false, true},
		{"anybody, when the user allows it", "", true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := r.ask(t, "id-1")
			r.client.Secret, r.open = test.secret, test.open
			counted, err := r.client.Answer(t.Context(), "id-1", yes)
			if test.may != (err == nil && counted) {
				t.Fatalf("counted %v, %v; want %v", counted, err, test.may)
			}
			if test.may {
				if d := <-answer; !d.Allows() {
					t.Errorf("the answer is %+v", d)
				}
				if counted, err := r.client.Answer(t.Context(), "id-1", yes); counted || err != nil {
					t.Errorf("a second answer: counted %v, %v", counted, err)
				}
				return
			}
			if !strings.Contains(err.Error(), "approvals.control") {
				t.Errorf("the refusal does not say what to do: %v", err)
			}
			if len(r.desk.Pending()) != 1 {
				t.Error("the request does not wait any more")
			}
			r.desk.Resolve("id-1", approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByDesk})
			<-answer
		})
	}
}

// TestEditedArguments: an approval with arguments that do not fit is refused, and
// the call still waits.
func TestEditedArguments(t *testing.T) {
	r := newRig(t)
	r.client.Secret = secret
	answer := r.ask(t, "id-1")
	edited := func(args string) approvals.Decision {
		return approvals.Decision{Outcome: approvals.Allowed, Arguments: json.RawMessage(args)}
	}
	if _, err := r.client.Answer(t.Context(), "id-1", edited(`{"m":1}`)); err == nil || !strings.Contains(err.Error(), "n is missing") || !strings.Contains(err.Error(), "still waits") {
		t.Errorf("arguments that do not fit: %v", err)
	}
	if len(r.desk.Pending()) != 1 {
		t.Fatal("the call does not wait any more")
	}
	if counted, err := r.client.Answer(t.Context(), "id-1", edited(`{"n":1}`)); !counted || err != nil {
		t.Errorf("arguments that fit: counted %v, %v", counted, err)
	}
	if d := <-answer; string(d.Arguments) != `{"n":1}` {
		t.Errorf("the answer is %+v", d)
	}
}

func TestNonsenseAnswers(t *testing.T) {
	r := newRig(t)
	r.open = true
	answer := r.ask(t, "id-1")
	for _, body := range []string{``, `x`, `{}`, `{"outcome":"maybe"}`, `{"outcome":"withdrawn"}`, `{"outcome":"allowed","extra":1}`} {
		response, err := r.client.Do(t.Context(), "POST", "/approvals/id-1", nil, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%q is answered with %d", body, response.StatusCode)
		}
	}
	if len(r.desk.Pending()) != 1 {
		t.Error("nonsense answered the request")
	}
	r.desk.Resolve("id-1", approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByDesk})
	<-answer
}

func TestWatchAndEvents(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	seen := make(chan int, 10)
	watched := make(chan error, 1)
	go func() {
		watched <- r.client.Watch(ctx, func(list []approvals.Request) { seen <- len(list) })
	}()
	if n := <-seen; n != 0 {
		t.Errorf("%d wait at first", n)
	}
	answer := r.ask(t, "a")
	if n := <-seen; n != 1 {
		t.Errorf("%d wait after one came", n)
	}
	if list, err := r.client.Pending(ctx); err != nil || len(list) != 1 || list[0].ID != "a" {
		t.Errorf("pending is %v, %v", list, err)
	}
	if why, err := r.client.Ending(ctx, "a"); err != nil || why != "" {
		t.Errorf("what waits has ended: %q, %v", why, err)
	}
	r.desk.Resolve("a", approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByDesk})
	<-answer
	if n := <-seen; n != 0 {
		t.Errorf("%d wait after it was answered", n)
	}
	if why, err := r.client.Ending(ctx, "a"); err != nil || why != "it was decided elsewhere" {
		t.Errorf("it ended with %q, %v", why, err)
	}
	cancel()
	if err := <-watched; !errors.Is(err, context.Canceled) {
		t.Errorf("watching ended with %v", err)
	}
}

func TestChanges(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	told := make(chan struct{}, 10)
	watched := make(chan error, 1)
	go func() { watched <- r.client.Changes(ctx, func() { told <- struct{}{} }) }()
	<-told
	r.changed <- struct{}{}
	<-told
	answer := r.ask(t, "a")
	<-told
	r.desk.Resolve("a", approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByDesk})
	<-answer
	<-told
	cancel()
	if err := <-watched; !errors.Is(err, context.Canceled) {
		t.Errorf("watching ended with %v", err)
	}
}

func TestPause(t *testing.T) {
	r := newRig(t)
	for _, paused := range []bool{true, false, true} {
		if err := r.client.Pause(t.Context(), paused); err != nil || r.paused.Load() != paused {
			t.Errorf("pausing %v gives %v", paused, err)
		}
	}
	response, err := r.client.Do(t.Context(), "POST", "/pause", nil, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusBadRequest || !r.paused.Load() {
		t.Errorf("nonsense is answered with %d, paused %v", response.StatusCode, r.paused.Load())
	}
}

func TestRaise(t *testing.T) {
	r := newRig(t)
	for show, want := range map[string]string{"": "open", control.ShowOpen: "open", control.ShowApprovals: "approvals", control.ShowSettings: "settings"} {
		if got, err := r.client.Raise(t.Context(), show); err != nil || got.Window || got.Message != "in the tray: "+want {
			t.Errorf("%q: got %+v, %v", show, got, err)
		}
	}
	var nowhere *control.RefusedError
	if _, err := r.client.Raise(t.Context(), "secrets"); !errors.As(err, &nowhere) || nowhere.Status != http.StatusBadRequest {
		t.Errorf("what no window shows: %v", err)
	}
	bare, err := r.client.Do(t.Context(), http.MethodPost, "/window", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = bare.Body.Close()
	if bare.StatusCode != http.StatusOK {
		t.Errorf("without a body: %d", bare.StatusCode)
	}
	ln, client := control.Local(control.Info{})
	ctx, cancel := context.WithCancel(t.Context())
	var served sync.WaitGroup
	served.Go(func() { _ = control.NewServer(control.Options{Gateway: r.gateway}).Serve(ctx, ln) })
	defer served.Wait()
	defer cancel()
	defer client.Close()
	var refused *control.RefusedError
	if _, err := client.Raise(t.Context(), ""); !errors.As(err, &refused) || !strings.Contains(err.Error(), "neither tray nor windows") {
		t.Errorf("without a tray: %v", err)
	}
}

func TestRepairLaunchTakesTheSecret(t *testing.T) {
	repairs := 0
	for _, test := range []struct {
		name, secret string
		repair       func() error
		want         string // in the error; "" for none
	}{
		{"with the secret", "s", func() error { repairs++; return nil }, ""},
		{"without it", "", func() error { t.Error("it was repaired"); return nil }, "in the window"},
		{"without a desktop", "s", nil, "no desktop"},
		{"and it fails", "s", func() error { return errors.New("the folder is read-only") }, "read-only"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ln, client := control.Local(control.Info{})
			server := control.NewServer(control.Options{Gateway: &gateway{desk: approvals.NewDesk(approvals.DeskOptions{})}, Secret: "s", RepairLaunch: test.repair})
			ctx, stop := context.WithCancel(t.Context())
			var serving sync.WaitGroup
			serving.Go(func() { _ = server.Serve(ctx, ln) })
			defer serving.Wait()
			defer stop()
			defer client.Close()
			client.Secret = test.secret
			err := client.RepairLaunch(t.Context())
			if (test.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the repair: %v, want %q", err, test.want)
			}
		})
	}
	if repairs != 1 {
		t.Errorf("it was repaired %d times", repairs)
	}
}

func TestOneResident(t *testing.T) {
	r := newRig(t)
	_, err := control.Claim(r.home)
	var running *control.RunningError
	if !errors.As(err, &running) || running.Info.PID != os.Getpid() || running.Info.Listen != "127.0.0.1:8640" || running.Info.Config != "/a/config.yaml" {
		t.Errorf("a second resident gets %v", err)
	}
	info, err := os.Stat(r.client.Info.Socket)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info.Mode(), err)
	}
}

func TestNoResident(t *testing.T) {
	home := config.Home{Runtime: t.TempDir()}
	if _, err := control.Dial(t.Context(), home); !errors.Is(err, control.ErrNoResident) {
		t.Errorf("dialling nobody gives %v", err)
	}
}

// TestKilledResident kills a resident, and takes its place.
func TestKilledResident(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CONTROL_TEST_CLAIM="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, _ := out.Read(line)
	if got := string(line[:n]); got != "claimed <nil>\n" {
		t.Errorf("the other process says %q", got)
	}
	home := config.Home{Runtime: dir}
	var running *control.RunningError
	if _, err := control.Claim(home); !errors.As(err, &running) || running.Info.PID != cmd.Process.Pid {
		t.Errorf("claiming beside it gives %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if _, err := control.Dial(t.Context(), home); !errors.Is(err, control.ErrNoResident) {
		t.Errorf("dialling a killed one gives %v", err)
	}
	resident, err := control.Claim(home)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := resident.Listen("127.0.0.1:2", "/a/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(ln.Close(), resident.Release()); err != nil {
		t.Error(err)
	}
}

func TestLongRuntimePath(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	resident, err := control.Claim(config.Home{Runtime: dir})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := resident.Listen("127.0.0.1:3", "/a/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	client, err := control.Dial(t.Context(), config.Home{Runtime: dir})
	if err != nil || strings.HasPrefix(client.Info.Socket, dir) {
		t.Errorf("dialling gives %v", err)
	}
	folder := filepath.Dir(client.Info.Socket)
	if err := errors.Join(ln.Close(), resident.Release()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Claim(config.Home{Runtime: dir}); err == nil {
		t.Error("a folder that others can write to was taken")
	}
}

func TestUnusableRuntimeDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Claim(config.Home{Runtime: filepath.Join(file, "run")}); err == nil || !strings.Contains(err.Error(), "POINTSMAN_HOME") {
		t.Errorf("got %v", err)
	}
}

// TestStartingResident: one that has not told yet where it is runs all the same.
func TestStartingResident(t *testing.T) {
	home := config.Home{Runtime: t.TempDir()}
	first, err := control.Claim(home)
	if err != nil {
		t.Fatal(err)
	}
	_, err = control.Claim(home)
	var running *control.RunningError
	if !errors.As(err, &running) || !strings.Contains(err.Error(), "just starting") {
		t.Errorf("a second resident gets %v", err)
	}
	if err := first.Release(); err != nil {
		t.Error(err)
	}
}

func TestMCPStream(t *testing.T) {
	r := newRig(t)
	stream, err := r.client.MCP(t.Context(), mcpapi.Client{Session: "s", CWD: "/w", Tools: "own", Servers: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(stream)
	if who, err := in.ReadString('\n'); err != nil || who != "{Session:s CWD:/w Tools:own Servers:[a b]}\n" {
		t.Errorf("who came is %q, %v", who, err)
	}
	if _, err := io.WriteString(stream, "a line\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := in.ReadString('\n'); err != nil || line != "a line\n" {
		t.Errorf("back came %q, %v", line, err)
	}
	if err := stream.Close(); err != nil {
		t.Error(err)
	}
}
