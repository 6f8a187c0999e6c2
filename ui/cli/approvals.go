package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/control"
)

// errMayNot tells how to answer approvals.
var errMayNot = errors.New("approvals are answered in Pointsman's window or at its terminal; approvals.control: true lets the command line answer too (any program running as you could then approve its own calls)")

func (a *app) approvalsCommand() *cobra.Command {
	var asJSON bool
	var reason string
	list := &cobra.Command{
		Use: "list", Short: "List the calls that wait for approval", Args: arguments(0, 0), Example: "  pointsman approvals list --json",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listApprovals(cmd.Context(), asJSON) },
	}
	jsonFlag(list, &asJSON)
	approve := &cobra.Command{
		Use: "approve ID", Short: "Let a waiting call run, once", Args: arguments(1, 1), Example: "  pointsman approvals approve call_1234",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.answer(cmd.Context(), args[0], approvals.Decision{Outcome: approvals.Allowed})
		},
	}
	deny := &cobra.Command{
		Use: "deny ID", Short: "Keep a waiting call from running", Args: arguments(1, 1),
		Example: "  pointsman approvals deny call_1234 --reason \"use the test database\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.answer(cmd.Context(), args[0], approvals.Decision{Outcome: approvals.Denied, Reason: reason})
		},
	}
	deny.Flags().StringVar(&reason, "reason", "", "tell the model `WHY`")
	watch := &cobra.Command{
		Use: "watch", Short: "Answer waiting calls at this terminal, until interrupted", Args: arguments(0, 0), Example: "  pointsman approvals watch",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.watchApprovals(cmd.Context()) },
	}
	return group("approvals", "See and answer the calls that wait for approval", "  pointsman approvals list", list, approve, deny, watch)
}

// resident attaches to the resident.
func (a *app) resident(ctx context.Context) (*control.Client, error) {
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	return control.Dial(ctx, home)
}

// errNothingRuns tells what to do when there is no resident.
func errNothingRuns(err error) error {
	if errors.Is(err, control.ErrNoResident) {
		return fmt.Errorf("%w, so nothing waits for approval; start it with `pointsman serve`", err)
	}
	return err
}

func (a *app) listApprovals(ctx context.Context, asJSON bool) error {
	client, err := a.resident(ctx)
	waiting := []approvals.Request{}
	switch {
	case errors.Is(err, control.ErrNoResident): // then nothing waits
	case err != nil:
		return err
	default:
		defer client.Close()
		if waiting, err = client.Pending(ctx); err != nil {
			return err
		}
	}
	if asJSON {
		return printJSON(a.Stdout, waiting)
	}
	if len(waiting) == 0 {
		a.tell("Nothing waits for approval.")
		return nil
	}
	var rows [][]string
	for _, r := range waiting {
		rows = append(rows, []string{r.ID, r.Server, r.Tool, string(r.Class), r.Client, remaining(r.Deadline), string(r.Arguments)})
	}
	return a.table([]string{"ID", "SERVER", "TOOL", "CLASS", "CLIENT", "LEFT", "ARGUMENTS"}, rows)
}

func remaining(deadline time.Time) string {
	if deadline.IsZero() {
		return "-"
	}
	return max(0, time.Until(deadline)).Round(time.Second).String()
}

func (a *app) answer(ctx context.Context, id string, d approvals.Decision) error {
	client, err := a.resident(ctx)
	if err != nil {
		return errNothingRuns(err)
	}
	defer client.Close()
	if err := mayAnswer(ctx, client); err != nil {
		return err
	}
	counted, err := client.Answer(ctx, id, d)
	if err != nil {
		return err
	}
	if !counted {
		return fmt.Errorf("%s was not waiting any more: it was answered, timed out, or never asked; see `pointsman approvals list`", approvals.Visible(id))
	}
	a.tell("%s: %s", approvals.Visible(id), d.Outcome)
	return nil
}

// mayAnswer returns why this client may not answer approvals, or nil.
func mayAnswer(ctx context.Context, client *control.Client) error {
	may, err := client.MayAnswer(ctx)
	if err == nil && !may {
		err = errMayNot
	}
	return err
}

func (a *app) watchApprovals(ctx context.Context) error {
	client, err := a.resident(ctx)
	if err != nil {
		return errNothingRuns(err)
	}
	defer client.Close()
	if err := mayAnswer(ctx, client); err != nil {
		return err
	}
	person := a.attendant(true, a.screen())
	if person.terminal == nil {
		return errors.New("approvals are watched at a terminal; from a script use `pointsman approvals list`, `approve` and `deny`")
	}
	a.tell("Calls that wait are asked about here. Ctrl-C ends.")
	return person.Run(ctx, client)
}
