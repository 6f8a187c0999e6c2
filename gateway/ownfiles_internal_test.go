package gateway

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pointsman/gateway/config"
)

// ownHome makes a user's home with our files in it, and ways that lead there.
func ownHome(t *testing.T) (home string, own *ownFiles) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs links and slashes")
	}
	home = filepath.Join(t.TempDir(), "home", "me")
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	dirs := config.Home{Config: filepath.Join(home, ".config", "pointsman"), State: filepath.Join(home, ".local", "state", "pointsman")}
	for _, dir := range []string{dirs.Config, dirs.State, filepath.Join(home, "src", "deep"), filepath.Join(home, ".copilot", "hooks")} {
		must(os.MkdirAll(dir, 0o700))
	}
	file := filepath.Join(dirs.Config, "config.yaml")
	for _, path := range []string{file, filepath.Join(dirs.State, "journal.db"), filepath.Join(home, ".copilot", "settings.json"), filepath.Join(home, "src", "plain")} {
		must(os.WriteFile(path, nil, 0o600))
	}
	must(os.Link(file, filepath.Join(home, "src", "hard")))
	must(os.Link(filepath.Join(dirs.State, "journal.db"), filepath.Join(home, "src", "hard.db")))
	must(os.Link(filepath.Join(home, ".copilot", "settings.json"), filepath.Join(home, "src", "hard.json")))
	must(os.Symlink(dirs.Config, filepath.Join(home, "src", "link")))
	must(os.Symlink(filepath.Join(home, ".config"), filepath.Join(home, "src", "up")))
	must(os.Symlink("../.config/pointsman/new", filepath.Join(home, "src", "dangling")))
	must(os.Symlink("loop", filepath.Join(home, "src", "loop")))
	t.Setenv("HOME", home)
	t.Setenv("APPDATA", filepath.Join(home, ".config"))
	t.Chdir(filepath.Join(home, "src", "deep"))
	return home, newOwnFiles(dirs, file)
}

func TestOwnFilesAreFoundHoweverTheyAreWritten(t *testing.T) {
	home, own := ownHome(t)
	for _, text := range []string{
		"HOME/.config/pointsman/config.yaml", "HOME/.config/pointsman", "HOME/.config/pointsman/new", "HOME/.local/state/pointsman/journal.db",
		"HOME/.config//pointsman/./x", "HOME/src/../.config/pointsman/x", "HOME/.config/POINTSMAN/x", `HOME\.config\pointsman\x`, `C:\Users\x\AppData\pointsman\config.yaml`,
		"file://HOME/.config/point%73man/x", "FILE://localhostHOME/.config/point%73man/x", "file:HOME/.config/point%2573man/x", "HOME/.config/point%73man/x", "file://HOME/.config/point%73man/x?y#z",
		"file://HOME/src/link/x", "file://HOME/src/li%6ek/x", "HOME/src/link", "HOME/src/link/x", "HOME/src/up/pointsman/x", "HOME/src/dangling", "vscode://fileHOME/src/link/x",
		"HOME/src/hard", "HOME/src/hard.db", "HOME/src/hard.json", "file://HOME/src/h%61rd", "../hard", "../../src/link/x", "../link/x",
		"~/.local/state/pointsman/x", "~me/.local/state/pointsman/x", "$HOME/.local/state/pointsman/x", "${HOME}/.local/state/pointsman/x", `%APPDATA%\pointsman\x`, "$env:APPDATA/pointsman/x",
		"../pointsman/x", "../../../.config/pointsman/x", "../state/pointsman/journal.db",
		"HOME/.local/state/point\nsman/x", "HOME/.local/state/pointsman/x\x00.txt", "see\nHOME/src/hard", "HOME/src/plain\x00HOME/src/hard",
		"cat HOME/src/hard", "tee --output=HOME/src/link/x", `echo 1 > "HOME/src/hard"`, `cp x HOME/.local/state/"pointsman"/x`, `cp x HOME/.local/state/point\sman/x`, "rm HOME/.loc*/st?te/points*/x", "HOME/.config/{pointsman,x}/y",
		"~/.copilot/hooks/x.json", "/r/.github/hooks/pre.sh",
	} {
		if text = strings.ReplaceAll(text, "HOME/", home+"/"); strings.Contains(text, `HOME\`) {
			text = strings.ReplaceAll(text, `HOME\`, home+`\`)
		}
		if strings.HasPrefix(text, "$"+home) {
			text = "$HOME" + strings.TrimPrefix(text, "$"+home)
		}
		if !own.Named(text) {
			t.Errorf("%q is not found", text)
		}
	}
}

func TestOtherFilesAreNotOurs(t *testing.T) {
	home, own := ownHome(t)
	for _, text := range []string{
		"", ".", "..", "/", "~", "HOME", "HOME/.config", "HOME/.config/other", "HOME/src/plain", "HOME/src/deep/new", "HOME/src/up/other", "HOME/src/loop", "file://HOME/src/plain",
		"../plain", "../config.yaml", "../settings.json", "../state/x", "**/*", "**/*.json", "*", "HOME/src/**/*.go", "100%", "%zz", "$", "a sentence. And / or ~ more: of it", "https://example.com/a/b",
		"\x00", "line\nline", "/* a comment */\n// another",
	} {
		if text = strings.ReplaceAll(text, "HOME", home); own.Named(text) {
			t.Errorf("%q is taken for ours", text)
		}
	}
}

func TestFoldersThatHoldOurFiles(t *testing.T) {
	home, own := ownHome(t)
	for _, test := range []struct {
		text    string
		command bool
		want    bool
	}{
		{"HOME/.config", false, true}, {"HOME/.config/", false, true}, {"HOME", false, true}, {"/", false, true}, {"~", false, true}, {"$HOME/.config", false, true}, {"file://HOME/.conf%69g", false, true},
		{"HOME/src/up", false, true}, {"HOME/.local", false, true}, {"HOME/.copilot", false, true}, {".config", false, true}, {"../..", false, true}, {"HOME/.c*", false, true},
		{"HOME/src", false, false}, {"HOME/.config/other", false, false}, {"HOME/src/plain", false, false}, {"", false, false}, {".", false, false}, {"a text with / in it", false, false}, {"*", false, false},
		{"mv HOME/.config /tmp", true, true}, {"rm -rf ~", true, true}, {"cd; rm -r .config", true, true}, {"tar c HOME/.local/state", true, true}, {`rm -r "HOME/.config"`, true, true},
		{"go test ./...", true, false}, {"ls HOME/src", true, false}, {"cd .. && ls", true, false},
	} {
		if test.text = strings.ReplaceAll(test.text, "HOME", home); strings.HasPrefix(test.text, "$") {
			test.text = "$HOME/.config"
		}
		if got := own.Held(test.text, test.command); got != test.want {
			t.Errorf("%q (command %v): %v", test.text, test.command, got)
		}
	}
}

// TestStartedInOurFolder: where the user's home and the working directory are
// our folder, not every word names a file of ours.
func TestStartedInOurFolder(t *testing.T) {
	_, own := ownHome(t)
	dir := own.places[0]
	t.Setenv("HOME", dir)
	t.Chdir(dir)
	for text, want := range map[string]bool{"console.log(6*7)": false, "notes.txt": false, ".": false, "a. b": false, "config.yaml": true, "./config.yaml": true, "x/../config.yaml": true} {
		if got := own.Named(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
		if own.Held(text, true) {
			t.Errorf("%q holds our files", text)
		}
	}
}

// TestALongTextIsLookedThrough: what is not looked at counts as ours.
func TestALongTextIsLookedThrough(t *testing.T) {
	home, own := ownHome(t)
	if padded := strings.Repeat("some words ", 100_000) + home + "/src/hard"; !own.Named(padded) {
		t.Error("behind many words")
	}
	if !own.Named(pathsOf(2 * maxPaths)) {
		t.Error("too many paths to look at")
	}
}

// pathsOf is a text of n different paths.
func pathsOf(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("/x/" + strings.Repeat("y", i) + " ")
	}
	return b.String()
}
