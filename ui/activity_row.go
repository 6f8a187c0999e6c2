package ui

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// timelineRow is one row of a session's timeline: of a call its state, its tool, what
// kind of call it was, what was decided and its arguments in short; of a turn its
// model and what it took.
type timelineRow struct {
	widget.BaseWidget
	icon               *widget.Icon
	spinner            *widget.Activity // in place of the icon while the call runs
	turn               int              // of sessionView.calm in which it was set
	title, side, below *widget.Label
	content, top       *fyne.Container
}

func newTimelineRow() *timelineRow {
	r := &timelineRow{icon: widget.NewIcon(nil), spinner: widget.NewActivity(), title: part.Muted(""), side: widget.NewLabel(""), below: part.Muted("")}
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
func (r *timelineRow) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(r.content)
}

func (r *timelineRow) set(row model.Row, now time.Time) {
	if bold := row.Turn != nil; r.title.TextStyle.Bold != bold {
		r.title.TextStyle.Bold = bold
		r.title.Refresh()
	}
	if row.Turn != nil {
		state, tone := model.TurnState(row.Turn, now)
		r.show(toneIcon(tone), tone, model.TurnTitle(row.Turn), model.TurnLine(row.Turn), state)
		return
	}
	c := *row.Call
	r.show(callIcon(c.State), c.State.Tone(), model.OneLine(c.Tool), model.CallFacts(c), model.CallLine(c))
}

func (r *timelineRow) show(icon fyne.Resource, tone model.Tone, title, below, side string) {
	setIcon(r.icon, icon)
	setText(r.title, title)
	setText(r.below, below)
	if r.side.Importance != importance(tone) {
		r.side.Importance = importance(tone)
		r.side.Refresh()
	}
	if setText(r.side, side) {
		layOut(r.top) // it may be wider now
	}
}

// spin lets the row show that its call runs, or ends that.
func (r *timelineRow) spin(on bool) {
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
