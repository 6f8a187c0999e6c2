package approvals_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pointsman/approvals"
)

// What Folders offers passes Check as a path prefix, and is never a root.
func TestFolders(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(dir, "src")
	if err := os.Mkdir(src, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(src, "out")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	quoted := func(parts ...string) string { return `"` + filepath.ToSlash(filepath.Join(parts...)) + `"` }
	for _, tt := range []struct {
		name  string
		class approvals.Class
		cwd   string
		args  string
		want  []string
	}{
		{"one file", approvals.Write, "", `{"path":` + quoted(src, "a.go") + `}`, []string{src}},
		{"and the working folder", approvals.Write, dir, `{"path":` + quoted(src, "a.go") + `}`, []string{src, dir}},
		{"a working folder elsewhere", approvals.Write, filepath.Join(dir, "other"), `{"path":` + quoted(src, "a.go") + `}`, []string{src}},
		{"two files meet above", approvals.Write, "", `{"from":` + quoted(src, "a.go") + `,"to":` + quoted(dir, "b.go") + `}`, []string{dir}},
		{"only a root would hold them", approvals.Write, "", `{"from":` + quoted(src, "a.go") + `,"to":"/x"}`, nil},
		{"a link leads out of the folder", approvals.Write, src, `{"path":` + quoted(src, "out", "a.go") + `}`, []string{filepath.Join(src, "out")}},
		{"relative", approvals.Write, dir, `{"path":"a.go"}`, nil},
		{"climbing", approvals.Write, dir, `{"path":"` + filepath.ToSlash(src) + `/../a.go"}`, nil},
		{"another scheme", approvals.Write, dir, `{"url":"https://example.com/a"}`, nil},
		{"no path at all", approvals.Write, dir, `{"n":1}`, nil},
		{"not an object", approvals.Write, dir, `[`, nil},
		{"a command is bounded by no path", approvals.Execute, dir, `{"path":` + quoted(src, "a.go") + `}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := approvals.Request{Tool: "t", Class: tt.class, CWD: tt.cwd, Arguments: []byte(tt.args)}
			got := approvals.Folders(req, req.Arguments)
			if !slices.Equal(got, tt.want) {
				t.Fatalf("Folders() = %q, want %q", got, tt.want)
			}
			for _, folder := range got {
				d := approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk,
					Scope: &approvals.Scope{Lifetime: approvals.Always, PathPrefix: folder}}
				if err := approvals.Check(d, req); err != nil {
					t.Errorf("offered, and refused: %v", err)
				}
			}
		})
	}
}
