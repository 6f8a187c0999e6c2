package ui

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"pointsman/approvals"
	"pointsman/ui/connect/setup"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// connectRow is one program: how it is set up, and what can be done about it.
type connectRow struct {
	screen  *connectScreen
	client  string
	status  setup.Status
	object  fyne.CanvasObject
	icon    *widget.Icon
	text    *widget.RichText
	fault   *widget.Label // what of its files cannot be read
	warning *widget.Label // what defeats the setup
	note    *widget.Label // what came of a click
	change  *widget.Button
	verify  *widget.Button
	undo    *widget.Button
	lines   *widget.Button
}

func newConnectRow(s *connectScreen, client string) *connectRow {
	r := &connectRow{screen: s, client: client, icon: widget.NewIcon(nil), text: newTextBlock(),
		fault: newNotice(widget.DangerImportance), warning: newNotice(widget.WarningImportance), note: newNotice(widget.MediumImportance)}
	act := func(doing string, run func()) func() { return s.ui.act(doing+" "+client, run) }
	r.change = widget.NewButton("Set up …", act("setting up", r.onChange))
	r.verify = widget.NewButton("Verify", act("verifying", r.onVerify))
	r.undo = widget.NewButton("Undo", act("undoing the setup of", r.onUndo))
	r.lines = widget.NewButtonWithIcon("Copy lines", theme.Icon("copy", theme.ColorMuted), act("copying the lines for", r.onLines))
	buttons := container.NewCenter(container.NewHBox(r.lines, r.undo, r.verify, r.change))
	r.object = container.NewVBox(container.NewBorder(nil, nil, part.Sign(r.icon, part.SignSize), buttons, r.text), r.fault, r.warning, r.note, widget.NewSeparator())
	return r
}

// set shows how the program is set up.
func (r *connectRow) set(status setup.Status) {
	r.status = status
	words, icon, color := connectWords(status)
	r.icon.SetResource(theme.Icon(icon, color))
	setLines(r.text, textLine(status.Title, fynetheme.ColorNameForeground, fynetheme.SizeNameText, true),
		textLine(model.Clipped(words), theme.ColorMuted, fynetheme.SizeNameCaptionText, false))
	var faults, warnings []string
	for _, p := range status.Parts {
		if p.Fault != "" {
			faults = append(faults, model.Sentence(approvals.Visible(p.Fault)))
		}
	}
	for _, w := range status.Warnings {
		warnings = append(warnings, model.Sentence(approvals.Visible(w)))
	}
	tell(r.fault, strings.Join(faults, "\n"))
	tell(r.warning, strings.Join(warnings, "\n"))
	setShown(r.lines, status.Snippet)
	setShown(r.change, len(status.Parts) > 0)
	setShown(r.verify, len(status.Parts) == 0 || isSet(status))
	setShown(r.undo, isSet(status))
}

// isSet reports whether any part of a program is set up.
func isSet(status setup.Status) bool {
	for _, p := range status.Parts {
		if p.State == setup.Current || p.State == setup.Stale || p.Undo {
			return true
		}
	}
	return false
}

// partTitle is what a part of a setup is called.
func partTitle(name string) string {
	switch name {
	case setup.MCP:
		return "tools"
	case setup.Hooks:
		return "gate before its own tools"
	}
	return "models"
}

// connectWords says in one line how a program is set up.
func connectWords(status setup.Status) (words, icon string, color fyne.ThemeColorName) {
	if len(status.Parts) == 0 {
		return "lines to copy into a program of yours", "pending", theme.ColorMuted
	}
	icon, color = "pending", theme.ColorMuted
	in := map[string][]string{}
	for _, p := range status.Parts {
		in[p.State] = append(in[p.State], partTitle(p.Part))
	}
	var all []string
	if !status.Installed {
		all = append(all, "not found on this machine")
	}
	for _, group := range []struct {
		state, title, icon string
		color              fyne.ThemeColorName
	}{
		{setup.Absent, "not set up", "", ""},
		{setup.Current, "set up", "done", theme.ColorGood},
		{setup.Stale, "to be updated", "waiting", theme.ColorWrite},
		{setup.Broken, "cannot be read", "failed", theme.ColorDestructive},
	} {
		if len(in[group.state]) == 0 {
			continue
		}
		all = append(all, group.title+": "+strings.Join(in[group.state], ", "))
		if group.icon != "" {
			icon, color = group.icon, group.color
		}
	}
	return strings.Join(all, " · "), icon, color
}

// say tells what came of something, below the row.
func (r *connectRow) say(words string, err error) {
	if err != nil {
		tellAs(r.note, widget.DangerImportance, inWords(err))
		return
	}
	tellAs(r.note, widget.MediumImportance, words)
}

// onLines copies what the user puts elsewhere.
func (r *connectRow) onLines() {
	text, about, err := r.screen.setup.Snippet(r.client)
	if err == nil {
		r.screen.ui.app.Clipboard().SetContent(text)
	}
	r.say("Copied. "+about, err)
}

// onVerify tries what the program would do.
func (r *connectRow) onVerify() {
	r.verify.Disable()
	r.say("Trying what "+r.status.Title+" would do …", nil)
	background(r.screen.ctx, r.screen.ui, func(ctx context.Context) ([]setup.Check, error) {
		return r.screen.setup.Verify(ctx, r.client)
	}, func(checks []setup.Check, err error) {
		r.verify.Enable()
		if err != nil {
			r.say("", err)
			return
		}
		words, ok := checkWords(checks)
		importance := widget.SuccessImportance
		if !ok {
			importance = widget.DangerImportance
		}
		tellAs(r.note, importance, words)
	})
}

// checkWords says what came of each thing that was tried.
func checkWords(checks []setup.Check) (words string, ok bool) {
	ok = true
	var lines []string
	for _, c := range checks {
		line := "✓ " + c.Part + ": " + approvals.Visible(c.Words)
		if !c.OK {
			ok = false
			line = "✗ " + c.Part + ": " + approvals.Visible(c.Words)
			if c.Fix != "" {
				line += ". " + model.Sentence(c.Fix)
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), ok
}

// onUndo takes the setup back.
func (r *connectRow) onUndo() {
	save(r.screen.ui, func(ctx context.Context) ([]setup.Undone, error) { return r.screen.setup.Undo(ctx, r.client) },
		func(undone []setup.Undone, err error) {
			var lines []string
			for _, u := range undone {
				if u.Changed {
					lines = append(lines, approvals.Visible(u.Path)+": "+u.Words)
				}
			}
			r.say(strings.Join(lines, "\n"), err)
			r.screen.again()
		})
}
