package ui

import (
	"context"
	"reflect"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/approvals"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// rulesScreen is what waits for the person, and the decisions that they had
// remembered.
type rulesScreen struct {
	ui   *UI
	page *fyne.Container
	undo *formBar

	seen  remembered
	shown bool // seen is on the page
}

// remembered is what the screen shows, all of about the same moment.
type remembered struct {
	rules   []approvals.Rule
	pending []approvals.Request
}

func newRulesScreen(u *UI) screen { return &rulesScreen{ui: u} }

func (s *rulesScreen) content() fyne.CanvasObject {
	s.shown = false
	s.undo = newFormBar()
	s.page = container.NewStack(part.Muted("Looking …"))
	head := container.NewVBox(part.Heading("Approvals"), part.Gap(0.5))
	return s.undo.in(container.NewBorder(head, s.undo.object, nil, nil, s.page))
}

// enter follows what there is until ctx ends.
func (s *rulesScreen) enter(ctx context.Context) {
	follow(ctx, s.ui, func(ctx context.Context) (remembered, error) {
		rules, err := s.ui.client.Rules(ctx)
		if err != nil {
			return remembered{}, err
		}
		pending, err := s.ui.client.Pending(ctx)
		return remembered{rules, pending}, err
	}, s.set)
}

func (s *rulesScreen) set(now remembered, err error) {
	if err != nil {
		s.undo.fail(err)
		return
	}
	if s.shown && reflect.DeepEqual(now, s.seen) {
		return
	}
	s.seen, s.shown = now, true
	s.page.Objects = []fyne.CanvasObject{s.draw()}
	s.page.Refresh()
}

func (s *rulesScreen) draw() fyne.CanvasObject {
	groups := model.RuleGroups(s.seen.rules, time.Now())
	if len(groups) == 0 && len(s.seen.pending) == 0 {
		return part.Empty(theme.Icon("approvals", theme.ColorMuted), "Nothing is remembered, nothing waits",
			"When a risky call waits, a window asks you. What you have it remember there (for this run, until a time, always) is listed here, and can be taken back.", nil)
	}
	page := part.Stack()
	if len(s.seen.pending) > 0 {
		page.Add(s.drawWaiting())
	}
	for _, group := range groups {
		card := container.NewVBox(part.Subheading(group.Title))
		for i, line := range group.Lines {
			if i > 0 {
				card.Add(widget.NewSeparator())
			}
			card.Add(s.drawRule(line))
		}
		page.Add(part.Card(card))
	}
	if len(groups) == 0 {
		page.Add(part.Muted("Nothing is remembered. The approval window offers to."))
	}
	return scrolled(page)
}

// drawWaiting is what waits, with the way to the window that asks about it.
func (s *rulesScreen) drawWaiting() fyne.CanvasObject {
	look := widget.NewButtonWithIcon("Decide …", theme.Icon("waiting", fynetheme.ColorNameForegroundOnPrimary), s.ui.act("raising what waits", s.ui.approval.Raise))
	look.Importance = widget.HighImportance
	list := container.NewVBox()
	for _, req := range s.seen.pending {
		badge := container.NewHBox(part.Sign(widget.NewIcon(theme.ClassIcon(req.Class)), part.SignSize))
		list.Add(container.NewBorder(nil, nil, badge, nil, spansOf(model.WaitingLine(req))))
	}
	head := container.NewBorder(nil, nil, nil, container.NewCenter(look), part.Subheading(model.WaitingTitle(len(s.seen.pending))))
	return part.Card(container.NewVBox(head, list))
}

func (s *rulesScreen) drawRule(line model.RuleLine) fyne.CanvasObject {
	remove := widget.NewButtonWithIcon("Remove", theme.Icon("remove", theme.ColorMuted), s.ui.act("removing a rule", func() { s.remove(line) }))
	remove.Importance = widget.LowImportance
	words := closely(spansOf(line.Sentence))
	if line.Voided != "" {
		void := part.Words(line.Voided)
		void.Importance = widget.WarningImportance
		words.Add(void)
	}
	words.Add(part.Remark(line.Facts))
	return container.NewBorder(nil, nil, nil, container.NewVBox(remove), words)
}

// spansOf is a sentence with its names set apart.
func spansOf(spans []model.RuleSpan) *widget.RichText {
	text := widget.NewRichText()
	text.Wrapping = fyne.TextWrapWord
	for _, span := range spans {
		text.Segments = append(text.Segments, &widget.TextSegment{Text: span.Text, Style: widget.RichTextStyle{
			Inline: true, ColorName: fynetheme.ColorNameForeground, TextStyle: fyne.TextStyle{Monospace: span.Code, Italic: span.Name},
		}})
	}
	return text
}

func (s *rulesScreen) remove(line model.RuleLine) {
	save(s.ui, func(ctx context.Context) (bool, error) {
		return s.ui.client.RemoveRule(ctx, line.Rule.ID)
	}, func(removed bool, err error) {
		switch {
		case err != nil:
			s.undo.fail(err)
		case removed:
			s.undo.undoable("Removed: "+line.Text(), s.ui.act("restoring a rule", func() { s.restore(line) }))
		}
	})
}

// restore takes a removal back.
func (s *rulesScreen) restore(line model.RuleLine) {
	s.ui.do(func(ctx context.Context) error { return s.ui.client.RestoreRule(ctx, line.Rule) }, func(err error) {
		if err != nil {
			s.undo.fail(err)
		}
	})
}
