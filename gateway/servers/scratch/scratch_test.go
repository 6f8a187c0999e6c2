package scratch_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/servers/scratch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t *testing.T, dir string) *mcp.ClientSession {
	t.Helper()
	transport, err := scratch.Transport(dir)(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session
}

func call(t *testing.T, session *mcp.ClientSession, tool, args string) (text string, failed bool) {
	t.Helper()
	res, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError
}

func TestFilesComeAndGo(t *testing.T) {
	session := connect(t, t.TempDir())
	steps := []struct{ tool, args, want string }{
		{"list_files", `{}`, `{"files":[]}`},
		{"write_file", `{"path":"a/b.txt","content":"hello"}`, "wrote 5 bytes to a/b.txt"},
		{"list_files", `{}`, `{"files":[{"path":"a/b.txt","size":5}]}`},
		{"read_file", `{"path":"a/b.txt"}`, "hello"},
		{"write_file", `{"path":"a/b.txt","content":""}`, "wrote 0 bytes to a/b.txt"},
		{"read_file", `{"path":"a/b.txt"}`, ""},
		{"delete_file", `{"path":"a/b.txt"}`, "deleted a/b.txt"},
		{"list_files", `{}`, `{"files":[]}`},
	}
	for _, step := range steps {
		if got, failed := call(t, session, step.tool, step.args); failed || got != step.want {
			t.Fatalf("%s %s: got %q (failed: %v), want %q", step.tool, step.args, got, failed, step.want)
		}
	}
}

func TestNothingLeadsOut(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(outside, "scratch")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	session := connect(t, dir)
	for _, path := range []string{"../secret", secret, "link/secret", "a/../../secret", ""} {
		quoted, _ := json.Marshal(path)
		for _, tool := range []string{"read_file", "write_file", "delete_file"} {
			args := `{"path":` + string(quoted) + `}`
			if tool == "write_file" {
				args = `{"path":` + string(quoted) + `,"content":"gone"}`
			}
			if got, failed := call(t, session, tool, args); !failed || strings.Contains(got, "s3cret") {
				t.Errorf("%s %q: %q, failed: %v", tool, path, got, failed)
			}
		}
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "s3cret" {
		t.Errorf("the file outside: %q, %v", data, err)
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "large"), make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	session := connect(t, dir)
	large, _ := json.Marshal(strings.Repeat("x", 1<<20+1))
	tests := []struct{ name, tool, args string }{
		{"absent file", "read_file", `{"path":"absent"}`},
		{"large file", "read_file", `{"path":"large"}`},
		{"large content", "write_file", `{"path":"x","content":` + string(large) + `}`},
		{"folder read", "read_file", `{"path":"folder"}`},
		{"folder deleted", "delete_file", `{"path":"folder"}`},
	}
	for _, test := range tests {
		if got, failed := call(t, session, test.tool, test.args); !failed {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}

func TestAnnotations(t *testing.T) {
	session := connect(t, t.TempDir())
	tools, err := session.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	readOnly := map[string]bool{"list_files": true, "read_file": true, "write_file": false, "delete_file": false}
	if len(tools.Tools) != len(readOnly) {
		t.Errorf("%d tools, want %d", len(tools.Tools), len(readOnly))
	}
	for _, tool := range tools.Tools {
		want, known := readOnly[tool.Name]
		if !known || tool.Annotations.ReadOnlyHint != want {
			t.Errorf("%s: known %v, annotations %+v", tool.Name, known, tool.Annotations)
		}
	}
}

func TestFolderThatIsNotThere(t *testing.T) {
	if _, err := scratch.Transport(filepath.Join(t.TempDir(), "absent"))(context.Background()); err == nil {
		t.Error("no error")
	}
}
