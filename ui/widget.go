package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// setShown shows an object, or hides it.
func setShown(o fyne.CanvasObject, shown bool) {
	if shown {
		o.Show()
	} else {
		o.Hide()
	}
}

func setEnabled(o fyne.Disableable, enabled bool) {
	if enabled {
		o.Enable()
	} else {
		o.Disable()
	}
}

// setText shows another text, and nothing anew when it is the same: a label
// measures its text whenever it is set. It reports whether it was another.
func setText(label *widget.Label, text string) bool {
	if label.Text == text {
		return false
	}
	label.SetText(text)
	return true
}

func setIcon(icon *widget.Icon, resource fyne.Resource) {
	if icon.Resource != resource {
		icon.SetResource(resource)
	}
}

// newNotice is where something can be told. It takes no room until then.
func newNotice(importance widget.Importance) *widget.Label {
	notice := part.Words("")
	notice.Importance = importance
	notice.Hide()
	return notice
}

// tell has a notice say something; "" takes it away.
func tell(notice *widget.Label, words string) {
	setText(notice, words)
	setShown(notice, words != "")
}

// tellAs is tell for what is not always as important.
func tellAs(notice *widget.Label, importance widget.Importance, words string) {
	notice.Importance = importance
	notice.SetText(words) // which takes in the importance, too
	setShown(notice, words != "")
}

// newIconButton is a button that stands back: a sign, and no word.
func newIconButton(icon fyne.Resource, tapped func()) *widget.Button {
	button := widget.NewButtonWithIcon("", icon, tapped)
	button.Importance = widget.LowImportance
	return button
}

// newSearch is an entry for what a list is narrowed to.
func newSearch(placeholder string, changed func()) *widget.Entry {
	search := widget.NewEntry()
	search.SetPlaceHolder(placeholder)
	search.SetIcon(theme.Icon("search", theme.ColorMuted))
	search.OnChanged = func(string) { changed() }
	return search
}

// scrolled is a page that scrolls, with room for the bar that it scrolls with.
func scrolled(page fyne.CanvasObject) *container.Scroll {
	return container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 0, 0, 1.5*theme.Step), page))
}

// escapeEntry is an entry in which Escape does something of its own.
type escapeEntry struct {
	widget.Entry
	escape func()
}

func newEscapeEntry(escape func()) *escapeEntry {
	e := &escapeEntry{escape: escape}
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey takes every key, and keeps Escape from the entry.
func (e *escapeEntry) TypedKey(key *fyne.KeyEvent) {
	if key.Name == fyne.KeyEscape {
		e.escape()
		return
	}
	e.Entry.TypedKey(key)
}
