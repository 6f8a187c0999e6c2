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
	come := false
	asked := map[string]bool{}
	for _, q := range open {
		come = come || !u.asked[q.ID]
		asked[q.ID] = true
	}
	u.asked = asked
	if come && u.opts.Announce && u.notify {
		title, body := model.QuestionNotice(open)
		u.app.SendNotification(fyne.NewNotification(title, body))
	}
}

// announce has the desktop tell what waits, where the resident has no means to,
// when something has come.
func (u *UI) announce(pending []approvals.Request) {
	come := false
	told := map[string]bool{}
	for _, req := range pending {
		come = come || !u.told[req.ID]
		told[req.ID] = true
	}
	u.told = told
	if come && u.opts.Announce && u.notify {
		title, body := model.WaitingNotice(pending)
		u.app.SendNotification(fyne.NewNotification(title, body))
	}
}
