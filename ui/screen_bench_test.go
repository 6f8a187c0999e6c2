package ui

import (
	"context"
	"errors"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// screenBench is a screen by itself, in a window at the least size that it has to
// fit.
type screenBench struct {
	bench
	ctx    context.Context
	leave  context.CancelFunc
	window fyne.Window
}

// newScreenBench returns a bench with a journal that has runs past runs of ten
// calls each; negative: there is no journal.
func newScreenBench(t testing.TB, choice theme.Choice, runs int) *screenBench {
	t.Helper()
	app := test.NewTempApp(t)
	app.Settings().SetTheme(theme.New(choice))
	b := &screenBench{bench: newBench(t)}
	file := &journalFile{path: filepath.Join(t.TempDir(), "journal.db")}
	if runs >= 0 {
		fillJournal(t, file.path, runs)
	}
	b.ui = &UI{app: app, log: slog.New(slog.DiscardHandler), journal: file, post: b.post}
	b.ui.main = newMainWindow(b.ui)
	b.ctx, b.leave = context.WithCancel(context.Background())
	b.ui.ctx = b.ctx
	t.Cleanup(func() {
		b.leave()
		b.ui.work.Wait()
		if err := file.close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// show puts a screen into the window.
func (b *screenBench) show(s screen) {
	b.window = test.NewTempWindow(b.t, container.NewStack(part.NewSurface("background", "", 0), part.Inset(2, s.content())))
	b.window.Resize(fyne.NewSize(900-23*8, 600))
	b.ui.main.window = b.window
	s.enter(b.ctx)
}

// shot writes what the window shows into the folder that SHOTS names.
func (b *screenBench) shot(name string) {
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	file, err := os.Create(filepath.Join(dir, name+".png"))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := errors.Join(png.Encode(file, b.window.Canvas().Capture()), file.Close()); err != nil {
		b.t.Fatal(err)
	}
}

// arranged is shot after what the window does by itself at its next frame: it
// lays out what has grown.
func (b *screenBench) arranged(name string) {
	size := b.window.Canvas().Size()
	b.window.Resize(size.AddWidthHeight(2, 2))
	b.window.Resize(size)
	b.shot(name)
}
