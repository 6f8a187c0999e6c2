package approvals_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pointsman/approvals"
)

// tree makes a folder with a file, links out of it and back, and returns it.
func tree(t testing.TB) (dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs links and slashes")
	}
	root := t.TempDir()
	dir = filepath.Join(root, "src")
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(dir, "deep"), 0o700))
	must(os.MkdirAll(filepath.Join(root, "src2"), 0o700))
	must(os.WriteFile(filepath.Join(dir, "a"), nil, 0o600))
	must(os.WriteFile(filepath.Join(root, "secret"), nil, 0o600))
	must(os.Symlink(root, filepath.Join(dir, "out")))
	must(os.Symlink("../secret", filepath.Join(dir, "leak")))
	must(os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	must(os.Symlink("/nowhere-either", filepath.Join(dir, "far")))
	must(os.Symlink("deep", filepath.Join(dir, "in")))
	must(os.Symlink("loop", filepath.Join(dir, "loop")))
	must(os.Symlink(dir, filepath.Join(root, "alias")))
	return dir
}

func below(t testing.TB, dir string) *approvals.Rules {
	t.Helper()
	rules := approvals.NewRules(atNoon, nil)
	if err := rules.Load([]approvals.Rule{rule(func(r *approvals.Rule) { r.PathPrefix = dir })}); err != nil {
		t.Fatal(err)
	}
	return rules
}

func matchArgs(rules *approvals.Rules, args string) bool {
	_, ok := rules.Match(request(func(q *approvals.Request) { q.Arguments = json.RawMessage(args) }))
	return ok
}

func TestPathPrefix(t *testing.T) {
	dir := tree(t)
	rules := below(t, dir+"/")
	for _, tc := range []struct {
		name, args string
		want       bool
	}{
		{"a file", `{"path":"DIR/a"}`, true},
		{"a new file", `{"path":"DIR/new/deeper/file"}`, true},
		{"needless slashes and dots", `{"path":"DIR//deep/./x"}`, true},
		{"a link that stays inside", `{"path":"DIR/in/x"}`, true},
		{"several", `{"source":"DIR/a","destination":"DIR/b"}`, true},
		{"a list", `{"paths":["DIR/a","DIR/b"]}`, true},
		{"nested", `{"edits":[{"file":"DIR/a"},{"filePath":"DIR/b"}]}`, true},
		{"a file URI", `{"uri":"file://DIR/a"}`, true},
		{"a local file URI", `{"uri":"file://localhostDIR/a"}`, true},
		{"text beside", `{"path":"DIR/a","content":"one\n/etc/passwd\ntwo"}`, true},

		{"an escape that stays inside", `{"path":"DIR/100%25"}`, true},
		{"an edit", `{"path":"DIR/a","edits":[{"newText":"one\n/etc/passwd\ntwo"}]}`, true},

		{"an escaped climb", `{"path":"DIR/a%2F..%2F..%2Fetc"}`, false},
		{"an escaped climb, escaped", `{"path":"DIR/%252e%252e/secret"}`, false},
		{"an escaped climb, without end", `{"path":"DIR/%25252525252e%25252525252e/secret"}`, false},
		{"an escaped zero", `{"path":"DIR/a%00"}`, false},
		{"an escaped link that leads out", `{"path":"DIR/le%61k"}`, false},
		{"a second line", `{"path":"DIR/a","whatever":"see\n/etc/passwd"}`, false},
		{"a second line under a path's key", `{"path":"DIR/a\n/etc/passwd"}`, false},
		{"behind a zero", `{"path":"DIR/a","whatever":"see\u0000/etc/passwd"}`, false},
		{"a second line as a key", `{"path":"DIR/a","map":{"see\n/tmp/b":1}}`, false},
		{"the folder itself", `{"path":"DIR"}`, false},
		{"the folder itself, with a dot", `{"path":"DIR/."}`, false},
		{"no path", `{"text":"x"}`, false},
		{"no arguments", ``, false},
		{"no object", `["DIR/a"]`, false},
		{"a neighbour whose name begins alike", `{"path":"DIR2/a"}`, false},
		{"above", `{"path":"DIR/../secret"}`, false},
		{"up and back", `{"path":"DIR/deep/../a"}`, false},
		{"up in other spellings", `{"path":"DIR/.. /secret"}`, false},
		{"up with the other slash", `{"path":"DIR/..\\..\\secret"}`, false},
		{"elsewhere", `{"path":"/etc/passwd"}`, false},
		{"relative", `{"path":"a"}`, false},
		{"home", `{"path":"~/a"}`, false},
		{"empty", `{"path":""}`, false},
		{"one of two", `{"source":"DIR/a","destination":"/tmp/b"}`, false},
		{"one of a list", `{"paths":["DIR/a","/tmp/b"]}`, false},
		{"one nested", `{"path":"DIR/a","more":{"deep":[{"target_file":"/tmp/b"}]}}`, false},
		{"an unknown key", `{"path":"DIR/a","whatever":"/tmp/b"}`, false},
		{"an unknown key that climbs", `{"path":"DIR/a","whatever":"x/../../b"}`, false},
		{"an unknown key with a drive", `{"path":"DIR/a","whatever":"C:\\b"}`, false},
		{"an unknown key, with blanks around", `{"path":"DIR/a","whatever":" /tmp/b\n"}`, false},
		{"a path as a key", `{"path":"DIR/a","map":{"/tmp/b":1}}`, false},
		{"a key twice", `{"path":"/etc/passwd","path":"DIR/a"}`, false},
		{"a web address", `{"path":"DIR/a","url":"https://example.com/DIR/a"}`, false},
		{"another machine's file", `{"uri":"file://elsewhereDIR/a"}`, false},
		{"an escaped climb in a URI", `{"uri":"file://DIR/%2e%2e/secret"}`, false},
		{"an escaped zero in a URI", `{"uri":"file://DIR/a%00"}`, false},
		{"a zero", `{"path":"DIR/a\u0000"}`, false},
		{"half a character", `{"path":"DIR/\ud800"}`, false},
		{"a link that leads out", `{"path":"DIR/leak"}`, false},
		{"through a link that leads out", `{"path":"DIR/out/secret"}`, false},
		{"new, through a link that leads out", `{"path":"DIR/out/new"}`, false},
		{"a link that leads nowhere", `{"path":"DIR/dangling"}`, false},
		{"a link that leads nowhere outside", `{"path":"DIR/far"}`, false},
		{"below a link that leads nowhere", `{"path":"DIR/far/x"}`, false},
		{"a link to itself", `{"path":"DIR/loop"}`, false},
		{"below a file", `{"path":"DIR/a/b"}`, false},
		{"inside, but by another name", `{"path":"` + filepath.Dir(dir) + `/alias/a"}`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := strings.ReplaceAll(tc.args, "DIR", dir)
			if got := matchArgs(rules, args); got != tc.want {
				t.Errorf("%s: matches %t, want %t", args, got, tc.want)
			}
		})
	}
	command := request(func(q *approvals.Request) {
		q.Class, q.Arguments = approvals.Execute, json.RawMessage(`{"cwd":"`+dir+`/deep","command":"rm -r ../.."}`)
	})
	if _, ok := rules.Match(command); ok {
		t.Error("a command was let through because of its folder")
	}
}

func TestFolderThatBecomesALinkCoversNothing(t *testing.T) {
	dir := tree(t)
	rules := below(t, dir)
	if !matchArgs(rules, `{"path":"`+dir+`/secret"}`) {
		t.Fatal("does not match before")
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(dir), dir); err != nil {
		t.Fatal(err)
	}
	if matchArgs(rules, `{"path":"`+dir+`/secret"}`) {
		t.Error("the rule followed the folder to another place")
	}
	if err := rules.Load(rules.List()); err != nil { // a change notice must not settle the place anew
		t.Fatal(err)
	}
	if matchArgs(rules, `{"path":"`+dir+`/secret"}`) {
		t.Error("the rule followed the folder after it was loaded again")
	}
}

func TestFolderReachedByALink(t *testing.T) {
	dir := tree(t)
	alias := filepath.Join(filepath.Dir(dir), "alias")
	rules := below(t, alias)
	if !matchArgs(rules, `{"path":"`+alias+`/a"}`) {
		t.Error("a folder that is a link, as on macOS /tmp, covers nothing")
	}
	if matchArgs(rules, `{"path":"`+alias+`/leak"}`) {
		t.Error("a link out of it is covered")
	}
}

// FuzzPathPrefix: whatever a rule covers is really inside its folder.
func FuzzPathPrefix(f *testing.F) {
	dir := tree(f)
	rules := below(f, dir)
	for _, s := range []string{"DIR/a", "DIR/../secret", "file://DIR/a", "DIR/out/x", "DIR/%2e%2e/x", "DIR2/a", "DIR/.. /x", "~/x", "", "DIR/deep//./x", `DIR\..\x`} {
		f.Add("path", s)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, key, path string) {
		path = strings.ReplaceAll(path, "DIR", dir)
		args, err := json.Marshal(map[string]string{key: path, "path": dir + "/a"})
		if key == "path" {
			args, err = json.Marshal(map[string]string{key: path})
		}
		if err != nil || !matchArgs(rules, string(args)) {
			return
		}
		// An independent judge: open it as the system would.
		got := filepath.Clean(strings.TrimPrefix(path, "file://"))
		if key != "path" && (!filepath.IsAbs(got) || strings.ContainsAny(strings.TrimSpace(path), "\r\n")) {
			return // nothing that says it is a path
		}
		for !exists(got) && got != filepath.Dir(got) {
			got = filepath.Dir(got)
		}
		if got, err = filepath.EvalSymlinks(got); err != nil {
			t.Fatalf("covers %q, which cannot be followed: %v", path, err)
		}
		if got != real && !strings.HasPrefix(got, real+"/") {
			t.Errorf("key %q: covers %q, which is %q, outside %q", key, path, got, real)
		}
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
