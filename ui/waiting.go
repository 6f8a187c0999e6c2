package ui

import (
	"context"

	"fyne.io/fyne/v2"

	"pointsman/approvals"
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
		Closed: u.leaveLater,
	})
}

// watchApprovals shows what waits, until ctx ends or the resident goes.
func (u *UI) watchApprovals(ctx context.Context) error {
	return u.client.Watch(ctx, func(pending []approvals.Request) {
		u.post(func() {
			u.safely("showing what waits", func() { u.approval.Set(pending) })
			u.leaveLater()
			if u.approval.Visible() {
				u.restLater()
			}
		})
	})
}
