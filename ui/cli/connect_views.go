package cli

import (
	"cmp"
	"fmt"
	"strings"

	"pointsman/approvals"
	"pointsman/ui/connect/setup"
)

// planView is what `connect preview --json` prints.
type planView struct {
	Client   string       `json:"client"`
	Revision string       `json:"revision"`
	Changes  []changeView `json:"changes"`
	LeftOut  []string     `json:"left_out"` // parts that have to be asked for, with the reason
	Snippet  string       `json:"snippet"`
}

type changeView struct {
	Part  string   `json:"part"`
	Path  string   `json:"path"`
	Diff  string   `json:"diff"` // secrets are masked; "" when nothing changes
	Notes []string `json:"notes"`
	After string   `json:"after"`
}

func newPlanView(p setup.Plan) planView {
	view := planView{Client: p.Client, Revision: p.Revision, Changes: []changeView{}, LeftOut: append([]string{}, p.LeftOut...), Snippet: p.Snippet}
	for _, c := range p.Changes {
		view.Changes = append(view.Changes, changeView{c.Part, c.Path, c.Diff, append([]string{}, c.Notes...), c.After})
	}
	return view
}

// showPlan prints the change, and what is to be known of it.
func (a *app) showPlan(p setup.Plan) {
	for _, c := range p.Changes {
		if c.Diff == "" {
			a.tell("%s (%s): nothing to change", approvals.Visible(c.Path), c.Part)
		} else {
			_, _ = fmt.Fprint(a.Stdout, approvals.VisibleText(c.Diff))
		}
		for _, note := range c.Notes {
			a.tell("note: %s: %s", approvals.Visible(c.Path), approvals.Visible(note))
		}
	}
	for _, left := range p.LeftOut {
		a.tell("left out: %s", approvals.Visible(left))
	}
	if p.Snippet != "" {
		a.tell("%s", approvals.Visible(p.About))
		a.tell("%s", approvals.VisibleText(strings.TrimRight(p.Snippet, "\n")))
	}
}

// showChecks prints what was tried. One that failed fails the command.
func (a *app) showChecks(checks []setup.Check, asJSON bool) error {
	failed := false
	for _, c := range checks {
		failed = failed || !c.OK
	}
	if asJSON {
		if err := printJSON(a.Stdout, append([]setup.Check{}, checks...)); err != nil {
			return err
		}
	} else if err := a.printChecks(checks); err != nil {
		return err
	}
	if failed {
		return silentError{}
	}
	return nil
}

func (a *app) printChecks(checks []setup.Check) error {
	for _, c := range checks {
		mark := "✓"
		if !c.OK {
			mark = "✗"
		}
		if _, err := fmt.Fprintf(a.Stdout, "%s %s: %s: %s\n", mark, c.Part, approvals.Visible(c.What), approvals.VisibleText(c.Words)); err != nil {
			return err
		}
		if c.Fix != "" {
			a.tell("  %s", approvals.Visible(c.Fix))
		}
	}
	return nil
}

// showClients prints how the programs are set up.
func (a *app) showClients(all []setup.Status) error {
	var rows [][]string
	for _, s := range all {
		installed := "no"
		if s.Installed {
			installed = "yes"
		}
		for _, p := range s.Parts {
			rows = append(rows, []string{s.Client, installed, p.Part, p.State, p.Path})
		}
		if s.Snippet {
			rows = append(rows, []string{s.Client, installed, "snippet", cmp.Or(s.Environment, "-"), "pointsman connect snippet " + s.Client})
		}
	}
	if err := a.table([]string{"CLIENT", "INSTALLED", "PART", "STATE", "WHERE"}, rows); err != nil {
		return err
	}
	told := map[string]bool{}
	for _, s := range all {
		for _, p := range s.Parts {
			if p.Fault != "" {
				a.tell("%s: %s", s.Client, approvals.Visible(p.Fault))
			}
		}
		for _, w := range s.Warnings {
			if !told[w] {
				a.tell("warning: %s", approvals.Visible(w))
			}
			told[w] = true
		}
	}
	return nil
}
