package ui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/secrets"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// formsBench is a screen over a whole gateway, which it reaches as in earnest.
type formsBench struct {
	*screenBench
	gateway  *gateway.Gateway
	path     string // of the configuration
	keychain secrets.Keychain
}

// formsSetup is how the gateway of a formsBench is.
type formsSetup struct {
	yaml     string
	keychain secrets.Keychain // nil: one in memory
	tools    int              // of the server "scratch"
	face     theme.Choice
}

func newFormsBench(t testing.TB, setup formsSetup) *formsBench {
	t.Helper()
	home := t.TempDir()
	b := &formsBench{screenBench: newScreenBench(t, setup.face, -1), path: filepath.Join(home, "config.yaml"), keychain: setup.keychain}
	if b.keychain == nil {
		b.keychain = secrets.Memory()
	}
	b.write(setup.yaml)
	getenv := func(name string) string { return map[string]string{"POINTSMAN_HOME": home}[name] }
	store, err := config.Load(config.Options{Path: b.path, Getenv: getenv})
	if err != nil {
		t.Fatal(err)
	}
	where, err := config.Locate(getenv)
	if err != nil {
		t.Fatal(err)
	}
	b.gateway, err = gateway.New(t.Context(), gateway.Options{
		Config: store, Home: where, Keychain: b.keychain, Version: "test",
		Builtin: map[string]func(context.Context) (mcp.Transport, error){"scratch": manyTools(setup.tools)},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.gateway.Start()
	b.serve()
	return b
}

// manyTools is a server of so many tools, of every class.
func manyTools(n int) func(context.Context) (mcp.Transport, error) {
	verbs := []string{"read", "write", "delete", "execute", "send"}
	return func(ctx context.Context) (mcp.Transport, error) {
		server := mcp.NewServer(&mcp.Implementation{Name: "many"}, nil)
		for i := range n {
			server.AddTool(&mcp.Tool{
				Name: fmt.Sprintf("%s_thing_%03d", verbs[i%len(verbs)], i), Description: fmt.Sprintf("Does what number %d does, 做某事 🙂, and says so at some length.", i),
				InputSchema: map[string]any{"type": "object"},
			}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
		}
		ours, theirs := mcp.NewInMemoryTransports()
		_, err := server.Connect(context.WithoutCancel(ctx), ours, nil) // it ends with its client's session
		return theirs, err
	}
}

// serve answers the bench's client.
func (b *formsBench) serve() {
	ln, client := control.Local(control.Info{})
	client.Secret = "secret"
	b.ui.client = client
	server := control.NewServer(control.Options{Gateway: b.gateway, Manager: b.gateway.Manager(), Secret: client.Secret,
		Views: map[string]func(context.Context) any{
			"servers": func(context.Context) any { return b.gateway.Servers() },
			"tools":   func(context.Context) any { return b.gateway.Tools() },
			"models":  func(context.Context) any { return b.models() },
		}})
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(ctx, ln) }) // it ends when it is told to
	b.t.Cleanup(func() {
		b.leave()
		b.ui.work.Wait()
		client.Close()
		stop()
		serving.Wait()
		if err := b.gateway.Close(); err != nil {
			b.t.Error(err)
		}
	})
}

func (b *formsBench) models() []model.CatalogueRow {
	rows := []model.CatalogueRow{}
	for _, m := range b.gateway.Models().List() {
		rows = append(rows, model.CatalogueRow{ID: m.ID, Aliases: m.Aliases, Label: m.Label, Tier: m.Tier, ContextWindow: m.ContextWindow, Provider: m.OwnedBy})
	}
	return rows
}

// write puts text into the configuration file, as another program does.
func (b *formsBench) write(text string) {
	b.t.Helper()
	if err := os.WriteFile(b.path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// file is what the configuration file holds.
func (b *formsBench) file() string {
	b.t.Helper()
	data, err := os.ReadFile(b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// secret is what the keychain holds under a name; "" when nothing.
func (b *formsBench) secret(name string) string {
	value, _ := b.keychain.Get(context.Background(), name) // what is not there is ""
	return value
}

// servers opens the servers' screen, once it knows what there is.
func (b *formsBench) servers() *serversScreen {
	s := newServersScreen(b.ui).(*serversScreen)
	b.show(s)
	b.until("the servers are known", func() bool { return s.seen })
	return s
}

// modelsScreen opens the models' screen, once it knows what there is.
func (b *formsBench) modelsScreen() *modelsScreen {
	s := newModelsScreen(b.ui).(*modelsScreen)
	b.show(s)
	b.until("the models are known", func() bool { return s.seen })
	return s
}

// each calls see with every object in sight, dialogs first.
func (b *formsBench) each(see func(fyne.CanvasObject) bool) bool {
	canvas := b.window.Canvas()
	for _, over := range canvas.Overlays().List() {
		if walk(over, see) {
			return true
		}
	}
	return walk(canvas.Content(), see)
}

// walk calls see with an object and what is in it until it says that that was
// the one.
func walk(o fyne.CanvasObject, see func(fyne.CanvasObject) bool) bool {
	if o == nil || !o.Visible() {
		return false
	}
	if see(o) {
		return true
	}
	var inner []fyne.CanvasObject
	switch o := o.(type) {
	case *fyne.Container:
		inner = o.Objects
	case *widget.Entry, *widget.SelectEntry: // what they are made of is theirs
	case fyne.Widget:
		inner = test.WidgetRenderer(o).Objects()
	}
	for _, object := range inner {
		if walk(object, see) {
			return true
		}
	}
	return false
}

// button is the button in sight with that text.
func (b *formsBench) button(text string) *widget.Button {
	b.t.Helper()
	var found *widget.Button
	b.each(func(o fyne.CanvasObject) bool {
		button, ok := o.(*widget.Button)
		if ok && button.Text == text {
			found = button
		}
		return found != nil
	})
	if found == nil {
		b.t.Fatalf("there is no button %q; in sight is:\n%s", text, b.words())
	}
	return found
}

func (b *formsBench) tap(text string) {
	b.t.Helper()
	button := b.button(text)
	if button.Disabled() {
		b.t.Fatalf("the button %q is disabled", text)
	}
	test.Tap(button)
}

// entry is the last entry in sight with that placeholder.
func (b *formsBench) entry(placeholder string) *widget.Entry {
	b.t.Helper()
	var found *widget.Entry
	b.each(func(o fyne.CanvasObject) bool {
		switch o := o.(type) {
		case *widget.Entry:
			if o.PlaceHolder == placeholder {
				found = o
			}
		case *widget.SelectEntry:
			if o.PlaceHolder == placeholder {
				found = &o.Entry
			}
		}
		return false
	})
	if found == nil {
		b.t.Fatalf("there is no entry %q; in sight is:\n%s", placeholder, b.words())
	}
	return found
}

// fill types text in the place of what an entry holds.
func (b *formsBench) fill(placeholder, text string) {
	b.t.Helper()
	entry := b.entry(placeholder)
	entry.SetText("")
	test.Type(entry, text)
}

// words are the texts in sight, one per line.
func (b *formsBench) words() string {
	var words strings.Builder
	b.each(func(o fyne.CanvasObject) bool {
		switch o := o.(type) {
		case *widget.Label:
			fmt.Fprintln(&words, o.Text)
		case *widget.RichText:
			fmt.Fprintln(&words, o.String())
		case *widget.Button:
			fmt.Fprintln(&words, "["+o.Text+"]")
		case *widget.Entry:
			if !o.Password {
				fmt.Fprintln(&words, o.Text)
			}
		}
		return false
	})
	return words.String()
}

// sees waits until a text is in sight.
func (b *formsBench) sees(text string) {
	b.t.Helper()
	b.until("the screen says "+text, func() bool { return strings.Contains(b.words(), text) })
}

// tabs turns to one of some tabs.
func (b *formsBench) tabs(o fyne.CanvasObject, i int) { o.(*container.AppTabs).SelectIndex(i) }

// arranged is shot after what the window does by itself at its next frame: it
// lays out what has grown.
func (b *formsBench) arranged(name string) {
	size := b.window.Canvas().Size()
	b.window.Resize(size.AddWidthHeight(2, 2))
	b.window.Resize(size)
	b.shot(name)
}

// check taps the last check box in sight with that label.
func (b *formsBench) check(label string) {
	b.t.Helper()
	var found *widget.Check
	b.each(func(o fyne.CanvasObject) bool {
		if check, ok := o.(*widget.Check); ok && check.Text == label {
			found = check
		}
		return false
	})
	if found == nil {
		b.t.Fatalf("there is no check box %q; in sight is:\n%s", label, b.words())
	}
	test.Tap(found)
}

// choose chooses one of some radio buttons.
func (b *formsBench) choose(option string) {
	b.t.Helper()
	found := b.each(func(o fyne.CanvasObject) bool {
		group, ok := o.(*widget.RadioGroup)
		if ok && slices.Contains(group.Options, option) {
			group.SetSelected(option)
			return true
		}
		return false
	})
	if !found {
		b.t.Fatalf("there is no choice %q; in sight is:\n%s", option, b.words())
	}
}

// wantFile checks what the configuration file holds, and does not.
func (b *formsBench) wantFile(want []string, not ...string) {
	b.t.Helper()
	text := b.file()
	for _, part := range want {
		if !strings.Contains(text, part) {
			b.t.Errorf("the file does not hold %q:\n%s", part, text)
		}
	}
	for _, part := range not {
		if strings.Contains(text, part) {
			b.t.Errorf("the file holds %q:\n%s", part, text)
		}
	}
}
