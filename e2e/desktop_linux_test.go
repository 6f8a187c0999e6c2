package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// withScratch is a program with a tray over the built-in server.
func withScratch(t *testing.T, door ...string) setup {
	t.Helper()
	return setup{
		servers: map[string]any{"scratch": map[string]any{"type": "builtin"}}, extra: "approvals: {control: true}\n",
		door: append([]string{}, door...), env: sessionEnv(t),
	}
}

// scribbling is a request whose model writes a file.
func (p *pointsman) scribbling(mark string) []byte {
	return p.fill(`{`+user(`@tool scratch__write_file {"path":"%MARK%.txt","content":"x"}`)+`}`, mark)
}

// reading is a request whose model only reads.
func (p *pointsman) reading(mark string) []byte {
	return p.fill(`{`+user(`@tool scratch__list_files {}`)+`}`, mark)
}

func labels(lines []menuLine) string {
	var text []string
	for _, line := range lines {
		text = append(text, line.label)
	}
	return strings.Join(text, "|")
}

// TestTray reads and chooses the tray's menu in a real panel.
func TestTray(t *testing.T) {
	if !inSession(t) {
		return
	}
	b := newBus(t)
	p := serve(t, withScratch(t))
	item := b.trayItem(t, p.cmd.Process.Pid)
	status := "Serving " + strings.TrimPrefix(p.url, "http://") + " · 1 server"
	item.line(t, status)
	copying := "Copy endpoint URL|Copy API key"
	if _, err := exec.LookPath("xclip"); err != nil {
		copying = "Copy endpoint URL (install xclip)|Copy API key (install xclip)"
	}
	expect(t, "the menu", labels(item.menu(t)), status+"||Open Pointsman|No waiting approvals|Pause tools||"+
		copying+"||Launch at login (not with POINTSMAN__HOME)|Settings …||Quit")
	expect(t, "the title", item.title(t), "Pointsman")

	t.Run("waiting", func(t *testing.T) { p.testWaiting(t, b, item, status) })
	t.Run("pause", func(t *testing.T) { p.testPause(t, item) })
	t.Run("copy", func(t *testing.T) { p.testCopy(t, item) })
	t.Run("second", func(t *testing.T) { p.testSecond(t) })
	item.click(t, "Quit")
	p.ends(t, 0)
	await(t, "the item to go", func() bool { return b.trayOwner(t, p.cmd.Process.Pid) == "" })
}

// testWaiting: a call that waits is counted, told of, and makes Quit ask.
func (p *pointsman) testWaiting(t *testing.T, b *bus, item *trayItem, status string) {
	idle := item.pixels(t)
	var client sync.WaitGroup
	var answer gjson.Result
	client.Go(func() { answer = p.chatOnce(t.Context(), t, p.scribbling("one")) })
	req := p.pending(t, 1)[0]
	item.line(t, status+" · 1 waiting")
	item.line(t, "Waiting approvals: 1 …")
	expect(t, "the title", item.title(t), "Pointsman · 1 waiting")
	expect(t, "the tooltip", item.tooltip(t), "Pointsman · 1 waiting")
	if item.pixels(t) == idle {
		t.Error("the icon is the same while a call waits")
	}
	note := receive(t, "a notification", b.notes)
	expect(t, "the notification", note[3].(string), "1 tool call waits for you")
	contains(t, "the notification", note[4].(string), "write_file of scratch (destructive)")

	item.click(t, "Quit")
	item.line(t, "Quit: 1 run will be cut off, choose again")
	expect(t, "still serving", p.healthy(), true)

	p.decide(t, req, false, "no")
	client.Wait()
	contains(t, "the answer", answer.String(), "no")
	item.line(t, "No waiting approvals")
	expect(t, "the title afterwards", item.title(t), "Pointsman")
	expect(t, "the icon afterwards", item.pixels(t) == idle, true)
	expect(t, "the notification that is taken back", receive(t, "the end of the notification", b.taken), uint32(7))
}

// testPause: no call runs while the tools are paused.
func (p *pointsman) testPause(t *testing.T, item *trayItem) {
	for _, paused := range []bool{true, false} {
		item.click(t, "Pause tools")
		await(t, "the tick", func() bool { return item.line(t, "Pause tools").ticked == paused })
		expect(t, "the status", p.status(t).Get("paused").Bool(), paused)
		mark := "paused-" + strconv.FormatBool(paused)
		answer := p.chatOnce(t.Context(), t, p.reading(mark))
		expect(t, "the call was denied", strings.Contains(answer.String(), "tools are paused"), paused)
	}
}

// testCopy: what is chosen to be copied can be pasted.
func (p *pointsman) testCopy(t *testing.T, item *trayItem) {
	if _, err := exec.LookPath("xclip"); err != nil {
		t.Skipf("%v", err)
	}
	for label, want := range map[string]string{"Copy endpoint URL": p.url + "/v1", "Copy API key": key} {
		item.click(t, label)
		await(t, label, func() bool {
			out, err := exec.Command("xclip", "-selection", "clipboard", "-out").Output()
			return err == nil && string(out) == want
		})
	}
}

// testSecond: a second start finds the first.
func (p *pointsman) testSecond(t *testing.T) {
	for _, args := range [][]string{{}, {"--show"}} {
		if _, code := p.cli(t, args...); code != 0 {
			t.Errorf("a second pointsman %v ends with %d", args, code)
		}
	}
	expect(t, "the first one still serves", p.healthy(), true)
}

// ends waits until the program has ended.
func (p *pointsman) ends(t *testing.T, code int) {
	t.Helper()
	receive(t, "the program's end", p.exited)
	expect(t, "the exit code", p.cmd.ProcessState.ExitCode(), code)
}

// idleFor is how long the idle program is looked at.
const idleFor = 5 * time.Second

// TestIdle: with a tray and nothing to do, the program sleeps.
func TestIdle(t *testing.T) {
	t.Parallel()
	if !inSession(t) {
		return
	}
	b := newBus(t)
	p := serve(t, withScratch(t))
	b.trayItem(t, p.cmd.Process.Pid).line(t, "Serving ")
	p.chatOnce(t.Context(), t, p.reading("one"))
	http.DefaultClient.CloseIdleConnections()
	time.Sleep(idleAfter)
	before := p.ticks(t)
	time.Sleep(idleFor)
	if spent := p.ticks(t) - before; spent > 1 {
		t.Errorf("the idle program took %d ticks in %s", spent, idleFor)
	}
}

// idleAfter is when the program has settled after its last run: it gives memory
// back then.
const idleAfter = 7 * time.Second

// ticks is the CPU time that the program has taken, in hundredths of a second.
func (p *pointsman) ticks(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	user, userErr := strconv.Atoi(fields[11])
	system, systemErr := strconv.Atoi(fields[12])
	if userErr != nil || systemErr != nil {
		t.Fatalf("reading %s", data)
	}
	return user + system
}

// TestTrayComesLater: without a panel the program serves, and says so; when one
// comes, and when it comes again, the tray is there.
func TestTrayComesLater(t *testing.T) {
	if !inSession(t, "NO_PANEL=1") {
		return
	}
	b := newBus(t)
	p := serve(t, withScratch(t))
	await(t, "word of the missing tray", func() bool { return strings.Contains(p.stderr.String(), "the tray cannot be shown yet") })
	var client sync.WaitGroup
	client.Go(func() { p.chatOnce(t.Context(), t, p.scribbling("one")) })
	req := p.pending(t, 1)[0]
	receive(t, "a notification", b.notes)
	p.decide(t, req, true, "")
	client.Wait()
	for range 2 {
		panel := exec.Command("xfce4-panel", "--disable-wm-check")
		if err := panel.Start(); err != nil {
			t.Fatal(err)
		}
		item := b.trayItem(t, p.cmd.Process.Pid)
		item.line(t, "Serving ")
		// A signal with few arguments, as the keychain sends one when a person has
		// unlocked it.
		emit := exec.Command("gdbus", "emit", "--session", "--dest", item.owner, "--object-path", "/x", "--signal", "org.example.Some.Thing")
		if out, err := emit.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		_ = panel.Process.Kill()
		_ = panel.Wait()
		await(t, "the panel to go", func() bool { return b.trayOwner(t, p.cmd.Process.Pid) == "" })
	}
}

// TestTrayOnServe: a pointsman beside a serve is its tray, and goes with it.
func TestTrayOnServe(t *testing.T) {
	if !inSession(t) {
		return
	}
	b := newBus(t)
	p := serve(t, withScratch(t, "serve"))
	tray := &pointsman{home: p.home, env: p.env, stderr: &lockedBuffer{}, exited: make(chan struct{})}
	tray.cmd = tray.command(t.Context())
	tray.cmd.Stderr = tray.stderr
	if err := tray.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = tray.cmd.Wait(); close(tray.exited) }()
	t.Cleanup(func() { tray.end(t) })
	item := b.trayItem(t, tray.cmd.Process.Pid)
	item.line(t, "Serving "+strings.TrimPrefix(p.url, "http://")+" · 1 server")
	item.line(t, "Quit the tray")
	p.testPause(t, item)
	p.testCopy(t, item)
	p.testSecond(t)
	expect(t, "there is one tray", b.trayOwner(t, os.Getpid()), "")
	item.click(t, "Open Pointsman")
	screen{t}.await("Pointsman")
	p.end(t)
	tray.ends(t, 1)
	contains(t, "the tray's last words", tray.stderr.String(), "went away")
}

// TestFailsToStart: who sees no terminal is told by the desktop.
func TestFailsToStart(t *testing.T) {
	if !inSession(t, "NO_PANEL=1") {
		return
	}
	b := newBus(t)
	p := serve(t, withScratch(t, "serve"))
	other := &pointsman{home: t.TempDir(), env: p.env}
	_, code := other.cli(t, "--listen", strings.TrimPrefix(p.url, "http://"))
	expect(t, "the exit code", code, 1)
	note := receive(t, "a notification", b.notes)
	expect(t, "the notification", note[3].(string), "Pointsman has ended")
	contains(t, "the notification", note[4].(string), "has the port")
}

// atHome is a program that has its files where a user's are: only such a one can
// be started at login. entry is where the desktop reads that it is.
func atHome(t *testing.T) (p *pointsman, entry string) {
	t.Helper()
	p = &pointsman{home: t.TempDir(), stderr: &lockedBuffer{}, exited: make(chan struct{})}
	p.env = append(sessionEnv(t), "POINTSMAN_HOME=")
	p.cmd = p.command(t.Context(), "--listen", freeAddress(t))
	p.cmd.Stderr = p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.exited) }()
	t.Cleanup(func() { p.end(t) })
	return p, filepath.Join(p.home, ".config", "autostart", "pointsman.desktop")
}

// launched checks that the program is started at login, or is not.
func (p *pointsman) launched(t *testing.T, entry string, on bool) {
	t.Helper()
	text, err := os.ReadFile(entry)
	expect(t, "there is an entry", err == nil, on)
	expect(t, "it names the program", strings.Contains(string(text), "Exec=\""+os.Getenv(binaryVariable)+"\"\n"), on)
	shown, _ := p.cli(t, "config", "show")
	contains(t, "the configuration", shown, "launch_at_login: "+strconv.FormatBool(on))
}

// TestLaunchAtLogin chooses it in the menu and in the window, and starts what the
// entry says.
func TestLaunchAtLogin(t *testing.T) {
	if _, err := os.Stat("/run/user/" + strconv.Itoa(os.Getuid())); err == nil {
		t.Skip("your own Pointsman may be running, and launch at login is not for one with POINTSMAN_HOME")
	}
	if !inSession(t) {
		return
	}
	b := newBus(t)
	p, entry := atHome(t)
	item := b.trayItem(t, p.cmd.Process.Pid)
	for _, on := range []bool{true, false, true} {
		item.click(t, "Launch at login")
		await(t, "the tick", func() bool { return item.line(t, "Launch at login").ticked == on })
		p.launched(t, entry, on)
	}
	if err := os.Remove(entry); err != nil { // as a desktop's settings may
		t.Fatal(err)
	}
	await(t, "the tick to go", func() bool { return !item.line(t, "Launch at login").ticked })

	window := p.opened(t)
	window.turnTo("settings")
	for _, on := range []bool{true, false} {
		window.press(-201, 412)
		await(t, "the tick of the menu", func() bool { return item.line(t, "Launch at login").ticked == on })
		p.launched(t, entry, on)
	}
	item.click(t, "Quit")
	p.ends(t, 0)
}

// TestWithoutDesktop: with neither bus nor display the program serves.
func TestWithoutDesktop(t *testing.T) {
	t.Parallel()
	s := withScratch(t)
	s.env = []string{"DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(t.TempDir(), "nothing")}
	p := serve(t, s)
	await(t, "word of the missing tray", func() bool { return strings.Contains(p.stderr.String(), "going on without a tray") })
	contains(t, "the answer", p.chatOnce(t.Context(), t, p.reading("one")).String(), "Tools said: {")
	p.testSecond(t)
	p.end(t)
	expect(t, "the exit code", p.cmd.ProcessState.ExitCode(), 0)

	s.door = []string{"serve"}
	p = serve(t, s)
	p.testSecond(t) // it puts no tray on it, and does not stay
}
