package ui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// tryServer tries an entry, with secrets that are not in the keychain yet.
func tryServer(s *serversScreen, t *formTrial, name string, entry config.MCPServer, secrets map[string]string) {
	try(s.ctx, t, "Connecting, and asking for its tools …", func(ctx context.Context) (control.ServerTest, error) {
		return s.ui.client.TestServer(ctx, name, entry, secrets)
	}, serverResult)
}

// lastLines is how many lines of what a server wrote are shown.
const lastLines = 40

func serverResult(result control.ServerTest, err error) trialResult {
	if err != nil {
		return notTried(err)
	}
	if result.State == servers.Connected {
		word := fmt.Sprintf("It works: %s, in %s", model.CountOf(len(result.Tools), "tool"), result.Duration.Round(time.Millisecond))
		return trialResult{word, "done", theme.ColorGood, []fyne.CanvasObject{trialTools(result.Tools)}}
	}
	word, icon, tone := model.ServerStateLook(result.State)
	r := trialResult{word, icon, toneColor(tone), []fyne.CanvasObject{part.Words(model.Sentence(model.Printed(result.Error)))}}
	if lines := result.Stderr; len(lines) > 0 {
		lines = lines[max(0, len(lines)-lastLines):]
		r.details = append(r.details, part.Muted("What it wrote last:"), outputBox(strings.Join(lines, "\n"), 0, 14*theme.Step))
	}
	return r
}

// trialTools lists what a server offers, with its classes.
func trialTools(rows []tools.Row) fyne.CanvasObject {
	list := widget.NewList(func() int { return len(rows) }, func() fyne.CanvasObject { return newTrialTool() },
		func(i widget.ListItemID, o fyne.CanvasObject) { o.(*trialTool).set(rows[i]) })
	list.OnSelected = func(widget.ListItemID) { list.UnselectAll() }
	room := container.NewStack(part.Gap(float32(min(len(rows), 3))*6.5), list)
	return room
}

// trialTool is a tool of a server that was tried out.
type trialTool struct {
	widget.BaseWidget
	text  *widget.RichText
	class *look
}

func newTrialTool() *trialTool {
	r := &trialTool{text: newTextBlock(), class: newLook()}
	r.set(tools.Row{})
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer lays the row out: the tool, its class.
func (r *trialTool) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewBorder(nil, nil, nil, container.NewCenter(r.class.object), clipped(r.text)))
}

func (r *trialTool) set(row tools.Row) {
	t := model.ServerTool{Row: row, On: true}
	r.class.setClass(row.Class)
	setLines(r.text, textLine(model.OneLine(row.Tool), fynetheme.ColorNameForeground, fynetheme.SizeNameText, true),
		textLine(t.Reason(), theme.ColorMuted, fynetheme.SizeNameCaptionText, false))
}
