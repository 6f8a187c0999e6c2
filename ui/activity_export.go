package ui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/journal"
	"pointsman/ui/model"
)

// exportKind is what an export writes, and how.
type exportKind struct {
	label, file string
	write       func(ctx context.Context, r *journal.Reader, f journal.Filter, w io.Writer) (rows int, err error)
}

func exportKinds() []exportKind {
	return []exportKind{
		{"Calls as CSV", "pointsman-calls.csv", writeRows((*journal.Reader).Calls, journal.WriteCSV[journal.Call])},
		{"Calls as JSON lines", "pointsman-calls.jsonl", writeRows((*journal.Reader).Calls, journal.WriteJSON[journal.Call])},
		{"Runs as CSV", "pointsman-runs.csv", writeRows((*journal.Reader).Runs, journal.WriteCSV[journal.Run])},
		{"Runs as JSON lines", "pointsman-runs.jsonl", writeRows((*journal.Reader).Runs, journal.WriteJSON[journal.Run])},
	}
}

// writeRows writes rows as they are read, so that there may be any number, and
// counts them.
func writeRows[T any](read func(*journal.Reader, context.Context, journal.Filter) iter.Seq2[T, error],
	write func(io.Writer, iter.Seq2[T, error]) error) func(context.Context, *journal.Reader, journal.Filter, io.Writer) (int, error) {
	return func(ctx context.Context, r *journal.Reader, f journal.Filter, w io.Writer) (rows int, err error) {
		buffered := bufio.NewWriterSize(w, 64<<10)
		err = write(buffered, func(yield func(T, error) bool) {
			for row, err := range read(r, ctx, f) {
				rows++
				if !yield(row, err) {
					return
				}
			}
		})
		return rows, errors.Join(err, buffered.Flush())
	}
}

// onExport offers what the list shows now, to be written into a file.
func (b *activityBar) onExport() {
	var items []*fyne.MenuItem
	for _, kind := range exportKinds() {
		items = append(items, fyne.NewMenuItem(kind.label, func() { b.choose(kind) }))
	}
	canvas := b.screen.ui.app.Driver().CanvasForObject(b.export)
	at := b.screen.ui.app.Driver().AbsolutePositionForObject(b.export).AddXY(0, b.export.Size().Height)
	menu := widget.NewPopUpMenu(fyne.NewMenu("", items...), canvas)
	at.X -= max(menu.MinSize().Width-b.export.Size().Width, 0)
	menu.ShowAtPosition(at)
}

// choose asks for the file.
func (b *activityBar) choose(kind exportKind) {
	ask := dialog.NewFileSave(func(file fyne.URIWriteCloser, err error) {
		switch {
		case err != nil:
			b.screen.tell("The file cannot be written: " + err.Error())
		case file != nil: // nil: nothing was chosen
			b.exportTo(file, kind)
		}
	}, b.screen.ui.main.window)
	ask.SetFileName(kind.file)
	ask.Resize(b.screen.ui.main.window.Canvas().Size())
	ask.Show()
}

// exportTo writes what the list is narrowed to, off the UI goroutine. It goes on
// when another screen is turned to.
func (b *activityBar) exportTo(file fyne.URIWriteCloser, kind exportKind) {
	s := b.screen
	filter := s.search.Filter(s.now())
	name := file.URI().Path()
	b.export.Disable()
	s.tell("Exporting to " + name + " …")
	background(s.ui.ctx, s.ui, func(ctx context.Context) (int, error) {
		rows, err := exportRows(ctx, s.ui.journal, filter, kind, file)
		return rows, errors.Join(err, file.Close())
	}, func(rows int, err error) {
		b.export.Enable()
		if err != nil {
			s.tell(fmt.Sprintf("Exporting has failed, and %s is not complete: %v", name, err))
			return
		}
		s.tell(fmt.Sprintf("%s rows are in %s", model.Count(int64(rows)), name))
	})
}

func exportRows(ctx context.Context, from *journalFile, filter journal.Filter, kind exportKind, to io.Writer) (int, error) {
	reader, err := from.open()
	if err != nil || reader == nil {
		return 0, err
	}
	return kind.write(ctx, reader, filter, to)
}
