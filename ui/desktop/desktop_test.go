package desktop_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/elicit"
	"pointsman/ui/autostart"
	"pointsman/ui/clipboard"
	"pointsman/ui/desktop"
	"pointsman/ui/model"
	"pointsman/ui/tray"
)

const patience = 20 * time.Second

func TestMain(m *testing.M) {
	_ = os.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus") // nobody's desktop is told of these tests
	goleak.VerifyTestMain(m)
}

// source is a gateway whose state a test sets.
type source struct {
	mu      sync.Mutex
	state   model.State
	changed chan struct{}
	gone    chan error
	key     string
	keyErr  error
}

func (s *source) State(context.Context) (model.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, nil
}

func (s *source) set(edit func(*model.State)) {
	s.mu.Lock()
	edit(&s.state)
	s.mu.Unlock()
	s.changed <- struct{}{}
}

func (s *source) Pending(context.Context) ([]approvals.Request, error) { return nil, nil }

func (s *source) Questions(context.Context) ([]elicit.Question, error) { return nil, nil }

func (s *source) Watch(ctx context.Context, changed func()) error {
	for {
		changed()
		select {
		case <-s.changed:
		case err := <-s.gone:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *source) Pause(_ context.Context, paused bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Paused = paused
	return nil
}

func (s *source) Key(context.Context) (string, error) { return s.key, s.keyErr }

// rig is a running desktop, whose tray is the test.
type rig struct {
	*source
	tray    tray.Options
	desktop *desktop.Desktop
	store   *config.Store
	entry   autostart.Entry
	file    string // of the entry
	quits   chan struct{}
	end     func() error // ends the desktop and returns what Run did
	ended   chan error   // what Run returned
}

// start starts a desktop. edit may be nil.
func start(t *testing.T, yaml string, edit func(*rig, *desktop.Options)) *rig {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "pointsman")
	write(t, program, "#!/bin/sh\n", 0o700)
	path := filepath.Join(dir, "config.yaml")
	write(t, path, yaml, 0o600)
	store, err := config.Load(config.Options{Path: path, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"XDG_CONFIG_HOME": dir, "HOME": dir, "DISPLAY": ":0"}
	getenv := func(name string) string { return env[name] }
	r := &rig{
		source: &source{state: model.State{Serving: "127.0.0.1:1"}, changed: make(chan struct{}), gone: make(chan error)}, store: store,
		entry: autostart.Entry{Program: program, Getenv: getenv}, file: filepath.Join(dir, "autostart", "pointsman.desktop"), quits: make(chan struct{}, 10),
	}
	there := make(chan tray.Options, 1)
	opts := desktop.Options{
		Source: r.source, Store: store, Entry: &r.entry, NoWindows: "none", Clipboard: clipboard.Find(getenv),
		Quit: func() { r.quits <- struct{}{} },
		Tray: func(ctx context.Context, o tray.Options) error { there <- o; <-ctx.Done(); return nil },
	}
	if edit != nil {
		edit(r, &opts)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r.ended = make(chan error, 1)
	r.desktop = desktop.New(opts)
	go func() { r.ended <- r.desktop.Run(ctx); close(r.ended) }()
	r.end = sync.OnceValue(func() error { cancel(); return <-r.ended })
	t.Cleanup(func() { _ = r.end() })
	r.tray = <-there
	return r
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// shows waits until the tray is told to look and what it sees is right.
func (r *rig) shows(t *testing.T, what string, right func(model.State) bool) {
	t.Helper()
	deadline := time.After(patience)
	for !right(r.tray.State(t.Context())) {
		select {
		case <-r.tray.Changed:
		case <-deadline:
			t.Fatalf("the tray does not show %s: %+v", what, r.tray.State(t.Context()))
		}
	}
}

func (r *rig) click(t *testing.T, action model.Action) { r.tray.Act(t.Context(), action) }

func TestPauseAndWords(t *testing.T) {
	r := start(t, "", nil)
	r.set(func(s *model.State) { s.Servers, s.Connected = 4, 3 })
	r.shows(t, "the servers", func(s model.State) bool { return s.Servers == 4 && s.NoWindows == "none" && !s.Paused })
	r.click(t, model.Pause)
	r.shows(t, "the pause", func(s model.State) bool { return s.Paused })
	r.click(t, model.Pause)
	r.shows(t, "no pause", func(s model.State) bool { return !s.Paused })
	if err := r.end(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestQuit(t *testing.T) {
	r := start(t, "", nil)
	r.set(func(s *model.State) { s.Runs = 1 })
	r.shows(t, "the run", func(s model.State) bool { return s.Runs == 1 })
	r.click(t, model.Quit)
	r.shows(t, "the question", func(s model.State) bool { return s.Quitting })
	if len(r.quits) != 0 {
		t.Fatal("the first click quits with a run in flight")
	}
	r.click(t, model.Quit)
	if len(r.quits) != 1 {
		t.Error("the second click does not quit")
	}
	idle := start(t, "", nil)
	idle.click(t, model.Quit)
	if len(idle.quits) != 1 {
		t.Error("nothing is in flight, and one click does not quit")
	}
}

func TestGatewayGoes(t *testing.T) {
	r := start(t, "", nil)
	gone := errors.New("gone")
	r.gone <- gone
	if err := <-r.ended; !errors.Is(err, gone) {
		t.Errorf("ended with %v", err)
	}
}

func TestWithoutTray(t *testing.T) {
	tried := make(chan struct{})
	r := start(t, "", func(_ *rig, o *desktop.Options) {
		shown := o.Tray
		o.Tray = func(ctx context.Context, t tray.Options) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			defer close(tried)
			return errors.Join(shown(ctx, t), tray.ErrNoTray)
		}
	})
	<-tried
	r.set(func(s *model.State) { s.Runs = 1 }) // somebody still watches
	if err := r.end(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestShowWindows(t *testing.T) {
	shown := make(chan model.Action, 3)
	r := start(t, "", func(_ *rig, o *desktop.Options) {
		o.Show = func(_ context.Context, a model.Action) error { shown <- a; return nil }
	})
	for _, action := range []model.Action{model.Open, model.Approvals, model.Settings} {
		r.click(t, action)
		if got := <-shown; got != action {
			t.Errorf("%s opens %s", action, got)
		}
	}
	if s := r.tray.State(t.Context()); s.NoWindows != "" {
		t.Errorf("the windows are missing: %s", s.NoWindows)
	}
}

func TestCopyWithoutTool(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := start(t, "", nil)
	if s := r.tray.State(t.Context()); !strings.Contains(s.NoCopy, "xclip") {
		t.Errorf("the menu says %q", s.NoCopy)
	}
	r.click(t, model.CopyURL) // it must say so and go on
	r.click(t, model.CopyKey)
}
