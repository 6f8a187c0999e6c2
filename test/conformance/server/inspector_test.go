package server

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"pointsman/test/conformance"
)

// TestInspector has the official inspector list and call tools over both
// transports, and look for faults in the schemas of our own tools.
func TestInspector(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	inspector, err := conformance.FindInspector(ctx, "..")
	if err != nil {
		t.Skip(err)
	}
	home := t.TempDir()
	ask := func(t *testing.T, args ...string) gjson.Result {
		t.Helper()
		out, err := inspector.Run(ctx, home, args...)
		if err != nil {
			t.Fatal(err)
		}
		return gjson.ParseBytes(out)
	}
	t.Run("stdio", func(t *testing.T) {
		server := []string{pointsman(t), "mcp", "--tools", "own", "-e", "POINTSMAN_HOME=" + home}
		listed := ask(t, append(server, "--method", "tools/list", "--strict")...)
		if n := len(listed.Get("tools").Array()); n < 5 || !listed.Get(`tools.#(name=="gpt6_models").inputSchema`).IsObject() {
			t.Errorf("%d tools are listed: %s", n, listed.Raw)
		}
		called := ask(t, append(server, "--method", "tools/call", "--tool-name", "gpt6_models")...)
		if models := called.Get("structuredContent"); len(models.Map()) == 0 || called.Get("isError").Bool() {
			t.Errorf("the call is answered with %s", called.Raw)
		}
	})
	t.Run("http", func(t *testing.T) {
		server := []string{serve(t, build(t), false), "--transport", "http"}
		listed := ask(t, append(server, "--method", "tools/list")...)
		if !listed.Get(`tools.#(name=="test_simple_text")`).Exists() {
			t.Errorf("listed is %s", listed.Raw)
		}
		called := ask(t, append(server, "--method", "tools/call", "--tool-name", "test_simple_text")...)
		if called.Get("content.0.text").Str == "" || called.Get("isError").Bool() {
			t.Errorf("the call is answered with %s", called.Raw)
		}
	})
}

// pointsman builds the program.
func pointsman(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pointsman")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", "headless", "-o", path, "pointsman")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v: %s", err, out)
	}
	return path
}
