package ui

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/journal"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// runView shows one run: what it is, its plan, its calls, and one call whole.
type runView struct {
	screen *activityScreen
	root   fyne.CanvasObject
	id     string // of the run that is shown; "" for none
	call   string // id of the call that is shown; "" for none
	read   bool   // the calls were read from the journal
	cancel context.CancelFunc

	title, line, reason *widget.Label
	why                 *fyne.Container // reason
	icon                *widget.Icon
	stop                *widget.Button
	plan                *planView
	calls               *widget.List
	none                *widget.Label // stands for an empty list of calls
	body                *fyne.Container
	both                *container.Split // the calls, and one of them whole
	detail              *callView

	made []*callRow // all rows there are
	turn int        // counts calm
}

func newRunView(s *activityScreen) *runView {
	v := &runView{screen: s, title: part.Subheading(""), line: part.Muted(""), reason: part.Words(""), icon: widget.NewIcon(nil), none: part.Muted("")}
	v.reason.Importance = widget.DangerImportance
	v.why = part.Tight(v.reason)
	v.none.Truncation = fyne.TextTruncateOff
	v.stop = widget.NewButtonWithIcon("Stop", theme.Icon("stop", theme.ColorDestructive), v.onStop)
	v.plan = newPlanView()
	v.calls = widget.NewList(v.count, v.newRow, v.setCall)
	v.calls.HideSeparators = true
	v.calls.OnSelected = v.onSelected
	v.detail = newCallView(v)
	v.both = container.NewVSplit(v.calls, v.detail.root)
	v.both.Offset = 0.35
	v.body = container.NewStack(v.calls)
	icon := part.Sign(v.icon, part.SignSize)
	head := container.NewBorder(nil, nil, part.Inset(0.5, icon), container.NewCenter(v.stop),
		container.NewVBox(part.Tight(v.title), part.Tight(v.line)))
	v.root = part.Inset(1, container.NewBorder(container.NewVBox(head, v.why, v.plan.root), nil, nil, nil, v.body))
	return v
}

// run is the run that is shown; nil for none.
func (v *runView) run() *model.Run { return v.screen.state.Find(v.id) }

// open shows a run.
func (v *runView) open(run *model.Run) {
	if v.id == run.ID {
		return
	}
	v.id, v.read = run.ID, false
	v.closeCall()
	v.stop.SetText("Stop")
	v.stop.Enable()
	v.show()
	v.calls.ScrollToTop()
	v.reload()
}

// reload reads the run's calls from the journal: they tell what no event did.
func (v *runView) reload() {
	if v.id == "" {
		return
	}
	if v.cancel != nil {
		v.cancel()
	}
	ctx, cancel := context.WithCancel(v.screen.ctx)
	v.cancel = cancel
	id := v.id
	journalPage(ctx, v.screen.ui, func(ctx context.Context, r *journal.Reader) ([]journal.Call, error) {
		return all(r.Calls(ctx, journal.Filter{Run: id, OldestFirst: true}))
	}, func(rows []journal.Call, err error) {
		cancel()
		v.read = true
		if err != nil {
			v.screen.tell("The calls of this run cannot be shown: " + err.Error())
		}
		v.screen.state.Record(id, rows)
		v.show()
	})
}

// show shows all of the run as it is now.
func (v *runView) show() {
	run := v.run()
	if run == nil {
		return
	}
	v.title.SetText(model.RunTitle(run))
	v.showElapsed()
	v.reason.SetText(model.RunReason(run))
	v.why.Hidden = v.reason.Text == ""
	v.stop.Hidden = !run.Active
	v.plan.set(run, v.call == "")
	v.none.Hidden = len(run.Calls) > 0 || !v.read
	v.none.SetText("This run has called no tool.")
	if run.Active {
		v.none.SetText("No tool has been called yet.")
	}
	v.calm()
	v.root.Refresh()
}

// showElapsed shows how the run is, and for how long.
func (v *runView) showElapsed() {
	if run := v.run(); run != nil {
		word, tone := run.State()
		setIcon(v.icon, toneIcon(tone))
		setText(v.line, model.RunDetail(run, word, v.screen.now()))
	}
}

// changed shows what an event has changed.
func (v *runView) changed(c model.Change) {
	run := v.run()
	if run == nil || c.Run != v.id {
		return
	}
	switch {
	case c.List:
		v.show()
		return
	case c.Plan:
		v.plan.set(run, v.call == "")
		v.root.Refresh() // the calls, too
	case c.Call >= 0:
		v.none.Hide()
		v.calls.Refresh()
	}
	v.showElapsed()
	if c.Call >= 0 && run.Calls[c.Call].ID == v.call {
		v.detail.load(run.Calls[c.Call])
	}
}

// onStop cancels the run.
func (v *runView) onStop() {
	id := v.id
	v.stop.SetText("Stopping …")
	v.stop.Disable()
	background(v.screen.ui.ctx, v.screen.ui, func(ctx context.Context) (bool, error) {
		return v.screen.source.stop(ctx, id)
	}, func(stopped bool, err error) {
		if v.id == id {
			v.stop.SetText("Stop")
			v.stop.Enable()
		}
		switch {
		case err != nil:
			v.screen.tell("The run cannot be stopped: " + err.Error())
		case !stopped:
			v.screen.tell("The run had ended already.")
		}
	})
}

func (v *runView) count() int {
	if run := v.run(); run != nil {
		return len(run.Calls)
	}
	return 0
}

func (v *runView) newRow() fyne.CanvasObject {
	row := newCallRow()
	v.made = append(v.made, row)
	return row
}

func (v *runView) setCall(i widget.ListItemID, o fyne.CanvasObject) {
	if run := v.run(); run != nil && i < len(run.Calls) {
		row := o.(*callRow)
		row.turn = v.turn
		row.set(run.Calls[i])
		row.spin(run.Calls[i].State == model.CallRunning && v.screen.ctx.Err() == nil)
	}
}

// calm ends the spinning of rows that are out of sight: the list keeps them to
// be used again.
func (v *runView) calm() {
	v.turn++
	v.calls.Refresh()
	for _, row := range v.made {
		if row.turn != v.turn {
			row.spin(false)
		}
	}
}

func (v *runView) onSelected(i widget.ListItemID) {
	run := v.run()
	if run == nil || i >= len(run.Calls) {
		return
	}
	v.call = run.Calls[i].ID
	v.body.Objects = []fyne.CanvasObject{v.both}
	v.plan.set(run, false)
	v.detail.load(run.Calls[i])
	v.root.Refresh()
	v.calls.ScrollTo(i)
}

// closeCall shows the list of calls alone again.
func (v *runView) closeCall() {
	v.call = ""
	v.calls.UnselectAll()
	v.body.Objects = []fyne.CanvasObject{v.calls, container.NewCenter(v.none)}
	if run := v.run(); run != nil {
		v.plan.set(run, true)
	}
	v.root.Refresh()
}

// callRow is one call in the list: its state, its tool, its arguments in short.
type callRow struct {
	widget.BaseWidget
	icon               *widget.Icon
	spinner            *widget.Activity // in place of the icon while the call runs
	turn               int              // of runView.calm in which it was set
	title, side, below *widget.Label
	content, top       *fyne.Container
}

func newCallRow() *callRow {
	r := &callRow{icon: widget.NewIcon(nil), spinner: widget.NewActivity(), title: part.Muted(""), side: widget.NewLabel(""), below: part.Muted("")}
	r.title.Importance = widget.MediumImportance
	r.side.SizeName, r.below.SizeName = fynetheme.SizeNameCaptionText, fynetheme.SizeNameCaptionText
	r.spinner.Hide()
	icon := part.Sign(container.NewStack(r.icon, r.spinner), 18)
	r.top = container.NewBorder(nil, nil, nil, container.NewCenter(r.side), r.title)
	lines := container.NewVBox(part.Tight(r.top), part.Tight(r.below))
	r.content = container.NewBorder(nil, nil, part.Inset(0.5, icon), nil, lines)
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer shows the row.
func (r *callRow) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(r.content) }

func (r *callRow) set(c model.Call) {
	setIcon(r.icon, callIcon(c.State))
	setText(r.title, model.OneLine(c.Tool))
	setText(r.below, c.Brief)
	r.side.Importance = importance(c.State.Tone())
	if setText(r.side, model.CallLine(c)) {
		layOut(r.top) // it may be wider now
	}
}

// spin lets the row show that its call runs, or ends that.
func (r *callRow) spin(on bool) {
	if on == r.spinner.Visible() {
		return
	}
	setShown(r.icon, !on)
	setShown(r.spinner, on)
	if on {
		r.spinner.Start()
	} else {
		r.spinner.Stop()
	}
}

// callIcon is the sign of a call's state.
func callIcon(state model.CallState) fyne.Resource {
	switch state {
	case model.CallDenied, model.CallNotAnswered:
		return theme.Icon("denied", toneColor(state.Tone()))
	case model.CallUnknown:
		return theme.Icon("unknown", toneColor(state.Tone()))
	case model.CallRequested:
		return theme.Icon("pending", toneColor(state.Tone()))
	default:
		return toneIcon(state.Tone())
	}
}

// importance gives a label the colour of what a state means.
func importance(tone model.Tone) widget.Importance {
	switch tone {
	case model.Busy:
		return widget.HighImportance
	case model.Asking:
		return widget.WarningImportance
	case model.Bad:
		return widget.DangerImportance
	default:
		return widget.LowImportance
	}
}

// planView is a plan as a checklist under a progress bar.
type planView struct {
	root  *fyne.Container
	head  *widget.Label
	bar   *widget.ProgressBar
	steps *fyne.Container
	box   *container.Scroll
}

func newPlanView() *planView {
	p := &planView{head: part.Muted(""), bar: widget.NewProgressBar(), steps: container.NewVBox()}
	p.bar.TextFormatter = func() string { return "" }
	p.box = container.NewVScroll(p.steps)
	p.root = part.Card(container.NewVBox(part.Tight(p.head), container.New(thin{}, p.bar), p.box))
	return p
}

// set shows a run's plan; with its steps only where there is room for them.
func (p *planView) set(run *model.Run, steps bool) {
	share, done, of := run.Progress()
	p.root.Hidden = of == 0
	p.head.SetText(fmt.Sprintf("Plan: %d of %d done%s", done, of, model.CurrentStep(run)))
	p.bar.SetValue(share)
	if !steps {
		p.box.Hide()
		return
	}
	p.box.Show()
	p.steps.RemoveAll()
	for _, step := range run.Plan {
		p.steps.Add(planStep(step.Description, step.Status))
	}
	height := min(p.steps.MinSize().Height, 17*theme.Step)
	p.box.SetMinSize(fyne.NewSize(0, height))
}

func planStep(description, status string) fyne.CanvasObject {
	drawing, color := "pending", theme.ColorMuted
	switch status {
	case "in_progress":
		drawing, color = "running", toneColor(model.Busy)
	case "completed":
		drawing, color = "done", theme.ColorGood
	case "skipped":
		drawing = "skipped"
	}
	label := widget.NewLabel(model.OneLine(description))
	label.Truncation = fyne.TextTruncateEllipsis
	label.TextStyle.Bold = status == "in_progress"
	if status == "completed" || status == "skipped" {
		label.Importance = widget.LowImportance
	}
	icon := part.Sign(widget.NewIcon(theme.Icon(drawing, color)), 16)
	return container.NewBorder(nil, nil, icon, nil, part.Tight(label))
}

// thin is the layout of a progress bar that is a line.
type thin struct{}

func (thin) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(0, theme.Step) }

func (thin) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

// textLines puts a text into lines to be shown.
func textLines(text string) []part.TextLine {
	var lines []part.TextLine
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, part.TextLine{Text: strings.ReplaceAll(line, "\t", "    ")})
	}
	return lines
}
