package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// settingActs are what a row can do.
type settingActs struct {
	safely func(func()) // runs the rest, and what else a widget calls
	save   func()
	keep   func(mine bool)
	repair func()
}

// settingRow is one setting: its name and what it is for, its field, and below
// what there is to say about what it holds.
type settingRow struct {
	box   *fyne.Container
	field *model.SettingField
	acts  settingActs

	showing bool // what the widgets report comes from us
	control fyne.CanvasObject
	text    *textField
	check   *widget.Check
	choice  *widget.Select

	hint, saved, problem, conflict *widget.Label
	offer, repair                  *widget.Button
	choose                         fyne.CanvasObject
}

func newSettingRow(field *model.SettingField, acts settingActs) *settingRow {
	r := &settingRow{field: field, acts: acts, hint: part.Remark(field.Hint), saved: part.Muted("")}
	r.saved.Truncation = fyne.TextTruncateOff
	r.problem, r.conflict = newNotice(widget.DangerImportance), newNotice(widget.WarningImportance)
	r.offer = widget.NewButton("", r.safe(r.onOffer))
	r.repair = widget.NewButton("Repair", r.safe(acts.repair))
	mine := widget.NewButton("Keep mine", r.safe(func() { acts.keep(true) }))
	theirs := widget.NewButton("Take the file's", r.safe(func() { acts.keep(false) }))
	r.choose = beside(mine, theirs)
	r.makeControl()
	name := closely(widget.NewLabel(field.Label), r.hint)
	right := part.Row(r.saved, container.NewGridWrap(fyne.NewSize(22*theme.Step, r.control.MinSize().Height), r.control))
	r.box = container.NewVBox(
		container.NewBorder(nil, nil, nil, container.NewVBox(right), name),
		r.problem, beside(r.offer, r.repair), r.conflict, r.choose)
	r.show(false)
	return r
}

// closely puts lines of text above each other that belong together.
func closely(lines ...fyne.CanvasObject) *fyne.Container {
	return container.New(closeLines{layout.NewCustomPaddedVBoxLayout(-1.5 * theme.Step)}, lines...)
}

// closeLines is the layout of closely. It waits until there is some width: to break a
// long text of a script that has no font here into lines of a character each, which
// is what no width comes to, takes seconds.
type closeLines struct{ column fyne.Layout }

// MinSize is the least room for the lines.
func (c closeLines) MinSize(objects []fyne.CanvasObject) fyne.Size { return c.column.MinSize(objects) }

// Layout lays the lines out, once there is room for some words.
func (c closeLines) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if size.Width > 4*theme.Step {
		c.column.Layout(objects, size)
	}
}

// beside puts buttons beside each other, where the text above them begins.
func beside(buttons ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedLayout(0, 0, theme.Step, 0), part.Row(buttons...))
}

func (r *settingRow) makeControl() {
	switch r.field.Kind {
	case model.SwitchSetting:
		r.check = widget.NewCheck("", func(on bool) {
			text := model.Off
			if on {
				text = model.On
			}
			r.enter(text)
		})
		r.control = r.check
	case model.ChoiceSetting:
		var labels []string
		for _, choice := range r.field.Choices {
			labels = append(labels, choice.Label)
		}
		r.choice = widget.NewSelect(labels, func(string) {
			if at := r.choice.SelectedIndex(); at >= 0 {
				r.enter(r.field.Choices[at].Value)
			}
		})
		r.control = r.choice
	default:
		r.text = newTextField(func(text string) { r.acts.safely(func() { r.enterOnly(text) }) }, r.safe(r.acts.save), r.safe(r.onRevert))
		r.control = r.text
	}
}

// enter takes in a choice, which is saved at once.
func (r *settingRow) enter(text string) {
	if r.showing {
		return
	}
	r.acts.safely(func() {
		r.field.Enter(text)
		r.acts.save()
	})
}

// safe is what a widget calls, run safely.
func (r *settingRow) safe(f func()) func() { return func() { r.acts.safely(f) } }

// enterOnly takes in a text, which is saved when it is complete.
func (r *settingRow) enterOnly(text string) {
	if r.showing {
		return
	}
	r.field.Enter(text)
	r.show(!r.repair.Hidden)
}

func (r *settingRow) onRevert() {
	r.field.Revert()
	r.show(!r.repair.Hidden)
}

func (r *settingRow) onOffer() {
	r.field.Enter(r.field.Offer)
	r.acts.save()
}

// show shows the field as it is.
func (r *settingRow) show(repair bool) {
	r.showing = true
	defer func() { r.showing = false }()
	f := r.field
	switch {
	case r.check != nil:
		r.check.SetChecked(f.Text == model.On)
		setEnabled(r.check, f.Fixed == "")
	case r.choice != nil:
		r.showChoice(f)
		setEnabled(r.choice, f.Fixed == "")
	default:
		if r.text.Text != f.Text {
			r.text.SetText(f.Text)
		}
		setEnabled(r.text, f.Fixed == "")
	}
	setText(r.hint, hintOf(f))
	setText(r.saved, savedWord(f))
	tell(r.problem, f.Problem)
	r.offer.SetText("Use " + f.Offer)
	setShown(r.offer, f.Offer != "")
	setShown(r.repair, repair)
	setText(r.conflict, "The file says “"+f.Theirs+"” since you began. You entered “"+f.Mine+"”.")
	setShown(r.conflict, f.Conflict)
	setShown(r.choose, f.Conflict)
}

// showChoice selects the value; one that the form does not know is shown as it
// is.
func (r *settingRow) showChoice(f *model.SettingField) {
	r.choice.ClearSelected()
	for i, choice := range f.Choices {
		if choice.Value == f.Text {
			r.choice.SetSelectedIndex(i)
		}
	}
}

func hintOf(f *model.SettingField) string {
	switch {
	case f.Fixed != "":
		return "Cannot be changed here: " + f.Fixed + "."
	case f.Restart:
		return f.Hint + " Takes effect at the next start."
	}
	return f.Hint
}

func savedWord(f *model.SettingField) string {
	if f.Saved {
		return "✓ Saved"
	}
	return ""
}

// textField is a line of text that is complete with Enter or when it is left, and
// taken back with Escape.
type textField struct {
	escapeEntry
	onComplete func()
}

func newTextField(onChange func(string), onComplete, onEscape func()) *textField {
	f := &textField{escapeEntry: escapeEntry{escape: onEscape}, onComplete: onComplete}
	f.ExtendBaseWidget(f)
	f.OnChanged = onChange
	f.OnSubmitted = func(string) { f.onComplete() }
	return f
}

// FocusLost completes what was entered.
func (f *textField) FocusLost() {
	f.Entry.FocusLost()
	f.onComplete()
}
