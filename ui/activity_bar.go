package ui

import (
	"context"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/journal"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// activityBar narrows the list of sessions, and exports what is left.
type activityBar struct {
	screen  *activityScreen
	head    fyne.CanvasObject // the title and the search
	filters fyne.CanvasObject
	export  *widget.Button

	text                        *widget.Entry
	server, tool, outcome, days *choice
	names                       []journal.ToolName
}

func newActivityBar(s *activityScreen) *activityBar {
	b := &activityBar{screen: s}
	b.text = newSearch("Search in names, arguments, errors", b.onChanged)
	b.server = newChoice("Any server", func() { b.offerTools(); b.onChanged() })
	b.tool = newChoice("Any tool", b.onChanged)
	b.outcome = newChoice("Any outcome", b.onChanged)
	b.days = newChoice("Any day", b.onChanged)
	for _, o := range model.Outcomes() {
		b.outcome.add(o.Word, string(o.Outcome))
	}
	for _, d := range model.DayRanges() {
		b.days.add(string(d), string(d))
	}
	b.export = widget.NewButtonWithIcon("Export", theme.Icon("export", theme.ColorMuted), b.onExport)
	title := part.Heading(screenActivity)
	title.Truncation = fyne.TextTruncateOff
	b.head = container.NewBorder(nil, nil, title, b.export, container.NewCenter(container.NewGridWrap(fyne.NewSize(42*theme.Step, b.text.MinSize().Height), b.text)))
	b.filters = container.NewGridWithColumns(4, b.server.pick, b.tool.pick, b.outcome.pick, b.days.pick)
	return b
}

// load asks the journal which servers and tools can be chosen.
func (b *activityBar) load() {
	journalPage(b.screen.ctx, b.screen.ui, func(ctx context.Context, r *journal.Reader) ([]journal.ToolName, error) {
		return r.Tools(ctx)
	}, func(names []journal.ToolName, err error) {
		if err != nil {
			b.screen.tell("The servers and tools cannot be listed: " + err.Error())
			return
		}
		b.names = names
		b.offerServers()
		b.offerTools()
	})
}

func (b *activityBar) offerServers() {
	b.server.reset()
	for _, n := range b.names {
		if n.Server != "" {
			b.server.add(model.OneLine(n.Server), n.Server)
		}
	}
}

// offerTools offers those of the server that is chosen.
func (b *activityBar) offerTools() {
	b.tool.reset()
	for _, n := range b.names {
		if b.server.value() == "" || b.server.value() == n.Server {
			b.tool.add(model.OneLine(n.Tool), n.Tool)
		}
	}
}

func (b *activityBar) onChanged() {
	search := model.Search{
		Text: b.text.Text, Server: b.server.value(), Tool: b.tool.value(),
		Outcome: journal.Outcome(b.outcome.value()), Days: model.DayRange(b.days.value()),
	}
	if search == b.screen.search {
		return
	}
	b.screen.search = search
	b.screen.tell("")
	b.screen.reload()
}

// clear searches for nothing.
func (b *activityBar) clear() {
	b.text.SetText("")
	for _, c := range []*choice{b.server, b.tool, b.outcome, b.days} {
		c.clear()
	}
}

// choice is a choice of one value, or of any.
type choice struct {
	pick   *widget.Select
	labels []string
	values []string
}

// newChoice returns a choice of any value, as the word says.
func newChoice(anything string, onChanged func()) *choice {
	c := &choice{labels: []string{anything}, values: []string{""}}
	c.pick = widget.NewSelect(c.labels, func(string) { onChanged() })
	c.pick.PlaceHolder = anything
	return c
}

// add offers a value, unless it is offered already.
func (c *choice) add(label, value string) {
	if slices.Contains(c.values, value) {
		return
	}
	if label = model.Shorten(label, longestChoice); slices.Contains(c.labels, label) {
		label += " (another)"
	}
	c.labels, c.values = append(c.labels, label), append(c.values, value)
	c.pick.SetOptions(c.labels)
}

// longestChoice is how many columns of a choice are shown: the list is as wide as
// its longest.
const longestChoice = 36

// reset offers nothing but any value. What is chosen stays so.
func (c *choice) reset() {
	keep := []int{0}
	if i := c.pick.SelectedIndex(); i > 0 {
		keep = append(keep, i)
	}
	var labels []string
	var values []string
	for _, i := range keep {
		labels, values = append(labels, c.labels[i]), append(values, c.values[i])
	}
	c.labels, c.values = labels, values
	c.pick.SetOptions(c.labels)
}

func (c *choice) clear() { c.pick.ClearSelected() }

func (c *choice) value() string {
	return c.values[max(c.pick.SelectedIndex(), 0)]
}
