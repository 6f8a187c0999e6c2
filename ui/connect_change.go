package ui

import (
	"context"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"pointsman/approvals"
	"pointsman/ui/connect/setup"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// connectChange is the dialog that shows what setting a program up changes.
type connectChange struct {
	row   *connectRow
	plan  setup.Plan
	parts []string // asked for; none: the usual ones
	ask   *dialog.ConfirmDialog
	notes *widget.Label
	fault *widget.Label
	diff  *fyne.Container
}

// alsoModels is the tick for the part that is not among the usual ones.
const alsoModels = "Its models, too, in a file that then holds the endpoint's key as it is"

// onChange shows what setting the program up would change.
func (r *connectRow) onChange() {
	c := &connectChange{row: r, notes: part.Remark(""), fault: newNotice(widget.DangerImportance), diff: container.NewStack()}
	head := container.NewVBox(c.fault)
	for _, p := range r.status.Parts {
		if p.Part == setup.Models && r.client == "copilot" {
			also := widget.NewCheck(alsoModels, nil)
			also.OnChanged = func(on bool) { c.choose(on) }
			head.Add(also)
		}
	}
	c.ask = dialog.NewCustomConfirm("Set up "+r.status.Title, "Apply", "Cancel", container.NewBorder(head, c.notes, nil, nil, c.diff), c.answered, r.screen.ui.main.window)
	c.ask.SetConfirmImportance(widget.HighImportance)
	c.diff.Add(outputBox("…", 84*theme.Step, 40*theme.Step))
	c.ask.Show()
	c.look()
}

// choose asks for the part that is not among the usual ones, too.
func (c *connectChange) choose(all bool) {
	c.parts = nil
	if all {
		for _, p := range c.row.status.Parts {
			c.parts = append(c.parts, p.Part)
		}
	}
	c.look()
}

// look makes the plan, and shows it.
func (c *connectChange) look() {
	c.plan = setup.Plan{} // what is not shown is not applied
	parts := c.parts
	background(c.row.screen.ctx, c.row.screen.ui, func(ctx context.Context) (setup.Plan, error) {
		return c.row.screen.setup.Plan(ctx, c.row.client, parts...)
	}, func(plan setup.Plan, err error) {
		c.plan = plan
		text, notes := planWords(plan)
		tell(c.fault, "")
		if err != nil {
			tell(c.fault, inWords(err))
		}
		c.diff.Objects = []fyne.CanvasObject{outputBox(text, 84*theme.Step, 40*theme.Step)}
		c.diff.Refresh()
		c.notes.SetText(notes)
	})
}

// planWords is the change, and what is to be known of it.
func planWords(p setup.Plan) (text, notes string) {
	var b strings.Builder
	var all []string
	for _, c := range p.Changes {
		b.WriteString(c.Diff)
		if c.Diff == "" {
			b.WriteString(c.Path + ": nothing to change\n")
		}
		for _, note := range c.Notes {
			all = append(all, model.Sentence(approvals.Visible(c.Path)+": "+note))
		}
		if c.After != "" && c.Diff != "" {
			all = append(all, model.Sentence(c.After))
		}
	}
	slices.Sort(all)
	return b.String(), strings.Join(slices.Compact(all), "\n")
}

// answered applies the very plan that was shown.
func (c *connectChange) answered(yes bool) {
	r := c.row
	if !yes || len(c.plan.Changes) == 0 {
		return
	}
	plan := c.plan
	save(r.screen.ui, func(ctx context.Context) ([]string, error) { return r.screen.setup.Apply(ctx, plan) },
		func(written []string, err error) {
			words := "Nothing had to be changed."
			if len(written) > 0 {
				_, notes := planWords(plan)
				words = "Set up. Verify tries it.\n" + notes
			}
			r.say(words, err)
			r.screen.again()
		})
}
