package ui

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// formsBench is a screen over a whole gateway, which it reaches as in earnest.
type formsBench struct {
	*screenBench
	*gatewayBench
}

func newFormsBench(t testing.TB, setup gatewaySetup) *formsBench {
	t.Helper()
	g := newGatewayBench(t, setup)
	b := &formsBench{screenBench: newScreenBench(t, setup.face, -1), gatewayBench: g}
	b.ui.client = g.client
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

// tabs turns to one of some tabs.
func (b *formsBench) tabs(o fyne.CanvasObject, i int) { o.(*container.AppTabs).SelectIndex(i) }

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

// pick chooses an option of the one drop-down in sight that has it.
func (b *formsBench) pick(option string) {
	b.t.Helper()
	found := b.each(func(o fyne.CanvasObject) bool {
		list, ok := o.(*widget.Select)
		if ok && slices.Contains(list.Options, option) {
			list.SetSelected(option)
			return true
		}
		return false
	})
	if !found {
		b.t.Fatalf("nothing offers %q; in sight is:\n%s", option, b.words())
	}
}
