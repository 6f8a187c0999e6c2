package ui

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/marathon"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// marathonPage shows one debug marathon: its tasks, and each rung's answer, time
// and cost.
type marathonPage struct {
	marathons *marathons
	root      fyne.CanvasObject
	id        string        // of the marathon that is shown; "" for none
	mark      string        // what was seen of it in the list
	job       *marathon.Job // whole; nil until it is read
	rows      []model.MarathonRow
	row       int  // that is shown whole
	chosen    bool // by a person: else the newest answer is shown

	choice *widget.Select
	cancel *widget.Button
	note   *widget.Label
	icon   *widget.Icon
	line   *widget.Label
	bar    *widget.ProgressBar
	track  *fyne.Container // bar
	list   *widget.List
	detail *marathonDetail
}

func newMarathonPage(m *marathons) *marathonPage {
	p := &marathonPage{marathons: m, note: newNotice(widget.DangerImportance), icon: widget.NewIcon(nil), line: part.Muted(""), bar: newThinBar(), detail: newMarathonDetail(m.ui)}
	p.track = container.New(thin{}, p.bar)
	p.choice = widget.NewSelect(nil, nil)
	p.choice.OnChanged = func(string) { p.onChosen() }
	p.cancel = widget.NewButtonWithIcon("Cancel", theme.Icon("stop", theme.ColorDestructive), p.onCancel)
	back := widget.NewButtonWithIcon("Activity", fynetheme.NavigateBackIcon(), m.close)
	p.list = widget.NewList(func() int { return len(p.rows) }, func() fyne.CanvasObject { return newMarathonRow() }, p.setRow)
	p.list.HideSeparators = true
	p.list.OnSelected = p.onSelected
	both := container.NewHSplit(p.list, part.Inset(1, p.detail.root))
	both.Offset = 0.38
	head := container.NewBorder(nil, nil, back, p.cancel, p.choice)
	state := container.NewBorder(nil, nil, part.Inset(0.5, part.Sign(p.icon, 18)), nil, part.Tight(p.line))
	p.root = container.NewBorder(container.NewVBox(head, p.note, state, p.track), nil, nil, nil, both)
	return p
}

// choose shows a marathon.
func (p *marathonPage) choose(id string) {
	if p.id != id {
		p.id, p.mark, p.job, p.rows, p.row, p.chosen = id, "", nil, nil, -1, false
		p.detail.clear()
		p.list.UnselectAll()
		p.list.Refresh()
		tell(p.note, "")
	}
	p.set()
}

// set takes in the list of marathons, and reads the one that is shown anew when
// there is something new to see of it.
func (p *marathonPage) set() {
	if p.id == "" {
		return
	}
	p.offer()
	brief := p.marathons.find(p.id)
	if brief == nil {
		p.unread("This marathon cannot be shown", errNoMarathon)
		return
	}
	p.showState(brief)
	mark := model.MarathonMark(brief)
	if mark == p.mark {
		return
	}
	p.mark = mark
	id := p.id
	background(p.marathons.ctx, p.marathons.ui, func(ctx context.Context) (*marathon.Job, error) {
		return p.marathons.source.job(ctx, id)
	}, func(job *marathon.Job, err error) {
		switch {
		case p.id != id:
		case err != nil:
			p.unread("This marathon cannot be shown", err)
		default:
			tell(p.note, "")
			p.show(job)
		}
	})
}

// offer lists the marathons to choose from.
func (p *marathonPage) offer() {
	names, at := []string{}, -1
	for i := range p.marathons.jobs {
		job := &p.marathons.jobs[i]
		names = append(names, model.MarathonChoice(job, p.marathons.now()))
		if job.ID == p.id {
			at = i
		}
	}
	p.choice.Options = names
	if at >= 0 && p.choice.Selected != names[at] {
		p.choice.Selected = names[at] // SetSelected would choose it anew
		p.choice.Refresh()
	}
}

func (p *marathonPage) onChosen() {
	if i := p.choice.SelectedIndex(); i >= 0 && i < len(p.marathons.jobs) {
		p.choose(p.marathons.jobs[i].ID)
	}
}

// showState shows how it stands with the marathon.
func (p *marathonPage) showState(job *marathon.Job) {
	setIcon(p.icon, marathonIcon(job.Status))
	setText(p.line, model.MarathonLine(job))
	p.bar.SetValue(model.MarathonShare(job))
	setShown(p.track, job.Finished == nil)
	setShown(p.cancel, job.Finished == nil)
}

// show shows the whole of the marathon as it was read.
func (p *marathonPage) show(job *marathon.Job) {
	p.job, p.rows = job, model.MarathonRows(job)
	p.list.Refresh()
	if !p.chosen {
		p.row = newestRow(p.rows)
		p.markRow(p.row)
	}
	if p.row >= 0 && p.row < len(p.rows) {
		p.detail.show(p.rows[p.row], p.marathons.now())
	}
}

// newestRow is the last row with something to see: that of the rung that was
// answered, or failed, last; or else the first.
func newestRow(rows []model.MarathonRow) int {
	newest := 0
	for i, row := range rows {
		if row.Rung != nil && (row.Rung.Answer != nil || row.Rung.Error != nil) {
			newest = i
		}
	}
	return newest
}

// markRow marks a row without taking it for a person's choice.
func (p *marathonPage) markRow(row int) {
	p.list.OnSelected = nil
	p.list.Select(row)
	p.list.OnSelected = p.onSelected
}

func (p *marathonPage) onSelected(i widget.ListItemID) {
	if i < len(p.rows) {
		p.row, p.chosen = i, true
		p.detail.show(p.rows[i], p.marathons.now())
	}
}

// onCancel ends the marathon for good.
func (p *marathonPage) onCancel() {
	id := p.id
	p.cancel.Disable()
	save(p.marathons.ui, func(ctx context.Context) (*marathon.Job, error) { return p.marathons.source.cancel(ctx, id) }, func(_ *marathon.Job, err error) {
		p.cancel.Enable()
		if err != nil {
			p.fail("The marathon cannot be cancelled", err)
		}
	})
}

// unread says what could not be read. It is read again with the next change.
func (p *marathonPage) unread(what string, err error) {
	p.mark = ""
	p.fail(what, err)
}

// fail says what could not be done.
func (p *marathonPage) fail(what string, err error) { tell(p.note, what+": "+err.Error()) }

func (p *marathonPage) setRow(i widget.ListItemID, o fyne.CanvasObject) {
	if i < len(p.rows) { // the list may ask for a row that has just gone
		o.(*marathonRow).set(p.rows[i])
	}
}

// marathonRow is one row of the list: a task, or a rung.
type marathonRow struct {
	widget.BaseWidget
	icon        *widget.Icon
	title, side *widget.Label
	indent      fyne.CanvasObject
	content     *fyne.Container
}

func newMarathonRow() *marathonRow {
	// A label that was not made by NewLabel forgets the size it gets first.
	r := &marathonRow{icon: widget.NewIcon(nil), title: widget.NewLabel(""), side: widget.NewLabel(""), indent: part.Gap(2)}
	r.title.Truncation = fyne.TextTruncateEllipsis
	r.side.SizeName, r.side.Importance = fynetheme.SizeNameCaptionText, widget.LowImportance
	r.content = container.NewBorder(nil, nil, container.NewHBox(r.indent, part.Inset(0.5, part.Sign(r.icon, 18))), container.NewCenter(part.Tight(r.side)), part.Tight(r.title))
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer shows the row.
func (r *marathonRow) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(r.content)
}

func (r *marathonRow) set(row model.MarathonRow) {
	setIcon(r.icon, marathonIcon(row.Status()))
	setShown(r.indent, row.Rung != nil)
	setText(r.side, row.Side())
	r.title.TextStyle.Bold = row.Rung == nil
	r.title.SetText(row.Title())
	layOut(r.content) // the sign stands elsewhere now, or the side is wider
}

// marathonDetail shows a row's texts whole.
type marathonDetail struct {
	ui           *UI
	root         fyne.CanvasObject
	title, facts *widget.Label
	copy         *widget.Button
	lines        *part.Lines
	text         string // all of it, to be copied
}

func newMarathonDetail(u *UI) *marathonDetail {
	d := &marathonDetail{ui: u, title: part.Subheading(""), facts: part.Muted(""), lines: part.NewLines()}
	d.copy = newIconButton(theme.Icon("copy", theme.ColorMuted), d.onCopy)
	d.copy.Hide()
	head := container.NewBorder(nil, nil, nil, d.copy, d.title)
	d.root = container.NewBorder(container.NewVBox(head, part.Tight(d.facts)), nil, nil, nil, d.lines)
	return d
}

func (d *marathonDetail) clear() {
	d.title.SetText("")
	d.facts.SetText("")
	d.copy.Hide()
	d.text = ""
	d.lines.Set(nil)
}

func (d *marathonDetail) onCopy() { d.ui.app.Clipboard().SetContent(d.text) }

// show shows a row. What is there already stays where it was scrolled to.
func (d *marathonDetail) show(row model.MarathonRow, now time.Time) {
	setText(d.title, row.Title())
	setText(d.facts, row.Facts(now))
	var shown texts
	for _, text := range row.Texts() {
		shown.add(text.Name, text.Body)
	}
	d.copy.Show()
	if shown.whole.String() != d.text {
		d.text = shown.whole.String()
		d.lines.Set(shown.lines)
	}
}
