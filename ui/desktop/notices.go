package desktop

import (
	"context"
	"errors"
	"slices"
	"time"

	"pointsman/approvals"
	"pointsman/ui/model"
	"pointsman/ui/tray"
)

// hidePatience bounds what is asked of the desktop when we go.
const hidePatience = time.Second

// notify tells of what waits for a person, until ctx ends. One notification
// stands for all of it.
func (d *Desktop) notify(ctx context.Context) {
	var told []string // the ids of what the notification names
	for {
		select {
		case <-d.waiting:
		case <-ctx.Done():
			return
		}
		pending, err := d.opts.Source.Pending(ctx)
		if err != nil {
			continue // the watch ends as well, and says why
		}
		if !d.opts.Store.Config().Desktop.Notify {
			pending = nil
		}
		ids := idsOf(pending)
		if slices.Equal(ids, told) {
			continue
		}
		told = ids
		if err := d.tell(ctx, pending); err != nil && ctx.Err() == nil {
			d.log.Debug("telling of what waits", "error", err)
		}
	}
}

func idsOf(pending []approvals.Request) []string {
	var ids []string
	for _, req := range pending {
		ids = append(ids, req.ID)
	}
	return ids
}

func (d *Desktop) tell(ctx context.Context, pending []approvals.Request) error {
	if len(pending) == 0 {
		return d.notices.Hide(ctx)
	}
	title, body := model.WaitingNotice(pending)
	return d.notices.Show(ctx, tray.Notice{Title: title, Body: body})
}

// Tell shows a notification that stays when the program has ended.
func Tell(ctx context.Context, title, body string) error {
	var n tray.Notifier
	err := n.Show(ctx, tray.Notice{Title: title, Body: body})
	return errors.Join(err, n.Close())
}

// closeNotices takes back what is shown, and hangs up.
func (d *Desktop) closeNotices() {
	ctx, cancel := context.WithTimeout(context.Background(), hidePatience)
	defer cancel()
	for _, n := range []*tray.Notifier{&d.notices, &d.faults} {
		if err := n.Hide(ctx); err != nil {
			d.log.Debug("taking a notification back", "error", err)
		}
		if err := n.Close(); err != nil {
			d.log.Debug("leaving the session bus", "error", err)
		}
	}
}
