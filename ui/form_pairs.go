package ui

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// formPairs are rows of names and values. A secret value is masked, and never
// shown back.
type formPairs struct {
	section string // the field's name in model.Faults
	field   *formField
	lines   *fyne.Container
	rows    []*formPair
}

// formPair is one row.
type formPair struct {
	object     *fyne.Container
	key, value *widget.Entry
	secret     *widget.Check
	fault      *widget.Label
	kept       model.Pair // as it was
	touched    bool       // the user has said whether it is secret
}

func newFormPairs(section, label, hint, add string) *formPairs {
	p := &formPairs{section: section, lines: container.NewVBox()}
	more := widget.NewButtonWithIcon(add, theme.Icon("add", theme.ColorMuted), func() { p.add(model.Pair{}) })
	p.field = newFormField(label, hint, container.NewVBox(p.lines, container.NewHBox(more)))
	return p
}

// set shows rows in the place of those that are there.
func (p *formPairs) set(rows []model.Pair) {
	p.rows = nil
	p.lines.RemoveAll()
	for _, row := range rows {
		p.add(row)
	}
}

func (p *formPairs) add(pair model.Pair) {
	row := &formPair{key: widget.NewEntry(), value: widget.NewEntry(), fault: newNotice(widget.DangerImportance), kept: pair}
	row.key.SetPlaceHolder("NAME")
	row.key.SetText(pair.Key)
	row.value.SetText(pair.Value)
	row.secret = widget.NewCheck("Secret", func(bool) { row.touched = true; row.update() })
	row.secret.Checked = pair.Secret
	row.key.OnChanged = func(key string) { row.onKey(key) }
	remove := newIconButton(theme.Icon("remove", theme.ColorMuted), func() { p.remove(row) })
	row.object = container.NewVBox(container.NewBorder(nil, nil, nil, container.NewHBox(row.secret, remove),
		container.NewGridWithColumns(2, row.key, row.value)), row.fault)
	row.update()
	p.rows = append(p.rows, row)
	p.lines.Add(row.object)
}

func (p *formPairs) remove(row *formPair) {
	p.lines.Remove(row.object)
	for i, other := range p.rows {
		if other == row {
			p.rows = append(p.rows[:i:i], p.rows[i+1:]...)
			return
		}
	}
}

// onKey takes a name that sounds like a secret's for one, until the user says
// what it is.
func (r *formPair) onKey(key string) {
	if !r.touched && r.kept.Key == "" {
		r.secret.Checked = model.LooksSecret(key)
		r.secret.Refresh()
		r.update()
	}
}

// update masks a secret value and says where it is or goes.
func (r *formPair) update() {
	r.value.Password = r.secret.Checked
	switch {
	case r.kept.KeptWords() != "":
		r.value.SetPlaceHolder(r.kept.KeptWords())
	case r.secret.Checked:
		r.value.SetPlaceHolder("Goes to the keychain")
	default:
		r.value.SetPlaceHolder("value")
	}
	r.value.Refresh()
}

// pairs are the rows as they stand.
func (p *formPairs) pairs() []model.Pair {
	list := make([]model.Pair, len(p.rows))
	for i, row := range p.rows {
		list[i] = row.kept
		list[i].Key, list[i].Value, list[i].Secret = row.key.Text, row.value.Text, row.secret.Checked
	}
	return list
}

// mark says what is wrong with the rows.
func (p *formPairs) mark(faults model.Faults) {
	p.field.mark(faults[p.section])
	for i, row := range p.rows {
		tell(row.fault, faults[p.section+"."+strconv.Itoa(i)])
	}
}
