package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/model"
)

// pages are a list and what comes in its place for a while, under a bar that says
// what was done.
type pages struct {
	ui       *UI
	settings *control.Settings // that the pages show
	changed  func()            // called after a change, done or not; nil: nothing is

	bar   *formBar
	stack *fyne.Container
	front fyne.CanvasObject // the list
}

func newPages(u *UI, settings *control.Settings) pages {
	return pages{ui: u, settings: settings, bar: newFormBar()}
}

// build lays the pages out, with the list in sight.
func (p *pages) build(front fyne.CanvasObject) fyne.CanvasObject {
	p.front = front
	p.stack = container.NewStack(front)
	return p.bar.in(container.NewBorder(p.bar.object, nil, nil, nil, p.stack))
}

// turn puts a page in the place of what is there.
func (p *pages) turn(page fyne.CanvasObject) {
	p.stack.Objects = []fyne.CanvasObject{page}
	p.stack.Refresh()
}

// saved takes over the settings after a change, and shows what became of it.
func (p *pages) saved(settings control.Settings, words string) {
	*p.settings = settings
	p.bar.say(words)
}

// change makes edits, and then done.
func (p *pages) change(edits []config.Edit, done func()) {
	p.changeBy(func(*config.Config) []config.Edit { return edits }, done)
}

// changeBy makes edits that depend on the settings in force.
func (p *pages) changeBy(edits func(*config.Config) []config.Edit, done func()) {
	change(p.ui, edits, func(settings control.Settings, err error) {
		if err != nil {
			p.bar.fail(err)
		} else {
			*p.settings = settings
			done()
		}
		if p.changed != nil {
			p.changed()
		}
	})
}

// remove takes an entry out of a section of the file, and offers a way back.
func (p *pages) remove(section, name string, entry any, done func()) {
	path := []string{section, name}
	p.change([]config.Edit{{Path: path, Remove: true}}, func() {
		done()
		p.bar.removed(model.Quoted(name), func() {
			p.change([]config.Edit{{Path: path, Value: entry}}, func() { p.bar.say(model.Quoted(name) + " is back.") })
		})
	})
}
