package ui

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// keyCard is the key that clients show: seen, copied, made anew.
type keyCard struct {
	ui   *UI
	box  *fyne.Container
	line *copyLine
	show *widget.Button
	anew *widget.Button
	told *widget.Label // what came of making a new one

	key   string
	plain bool // the key is there to be read
}

func newKeyCard(u *UI) *keyCard {
	k := &keyCard{ui: u, line: newCopyLine(u, "API key", "every client shows it; whoever has it can use your models and tools"), told: newNotice(widget.SuccessImportance)}
	k.show = widget.NewButtonWithIcon("Show", theme.Icon("key", theme.ColorMuted), u.act("showing the key", k.onShow))
	k.anew = widget.NewButtonWithIcon("New key …", theme.Icon("restart", theme.ColorMuted), u.act("asking for a new key", k.onNew))
	k.box = container.NewVBox(k.line.row, beside(k.show, k.anew), k.told)
	return k
}

func (k *keyCard) load(ctx context.Context) { background(ctx, k.ui, k.ui.key, k.set) }

// set takes in the key, or why there is none to show.
func (k *keyCard) set(key string, err error) {
	k.key, k.plain = key, false
	k.line.setHidden(key, err)
	k.show.SetText("Show")
	setEnabled(k.show, err == nil)
	setEnabled(k.anew, err == nil)
}

func (k *keyCard) onShow() {
	k.plain = !k.plain
	if k.plain {
		k.line.set(k.key, nil)
		k.show.SetText("Hide")
		return
	}
	k.line.setHidden(k.key, nil)
	k.show.SetText("Show")
}

// onNew asks before the old key is gone.
func (k *keyCard) onNew() {
	k.ui.ask(question{title: "Make a new API key?", width: 56 * theme.Step, leave: "Cancel", body: part.Words(
		"The old key stops working at once. Every program that has it (VS Code, the Copilot CLI, your scripts) is refused until you give it the new one."),
	}, reply{"Make a new key", widget.DangerImportance, k.renew})
}

func (k *keyCard) renew() {
	k.anew.Disable()
	save(k.ui, k.ui.client.NewKey, func(key string, err error) {
		k.anew.Enable()
		if err != nil {
			tellAs(k.told, widget.DangerImportance, "There is no new key, the old one still works: "+err.Error())
			return
		}
		k.set(key, nil)
		tellAs(k.told, widget.SuccessImportance, "This is the new key. Copy it into every program that used the old one.")
	})
}
