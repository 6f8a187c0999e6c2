package ui

import (
	"encoding/json"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/approvals"
	"pointsman/gateway/elicit"
	"pointsman/ui/model"
)

// answerField is one field of a server's form.
type answerField struct {
	*formField
	name string
	// value is what the field holds, as JSON; nil when it holds nothing. The error
	// is in words for a person.
	value func() (json.RawMessage, error)
}

// newAnswerField lays a field out, with the server's default in it.
func newAnswerField(f elicit.Field) *answerField {
	a := &answerField{name: f.Name}
	var input fyne.CanvasObject
	switch f.Kind {
	case elicit.Switch:
		input = a.newSwitch(f)
	case elicit.Choice:
		input = a.newChoice(f)
	case elicit.Choices:
		input = a.newChoices(f)
	default:
		input = a.newEntry(f)
	}
	a.formField = newFormField(approvals.Visible(f.Title), model.FieldHint(f), input)
	return a
}

// changed takes away what was wrong with the field: it is looked at again when
// the form is sent.
func (a *answerField) changed() {
	if a.formField != nil { // it is complete
		a.mark("")
	}
}

func (a *answerField) newEntry(f elicit.Field) fyne.CanvasObject {
	entry := widget.NewEntry()
	entry.SetPlaceHolder(model.FieldExample(f))
	entry.SetText(model.FieldPreset(f))
	entry.OnChanged = func(string) { a.changed() }
	a.value = func() (json.RawMessage, error) { return f.Value(entry.Text) }
	return entry
}

// newSwitch is a check. One that may be left out and was not touched is.
func (a *answerField) newSwitch(f elicit.Field) fyne.CanvasObject {
	check := widget.NewCheck("Yes", nil)
	touched := f.Required || f.Default != nil
	check.Checked = string(f.Default) == "true"
	check.OnChanged = func(bool) { touched = true; a.changed() }
	a.value = func() (json.RawMessage, error) {
		if !touched {
			return nil, nil
		}
		return json.Marshal(check.Checked)
	}
	return check
}

// noChoice stands for choosing nothing.
const noChoice = "(none)"

func (a *answerField) newChoice(f elicit.Field) fyne.CanvasObject {
	values, titles := []string{}, []string{}
	if !f.Required {
		values, titles = append(values, ""), append(titles, noChoice)
	}
	for _, o := range f.Options {
		values, titles = append(values, o.Value), append(titles, approvals.Visible(o.Title))
	}
	choice := widget.NewSelect(titles, nil)
	if at := slices.Index(values, model.FieldPreset(f)); at >= 0 && f.Default != nil {
		choice.SetSelectedIndex(at)
	}
	choice.OnChanged = func(string) { a.changed() }
	a.value = func() (json.RawMessage, error) {
		at := choice.SelectedIndex()
		if at < 0 || !f.Required && at == 0 {
			return nil, missing(f)
		}
		return json.Marshal(values[at])
	}
	return choice
}

func (a *answerField) newChoices(f elicit.Field) fyne.CanvasObject {
	var preset []string
	if f.Default != nil && json.Unmarshal(f.Default, &preset) != nil {
		preset = nil
	}
	column := container.NewVBox()
	var checks []*widget.Check
	for _, o := range f.Options {
		check := widget.NewCheck(approvals.Visible(o.Title), func(bool) { a.changed() })
		check.Checked = slices.Contains(preset, o.Value)
		checks = append(checks, check)
		column.Add(check)
	}
	a.value = func() (json.RawMessage, error) {
		chosen := []string{}
		for i, check := range checks {
			if check.Checked {
				chosen = append(chosen, f.Options[i].Value)
			}
		}
		if len(chosen) == 0 && !f.Required {
			return nil, nil
		}
		raw, err := json.Marshal(chosen)
		if err != nil {
			return nil, err
		}
		return raw, f.Fault(raw)
	}
	return column
}

// missing says that a field has to be filled in, if it has to be.
func missing(f elicit.Field) error {
	_, err := f.Value("")
	return err
}
