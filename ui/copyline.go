package ui

import (
	"context"
	"errors"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// copyLine is a value under a name, with a button that copies it.
type copyLine struct {
	ui    *UI
	row   fyne.CanvasObject
	shown *widget.Label
	copy  *widget.Button
	value string
}

func newCopyLine(u *UI, name, hint string) *copyLine {
	l := &copyLine{ui: u, shown: part.Muted("…")}
	l.shown.Importance = widget.MediumImportance
	l.shown.TextStyle.Monospace = true
	l.copy = widget.NewButtonWithIcon("Copy", theme.Icon("copy", theme.ColorMuted), l.onCopy)
	l.copy.Disable()
	l.row = container.NewBorder(nil, part.Muted(name+": "+hint), nil, l.copy, l.shown)
	return l
}

func (l *copyLine) onCopy() {
	l.ui.app.Clipboard().SetContent(l.value)
	l.copy.SetText("Copied")
}

// set shows the value, or why there is none.
func (l *copyLine) set(value string, err error) { l.show(value, value, err) }

// setHidden is set for a value that is not for every eye.
func (l *copyLine) setHidden(value string, err error) {
	l.show(value, strings.Repeat("•", min(len(value), 24)), err)
}

// setEndpoint shows the address that clients take, once there is one.
func (l *copyLine) setEndpoint(state model.State) {
	if endpoint := state.Endpoint(); endpoint != "" && endpoint != l.value {
		l.set(endpoint, nil)
	}
}

// key fetches the key that clients show. That none is asked for is an error.
func (u *UI) key(ctx context.Context) (string, error) {
	key, err := u.client.Key(ctx)
	if err == nil && key == "" {
		err = errors.New("none is asked for (gateway.auth: none)")
	}
	return key, err
}

func (l *copyLine) show(value, shown string, err error) {
	l.value = value
	l.copy.SetText("Copy")
	if err != nil {
		l.shown.SetText(err.Error())
		l.copy.Disable()
		return
	}
	l.shown.SetText(shown)
	l.copy.Enable()
}
