package config_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pointsman/gateway/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 10 * time.Second

// watch runs Store.Watch for the test and gives its changes.
func watch(t *testing.T, store *config.Store) <-chan config.Change {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	changes := make(chan config.Change, 64)
	var running sync.WaitGroup
	running.Go(func() {
		if err := store.Watch(ctx, func(c config.Change) { changes <- c }); err != nil {
			t.Errorf("watching: %v", err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return changes
}

func next(t *testing.T, changes <-chan config.Change) config.Change {
	t.Helper()
	select {
	case c := <-changes:
		return c
	case <-time.After(patience):
		t.Fatal("no change was told")
		return config.Change{}
	}
}

func overwrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replace is how editors save: a new file under the old name.
func replace(t *testing.T, path, text string) {
	t.Helper()
	overwrite(t, path+".new", text)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestWatch(t *testing.T) {
	store, err := load(t, "default_model: one\n")
	if err != nil {
		t.Fatal(err)
	}
	first := store.Config()
	changes := watch(t, store)

	replace(t, store.Path(), "default_model: two\n")
	if c := next(t, changes); c.Err != nil || c.Old.DefaultModel != "one" || c.New.DefaultModel != "two" || store.Config() != c.New {
		t.Errorf("change: %+v", c)
	}
	if first.DefaultModel != "one" {
		t.Error("a configuration that was handed out has changed")
	}
	overwrite(t, store.Path(), "default_model: [\n")
	if c := next(t, changes); c.Err == nil || store.Config().DefaultModel != "two" {
		t.Errorf("an invalid file gives %+v", c)
	}
	overwrite(t, store.Path(), "tools: {max_rounds: -1}\n")
	if c := next(t, changes); c.Err == nil || !strings.Contains(c.Err.Error(), "tools.max_rounds") || store.Config().Tools.MaxRounds != 8 {
		t.Errorf("an invalid value gives %+v", c)
	}
	overwrite(t, store.Path(), "default_model: three\n")
	if c := next(t, changes); c.Err != nil || c.New.DefaultModel != "three" {
		t.Errorf("after it was repaired: %+v", c)
	}
	if err := os.Remove(store.Path()); err != nil {
		t.Fatal(err)
	}
	if c := next(t, changes); !errors.Is(c.Err, config.ErrNotFound) || store.Config().DefaultModel != "three" {
		t.Errorf("an absent file gives %+v", c)
	}
	overwrite(t, store.Path(), "default_model: four\n")
	if c := next(t, changes); c.Err != nil || c.New.DefaultModel != "four" {
		t.Errorf("when it is back: %+v", c)
	}
	if err := store.Update(func(c *config.Config) error { c.DefaultModel = "five"; return nil }); err != nil {
		t.Fatal(err)
	}
	if c := next(t, changes); c.Err != nil || c.New.DefaultModel != "five" || len(c.Held) != 0 {
		t.Errorf("an update of our own: %+v", c)
	}
}

func TestWatchSeesAFileThatAppears(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	store, err := config.Load(config.Options{Getenv: env(t, "POINTSMAN_HOME="+home)})
	if err != nil {
		t.Fatal(err)
	}
	changes := watch(t, store)
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	replace(t, store.Path(), "default_model: two\n")
	if c := next(t, changes); c.Err != nil || c.New.DefaultModel != "two" {
		t.Errorf("change: %+v", c)
	}
}

func TestOutsideLooseningIsHeld(t *testing.T) {
	store, err := load(t, "default_model: one\ntools: {safe: [a]}\n")
	if err != nil {
		t.Fatal(err)
	}
	changes := watch(t, store)
	replace(t, store.Path(), "default_model: two\ntools: {safe: [a, b], max_rounds: 4}\napprovals: {require: false, timeout: 1m}\nmcpServers: {evil: {command: sh}}\n")
	c := next(t, changes)
	if c.Err != nil || len(c.Held) != 3 {
		t.Fatalf("held: %q, %v", c.Held, c.Err)
	}
	got := store.Config()
	if got.DefaultModel != "two" || got.Tools.MaxRounds != 4 || got.Approvals.Timeout != config.Duration(time.Minute) {
		t.Error("the harmless part is not in force")
	}
	if !got.Approvals.Require || !slices.Equal(got.Tools.Safe, []string{"a"}) || len(got.MCPServers) != 0 {
		t.Errorf("the loosening is in force: %+v %+v %+v", got.Approvals, got.Tools, got.MCPServers)
	}

	// An update of our own of something else neither loses nor applies what is held.
	if err := store.Update(func(c *config.Config) error { c.Log.Level = "warn"; return nil }); err != nil {
		t.Fatal(err)
	}
	if c := next(t, changes); len(c.Held) != 3 || !c.New.Approvals.Require || c.New.Log.Level != "warn" {
		t.Errorf("after an update: %+v", c)
	}
	text, err := os.ReadFile(store.Path())
	if err != nil || !strings.Contains(string(text), "evil") {
		t.Errorf("the file lost what is held (%v):\n%s", err, text)
	}

	// What our own program loosens is a person's doing, but not over what is held.
	if err := store.Update(func(c *config.Config) error { c.Approvals.Allow = []string{"c"}; return nil }); err != nil {
		t.Fatal(err)
	}
	if c := next(t, changes); len(c.Held) != 3 || !slices.Contains(c.New.Approvals.Allow, "c") || !c.New.Approvals.Require {
		t.Errorf("after an update that loosens: %q %+v", c.Held, c.New.Approvals)
	}
	var held *config.HeldError
	err = store.UpdateSetting([]string{"tools", "safe"}, func(c *config.Config) error { c.Tools.Safe = []string{"a", "c"}; return nil })
	if !errors.As(err, &held) || held.Path != "tools.safe" || len(store.Held()) != 3 || slices.Contains(store.Config().Tools.Safe, "c") {
		t.Errorf("an update over what is held: %v", err)
	}

	if err := store.AcceptHeld(store.Snapshot().Revision); err != nil {
		t.Fatal(err)
	}
	if c := next(t, changes); len(c.Held) != 0 || c.New.Approvals.Require || c.New.MCPServers["evil"].Command != "sh" || len(store.Held()) != 0 {
		t.Errorf("after the yes: %+v", c)
	}
	again, err := config.Load(config.Options{Path: store.Path(), Getenv: env(t)})
	if err != nil || again.Config().Approvals.Require {
		t.Errorf("the next start does not take the file as it is (%v)", err)
	}
}

func TestUpdateMergesWhatOthersWrote(t *testing.T) {
	store, err := load(t, "default_model: one # 1\n")
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, store.Path(), "default_model: two # 2\nroots: [/a]\n")
	if err := store.Update(func(c *config.Config) error { c.Log.Level = "warn"; return nil }); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(store.Path())
	if err != nil {
		t.Fatal(err)
	}
	if want := "default_model: two # 2\nroots: [/a]\nlog:\n  level: warn\n"; string(text) != want {
		t.Errorf("file:\n%s", text)
	}
	if c := store.Config(); c.DefaultModel != "two" || len(c.Roots) != 0 || len(store.Held()) != 1 {
		t.Errorf("in force: %q %q, held %q", c.DefaultModel, c.Roots, store.Held())
	}
}

func TestUpdateNeverLosesAChangeMadeMeanwhile(t *testing.T) {
	store, err := load(t, "default_model: one\n")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	err = store.Update(func(c *config.Config) error {
		if calls++; calls == 1 { // another program saves while we think
			overwrite(t, store.Path(), "default_model: two\n")
		}
		c.Log.Level = "warn"
		return nil
	})
	if err != nil || store.Config().DefaultModel != "two" || store.Config().Log.Level != "warn" {
		t.Errorf("%v: %q %q", err, store.Config().DefaultModel, store.Config().Log.Level)
	}
	err = store.Update(func(c *config.Config) error { // it saves each time
		calls++
		overwrite(t, store.Path(), "default_model: n"+strings.Repeat("x", calls)+"\n")
		c.Log.Level = "error"
		return nil
	})
	if !errors.Is(err, config.ErrChanged) {
		t.Errorf("error = %v", err)
	}
	if text, err := os.ReadFile(store.Path()); err != nil || strings.Contains(string(text), "error") {
		t.Errorf("file (%v): %s", err, text)
	}
}

func TestUpdateRefuses(t *testing.T) {
	boom := errors.New("boom")
	tests := []struct {
		name, now string // now: what the file holds by then; "" leaves it
		mutate    func(*config.Config) error
	}{
		{"an error of the caller", "", func(*config.Config) error { return boom }},
		{"an invalid result", "", func(c *config.Config) error { c.Tools.MaxRounds = -1; return nil }},
		{"a file that does not parse", "default_model: [\n", func(c *config.Config) error { c.Log.Level = "warn"; return nil }},
		{"a file with faults", "nope: 1\n", func(c *config.Config) error { c.Log.Level = "warn"; return nil }},
		{"a shared part", "mcpServers: {a: &a {command: x}, b: *a}\n", func(c *config.Config) error { delete(c.MCPServers, "a"); return nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store, err := load(t, "default_model: one\n")
			if err != nil {
				t.Fatal(err)
			}
			if tt.now != "" {
				overwrite(t, store.Path(), tt.now)
			}
			before, err := os.ReadFile(store.Path())
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Update(tt.mutate); err == nil {
				t.Error("no error")
			}
			after, err := os.ReadFile(store.Path())
			if err != nil || string(after) != string(before) || store.Config().DefaultModel != "one" {
				t.Errorf("something changed (%v): %s", err, after)
			}
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(store.Path()), "*.tmp")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestUpdateKeepsLinkModeAndPrevious(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	dir := t.TempDir()
	target := filepath.Join(dir, "dotfiles", "mine.yaml")
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, []byte("default_model: one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "config.yaml")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	store, err := config.Load(config.Options{Path: link, Getenv: env(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Update(func(c *config.Config) error { c.DefaultModel = "two"; return nil }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone (%v)", err)
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	if text, err := os.ReadFile(link + ".bak"); err != nil || string(text) != "default_model: one\n" {
		t.Errorf("the previous file is not kept (%v): %s", err, text)
	}
}

func TestUpdatesAtOnce(t *testing.T) {
	path := write(t, "# c\nroots: []\n")
	var stores []*config.Store
	for range 2 { // as two processes of ours would
		store, err := config.Load(config.Options{Path: path, Getenv: env(t)})
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, store)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			err := stores[i%2].Update(func(c *config.Config) error {
				c.Roots = append(c.Roots, "/"+string(rune('a'+i)))
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	store, err := config.Load(config.Options{Path: path, Getenv: env(t)})
	if err != nil || len(store.Config().Roots) != 8 {
		t.Errorf("%v: roots %v", err, store.Config().Roots)
	}
}
