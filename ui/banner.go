package ui

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// bannerBox is what stands above every screen.
type bannerBox struct {
	ui   *UI
	open func(screen string)
	box  *fyne.Container

	shown    []model.Banner
	state    model.State
	now      control.Settings
	keychain string // why it cannot be used; "" when it can
	failed   string // what a button could not do
}

func newBannerBox(u *UI, open func(string)) *bannerBox {
	return &bannerBox{ui: u, open: open, box: container.NewVBox()}
}

// set shows what there is to say about the program and its configuration.
func (b *bannerBox) set(state model.State, now control.Settings) {
	b.state, b.now = state, now
	b.refresh()
}

func (b *bannerBox) refresh() {
	banners := model.Banners(b.state, b.now, b.keychain)
	if b.failed != "" {
		banners = append([]model.Banner{{Kind: model.BannerFault, Title: "That did not work.", Lines: []string{b.failed}}}, banners...)
	}
	if model.SameBanners(banners, b.shown) {
		return
	}
	b.shown = banners
	var drawn []fyne.CanvasObject
	for i, banner := range banners {
		drawn = append(drawn, b.draw(banner, i < wholeBanners))
	}
	b.box.Objects = drawn
	b.box.Refresh()
}

// wholeBanners are how many banners are shown whole; of more only the titles are,
// so that they leave room for the screen.
const wholeBanners = 2

// draw is one banner: a sign, what there is to say, and buttons.
func (b *bannerBox) draw(banner model.Banner, whole bool) fyne.CanvasObject {
	icon, color := bannerLook(banner.Kind)
	title := part.Words(banner.Title)
	title.TextStyle.Bold = true
	words := closely(title)
	if !whole {
		title.Wrapping, title.Truncation = fyne.TextWrapOff, fyne.TextTruncateEllipsis
	} else if len(banner.Lines) > 0 {
		words.Add(bannerLines(banner.Lines))
	}
	buttons := container.NewHBox()
	for _, act := range banner.Acts {
		if act == model.BannerOpenServers && !b.ui.main.has(screenServers) {
			continue
		}
		button := widget.NewButton(string(act), b.ui.act("the button "+string(act), func() { b.act(act, banner) }))
		if act == model.BannerAccept {
			button.Importance = widget.WarningImportance
		}
		buttons.Add(button)
	}
	sign := container.NewVBox(part.Inset(1, part.Picture(theme.Icon(icon, color), 20)))
	line := container.NewBorder(nil, nil, sign, container.NewVBox(container.New(layout.NewCustomPaddedLayout(theme.Step/2, theme.Step/2, 0, 2*theme.Step), buttons)), words)
	edge := container.NewBorder(nil, nil, container.New(&column{width: theme.Step / 2}, part.NewSurface(color, "", 0)), nil)
	return container.NewStack(part.NewSurface(theme.ColorCard, theme.ColorLine, 0), edge, line)
}

// longestBanner is how many characters a banner shows without being scrolled.
const longestBanner = 500

func bannerLines(lines []string) fyne.CanvasObject {
	text := strings.Join(lines, "\n")
	words := part.Words(text)
	words.Selectable = true
	if len(text) <= longestBanner && len(lines) <= 4 {
		return words
	}
	scroll := container.NewVScroll(words)
	scroll.SetMinSize(fyne.NewSize(0, 13*theme.Step))
	return scroll
}

func bannerLook(kind model.BannerKind) (icon string, color fyne.ThemeColorName) {
	switch kind {
	case model.BannerAsk:
		return "waiting", theme.ColorWrite
	case model.BannerFault:
		return "failed", theme.ColorDestructive
	}
	return "info", fynetheme.ColorNamePrimary
}

// act does what a banner's button says.
func (b *bannerBox) act(act model.BannerAct, banner model.Banner) {
	client := b.ui.client
	switch act {
	case model.BannerAccept:
		b.change(func(ctx context.Context) (control.Settings, error) { return client.AcceptHeld(ctx, banner.Revision) })
	case model.BannerRefuse:
		b.change(func(ctx context.Context) (control.Settings, error) { return client.RefuseHeld(ctx, banner.Revision) })
	case model.BannerResume:
		b.ui.do(func(ctx context.Context) error { return client.Pause(ctx, false) }, b.done)
	case model.BannerOpenConfig:
		b.done(b.ui.openFolder(filepath.Dir(b.now.Path)))
	case model.BannerOpenServers:
		b.open(screenServers)
	case model.BannerKeychain:
		b.lookAtKeychain()
	}
}

// change decides about what is held. That the file holds something else by now
// is shown, and the person asked again.
func (b *bannerBox) change(decide func(context.Context) (control.Settings, error)) {
	save(b.ui, decide, func(now control.Settings, err error) {
		var conflict *control.ConflictError
		if errors.As(err, &conflict) {
			now = conflict.Current
			err = errors.New("the file was changed in the meantime; look at what it holds now, and decide again")
		}
		b.done(err)
		if now.Config != nil {
			b.ui.main.configure(now)
		}
	})
}

func (b *bannerBox) done(err error) {
	b.failed = ""
	if err != nil {
		b.failed = inWords(err)
	}
	b.refresh()
}

// lookAtKeychain finds out whether the keychain can be used. It is asked when the
// window opens and when the person says so, never by itself: it may ask for a
// password.
func (b *bannerBox) lookAtKeychain() {
	b.ui.do(func(ctx context.Context) error {
		_, err := b.ui.client.HasSecret(ctx, []string{"gateway"})
		return err
	}, func(err error) {
		b.keychain = ""
		if err != nil {
			b.keychain = err.Error()
		}
		b.refresh()
	})
}

// column gives its one object a width, and all the height there is.
type column struct{ width float32 }

func (c *column) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(c.width, 0) }

func (c *column) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Resize(fyne.NewSize(c.width, size.Height))
	}
}
