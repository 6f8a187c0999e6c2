//go:build linux || freebsd || openbsd || netbsd || windows || (darwin && cgo)

package tray

import (
	"context"
	"sync"
	"time"

	"fyne.io/systray"

	"pointsman/assets"
	"pointsman/ui/model"
)

// pause is the least time between two looks at the state.
const pause = 50 * time.Millisecond

// Run shows the tray until ctx ends. It returns an error that wraps ErrNoTray
// when there is no tray to stand in and none can come. macOS wants it on the
// main goroutine.
func Run(ctx context.Context, opts Options) error {
	opts.complete()
	t := &tray{opts: opts, clicks: make(chan model.Action)}
	return t.host(ctx)
}

// tray is the one tray of the process. Its fields belong to one goroutine at a
// time: that of host, then that of run.
type tray struct {
	opts   Options
	clicks chan model.Action
	work   sync.WaitGroup // what was chosen, and who listens for it

	shown []model.Item
	lines []*systray.MenuItem // nil for a separator
	icon  model.Icon
	title string
	stop  chan struct{} // ends the listeners of lines
}

// run keeps the tray in step with the state until ctx ends.
func (t *tray) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer t.work.Wait()
	defer cancel()
	defer func() { close(t.stop) }()
	var rested <-chan time.Time
	changed := t.opts.Changed
	look := func() { // now, and then not for a while
		t.show(t.opts.State(ctx))
		changed, rested = nil, time.After(pause)
	}
	for {
		select {
		case <-changed:
			look()
		case <-rested:
			changed, rested = t.opts.Changed, nil
		case <-systray.TrayOpenedCh:
			look()
		case action := <-t.clicks:
			t.work.Go(func() { t.opts.Act(ctx, action) })
		case <-ctx.Done():
			return
		}
	}
}

// show makes icon, words and menu those of s.
func (t *tray) show(s model.State) {
	if icon := model.IconOf(s); icon != t.icon {
		systray.SetIcon(picture(assets.TrayIcon(string(icon), iconSize)))
		t.icon = icon
	}
	if title := model.Title(s); title != t.title {
		systray.SetTitle(title)
		systray.SetTooltip(title)
		t.title = title
	}
	t.showMenu(model.MenuItems(s))
}

// showMenu shows these items. While they keep their places, the lines are
// changed where they are: a menu that is replaced while it is open loses the
// click.
func (t *tray) showMenu(items []model.Item) {
	if !sameShape(t.shown, items) {
		t.replaceMenu(items)
		return
	}
	for i, item := range items {
		if item != t.shown[i] {
			change(t.lines[i], t.shown[i], item)
		}
	}
	t.shown = items
}

// sameShape reports whether each item of one menu can become the other's.
func sameShape(old, items []model.Item) bool {
	if len(old) != len(items) {
		return false
	}
	for i := range old {
		if old[i].Separator() != items[i].Separator() || old[i].Action != items[i].Action || old[i].Checkable != items[i].Checkable {
			return false
		}
	}
	return true
}

func (t *tray) replaceMenu(items []model.Item) {
	if t.stop != nil {
		close(t.stop)
		systray.ResetMenu()
	}
	t.stop, t.shown, t.lines = make(chan struct{}), items, nil
	for _, item := range items {
		t.lines = append(t.lines, t.add(item))
	}
}

// add adds an item at the end of the menu.
func (t *tray) add(item model.Item) *systray.MenuItem {
	if item.Separator() {
		systray.AddSeparator()
		return nil
	}
	var line *systray.MenuItem
	if item.Checkable {
		line = systray.AddMenuItemCheckbox(label(item.Title), "", item.Checked)
	} else {
		line = systray.AddMenuItem(label(item.Title), "")
	}
	if item.Disabled {
		line.Disable()
	}
	if item.Action != "" {
		stop := t.stop
		t.work.Go(func() { t.listen(line.ClickedCh, item.Action, stop) })
	}
	return line
}

// listen passes the clicks on one line on.
func (t *tray) listen(clicked <-chan struct{}, action model.Action, stop <-chan struct{}) {
	for {
		select {
		case _, ok := <-clicked:
			if !ok {
				return // the line was removed
			}
		case <-stop:
			return
		}
		select {
		case t.clicks <- action:
		case <-stop:
			return
		}
	}
}

// change makes a line show another item of the same shape.
func change(line *systray.MenuItem, old, item model.Item) {
	if item.Title != old.Title {
		line.SetTitle(label(item.Title))
	}
	switch {
	case item.Checked && !old.Checked:
		line.Check()
	case !item.Checked && old.Checked:
		line.Uncheck()
	}
	switch {
	case item.Disabled && !old.Disabled:
		line.Disable()
	case !item.Disabled && old.Disabled:
		line.Enable()
	}
}
