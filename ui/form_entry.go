package ui

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// entryFields are the fields of one kind of entry, a server's or a provider's, as
// the form around them sees them.
type entryFields[Entry any] interface {
	// draft is what the fields hold, with the faults that keep it from being saved.
	draft() model.Draft[Entry]
	// mark shows what is wrong with the fields.
	mark(faults model.Faults)
	// faults are what problems of the entry are wrong with the fields.
	faults(problems []config.Problem) model.Faults
	// try tries a draft out.
	try(d model.Draft[Entry])
	// saved finds an entry in a configuration.
	saved(c *config.Config, name string) (entry Entry, there bool)
	// differences tell in what a draft and the file's entry differ.
	differences(d model.Draft[Entry], theirs Entry, there bool) []model.Difference
	// reopen opens another form of the file's entry.
	reopen(name string, entry Entry)
}

// entryForm is a page in which an entry is made or changed: its fields, trying it
// out, and saving it.
type entryForm[Entry any] struct {
	fields   entryFields[Entry]
	kind     string // of the entry, in a sentence
	pages    *pages
	back     func() // leaves the page
	revision string // of the file that the form was made from

	object fyne.CanvasObject
	trial  *formTrial
	save   *widget.Button
	fault  *widget.Label // what belongs to no field
	scroll *container.Scroll
}

// newEntryForm returns the page around fields; build lays it out.
func newEntryForm[Entry any](p *pages, fields entryFields[Entry], kind string, back func()) *entryForm[Entry] {
	return &entryForm[Entry]{fields: fields, kind: kind, pages: p, back: back, revision: p.settings.Revision,
		trial: newFormTrial(p.ui), fault: newNotice(widget.DangerImportance)}
}

// build lays the page out: a title, the column of fields, the buttons. more are
// those beside the one for trying the entry out.
func (f *entryForm[Entry]) build(title string, column fyne.CanvasObject, more ...fyne.CanvasObject) {
	f.save = widget.NewButton("Save", f.onSave)
	f.save.Importance = widget.HighImportance
	test := widget.NewButtonWithIcon("Test", theme.Icon("play", theme.ColorMuted), f.onTest)
	left := container.NewHBox(append([]fyne.CanvasObject{test}, more...)...)
	foot := container.NewBorder(nil, nil, left, container.NewHBox(widget.NewButton("Cancel", f.leave), f.save))
	f.scroll = scrolled(column)
	f.object = container.NewBorder(container.NewVBox(part.Heading(title), part.Gap(0.5)),
		container.NewVBox(f.trial.object, f.fault, part.Gap(0.5), foot), nil, nil, f.scroll)
}

// complete is what the fields hold; ok is false, and the fields say why, when it
// cannot be saved.
func (f *entryForm[Entry]) complete() (d model.Draft[Entry], ok bool) {
	d = f.fields.draft()
	f.report(d.Faults)
	return d, len(d.Faults) == 0
}

// report shows the faults, and that there are some.
func (f *entryForm[Entry]) report(faults model.Faults) {
	f.fields.mark(faults)
	f.say("")
	if len(faults) > 0 {
		f.say("Some fields need another look; each says why.")
	}
}

// say says what belongs to no field; "" says nothing.
func (f *entryForm[Entry]) say(words string) { tell(f.fault, words) }

func (f *entryForm[Entry]) onTest() {
	if d, ok := f.complete(); ok {
		f.fields.try(d)
	}
}

func (f *entryForm[Entry]) onSave() {
	d, ok := f.complete()
	if !ok {
		return
	}
	f.save.Disable()
	saveEntries(f.pages.ui, f.revision, d.Secrets, d.Edits(), func(settings control.Settings, err error) { f.done(d, settings, err) })
}

// saveEntries keeps secrets in the keychain and then makes edits, for what is
// edited is started with them.
func saveEntries(u *UI, revision string, secrets map[string]string, edits []config.Edit, done func(control.Settings, error)) {
	save(u, func(ctx context.Context) (control.Settings, error) {
		for name, value := range secrets {
			if err := u.client.SetSecret(ctx, name, value); err != nil {
				return control.Settings{}, err
			}
		}
		return u.client.Edit(ctx, revision, edits)
	}, done)
}

// done leaves the form, or says why nothing was saved.
func (f *entryForm[Entry]) done(d model.Draft[Entry], settings control.Settings, err error) {
	f.save.Enable()
	var conflict *control.ConflictError
	var invalid *control.InvalidError
	switch {
	case err == nil:
		f.leave()
		f.pages.saved(settings, model.Quoted(d.Name)+" is saved.")
	case errors.As(err, &conflict):
		f.onConflict(d, conflict.Current)
	case errors.As(err, &invalid):
		faults := f.fields.faults(invalid.Problems)
		f.report(faults)
		if len(faults) == 0 {
			f.say(inWords(err))
		}
	default:
		f.say(inWords(err))
	}
}

// onConflict saves over a file in which this entry is as it was; otherwise the
// user says whose holds.
func (f *entryForm[Entry]) onConflict(d model.Draft[Entry], now control.Settings) {
	f.revision, *f.pages.settings = now.Revision, now
	theirs, there := f.fields.saved(now.Config, d.Place())
	if d.Untouched(theirs, there) {
		f.onSave()
		return
	}
	f.pages.ui.askConflict("this "+f.kind, f.fields.differences(d, theirs, there), f.onSave, func() {
		if there {
			f.fields.reopen(d.Place(), theirs)
		} else {
			f.leave()
		}
	})
}

// leave goes back to the list.
func (f *entryForm[Entry]) leave() {
	f.trial.cancel()
	f.back()
}
