package ui

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"pointsman/approvals"
	"pointsman/ui/model"
)

// closedReason is recorded for what is denied by closing the window.
const closedReason = "the window was closed"

// approve answers that the call on screen may run. The guard has agreed.
func (w *approvalWindow) approve() {
	if !w.waiting() {
		return
	}
	w.answer(w.request, approvals.Decision{
		Outcome: approvals.Allowed, Scope: w.choice.Scope, Arguments: w.edit.args,
	})
}

// deny answers that the call on screen may not run.
func (w *approvalWindow) deny() {
	if !w.waiting() {
		return
	}
	w.answer(w.request, approvals.Decision{Outcome: approvals.Denied, Reason: w.parts.reason.Text, Scope: w.choice.Scope})
}

// onClose denies all that waits.
func (w *approvalWindow) onClose() {
	waiting := w.queue.Waiting()
	for _, req := range waiting {
		w.send(req, approvals.Decision{Outcome: approvals.Denied, Reason: closedReason})
	}
	w.queue.Set(w.unanswered())
	w.hide()
}

// answer sends an answer to the call on screen and goes on to the next.
func (w *approvalWindow) answer(req approvals.Request, d approvals.Decision) {
	w.notice = ""
	w.guard.Hide()
	w.send(req, d)
	w.deciding = true
	w.queue.Set(w.unanswered())
	w.refresh()
}

// send gives an answer, in the background.
func (w *approvalWindow) send(req approvals.Request, d approvals.Decision) {
	d.ID, d.Approver = req.ID, approvals.ByDesk
	w.answered[req.ID] = true
	w.work.Go(func() {
		ctx, cancel := context.WithTimeout(w.ctx, answerTime)
		defer cancel()
		counted, err := w.opts.Answer(ctx, req.ID, d)
		w.opts.Post(func() {
			if w.ctx.Err() == nil {
				w.onAnswered(req, counted, err)
			}
		})
	})
}

// onAnswered hears what became of an answer. One that did not arrive leaves the
// request waiting, as if it had not been answered.
func (w *approvalWindow) onAnswered(req approvals.Request, counted bool, err error) {
	w.answered[req.ID] = false
	if w.request.ID == req.ID {
		w.deciding = false
	}
	switch {
	case err != nil:
		delete(w.answered, req.ID)
		w.say(model.UnansweredLine(req, err))
		if w.request.ID == req.ID {
			w.request = approvals.Request{} // to be shown as if for the first time
		}
	case !counted:
		w.say(model.UncountedLine(req))
	}
	w.Set(w.pending)
}

// say shows a line about a request, long enough to be read.
func (w *approvalWindow) say(line string) {
	w.notice = line
	if w.visible {
		w.linger = w.opts.Clock.Now().Add(lingerTime)
	}
}

// tellWhy says, when that is known, why the request that was shown does not wait
// any more.
func (w *approvalWindow) tellWhy(gone approvals.Request) {
	w.notice = model.GoneLine(gone, "")
	w.work.Go(func() {
		ctx, cancel := context.WithTimeout(w.ctx, answerTime)
		defer cancel()
		reason, err := w.opts.Ending(ctx, gone.ID)
		w.opts.Post(func() {
			if err == nil && reason != "" && w.visible && w.notice == model.GoneLine(gone, "") {
				w.notice = model.GoneLine(gone, reason)
				w.refresh()
			}
		})
	})
}

// onRune hears a character that no entry took.
func (w *approvalWindow) onRune(r rune) {
	if w.guard.Rune(r) {
		w.approve()
		return
	}
	w.parts.update(w)
}

// onKey hears any other key that no entry took. Space and Enter are among them.
func (w *approvalWindow) onKey(e *fyne.KeyEvent) {
	if isDigit(e.Name) || isModifier(e.Name) {
		return // a digit comes as a character, too, on some keyboards with Shift
	}
	if w.guard.Key() && e.Name == fyne.KeyEscape {
		w.deny()
		return
	}
	w.parts.text.ScrollBy(e.Name)
	w.parts.update(w)
}

func isDigit(name fyne.KeyName) bool { return len(name) == 1 && name[0] >= '0' && name[0] <= '9' }

func isModifier(name fyne.KeyName) bool {
	switch name {
	case desktop.KeyShiftLeft, desktop.KeyShiftRight, desktop.KeyControlLeft, desktop.KeyControlRight,
		desktop.KeyAltLeft, desktop.KeyAltRight, desktop.KeySuperLeft, desktop.KeySuperRight, desktop.KeyCapsLock:
		return true
	default:
		return false
	}
}

func (w *approvalWindow) onPress() {
	w.guard.Press()
	w.schedule()
}

func (w *approvalWindow) onRelease() {
	if w.guard.Held() { // the last picture of the ring came after the release
		w.approve()
		return
	}
	w.guard.Release()
	w.parts.update(w)
}

func (w *approvalWindow) onClick() {
	if w.guard.Click() {
		w.approve()
	}
}

// step shows another of what waits.
func (w *approvalWindow) step(by int) {
	w.queue.Step(by)
	w.refresh()
}

// onChoose takes how an answer is to be remembered.
func (w *approvalWindow) onChoose(choice model.ScopeChoice) {
	w.choice = choice
	w.block()
	w.parts.update(w)
}

// block keeps the guard from approving what is not in order.
func (w *approvalWindow) block() {
	w.guard.Block(w.edit.fault != nil || model.OnlyDenies(w.request, w.choice))
}
