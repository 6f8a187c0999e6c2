package ui

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/gateway/models/local"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// localOffer offers the model servers that run on this machine and are not
// configured, each with a button that adds it. Without any it takes no room.
type localOffer struct {
	box *fyne.Container
	ui  *UI
	add func(local.Server) // does what a button says
}

func newLocalOffer(u *UI, add func(local.Server)) *localOffer {
	o := &localOffer{box: container.NewVBox(), ui: u, add: add}
	o.box.Hide()
	return o
}

// look looks for servers once, in the background. That it cannot is no news for
// anybody: nothing is offered.
func (o *localOffer) look(ctx context.Context) {
	background(ctx, o.ui, func(ctx context.Context) ([]local.Server, error) {
		var found []local.Server
		return found, o.ui.client.Get(ctx, "/local", &found)
	}, func(found []local.Server, err error) {
		if err != nil {
			o.ui.log.Warn("looking for model servers on this machine", "error", err)
		}
		o.show(model.NewLocalServers(found))
	})
}

func (o *localOffer) show(servers []local.Server) {
	o.box.RemoveAll()
	for _, s := range servers {
		o.box.Add(part.Gap(1))
		o.box.Add(part.Card(o.row(s)))
	}
	setShown(o.box, len(servers) > 0)
}

// row is one server: what it is, and the button.
func (o *localOffer) row(s local.Server) fyne.CanvasObject {
	var add *widget.Button
	add = widget.NewButtonWithIcon("Add "+s.Title, theme.Icon("add", theme.ColorMuted), o.ui.act("adding "+s.Title, func() {
		add.Disable()
		o.add(s)
	}))
	sign := part.Sign(widget.NewIcon(theme.Icon("local", theme.ColorMuted)), part.SignSize)
	return container.NewBorder(nil, nil, sign, container.NewCenter(add), part.Words(model.LocalWords(s)))
}

// localEdits are edits of the settings as they are when it comes to it.
func localEdits(s local.Server) func(*config.Config) []config.Edit {
	return func(c *config.Config) []config.Edit { return model.LocalEdits(c, s) }
}
