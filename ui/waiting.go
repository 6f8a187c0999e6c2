package ui

import (
	"context"

	"fyne.io/fyne/v2"

	"pointsman/approvals"
	"pointsman/gateway/elicit"
	"pointsman/ui/model"
)

// newApprovals makes the window that puts what waits before the person.
func (u *UI) newApprovals() *approvalWindow {
	return newApprovalWindow(u.app, approvalOptions{
		Answer: u.client.Answer,
		Ending: u.client.Ending,
		Post:   func(f func()) { u.post(func() { u.safely("the approval window", f) }) },
		Quiet: func(w fyne.Window) {
			if u.opts.Quiet != nil {
				u.opts.Quiet(u.app, w)
			}
		},
		Closed: func() { u.leaveLater(); u.restLater() },
	})
}

// watchApprovals shows what waits, until ctx ends or the resident goes.
func (u *UI) watchApprovals(ctx context.Context) error {
	return u.client.Watch(ctx, func(pending []approvals.Request) {
		u.post(func() {
			u.safely("showing what waits", func() { u.approval.Set(pending) })
			u.announce(pending)
			u.leaveLater()
			if u.approval.Visible() {
				u.restLater()
			}
		})
	})
}

// newQuestions makes the window that puts what servers ask before the person.
func (u *UI) newQuestions() *elicitationWindow {
	return newElicitationWindow(u.app, elicitationOptions{
		Answer: u.client.AnswerQuestion,
		Open:   u.app.OpenURL,
		Post:   func(f func()) { u.post(func() { u.safely("the window of questions", f) }) },
		Quiet: func(w fyne.Window) {
			if u.opts.Quiet != nil {
				u.opts.Quiet(u.app, w)
			}
		},
		Closed: func() { u.leaveLater(); u.restLater() },
	})
}

// watchQuestions shows what servers ask, until ctx ends or the resident goes.
func (u *UI) watchQuestions(ctx context.Context) error {
	return u.client.WatchQuestions(ctx, func(open []elicit.Question) {
		u.post(func() {
			u.safely("showing what servers ask", func() { u.questions.Set(open) })
			u.announceQuestions(open)
			u.leaveLater()
			if u.questions.Visible() {
				u.restLater()
			}
		})
	})
}

// announceQuestions has the desktop tell what servers ask, where the resident has
// no means to, when something has come.
func (u *UI) announceQuestions(open []elicit.Question) {
	ids := make([]string, len(open))
	for i, q := range open {
		ids[i] = q.ID
	}
	u.tellOfNew(&u.asked, ids, func() (title, body string) { return model.QuestionNotice(open) })
}

// announce has the desktop tell what waits, where the resident has no means to,
// when something has come.
func (u *UI) announce(pending []approvals.Request) {
	ids := make([]string, len(pending))
	for i, req := range pending {
		ids[i] = req.ID
	}
	u.tellOfNew(&u.told, ids, func() (title, body string) { return model.WaitingNotice(pending) })
}

// tellOfNew sends a notification when some of the ids are not among the known, and
// makes them the known.
func (u *UI) tellOfNew(known *map[string]bool, ids []string, notice func() (title, body string)) {
	come := false
	now := map[string]bool{}
	for _, id := range ids {
		come = come || !(*known)[id]
		now[id] = true
	}
	*known = now
	if come && u.opts.Announce && u.notify {
		u.app.SendNotification(fyne.NewNotification(notice()))
	}
}
