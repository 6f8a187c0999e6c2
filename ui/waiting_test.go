package ui

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/model"
)

// TestAnnounce: the desktop is told once of each call that comes to wait, where
// the windows are the ones to do it, and the user wants it.
func TestAnnounce(t *testing.T) {
	one, two := approvals.Request{ID: "1", Tool: "a", Server: "s"}, approvals.Request{ID: "2", Tool: "b", Server: "s"}
	for _, c := range []struct {
		name     string
		announce bool
		notify   bool
		before   []approvals.Request
		now      []approvals.Request
		told     bool
	}{
		{"the first", true, true, nil, []approvals.Request{one}, true},
		{"one more", true, true, []approvals.Request{one}, []approvals.Request{one, two}, true},
		{"the same", true, true, []approvals.Request{one}, []approvals.Request{one}, false},
		{"one less", true, true, []approvals.Request{one, two}, []approvals.Request{two}, false},
		{"the resident does it", false, true, nil, []approvals.Request{one}, false},
		{"the user wants quiet", true, false, nil, []approvals.Request{one}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := New(test.NewTempApp(t), Options{Announce: c.announce})
			cfg := config.Default()
			cfg.Desktop.Notify = c.notify
			u.heed(control.Settings{Config: cfg})
			u.announce(c.before)
			var want *fyne.Notification
			if c.told {
				title, body := model.WaitingNotice(c.now)
				want = fyne.NewNotification(title, body)
			}
			test.AssertNotificationSent(t, want, func() { u.announce(c.now) })
		})
	}
}
