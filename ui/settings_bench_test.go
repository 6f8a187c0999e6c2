package ui

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/secrets"
	"pointsman/ui/desktop"
	"pointsman/ui/model"
)

// windowBench is the windows over a real gateway and its control socket. What
// they post is run by until, on the test's goroutine.
type windowBench struct {
	t       testing.TB
	ui      *UI
	gateway *gateway.Gateway
	store   *config.Store
	path    string // of the configuration file
	home    config.Home
	posts   chan func()

	mu    sync.Mutex // guards the field below
	state func(*model.State)
}

// benchOptions change what a bench is made of.
type benchOptions struct {
	yaml     string
	env      map[string]string
	keychain secrets.Keychain // nil: one in memory
	manager  func(control.Manager) control.Manager
	control  func(*control.Options)
	first    bool // nobody has seen the first steps
}

func newWindowBench(t testing.TB, o benchOptions) *windowBench {
	t.Helper()
	dir := t.TempDir()
	b := &windowBench{t: t, path: filepath.Join(dir, "config.yaml"), posts: make(chan func(), 1<<16),
		home: config.Home{Config: filepath.Join(dir, "config.yaml"), State: filepath.Join(dir, "state"), Runtime: dir}}
	b.write(o.yaml)
	var err error
	b.store, err = config.Load(config.Options{Path: b.path, Getenv: func(name string) string { return o.env[name] }})
	if err != nil {
		t.Fatal(err)
	}
	if o.keychain == nil {
		o.keychain = secrets.Memory()
	}
	ctx, stop := context.WithCancel(context.Background())
	b.gateway, err = gateway.New(ctx, gateway.Options{Config: b.store, Home: b.home, Keychain: o.keychain, NoMCP: true, Demo: true, Attended: func() bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	b.gateway.Start()
	client := b.serve(ctx, o)
	if !o.first {
		if err := model.NoteWelcomed(b.home); err != nil {
			t.Fatal(err)
		}
	}
	b.ui = New(test.NewTempApp(t), Options{Client: client, Home: b.home, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	b.ui.post = func(f func()) { b.posts <- f }
	b.ui.ctx = ctx
	b.ui.dress(ctx)
	b.ui.main = newMainWindow(b.ui)
	b.ui.approval = b.ui.newApprovals()
	t.Cleanup(func() {
		stop()
		b.ui.approval.Close()
		b.ui.work.Wait()
		if b.ui.leaving != nil {
			b.ui.leaving.Stop()
		}
		client.Close()
		if err := b.gateway.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// serve serves the gateway's control socket until ctx ends.
func (b *windowBench) serve(ctx context.Context, o benchOptions) *control.Client {
	ln, client := control.Local(control.Info{})
	client.Secret = "s"
	opts := control.Options{Gateway: b.gateway, Manager: b.gateway.Manager(), Secret: client.Secret,
		Views: map[string]func(context.Context) any{
			desktop.View: func(context.Context) any { return b.stateNow() },
			"servers":    func(context.Context) any { return b.gateway.Servers() },
			"tools":      func(context.Context) any { return b.gateway.Tools() },
		}}
	if o.manager != nil {
		opts.Manager = o.manager(opts.Manager)
	}
	if o.control != nil {
		o.control(&opts)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = control.NewServer(opts).Serve(ctx, ln) })
	b.t.Cleanup(serving.Wait)
	return client
}

func (b *windowBench) stateNow() model.State {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := desktop.StateOf(b.gateway)
	s.Serving = "127.0.0.1:8640"
	if b.state != nil {
		b.state(&s)
	}
	return s
}

// setState changes what the program's state is said to be.
func (b *windowBench) setState(change func(*model.State)) {
	b.mu.Lock()
	defer b.mu.Unlock() // nobody sees the pause
	b.state = change
	b.gateway.Pause(!b.gateway.Paused()) // something that is told of
	b.gateway.Pause(!b.gateway.Paused())
}

// write writes the configuration file, as an editor would.
func (b *windowBench) write(yaml string) {
	b.t.Helper()
	if err := os.WriteFile(b.path, []byte(yaml), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *windowBench) file() string {
	b.t.Helper()
	text, err := os.ReadFile(b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// open opens the window with a screen, at the least size that it has to fit.
func (b *windowBench) open(name string) {
	b.t.Helper()
	b.ui.main.open(name)
	b.ui.main.window.Resize(fyne.NewSize(900, 600))
	b.until("the configuration is known", func() bool { return b.ui.main.now.Config != nil })
}

// until runs what is posted until it is as wanted.
func (b *windowBench) until(what string, wanted func() bool) {
	b.t.Helper()
	deadline := time.After(10 * time.Second)
	for !wanted() {
		select {
		case f := <-b.posts:
			f()
		case <-deadline:
			b.t.Fatalf("waited in vain until %s; the window says %q", what, b.words())
		}
	}
}

// words is everything that can be read in the window.
func (b *windowBench) words() string {
	var words []string
	b.each(func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *widget.Label:
			words = append(words, o.Text)
		case *widget.Button:
			words = append(words, "["+o.Text+"]")
		case *widget.RichText:
			words = append(words, o.String())
		}
	})
	return strings.Join(words, "\n")
}

// each visits what is visible in the window, and over it.
func (b *windowBench) each(visit func(fyne.CanvasObject)) {
	canvas := b.ui.main.window.Canvas()
	for _, root := range append([]fyne.CanvasObject{canvas.Content()}, canvas.Overlays().List()...) {
		eachVisible(root, visit)
	}
}

func eachVisible(o fyne.CanvasObject, visit func(fyne.CanvasObject)) {
	if !o.Visible() {
		return
	}
	visit(o)
	var inside []fyne.CanvasObject
	switch o := o.(type) {
	case *fyne.Container:
		inside = o.Objects
	case fyne.Widget:
		inside = test.WidgetRenderer(o).Objects()
	}
	for _, o := range inside {
		eachVisible(o, visit)
	}
}

func (b *windowBench) says(text string) bool { return strings.Contains(b.words(), text) }

// button returns the visible button with a text, which must be there and enabled.
func (b *windowBench) button(text string) *widget.Button {
	b.t.Helper()
	var found *widget.Button
	b.each(func(o fyne.CanvasObject) {
		if button, ok := o.(*widget.Button); ok && button.Text == text {
			found = button
		}
	})
	if found == nil || found.Disabled() {
		b.t.Fatalf("there is no button %q to press; the window says %q", text, b.words())
	}
	return found
}

func (b *windowBench) tap(text string) {
	b.t.Helper()
	test.Tap(b.button(text))
}

// buttons returns the visible buttons with a text, from the top.
func (b *windowBench) buttons(text string) []*widget.Button {
	var found []*widget.Button
	b.each(func(o fyne.CanvasObject) {
		if button, ok := o.(*widget.Button); ok && button.Text == text {
			found = append(found, button)
		}
	})
	return found
}
