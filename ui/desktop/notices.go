package desktop

import (
	"context"
	"errors"
	"slices"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/elicit"
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
		questions, err := d.opts.Source.Questions(ctx)
		if err != nil {
			continue // as above
		}
		if !d.opts.Store.Config().Desktop.Notify {
			pending, questions = nil, nil
		}
		ids := idsOf(pending, questions)
		if slices.Equal(ids, told) {
			continue
		}
		told = ids
		if err := d.tell(ctx, pending, questions); err != nil && ctx.Err() == nil {
			d.log.Debug("telling of what waits", "error", err)
		}
	}
}

func idsOf(pending []approvals.Request, questions []elicit.Question) []string {
	var ids []string
	for _, q := range questions {
		ids = append(ids, q.ID)
	}
	for _, req := range pending {
		ids = append(ids, req.ID)
	}
	return ids
}

// tell tells of the calls that wait, or else of what servers ask.
func (d *Desktop) tell(ctx context.Context, pending []approvals.Request, questions []elicit.Question) error {
	var title, body string
	switch {
	case len(pending) > 0:
		title, body = model.WaitingNotice(pending)
	case len(questions) > 0:
		title, body = model.QuestionNotice(questions)
	default:
		return d.notices.Hide(ctx)
	}
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
