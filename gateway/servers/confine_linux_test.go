package servers_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/sandbox"
)

// needsSandbox skips a test where nothing can be confined. In CI it must be.
func needsSandbox(t *testing.T) {
	t.Helper()
	err := exec.Command("bwrap", "--unshare-user", "--ro-bind", "/", "/", "true").Run()
	if err != nil && os.Getenv("CI") != "" {
		t.Fatalf("bubblewrap has to work in CI: %v", err)
	} else if err != nil {
		t.Skipf("bubblewrap does not work here: %v", err)
	}
}

// room is a disk of a user: a home with secrets, Pointsman's own folder, and a
// project.
type room struct {
	t                  *testing.T
	home, own, project string
}

func newRoom(t *testing.T) *room {
	needsSandbox(t)
	top, err := os.MkdirTemp("/var/tmp", "pointsman-sandbox-") // not where a sandbox is empty anyway
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	r := &room{t: t, home: filepath.Join(top, "home")}
	r.own, r.project = filepath.Join(r.home, ".config", "pointsman"), filepath.Join(r.home, "project")
	t.Setenv("HOME", r.home)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	for path, text := range map[string]string{
		".config/pointsman/config.yaml": "key: sk-own",
		".config/pointsman/state/x":     "sk-state",
		".ssh/id_ed25519":               "sk-ssh",
		".local/share/keyrings/login":   "sk-keyring",
		"notes.txt":                     "plain",
		"deny/secret":                   "sk-denied",
		"project/main.go":               "package main",
		"project/.env":                  "sk-env",
		"project/sub/keys":              "sk-sub",
	} {
		r.write(path, text)
	}
	if err := os.Symlink(filepath.Join(r.home, "deny"), filepath.Join(r.home, "link")); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *room) write(path, text string) {
	r.t.Helper()
	path = filepath.Join(r.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// host runs the fake server with this sandbox; nil means none.
func (r *room) host(box *config.Sandbox, edit func(*config.MCPServer)) *harness {
	r.t.Helper()
	entry := fakeServer(r.t, "normal")
	entry.Sandbox = box
	if edit != nil {
		edit(&entry)
	}
	return start(r.t, servers.Options{Sandbox: r.options(), Guard: guardCommand(r.t)}, map[string]config.MCPServer{"fake": entry})
}

func (r *room) options() sandbox.Options {
	return sandbox.Options{Own: []string{r.own}, Dir: filepath.Join(r.own, "state", "sandbox")}
}

// sh runs a line of shell inside the server's process and returns what it printed.
func (h *harness) sh(line string) string {
	h.t.Helper()
	args, _ := json.Marshal(map[string]string{"line": line})
	return strings.TrimSpace(h.text("fake", "sh", string(args)))
}

// The three things that a sandbox is for, and that each is possible without one.
func TestSandboxConfines(t *testing.T) {
	r := newRoom(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	attempts := map[string]string{
		"read a denied secret": "cat " + r.home + "/deny/secret",
		"read our own file":    "cat " + r.own + "/config.yaml",
		"write outside":        "echo x > " + r.home + "/outside",
		"reach the network":    "net " + ln.Addr().String(),
	}
	free := r.host(nil, nil)
	for name, line := range attempts {
		if got := free.sh(line); strings.Contains(got, "failed") {
			t.Errorf("%s, unconfined: %s", name, got)
		}
	}
	free.stop()
	if err := os.Remove(filepath.Join(r.home, "outside")); err != nil {
		t.Fatal(err)
	}
	box := r.host(&config.Sandbox{Enabled: true, Filesystem: config.SandboxFilesystem{DenyRead: []string{"~/deny"}}}, nil)
	for name, line := range attempts {
		if got := box.sh(line); !strings.Contains(got, "failed") || strings.Contains(got, "sk-") {
			t.Errorf("%s, confined: %s", name, got)
		}
	}
	if _, err := os.Stat(filepath.Join(r.home, "outside")); err == nil {
		t.Error("it has written outside")
	}
	if got := box.sh("cat " + r.home + "/notes.txt"); got != "plain" {
		t.Errorf("what is no secret is %s", got)
	}
}

func TestSandboxRules(t *testing.T) {
	r := newRoom(t)
	const failed = "failed"
	tests := []struct {
		name  string
		write []string
		deny  []string
		cwd   string
		line  string // HOME stands for the home
		want  string // is in what it prints
	}{
		{"working directory", nil, nil, "~/project", "echo x > made; cat made", "x"},
		{"home as working directory", nil, nil, "${userHome}", "echo x > HOME/.bashrc", failed},
		{"allowed folder", []string{"~/project/sub"}, nil, "", "echo x > HOME/project/sub/made; cat HOME/project/sub/made", "x"},
		{"beside an allowed folder", []string{"~/project/sub"}, nil, "", "echo x > HOME/project/made", failed},
		{"allowed file", []string{"~/notes.txt"}, nil, "", "echo x >> HOME/notes.txt; cat HOME/notes.txt", "plainx"},
		{"relative to the working directory", nil, []string{".env"}, "~/project", "cat .env", failed},
		{"denied through a link", nil, []string{"~/link"}, "", "cat HOME/deny/secret", failed},
		{"denied, asked through a link", nil, []string{"~/deny"}, "", "cat HOME/link/secret", failed},
		{"denied file", nil, []string{"~/deny/secret"}, "", "cat HOME/deny/secret", failed},
		{"a link out of the working directory", nil, []string{"~/deny"}, "~/project", "ln -s HOME/deny away; cat away/secret", failed},
		{"all is allowed, but ours", []string{"/"}, nil, "", "cat HOME/.config/pointsman/config.yaml", failed},
		{"all is allowed, and ours is not written", []string{"/"}, nil, "", "echo x > HOME/.config/pointsman/config.yaml", failed},
		{"ours is not moved away", []string{"~"}, nil, "", "mv HOME/.config HOME/moved", failed},
		{"ours is not moved away, nor with all allowed", []string{"/"}, nil, "", "mv HOME/.config HOME/moved", failed},
		{"a denied file is not moved", []string{"~/project"}, []string{"~/project/sub/keys"}, "", "mv HOME/project/sub HOME/project/was; cat HOME/project/was/keys", failed},
		{"the keychain", []string{"/"}, nil, "", "cat HOME/.local/share/keyrings/login", failed},
		{"credentials", nil, nil, "", "cat HOME/.ssh/id_ed25519", failed},
		{"credentials that are opened", []string{"~/.ssh"}, nil, "", "cat HOME/.ssh/id_ed25519", "sk-ssh"},
		{"denied in what is allowed", []string{"~/project"}, []string{"~/project/sub"}, "", "cat HOME/project/sub/keys", failed},
		{"missing at the top", nil, []string{"/pointsman-no-such/x"}, "", "cat HOME/notes.txt", "plain"},
		{"missing at the top, and nothing is written there", nil, []string{"/pointsman-no-such/x"}, "", "echo x > /made", failed},
		{"other processes", nil, nil, "", "cat /proc/[0-9]*/environ | tr '\\000' '\\n' | grep SECRET_OF_THE_HOST", failed},
		{"the host's /tmp", nil, nil, "", "test -e /tmp/pointsman-sandbox-marker", failed},
		{"a /tmp of its own", nil, nil, "", "echo x > $TMPDIR/made; cat /tmp/made", "x"},
		{"a folder for caches", nil, nil, "", "mkdir -p $npm_config_cache; echo x > $npm_config_cache/made; cat $XDG_CACHE_HOME/npm/made", "x"},
		{"the session's sockets", nil, nil, "", "ls /run/user", failed},
	}
	t.Setenv("SECRET_OF_THE_HOST", "sk-host")
	marker := "/tmp/pointsman-sandbox-marker"
	if err := os.WriteFile(marker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(marker) })
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			box := &config.Sandbox{Enabled: true, Filesystem: config.SandboxFilesystem{AllowWrite: test.write, DenyRead: test.deny}}
			h := (&room{t: t, home: r.home, own: r.own}).host(box, func(e *config.MCPServer) { e.Cwd = test.cwd })
			got := h.sh(strings.ReplaceAll(test.line, "HOME", r.home))
			if !strings.Contains(got, test.want) || test.want == failed && strings.Contains(got, "sk-") {
				t.Errorf("%s prints %q, want %q", test.line, got, test.want)
			}
		})
	}
}

// The system's settings are root's to write, but not a confined server's of root.
func TestSandboxKeepsTheSystem(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root could write them")
	}
	r := newRoom(t)
	const line = "find /proc/sys/kernel /proc/self /sys/kernel -maxdepth 2 -type f -writable | grep ."
	for name, write := range map[string][]string{"nothing is opened": nil, "all is opened": {"/"}} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			box := r.host(&config.Sandbox{Enabled: true, Filesystem: config.SandboxFilesystem{AllowWrite: write}}, nil)
			if got := box.sh(line); !strings.HasPrefix(got, "failed") {
				t.Errorf("it may write %s", got)
			}
		})
	}
}

// What the process of this program has open is not the server's.
func TestSandboxInheritsNoFiles(t *testing.T) {
	r := newRoom(t)
	fd, err := syscall.Open(r.own, syscall.O_RDONLY|syscall.O_DIRECTORY, 0) // as a parent may have left it open to us
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	line := fmt.Sprintf("cat /proc/self/fd/%d/config.yaml", fd)
	for name, box := range map[string]*config.Sandbox{"confined": {Enabled: true}, "unconfined": nil} {
		t.Run(name, func(t *testing.T) {
			r.t = t
			if got := r.host(box, nil).sh(line); !strings.Contains(got, "failed") || strings.Contains(got, "sk-") {
				t.Errorf("%s prints %s", line, got)
			}
		})
	}
}

// The variables of an entry are the server's, and not bwrap's, which is not
// confined: they could have it load a library that the server has written.
func TestSandboxVariables(t *testing.T) {
	r := newRoom(t)
	debug := filepath.Join(r.home, "debug")
	box := r.host(&config.Sandbox{Enabled: true}, func(e *config.MCPServer) {
		e.Env["LD_DEBUG"], e.Env["LD_DEBUG_OUTPUT"] = "libs", config.Secret(debug)
		e.Env["TOKEN"] = "sk-token\nof two lines"
	})
	if got := box.sh("echo \"$TOKEN\"; echo \"$LD_DEBUG\""); !strings.Contains(got, "sk-token\nof two lines\nlibs") {
		t.Errorf("it has %q", got)
	}
	if left, _ := filepath.Glob(debug + ".*"); len(left) > 0 {
		t.Errorf("they were bwrap's: it has written %s", left)
	}
	pid := box.status("fake").Live.PID
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err != nil || strings.Contains(string(line), "sk-token") {
		t.Errorf("its command line is %q, %v", line, err)
	}
	box.stop()
	box = r.host(&config.Sandbox{Enabled: true}, func(e *config.MCPServer) { e.Env["X"] = "a\x00--bind\x00/\x00/" })
	if got := box.awaitState("fake", servers.Failed).Live.Error; !strings.Contains(got, "null character") {
		t.Errorf("the error says %s", got)
	}
}

// What lies where a server has folders of its own, and is hidden besides, is not
// shown because an argument names it, or because its folder is opened.
func TestSandboxShowsNothingHidden(t *testing.T) {
	r := newRoom(t)
	session := t.TempDir() // in /tmp, of which a server sees its own
	bus, own := filepath.Join(session, "bus"), filepath.Join(session, "own")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{bus, filepath.Join(own, "control.sock"), filepath.Join(session, "plain")} {
		if err := os.WriteFile(path, []byte("sk-hidden"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+bus+",guid=1")
	options := r.options()
	options.Own = append(options.Own, own)
	for name, edit := range map[string]func(*config.MCPServer){
		"as an argument": func(e *config.MCPServer) {
			e.Args = []string{bus, filepath.Join(own, "control.sock"), filepath.Join(session, "plain")}
		},
		"in its folder": func(e *config.MCPServer) { e.Args = []string{session} },
		"in a folder that it may write": func(e *config.MCPServer) {
			e.Sandbox.Filesystem.AllowWrite = []string{session}
		},
	} {
		t.Run(name, func(t *testing.T) {
			entry := fakeServer(t, "normal")
			entry.Sandbox = &config.Sandbox{Enabled: true}
			edit(&entry)
			h := start(t, servers.Options{Sandbox: options}, map[string]config.MCPServer{"fake": entry})
			if got := h.sh("cat " + session + "/plain"); got != "sk-hidden" {
				t.Errorf("what is not hidden is %s", got)
			}
			if got := h.sh("cat " + bus + " " + own + "/control.sock"); strings.Contains(got, "sk-") || !strings.Contains(got, "failed") {
				t.Errorf("what is hidden is %s", got)
			}
		})
	}
}

// What is denied and not there yet is not seen when it appears.
func TestSandboxHidesWhatAppears(t *testing.T) {
	r := newRoom(t)
	box := r.host(&config.Sandbox{Enabled: true, Filesystem: config.SandboxFilesystem{DenyRead: []string{"~/later/secret", "~/deny/secret"}}}, nil)
	box.awaitState("fake", servers.Connected)
	r.write("later/secret", "sk-later")
	r.write("deny/new", "sk-new")
	if err := os.Rename(filepath.Join(r.home, "deny/new"), filepath.Join(r.home, "deny/secret")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"later/secret", "deny/secret"} {
		if got := box.sh("cat " + r.home + "/" + path); strings.Contains(got, "sk-") {
			t.Errorf("%s is %s", path, got)
		}
	}
}

// What is hidden where a server may write, or by a cover, is hidden again when
// something else takes its name; that is no crash of the server.
func TestSandboxHidesWhatIsReplaced(t *testing.T) {
	r := newRoom(t)
	box := r.host(&config.Sandbox{Enabled: true, Filesystem: config.SandboxFilesystem{DenyRead: []string{".env"}}}, func(e *config.MCPServer) { e.Cwd = r.project })
	replaceFile := func() {
		r.write("project/new", "sk-new")
		if err := os.Rename(r.project+"/new", r.project+"/.env"); err != nil {
			t.Fatal(err)
		}
	}
	replaceFolder := func() {
		if err := os.RemoveAll(r.home + "/.ssh"); err != nil {
			t.Fatal(err)
		}
		r.write(".ssh/id_ed25519", "sk-new")
	}
	makeFolder := func() { r.write(".aws/credentials", "sk-new") }
	// Once more than a server may crash.
	for i, replace := range []func(){replaceFile, replaceFolder, makeFolder, replaceFile, replaceFolder, replaceFile} {
		before := box.awaitState("fake", servers.Connected).Live.ConnectionID
		replace()
		box.await(fmt.Sprintf("it is confined anew after change %d", i), func() bool {
			live := box.status("fake").Live
			if live.Status == servers.Failed {
				box.Check() // it does not wait for its turn
			}
			return live.Status == servers.Connected && live.ConnectionID != before
		})
		for _, place := range []string{"project/.env", ".ssh/id_ed25519", ".aws/credentials"} {
			if got := box.sh("cat " + r.home + "/" + place); strings.Contains(got, "sk-") {
				t.Errorf("after change %d %s is %s", i, place, got)
			}
		}
	}
}

// Rules that cannot be followed keep the server from starting, and say why.
func TestSandboxThatCannotBe(t *testing.T) {
	r := newRoom(t)
	tests := []struct {
		name        string
		write, deny []string
		cwd         string
		want        []string
	}{
		{"nothing to write", []string{"~/no/such"}, nil, "", []string{"allowWrite", "no/such", "not there"}},
		{"ours", []string{"~/.config/pointsman/state"}, nil, "", []string{"cannot be opened", "hidden"}},
		{"denied", []string{"~/deny/in"}, []string{"~/deny"}, "", []string{"allowWrite", "not there"}},
		{"allowed and denied", []string{"~/deny"}, []string{"~/deny"}, "", []string{"cannot be opened", "hidden"}},
		{"a working directory that is denied", nil, []string{"~/project"}, "~/project", []string{"hidden"}},
		{"a program that is denied", nil, []string{filepath.Dir(self(t))}, "", []string{"its program", "hidden"}},
		{"a pattern", nil, []string{"~/*.key"}, "", []string{"denyRead[0]", "patterns"}},
		{"missing where it may write", nil, []string{"later"}, "~/project", []string{"not there", "may write"}},
		{"a device", []string{"/dev"}, nil, "", []string{"no place on a disk"}},
		{"empty", []string{""}, nil, "", []string{"allowWrite[0]", "empty"}},
		{"nothing meant", []string{"$NOPE"}, nil, "", []string{"allowWrite[0]", "NOPE"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			box := &config.Sandbox{Enabled: true, Filesystem: config.SandboxFilesystem{AllowWrite: test.write, DenyRead: test.deny}}
			entry := fakeServer(t, "normal")
			entry.Sandbox, entry.Cwd = box, test.cwd
			h := expandingWith(t, servers.Options{Sandbox: r.options()}, entry)
			got := h.awaitState("fake", servers.Failed).Live.Error
			for _, part := range test.want {
				if !strings.Contains(got, part) {
					t.Errorf("the error lacks %q: %s", part, got)
				}
			}
		})
	}
}

func TestSandboxWithNetwork(t *testing.T) {
	r := newRoom(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	box := r.host(&config.Sandbox{Enabled: true, Network: config.SandboxNetwork{AllowOutbound: true}}, nil)
	if got := box.sh("net " + ln.Addr().String()); strings.Contains(got, "failed") {
		t.Error(got)
	}
}

// The keychain's bus on an abstract socket belongs to whoever has the network.
func TestSandboxWithNetworkAndAnOpenBus(t *testing.T) {
	r := newRoom(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:abstract=/tmp/dbus-x,guid=1")
	box := r.host(&config.Sandbox{Enabled: true, Network: config.SandboxNetwork{AllowOutbound: true}}, nil)
	if got := box.awaitState("fake", servers.Failed).Live.Error; !strings.Contains(got, "allowOutbound") || !strings.Contains(got, "abstract") {
		t.Errorf("the error says %s", got)
	}
	box.stop()
	box = r.host(&config.Sandbox{Enabled: true}, nil)
	box.awaitState("fake", servers.Connected)
}

// Without what confines, nothing is started.
func TestSandboxWithoutItsTool(t *testing.T) {
	r := newRoom(t)
	t.Setenv("PATH", t.TempDir())
	h := start(t, servers.Options{Sandbox: r.options()}, map[string]config.MCPServer{
		"fake": {Command: self(t), Env: map[string]config.Secret{fakeMode: "normal"}, Sandbox: &config.Sandbox{Enabled: true}},
	})
	if got := h.awaitState("fake", servers.Failed).Live.Error; !strings.Contains(got, "bubblewrap") || !strings.Contains(got, "not started") {
		t.Errorf("the error says %s", got)
	}
}

// What confines a server is not something that it may have written.
func TestSandboxDoesNotTrustWhatIsConfined(t *testing.T) {
	r := newRoom(t)
	r.write("project/bwrap", "#!/bin/sh\nexec ./server\n")
	if err := os.Chmod(r.project+"/bwrap", 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", r.project+":"+os.Getenv("PATH"))
	box := r.host(&config.Sandbox{Enabled: true}, func(e *config.MCPServer) { e.Cwd = r.project })
	if got := box.awaitState("fake", servers.Failed).Live.Error; !strings.Contains(got, "bwrap") || !strings.Contains(got, "may write") {
		t.Errorf("the error says %s", got)
	}
}

// A confined server is asked to end before it is ended, and nothing of it is left,
// whether we stop it or are killed.
func TestSandboxEnds(t *testing.T) {
	r := newRoom(t)
	said := filepath.Join(r.project, "ended")
	if out, err := exec.Command("cp", self(t), r.project+"/server").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	box := r.host(&config.Sandbox{Enabled: true}, func(e *config.MCPServer) {
		e.Cwd = r.project
		e.Command, e.Args = "sh", []string{"-c", `trap 'echo asked > ended; exit 0' TERM; sleep 3000 & ./server; while :; do sleep 0.05; done`}
	})
	box.awaitState("fake", servers.Connected)
	began := time.Now()
	box.stop()
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
	if data, err := os.ReadFile(said); err != nil || string(data) != "asked\n" {
		t.Errorf("it was not asked to end: %q, %v", data, err)
	}
	if out, _ := exec.Command("pgrep", "-fx", "sleep 3000").Output(); len(out) > 0 {
		t.Errorf("it has left processes: %s", out)
	}
}

func TestKillingTheHostEndsTheConfined(t *testing.T) {
	r := newRoom(t)
	if out, err := exec.Command("cp", self(t), r.project+"/server").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	for name, env := range map[string]string{"with its guard": "", "with neither guard nor records": "FAKE_RECORDS=" + r.home + "/records"} {
		t.Run(name, func(t *testing.T) {
			host := startHost(t, "FAKE_CONFINED="+r.project, env)
			running := func() string { out, _ := exec.Command("pgrep", "-f", r.project).Output(); return string(out) }
			if len(strings.Fields(running())) < 3 { // what confines it, the server, its child
				t.Fatalf("running before: %s", running())
			}
			if err := host.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			deadline := time.Now().Add(10 * time.Second)
			for running() != "" {
				if time.Now().After(deadline) {
					t.Fatalf("still running: %s", running())
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
}

func TestRealFilesystemServerConfined(t *testing.T) {
	r := newRoom(t)
	script, err := filepath.EvalSymlinks(npmServer(t, "@modelcontextprotocol/server-filesystem/dist/index.js"))
	if err != nil {
		t.Fatal(err)
	}
	modules, _, _ := strings.Cut(script, "/@modelcontextprotocol") // opened, as they may be in /tmp, of which a server sees its own
	entry := config.MCPServer{
		Command: "node", Args: []string{script, r.home},
		Sandbox: &config.Sandbox{Enabled: true, Filesystem: config.SandboxFilesystem{AllowWrite: []string{r.project, modules}, DenyRead: []string{r.home + "/deny"}}},
	}
	h := start(t, servers.Options{Sandbox: r.options()}, map[string]config.MCPServer{"fs": entry})
	write := func(path string) bool {
		res, err := h.call("fs", "write_file", fmt.Sprintf(`{"path":%q,"content":"from a real server"}`, path))
		return err == nil && !res.IsError
	}
	if !write(r.project + "/hello.txt") {
		t.Error("it cannot write where it may")
	}
	if data, err := os.ReadFile(r.project + "/hello.txt"); err != nil || string(data) != "from a real server" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if write(r.home + "/hello.txt") {
		t.Error("it can write where it may not")
	}
	if res, err := h.call("fs", "read_text_file", fmt.Sprintf(`{"path":%q}`, r.home+"/deny/secret")); err != nil || !res.IsError || strings.Contains(res.Text(0), "sk-") {
		t.Errorf("the secret: %v, %v", res, err)
	}
}
