package ui

import (
	"context"
	"log/slog"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"pointsman/ui/model"
)

// windowBench is the windows over a whole gateway.
type windowBench struct {
	bench
	*gatewayBench
}

func newWindowBench(t testing.TB, setup gatewaySetup) *windowBench {
	t.Helper()
	setup.noMCP = true
	b := &windowBench{bench: newBench(t), gatewayBench: newGatewayBench(t, setup)}
	if !setup.first {
		if err := model.NoteWelcomed(b.home); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	b.ui = New(test.NewTempApp(t), Options{Client: b.client, Home: b.home, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	b.ui.post = b.post
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
	})
	return b
}

// open opens the window with a screen, at the least size that it has to fit.
func (b *windowBench) open(name string) {
	b.t.Helper()
	b.ui.main.open(name)
	b.ui.main.window.Resize(fyne.NewSize(900, 600))
	b.until("the configuration is known", func() bool { return b.ui.main.now.Config != nil })
}
