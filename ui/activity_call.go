package ui

import (
	"context"
	"iter"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/approvals"
	"pointsman/gateway/journal"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// callView shows one call whole: what was decided, with what it ran, what came; or
// a turn.
type callView struct {
	of   *sessionView
	root fyne.CanvasObject

	title, facts, decision *widget.Label
	lines                  *part.Lines
	copy                   *widget.Button
	text                   string // all of it, to be copied
	cancel                 context.CancelFunc
}

func newCallView(of *sessionView) *callView {
	v := &callView{of: of, title: part.Subheading(""), facts: part.Muted(""), decision: part.Words(""), lines: part.NewLines()}
	v.copy = newIconButton(theme.Icon("copy", theme.ColorMuted), v.onCopy)
	shut := newIconButton(theme.Icon("close", theme.ColorMuted), of.close)
	head := container.NewBorder(nil, nil, nil, container.NewHBox(v.copy, shut), v.title)
	v.root = container.NewBorder(container.NewVBox(head, part.Tight(v.facts), part.Tight(v.decision)), nil, nil, nil, v.lines)
	return v
}

// keptCall is what the journal has of a call.
type keptCall struct {
	call   journal.Call
	found  bool
	result string
}

// load shows a call, with what the journal has of it.
func (v *callView) load(c model.Call) {
	v.title.SetText(model.OneLine(c.Tool))
	v.facts.SetText(c.State.Word())
	if v.cancel != nil {
		v.cancel()
	}
	ctx, cancel := context.WithCancel(v.of.screen.ctx)
	v.cancel = cancel
	v.fetch(ctx, c, lateTries)
}

// The end of a call is told before it is on disk: lateTries is how often it is
// looked for again, and lateWait how long after.
const lateTries, lateWait = 5, 100 * time.Millisecond

// fetch reads what the journal has of a call, again while it has not the end that
// was told.
func (v *callView) fetch(ctx context.Context, c model.Call, tries int) {
	journalPage(ctx, v.of.screen.ui, func(ctx context.Context, r *journal.Reader) (keptCall, error) {
		rows, err := all(r.Calls(ctx, journal.Filter{Call: c.ID}))
		if err != nil || len(rows) == 0 {
			return keptCall{}, err
		}
		result, err := r.Result(ctx, c.ID)
		return keptCall{rows[0], true, result}, err
	}, func(kept keptCall, err error) {
		v.show(c, kept, err)
		if late := c.State.Ended() && kept.call.Outcome == ""; late && err == nil && tries > 0 {
			again := time.AfterFunc(lateWait, func() { v.of.screen.post(ctx, func() { v.fetch(ctx, c, tries-1) }) })
			context.AfterFunc(ctx, func() { again.Stop() })
		}
	})
}

// showTurn shows a turn, of which all is known that the journal has.
func (v *callView) showTurn(run *model.Run) {
	if v.cancel != nil {
		v.cancel()
	}
	state, _ := model.TurnState(run, v.of.screen.now())
	v.title.SetText(model.TurnTitle(run))
	v.facts.SetText(state)
	v.decision.SetText(model.TurnLine(run))
	v.text = model.TurnText(run)
	v.lines.Set(textLines(v.text))
}

func (v *callView) show(c model.Call, kept keptCall, err error) {
	switch {
	case err != nil:
		v.decision.SetText("What was recorded of this call cannot be read: " + err.Error())
		v.lines.Set(nil)
		return
	case !kept.found:
		v.decision.SetText("Nothing is recorded of this call yet.")
		v.lines.Set(nil)
		return
	}
	v.facts.SetText(c.State.Word() + " · " + model.Facts(kept.call))
	v.decision.SetText(model.Decision(kept.call))
	var shown texts
	shown.add("Arguments", approvals.VisibleJSON(kept.call.Arguments))
	if kept.call.Error != "" {
		shown.add("Error", approvals.VisibleText(kept.call.Error))
	}
	shown.add("Result", resultText(kept))
	if len(kept.call.Evidence) > 0 {
		shown.add("Why it was held to be "+string(kept.call.Class), approvals.VisibleText(strings.Join(kept.call.Evidence, "\n")))
	}
	v.text = shown.whole.String()
	v.lines.Set(shown.lines)
}

func resultText(kept keptCall) string {
	switch {
	case kept.result != "":
		return model.ResultText(kept.result)
	case kept.call.Outcome == "":
		return "(there is none yet)"
	case kept.call.ResultBytes > 0:
		return "(it is not kept: journal.results is none)"
	default:
		return "(none)"
	}
}

func (v *callView) onCopy() { v.of.screen.ui.app.Clipboard().SetContent(v.text) }

// all reads a sequence to its end.
func all[T any](rows iter.Seq2[T, error]) ([]T, error) {
	var list []T
	for row, err := range rows {
		if err != nil {
			return list, err
		}
		list = append(list, row)
	}
	return list, nil
}

// textLines puts a text into lines to be shown.
func textLines(text string) []part.TextLine {
	var lines []part.TextLine
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, part.TextLine{Text: strings.ReplaceAll(line, "\t", "    ")})
	}
	return lines
}
