package ui

import (
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"pointsman/ui/model"
)

// approvalEdit is what a person has made of the arguments.
type approvalEdit struct {
	open  bool   // the editor is on the screen
	start string // the arguments as they came, laid out for editing
	args  json.RawMessage
	fault error
}

// onEdit opens the editor, or closes it when its text is in order.
func (w *approvalWindow) onEdit() {
	switch {
	case !w.edit.open:
		w.edit.open = true
		if w.edit.start == "" {
			w.edit.start = model.EditableJSON(w.request.Arguments)
			w.parts.editor.SetText(w.edit.start)
		}
	case w.edit.fault == nil:
		w.edit.open = false
		w.win.Canvas().Unfocus()
		w.load()
	}
	w.parts.write(w)
	w.parts.update(w)
}

// onUndo takes the arguments as they came again.
func (w *approvalWindow) onUndo() {
	w.edit = approvalEdit{}
	w.win.Canvas().Unfocus()
	w.narrow()
	w.load()
	w.parts.write(w)
	w.parts.update(w)
}

// onEdited looks at what the editor holds. Only text that was changed makes the
// arguments edited ones.
func (w *approvalWindow) onEdited(text string) {
	if !w.edit.open {
		return
	}
	w.edit.args, w.edit.fault = nil, nil
	if text != w.edit.start {
		w.edit.args, w.edit.fault = model.EditedArguments(w.request, text)
	}
	w.narrow()
	w.parts.update(w)
}

// narrow drops what was chosen for other arguments: a folder that held their
// paths need not hold those of the new ones.
func (w *approvalWindow) narrow() {
	w.folders = nil
	if w.choice.Scope != nil && w.choice.Scope.PathPrefix != "" || w.choice.Scope != nil && w.choice.Scope.CommandPrefix != nil {
		w.choice = model.ScopeChoice{}
	}
	w.block()
}

// onFault moves the editor's cursor to where its text is wrong.
func (w *approvalWindow) onFault() {
	fault, ok := w.edit.fault.(*model.EditFault)
	if !ok || fault.Line == 0 {
		return
	}
	w.parts.editor.CursorRow, w.parts.editor.CursorColumn = fault.Line-1, fault.Column-1
	w.win.Canvas().Focus(w.parts.editor)
	w.parts.editor.Refresh()
}

// offer shows a menu above the button that opens it: at the window's lower edge
// there is no room for what its last line opens.
func (w *approvalWindow) offer(menu *fyne.Menu) {
	pop := widget.NewPopUpMenu(menu, w.win.Canvas())
	pop.ShowAtRelativePosition(fyne.NewPos(0, -pop.MinSize().Height), w.parts.remember)
}

// menu lists how an answer can be remembered.
func (w *approvalWindow) menu() *fyne.Menu {
	only := fyne.NewMenuItem(model.ThisCallOnly, func() { w.onChoose(model.ScopeChoice{}) })
	only.Checked = w.choice.Scope == nil
	menu := fyne.NewMenu("", only, fyne.NewMenuItemSeparator())
	for _, group := range model.ScopeGroups(w.request, w.edit.args, w.folders, w.opts.Clock.Now()) {
		item := fyne.NewMenuItem(group.Title, nil)
		item.ChildMenu = fyne.NewMenu("")
		for _, choice := range group.Choices {
			item.ChildMenu.Items = append(item.ChildMenu.Items, fyne.NewMenuItem(choice.Title, func() { w.onChoose(choice) }))
		}
		menu.Items = append(menu.Items, item)
	}
	return menu
}
