package ui

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/models"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// modelHealth is a list of how the deployments are doing.
type modelHealth struct {
	object  fyne.CanvasObject
	summary *widget.Label
	list    *widget.List
	lines   []model.DeploymentLine
}

func newModelHealth() *modelHealth {
	h := &modelHealth{summary: part.Words("")}
	h.list = widget.NewList(func() int { return len(h.lines) }, func() fyne.CanvasObject { return newDeploymentRow() },
		func(i widget.ListItemID, o fyne.CanvasObject) { o.(*deploymentRow).set(h.lines[i]) })
	h.list.OnSelected = h.onSelected
	h.object = container.NewBorder(container.NewVBox(part.Gap(0.5), h.summary, widget.NewSeparator()), nil, nil, nil, h.list)
	return h
}

func (h *modelHealth) set(list []models.DeploymentHealth) {
	h.lines = model.DeploymentLines(list, time.Now())
	h.summary.SetText(model.DeploymentSummary(list, time.Now()))
	h.list.Refresh()
}

// onSelected shows a deployment's last error whole.
func (h *modelHealth) onSelected(i widget.ListItemID) {
	h.list.UnselectAll()
	if line := h.lines[i]; line.Error != "" {
		h.summary.SetText(line.Name + " · " + line.Error)
	}
}

// deploymentRow is a deployment in the list.
type deploymentRow struct {
	widget.BaseWidget
	text  *widget.RichText
	state *look
}

func newDeploymentRow() *deploymentRow {
	r := &deploymentRow{text: newTextBlock(), state: newLook()}
	r.set(model.DeploymentLine{Group: "group", Name: "name", Word: "state", Count: "count", Error: "error"})
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer lays the row out: whose it is and where, how it did, its state.
func (r *deploymentRow) CreateRenderer() fyne.WidgetRenderer {
	state := container.NewCenter(container.NewGridWrap(fyne.NewSize(28*theme.Step, r.state.object.MinSize().Height), r.state.object))
	return widget.NewSimpleRenderer(part.Inset(0.5, container.NewBorder(nil, nil, nil, state, clipped(r.text))))
}

func (r *deploymentRow) set(line model.DeploymentLine) {
	caption := fynetheme.SizeNameCaptionText
	setLines(r.text, textLine(model.OneLine(line.Group), fynetheme.ColorNameForeground, fynetheme.SizeNameText, true),
		textLine(model.OneLine(line.Name)+" · "+line.Count+" · "+line.Address, theme.ColorMuted, caption, false),
		textLine(line.Error, theme.ColorDestructive, caption, false))
	r.state.set(line.Word, toneIcon(line.Tone), toneColor(line.Tone))
}
