package ui

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// planView is a plan as a checklist under a progress bar.
type planView struct {
	root  *fyne.Container
	head  *widget.Label
	bar   *widget.ProgressBar
	steps *fyne.Container
	box   *container.Scroll
}

func newPlanView() *planView {
	p := &planView{head: part.Muted(""), bar: newThinBar(), steps: container.NewVBox()}
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
