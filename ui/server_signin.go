package ui

import (
	"context"
	"net/url"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/servers"
	"pointsman/gateway/servers/signin"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// signInCard signs in to a server, and out of it.
type signInCard struct {
	ui     *UI
	name   string
	ctx    func() context.Context // while the screen is before the user
	object *fyne.Container
	fault  *widget.Label

	in      servers.SignIn // that was begun here; the zero value: none
	status  servers.Status
	busy    bool // something was asked for
	running *widget.Activity
	shown   signInShown
}

// signInShown is what a card was drawn from.
type signInShown struct {
	card model.SignInCard
	url  string
	busy bool
}

func newSignInCard(u *UI, name string, ctx func() context.Context) *signInCard {
	c := &signInCard{ui: u, name: name, ctx: ctx, object: container.NewStack(), fault: newNotice(widget.DangerImportance), running: widget.NewActivity()}
	c.fault.Selectable = true
	c.object.Hide()
	return c
}

// update shows the card as it is now.
func (c *signInCard) update(status servers.Status) {
	c.status = status
	if status.SignIn != signin.Waiting {
		c.in = servers.SignIn{}
	}
	if status.SignIn == signin.SignedIn {
		tell(c.fault, "") // what was wrong is so no more
	}
	c.draw()
}

func (c *signInCard) draw() {
	now := signInShown{model.SignInCardOf(c.status, c.in.URL != ""), c.in.URL, c.busy}
	if now == c.shown {
		return
	}
	c.shown = now
	c.running.Stop()
	if now.card.Title == "" {
		c.object.Hide()
		return
	}
	if now.card.Waits {
		c.running.Start()
	}
	c.object.Objects = []fyne.CanvasObject{part.Card(c.content(now.card))}
	c.object.Show()
	c.object.Refresh()
}

func (c *signInCard) content(card model.SignInCard) fyne.CanvasObject {
	title := widget.NewLabel(card.Title)
	title.TextStyle.Bold = true
	var sign fyne.CanvasObject
	if card.Waits {
		sign = c.running
	}
	rows := container.NewVBox(container.NewBorder(nil, nil, sign, c.buttons(card), title))
	if card.Text != "" {
		rows.Add(part.Remark(card.Text))
	}
	if c.in.URL != "" && card.Waits {
		rows.Add(c.address())
	}
	rows.Add(c.fault)
	return rows
}

// buttons are what can be done now.
func (c *signInCard) buttons(card model.SignInCard) fyne.CanvasObject {
	row := part.Row()
	add := func(button *widget.Button) {
		setEnabled(button, !c.busy)
		row.Add(button)
	}
	if card.Waits {
		add(widget.NewButton("Cancel", c.onCancel))
	}
	if card.Out {
		add(widget.NewButton("Sign out", c.onOut))
	}
	if card.Begin != "" {
		begin := widget.NewButton(card.Begin, c.onBegin)
		begin.Importance = widget.HighImportance
		add(begin)
	}
	return row
}

// address shows where to sign in, to be copied.
func (c *signInCard) address() fyne.CanvasObject {
	shown := widget.NewLabel(model.OneLine(c.in.URL))
	shown.TextStyle.Monospace, shown.Truncation, shown.Selectable = true, fyne.TextTruncateEllipsis, true
	copied := widget.NewButtonWithIcon("Copy", theme.Icon("copy", theme.ColorMuted), nil)
	copied.OnTapped = func() {
		c.ui.app.Clipboard().SetContent(c.in.URL)
		copied.SetText("Copied")
	}
	return container.NewBorder(nil, nil, nil, part.Row(widget.NewButton("Open", c.open), copied), shown)
}

// onBegin begins a sign-in, or joins the one that is under way.
func (c *signInCard) onBegin() {
	c.ask()
	save(c.ui, func(ctx context.Context) (servers.SignIn, error) { return c.ui.client.SignIn(ctx, c.name, "") }, func(in servers.SignIn, err error) {
		c.answered(err)
		if err != nil || in.URL == "" {
			return
		}
		c.in, c.status.SignIn = in, signin.Waiting
		c.open()
		c.draw()
		background(c.ctx(), c.ui, func(ctx context.Context) (servers.Status, error) { return c.ui.client.AwaitSignIn(ctx, in.ID) }, func(_ servers.Status, err error) {
			c.answered(err)
		})
	})
}

// open has the desktop open the page.
func (c *signInCard) open() {
	page, err := url.Parse(c.in.URL)
	if err == nil {
		err = c.ui.app.OpenURL(page)
	}
	if err != nil {
		tell(c.fault, "No browser was opened ("+model.OneLine(err.Error())+"). Copy the address, and open it in one on this computer.")
	}
}

func (c *signInCard) onCancel() {
	c.ask()
	c.ui.do(func(ctx context.Context) error {
		_, err := c.ui.client.CancelSignIn(ctx, c.name)
		return err
	}, c.answered)
}

func (c *signInCard) onOut() {
	c.ask()
	c.ui.do(func(ctx context.Context) error {
		_, err := c.ui.client.SignOut(ctx, c.name)
		return err
	}, c.answered)
}

// ask holds the buttons until there is an answer.
func (c *signInCard) ask() {
	c.busy = true
	tell(c.fault, "")
	c.draw()
}

func (c *signInCard) answered(err error) {
	c.busy = false
	if err != nil {
		tell(c.fault, inWords(err))
	}
	c.draw()
}
