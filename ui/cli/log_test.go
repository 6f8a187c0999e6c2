package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
)

// TestTheResidentsLog is kept in a file, follows the configuration while it runs,
// and goes on in the same file at the next start.
func TestTheResidentsLog(t *testing.T) {
	r := newRig(t, "default_model: demo\nlog: {level: error}\n")
	home, err := config.Locate(func(name string) string { return r.env[name] })
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home.State, "pointsman.log")
	kept := func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	s := r.serve()
	client, err := control.Dial(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	pause := func(paused bool) {
		if err := client.Pause(t.Context(), paused); err != nil {
			t.Fatal(err)
		}
	}
	pause(true)
	if text := kept(); text != "" {
		t.Errorf("at level error it says %q", text)
	}
	if err := os.WriteFile(filepath.Join(r.home, "config.yaml"), []byte("default_model: demo\nlog: {level: info}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	paused := false
	eventually(t, "the level follows the configuration", func() bool {
		pause(paused)
		paused = !paused
		return strings.Contains(kept(), "pausing the tools")
	})
	if !strings.Contains(s.log.String(), "pausing the tools") {
		t.Error("the standard error does not have what the file has")
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if status, _ := s.chat(t, `{"messages":[{"role":"user","content":"hi"}]}`); status != http.StatusOK {
		t.Fatalf("chat: %d", status)
	}
	before := kept()
	if strings.Contains(before, gatewayKey) {
		t.Errorf("the key is in it: %s", before)
	}
	if s.stop() != 0 {
		t.Fatal("serve failed")
	}
	r.serve()
	if !strings.HasPrefix(kept(), before) {
		t.Error("the next start has begun anew")
	}
}

// TestAnyProgramMayNotManage: the resident's settings are its windows'.
func TestAnyProgramMayNotManage(t *testing.T) {
	r := newRig(t, scratchConfig+"approvals: {control: true}\n")
	r.serve()
	home, err := config.Locate(func(name string) string { return r.env[name] })
	if err != nil {
		t.Fatal(err)
	}
	client, err := control.Dial(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if key, err := client.Key(t.Context()); err == nil || key != "" {
		t.Errorf("the key was given to whoever asks: %v", err)
	}
}
