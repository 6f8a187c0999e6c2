package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// serverToolRow is a tool in its server's list.
type serverToolRow struct {
	widget.BaseWidget
	page  *serverPage
	tool  model.ServerTool
	on    *widget.Check
	text  *widget.RichText
	class *look
	ask   *widget.Select
}

func newServerToolRow(p *serverPage) *serverToolRow {
	r := &serverToolRow{page: p, on: widget.NewCheck("", nil), text: newTextBlock(), class: newLook(), ask: widget.NewSelect(model.AskWords(), nil)}
	r.set(model.ServerTool{}) // of the size that every row has
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer lays the row out: offered or not, the tool, its class, when it
// asks.
func (r *serverToolRow) CreateRenderer() fyne.WidgetRenderer {
	class := container.NewGridWrap(fyne.NewSize(15*theme.Step, 4*theme.Step), r.class.object)
	ask := container.NewGridWrap(fyne.NewSize(17*theme.Step, 4.5*theme.Step), r.ask)
	end := container.NewHBox(container.NewCenter(class), container.NewCenter(ask))
	return widget.NewSimpleRenderer(container.NewBorder(nil, nil, container.NewCenter(r.on), part.Row(end, part.Gap(1)), clipped(r.text)))
}

// set shows a tool. Nothing the row does by itself counts as the user's doing.
func (r *serverToolRow) set(t model.ServerTool) {
	r.tool = t
	r.on.OnChanged, r.ask.OnChanged = nil, nil
	r.on.SetChecked(t.On)
	r.ask.SetSelectedIndex(int(t.Ask))
	r.on.OnChanged = func(on bool) { r.page.onOffer(r.tool, on) }
	r.ask.OnChanged = func(string) { r.page.onAsk(r.tool, model.Ask(r.ask.SelectedIndex())) }
	r.class.setClass(t.Class)
	name := fynetheme.ColorNameForeground
	if t.Missing != nil {
		name = theme.ColorMuted
	}
	setLines(r.text, textLine(model.OneLine(t.Tool), name, fynetheme.SizeNameText, true),
		textLine(t.About(), theme.ColorMuted, fynetheme.SizeNameCaptionText, false),
		textLine("Why: "+t.Reason(), theme.ColorMuted, fynetheme.SizeNameCaptionText, false))
}
