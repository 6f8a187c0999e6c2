//go:build linux

package secrets_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pointsman/gateway/secrets"
)

// session runs the test of the same name again, inside a D-Bus session of its
// own in which script has run before.
// config is the bus's configuration; "" means the system's.
func session(t *testing.T, config, script string, programs ...string) {
	t.Helper()
	for _, program := range append(programs, "dbus-run-session", "sh") {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	home := t.TempDir()
	runtimeDir := filepath.Join(home, "run")
	if err := os.Mkdir(runtimeDir, 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{"--", "sh", "-c", script + "\n\"$@\"; rc=$?; [ -z \"$daemon\" ] || kill $daemon; exit $rc", "session", os.Args[0], "-test.run=^" + t.Name() + "$", "-test.v"}
	if config != "" {
		file := filepath.Join(home, "bus.conf")
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append([]string{"--config-file=" + file}, args...)
	}
	cmd := exec.CommandContext(ctx, "dbus-run-session", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + runtimeDir, "XDG_DATA_HOME=" + filepath.Join(home, "data"), "LANG=C.UTF-8", inSession + "=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("inside the session: %v\n%s", err, out)
	}
}

func inside() bool { return os.Getenv(inSession) != "" }

// noServices is a bus that starts no program by itself: what answers on it is
// what the test started.
const noServices = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>`

// unlockedKeyring starts a keyring whose password is given, as a job of the
// shell, so that the session can end it.
const unlockedKeyring = `await() {
  for i in $(seq 200); do
    dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets 2>/dev/null | grep -q "$1" && break
    sleep 0.05
  done
}
printf test | gnome-keyring-daemon --unlock --foreground --components=secrets >/dev/null 2>&1 & daemon=$!
await true`

func TestSystemKeychain(t *testing.T) {
	if !inside() {
		session(t, noServices, unlockedKeyring, "gnome-keyring-daemon", "dbus-send")
		return
	}
	k, ctx := secrets.System(), t.Context()
	if _, err := k.Get(ctx, "github"); !errors.Is(err, secrets.ErrNotFound) {
		t.Errorf("before: %v", err)
	}
	for _, value := range []string{"first", "ünïcode \n lines", strings.Repeat("0123456789", 2000)} {
		if err := k.Set(ctx, "github", value); err != nil {
			t.Fatal(err)
		}
		if got, err := k.Get(ctx, "github"); err != nil || got != value {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if _, err := exec.LookPath("secret-tool"); err == nil {
		out, err := exec.CommandContext(ctx, "secret-tool", "lookup", "service", "pointsman", "username", "github").Output()
		if err != nil || len(out) != 20000 {
			t.Errorf("another program sees %d bytes, %v", len(out), err)
		}
	}
	if err := k.Delete(ctx, "github"); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Get(ctx, "github"); !errors.Is(err, secrets.ErrNotFound) {
		t.Errorf("after: %v", err)
	}
}

func TestSystemKeychainLocked(t *testing.T) {
	if !inside() {
		// A keyring is made, with a password, and comes back locked: nobody can
		// answer the prompt here.
		session(t, noServices, unlockedKeyring+`
printf v | secret-tool store --label x service pointsman username github
kill $daemon; wait $daemon 2>/dev/null
await false
gnome-keyring-daemon --foreground --components=secrets >/dev/null 2>&1 & daemon=$!
await true`, "gnome-keyring-daemon", "secret-tool", "dbus-send")
		return
	}
	k := secrets.System()
	start := time.Now()
	_, err := k.Get(t.Context(), "github")
	if !errors.Is(err, secrets.ErrLocked) {
		t.Errorf("reading: %v", err)
	}
	if err := k.Set(t.Context(), "other", "v"); !errors.Is(err, secrets.ErrLocked) {
		t.Errorf("writing: %v", err)
	}
	if took := time.Since(start); took > 12*time.Second {
		t.Errorf("two calls took %v", took)
	}
}

func TestSystemKeychainWithoutAService(t *testing.T) {
	if !inside() {
		session(t, noServices, "")
		return
	}
	start := time.Now()
	if _, err := secrets.System().Get(t.Context(), "n"); !errors.Is(err, secrets.ErrUnavailable) {
		t.Errorf("error = %v", err)
	}
	if took := time.Since(start); took > 6*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestSystemKeychainWithoutABus(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	if _, err := secrets.System().Get(t.Context(), "n"); !errors.Is(err, secrets.ErrUnavailable) {
		t.Errorf("a bus that is gone: %v", err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	if _, err := os.Stat(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus")); err == nil {
		t.Skip("this user has a session bus that is found without its variable")
	}
	if _, err := secrets.System().Get(t.Context(), "n"); !errors.Is(err, secrets.ErrUnavailable) {
		t.Errorf("no bus: %v", err)
	}
}
