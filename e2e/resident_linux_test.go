package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestResidentKilled: after the worst end there is, everything is as it was, and
// what waited was approved by nobody.
func TestResidentKilled(t *testing.T) {
	if !inSession(t) {
		return
	}
	p, s := windowed(t)
	window, answer := p.asks(t, s, p.making("again"))
	time.Sleep(arming)
	window.rememberAlways()
	window.approve(short)
	receive(t, "the answer", answer)
	if err := os.Remove(filepath.Join(p.folder, "again")); err != nil {
		t.Fatal(err)
	}

	window, _ = p.asks(t, s, p.making("waiting"))
	windows, err := strconv.Atoi(s.do("getwindowpid", window.id))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.exited
	await(t, "the windows to end", func() bool { return !alive(windows) })
	expect(t, "the folder of the call that waited is there", p.exists("waiting"), false)

	p.start(t, "--listen", strings.TrimPrefix(p.url, "http://"))
	p.awaitServersNamed(t, "fs")
	expect(t, "the outcome of the call that waited", p.row(t).Get("outcome").String(), "unknown")
	p.chatOnce(t.Context(), t, p.making("again"))
	expect(t, "the folder of the remembered call is there", p.exists("again"), true)
	expect(t, "the approver", p.row(t).Get("approver").String(), "rule")
	expect(t, "the folder of the call that waited is there in the end", p.exists("waiting"), false)
	p.asksAgain(t, s, p.making("another"))
}

// TestWithoutTray: where no tray can be, the window opens by itself, and closing
// it asks what that means.
func TestWithoutTray(t *testing.T) {
	if !inSession(t, "NO_PANEL=1") {
		return
	}
	newBus(t)
	p := serve(t, withScratch(t))
	window := mainWindow(t)
	await(t, "word of the missing tray", func() bool { return p.state(t).NoTray != "" })
	window.still()
	window.closeWindow()
	window.still()
	window.click(734, 414, short) // keep running
	screen{t}.gone("Pointsman$")
	expect(t, "it still serves", p.healthy(), true)

	window = p.opened(t)
	window.closeWindow()
	window.still()
	window.click(604, 414, short) // quit
	p.ends(t, 0)
}

const (
	unlockTitle  = "Unlock" // of the session's own window that asks for the password
	lockKeychain = `gdbus call --session --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets --method org.freedesktop.Secret.Service.Lock "['/org/freedesktop/secrets/collection/login']"`
)

// TestKeychainLocked: what the keychain cannot give is said in the window, as long
// as that is so; what needs no keychain goes on.
func TestKeychainLocked(t *testing.T) {
	if !inSession(t) {
		return
	}
	p := serve(t, withScratch(t))
	look := func() (pane, string) {
		window := p.opened(t)
		window.turnTo("connect") // where nothing changes
		window.point(500, 20)
		window.still()
		return window, window.looks()
	}
	window, unlocked := look()
	window.closeWindow()
	window.gone("Pointsman$")
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", lockKeychain).CombinedOutput(); err != nil {
		t.Fatalf("locking the keychain: %v: %s", err, out)
	}
	window, _ = look()
	await(t, "word of the locked keychain", func() bool {
		if window.visible(unlockTitle) != "" { // a person who does not want to
			window.do("key", "Escape")
			return false
		}
		window.still()
		return window.looks() != unlocked && window.visible(unlockTitle) == ""
	})
	window.picture()
	contains(t, "the answer", p.chatOnce(t.Context(), t, p.reading("locked")).String(), "Tools said: {")

	window.click(-63, 24, short) // look again
	window.screen.await(unlockTitle)
	window.do("type", "test")
	window.do("key", "Return")
	window.gone(unlockTitle)
	window.point(500, 20)
	await(t, "the window to be as it was", func() bool { return window.looks() == unlocked })
}

// TestKeychainAbsent: with no keychain at all the window comes up and says so, and
// the keys in the environment work.
func TestKeychainAbsent(t *testing.T) {
	if !inSession(t, "NO_PANEL=1") {
		return
	}
	s := withScratch(t)
	s.env = append(s.env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(t.TempDir(), "nothing"))
	s.extra += "gateway: {auth: none}\n"
	p := serve(t, s)
	window := mainWindow(t)
	window.picture()
	req := p.request(t.Context(), t, p.reading("absent"))
	req.Header.Del("Authorization")
	response, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	expect(t, "the answer to one without a key", response.StatusCode, http.StatusOK)
}
