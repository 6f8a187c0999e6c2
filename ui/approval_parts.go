package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/approvals"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

const (
	defaultWidth  float32 = 80 * theme.Step
	defaultHeight float32 = 72 * theme.Step
)

// The sections of a call's text.
const (
	sectionWarning    = "What is destructive in it"
	sectionDefinition = "What changed in the tool"
	sectionChange     = "What would change"
	sectionArguments  = "Arguments"
	sectionEdited     = "Arguments, edited by you"
	sectionDetails    = "About this call"
)

// approvalParts are the things in the approval window. They decide nothing.
type approvalParts struct {
	root fyne.CanvasObject

	stripe   *part.Surface // in the class's colour
	badge    *look
	meaning  mutedText
	previous *keyedButton
	position *widget.Label
	next     *keyedButton
	left     *widget.Label // time
	heading  *widget.Label
	forWhom  mutedText
	why      *widget.Label
	planStep *widget.Label

	jumps  *fyne.Container
	undo   *keyedButton
	edit   *keyedButton
	text   *textView
	editor *escapeEntry
	fault  *keyedButton

	notice   *widget.Label
	sentence *widget.Label
	reason   *escapeEntry
	remember *keyedButton
	deny     *keyedButton
	orType   mutedText
	digits   *widget.Label
	approve  *approveButton

	keys *approvalKeys
}

func newApprovalParts(w *approvalWindow) *approvalParts {
	p := &approvalParts{keys: &approvalKeys{rune: w.onRune, key: w.onKey}}
	p.makeHeader(w)
	p.makeBody(w)
	p.makeFooter(w)
	p.root = container.NewBorder(p.header(), p.footer(), nil, nil, p.body())
	return p
}

func (p *approvalParts) makeHeader(w *approvalWindow) {
	p.stripe = part.NewSurface(theme.ColorMuted, "", 0)
	p.badge = newLook()
	p.meaning = newMutedText(fyne.TextWrapOff)
	p.meaning.Truncation = fyne.TextTruncateEllipsis
	p.previous = newKeyedButton("", p.keys, func() { w.step(-1) })
	p.previous.Icon, p.previous.Importance = fynetheme.NavigateBackIcon(), widget.LowImportance
	p.next = newKeyedButton("", p.keys, func() { w.step(1) })
	p.next.Icon, p.next.Importance = fynetheme.NavigateNextIcon(), widget.LowImportance
	p.position = widget.NewLabel("")
	p.left = widget.NewLabel("")
	p.heading = words(fyne.TextWrapBreak)
	p.heading.SizeName, p.heading.TextStyle = fynetheme.SizeNameSubHeadingText, fyne.TextStyle{Bold: true}
	p.forWhom = newMutedText(fyne.TextWrapOff)
	p.forWhom.Truncation = fyne.TextTruncateEllipsis // all of it is told about the call below
	p.why, p.planStep = words(fyne.TextWrapWord), words(fyne.TextWrapWord)
}

// words is a line of the header or the footer, that may need more than one.
func words(wrap fyne.TextWrap) *widget.Label { return &widget.Label{Wrapping: wrap} }

func (p *approvalParts) header() fyne.CanvasObject {
	bar := canvas.NewRectangle(color.Transparent)
	bar.SetMinSize(fyne.NewSize(1, theme.Step/2))
	top := container.NewBorder(nil, nil, p.badge.object, container.NewHBox(p.previous, p.position, p.next, p.left), p.meaning)
	lines := container.New(layout.NewCustomPaddedVBoxLayout(-1.25*theme.Step), p.heading, p.forWhom, p.why, p.planStep)
	return container.NewVBox(container.NewStack(bar, p.stripe), sides(sides(top)), sides(lines))
}

// sides puts room at either side.
func sides(content fyne.CanvasObject) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedLayout(0, 0, theme.Step, theme.Step), content)
}

func (p *approvalParts) makeBody(w *approvalWindow) {
	p.jumps = container.NewHBox()
	p.undo = newKeyedButton("Undo edits", p.keys, w.onUndo)
	p.undo.Importance = widget.LowImportance
	p.edit = newKeyedButton("Edit", p.keys, w.onEdit)
	p.edit.Importance = widget.LowImportance
	p.text = newTextView()
	p.editor = newEscapeEntry(w.deny)
	p.editor.MultiLine, p.editor.Wrapping, p.editor.TextStyle = true, fyne.TextWrapBreak, monospace()
	p.editor.OnChanged = w.onEdited
	p.fault = newKeyedButton("", p.keys, w.onFault)
	p.fault.Importance, p.fault.Alignment, p.fault.Icon = widget.DangerImportance, widget.ButtonAlignLeading, fynetheme.ErrorIcon()
}

func (p *approvalParts) body() fyne.CanvasObject {
	tools := container.NewBorder(nil, nil, p.jumps, container.NewHBox(p.undo, p.edit))
	card := container.NewStack(part.NewSurface(theme.ColorCard, theme.ColorLine, theme.Step), container.New(
		layout.NewCustomPaddedLayout(theme.Step/2, theme.Step/2, 1, 1), p.text), p.editor)
	return sides(container.NewBorder(tools, p.fault, nil, nil, card))
}

func (p *approvalParts) makeFooter(w *approvalWindow) {
	p.notice = words(fyne.TextWrapWord)
	p.notice.Importance = widget.WarningImportance
	p.sentence = words(fyne.TextWrapWord)
	p.reason = newEscapeEntry(w.deny)
	p.reason.SetPlaceHolder("Reason for a denial, told to the model")
	p.remember = newKeyedButton(model.ThisCallOnly, p.keys, func() { w.offer(w.menu()) })
	p.remember.Icon, p.remember.IconPlacement = fynetheme.MenuDropDownIcon(), widget.ButtonIconTrailingText
	p.deny = newKeyedButton("Deny", p.keys, w.deny)
	p.orType = newMutedText(fyne.TextWrapOff)
	p.orType.setText("or type")
	p.digits = &widget.Label{SizeName: fynetheme.SizeNameSubHeadingText, TextStyle: fyne.TextStyle{Monospace: true, Bold: true}}
	p.approve = newApproveButton()
	p.approve.pressed, p.approve.released, p.approve.clicked = w.onPress, w.onRelease, w.onClick
}

func (p *approvalParts) footer() fyne.CanvasObject {
	options := container.NewBorder(nil, nil, nil, p.remember, p.reason)
	buttons := container.NewBorder(nil, nil, p.deny, container.New(layout.NewCustomPaddedHBoxLayout(0), container.NewCenter(p.orType), container.NewCenter(p.digits), part.Gap(0.5), p.approve))
	said := container.New(layout.NewCustomPaddedVBoxLayout(-1.25*theme.Step), p.notice, p.sentence)
	return container.New(layout.NewCustomPaddedLayout(0, theme.Step, theme.Step, theme.Step),
		container.New(layout.NewCustomPaddedVBoxLayout(theme.Step), said, options, buttons))
}

// present shows another request.
func (p *approvalParts) present(w *approvalWindow) {
	view := model.ViewOf(w.request)
	p.stripe.SetFill(theme.ClassColor(w.request.Class))
	p.badge.setClass(w.request.Class)
	p.meaning.setText(view.Class.Meaning)
	p.heading.SetText(view.Heading)
	p.forWhom.setText(view.For)
	tell(p.why, view.Why)
	tell(p.planStep, planLine(view.PlanStep))
	p.reason.SetText("")
	p.editor.SetText("")
	p.approve.held = view.Held
	p.approve.fill = fynetheme.ColorNamePrimary
	if view.Held {
		p.approve.fill = theme.ClassColor(w.request.Class)
	}
	p.write(w)
	p.text.Top()
}

func planLine(step string) string {
	if step == "" {
		return ""
	}
	return "Plan step: " + step
}

// write shows the call's text, or the editor.
func (p *approvalParts) write(w *approvalWindow) {
	if w.edit.open {
		p.text.Hide()
		p.editor.Show()
		p.jumps.Objects = nil
		return
	}
	p.editor.Hide()
	p.text.Show()
	arguments := sectionArguments
	if w.edit.args != nil {
		arguments = sectionEdited
	}
	var lines []model.TextLine
	p.jumps.Objects = nil
	add := func(heading string, section []model.TextLine) {
		if len(section) == 0 {
			return
		}
		lines = append(append(lines, model.TextLine{Kind: model.TextHeading, Text: heading}), section...)
		jump := newKeyedButton(heading, p.keys, func() { p.text.GoTo(heading) })
		jump.Importance = widget.LowImportance
		p.jumps.Add(jump)
	}
	add(sectionWarning, model.WarningLines(w.request))
	add(sectionDefinition, model.DefinitionLines(w.request))
	add(sectionChange, w.change)
	section := model.ArgumentLines(w.current())
	if names := model.ArgumentNames(w.current()); names != "" {
		section = append([]model.TextLine{{Kind: model.TextNote, Text: names}}, section...)
	}
	add(arguments, section)
	add(sectionDetails, model.DetailLines(w.request))
	p.text.SetLines(lines)
	p.jumps.Refresh()
}

// update shows what changes while a request is on the screen.
func (p *approvalParts) update(w *approvalWindow) {
	if w.request.ID == "" {
		return
	}
	p.updateHeader(w)
	p.updateEditing(w)
	tell(p.notice, w.notice)
	importance := widget.MediumImportance
	if w.choice.Wide {
		importance = widget.WarningImportance
	}
	tellAs(p.sentence, importance, w.choice.Sentence)
	p.remember.SetText(rememberLabel(w.choice))
	p.deny.SetText(model.DenyLabel(w.choice))
	p.updateApprove(w)
	for _, b := range []*keyedButton{p.deny, p.remember, p.undo} {
		setEnabled(b, w.waiting())
	}
	setEnabled(p.edit, w.waiting() && w.edit.fault == nil && len(w.request.Arguments) <= model.MostEdited)
	p.arrange()
}

func rememberLabel(choice model.ScopeChoice) string {
	if choice.Scope == nil {
		return model.ThisCallOnly
	}
	return choice.Title + ", " + choice.Verb
}

func (p *approvalParts) updateHeader(w *approvalWindow) {
	left, soon := model.TimeLeft(w.request.Deadline, w.opts.Clock.Now())
	importance := widget.LowImportance
	if soon {
		importance = widget.WarningImportance
	}
	tellAs(p.left, importance, left)
	tell(p.position, w.queue.Position())
	for _, b := range []*keyedButton{p.previous, p.next} {
		setShown(b, len(w.queue.Waiting()) > 1)
	}
}

func (p *approvalParts) updateEditing(w *approvalWindow) {
	p.edit.SetText("Edit")
	if w.edit.open {
		p.edit.SetText("Done")
	}
	p.undo.Hidden = !w.edit.open && w.edit.args == nil
	p.fault.Hidden = w.edit.fault == nil
	if w.edit.fault != nil {
		p.fault.SetText(approvals.Visible(w.edit.fault.Error()))
	}
	p.undo.Refresh()
	p.fault.Refresh()
}

// arrange puts everything in its place for what it holds now. Wrapped text knows
// its height when it has its width, hence twice. The driver does so, too, but
// only after it has shown a picture of what was before.
func (p *approvalParts) arrange() {
	for range 2 {
		arrange(p.root)
	}
}

func arrange(o fyne.CanvasObject) {
	box, ok := o.(*fyne.Container)
	if !ok || !box.Visible() {
		return
	}
	if box.Layout != nil {
		box.Layout.Layout(box.Objects, box.Size())
	}
	for _, inner := range box.Objects {
		arrange(inner)
	}
}

// updateApprove shows whether, and how, the call can be approved now.
func (p *approvalParts) updateApprove(w *approvalWindow) {
	b := p.approve
	b.ready = w.guard.Ready()
	b.holding = w.guard.Holding()
	b.text = model.ApproveLabel(b.held, w.choice)
	if w.deciding {
		b.text = "Sending …"
	}
	b.Refresh()
	p.digits.Importance = widget.LowImportance
	if b.ready {
		p.digits.Importance = widget.MediumImportance
	}
	p.digits.SetText(digitsLine(w.guard.Code(), w.guard.Typed()))
}

// digitsLine shows the two digits that approve, and hides one that is typed.
func digitsLine(code string, typed int) string {
	if len(code) != 2 {
		return ""
	}
	if typed > 0 {
		return "• " + code[1:]
	}
	return code[:1] + " " + code[1:]
}

// mutedText is words beside the point, over as many lines as they need. Fyne's
// own muted label is paler than small text may be.
type mutedText struct{ *widget.RichText }

func newMutedText(wrap fyne.TextWrap) mutedText {
	text := mutedText{widget.NewRichText(&widget.TextSegment{Style: widget.RichTextStyle{ColorName: theme.ColorMuted, SizeName: fynetheme.SizeNameCaptionText}})}
	text.Wrapping = wrap
	return text
}

func (t mutedText) setText(words string) {
	t.Segments[0].(*widget.TextSegment).Text = words
	t.Refresh()
}
