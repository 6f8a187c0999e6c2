package cli

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/journal"
)

// shownRows is how many rows a person is shown who sets no --limit.
const shownRows = 50

// journalFlags are what `journal` is asked for.
type journalFlags struct {
	since, server, tool, outcome, text, session string
	limit                                       int
	runs, json, csv                             bool
}

func (a *app) journalCommand() *cobra.Command {
	var f journalFlags
	cmd := &cobra.Command{
		Use: "journal", Short: "Show what ran, what was asked and what was answered", Args: arguments(0, 0),
		Long:    "Show what ran, what was asked and what was answered, newest first.",
		Example: "  pointsman journal --since 24h --outcome denied\n  pointsman journal --csv > calls.csv",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.journal(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "rows since `WHEN`: how long ago (24h), or a time (2026-01-31T12:00:00Z)")
	flags.StringVar(&f.server, "server", "", "calls to server `NAME`")
	flags.StringVar(&f.tool, "tool", "", "calls of tool `NAME`")
	flags.StringVar(&f.session, "session", "", "rows of the session `ID`, such as one of Copilot's")
	flags.StringVar(&f.outcome, "outcome", "", "rows that ended as `OUTCOME`: "+strings.Join(outcomes, ", "))
	flags.StringVar(&f.text, "text", "", "rows that hold `TEXT`")
	flags.IntVar(&f.limit, "limit", 0, "at most `N` rows (50 for a table, otherwise all)")
	flags.BoolVar(&f.runs, "runs", false, "runs instead of calls")
	flags.BoolVar(&f.json, "json", false, "print JSON lines")
	flags.BoolVar(&f.csv, "csv", false, "print comma-separated values")
	choices(cmd, "outcome", outcomes...)
	return cmd
}

// outcomes are the values of --outcome.
var outcomes = []string{"ok", "failed", "denied", "not_answered", "withdrawn", "invalid", "timeout", "cancelled", "unknown"}

func (f journalFlags) filter(now time.Time) (journal.Filter, error) {
	filter := journal.Filter{Server: f.server, Tool: f.tool, Outcome: journal.Outcome(f.outcome), Text: f.text, Limit: f.limit, Session: f.session}
	if f.json && f.csv {
		return filter, usagef("give --json or --csv, not both")
	}
	if f.limit < 0 {
		return filter, usagef("--limit %d is negative", f.limit)
	}
	if f.outcome != "" && !f.runs && !slices.Contains(outcomes, f.outcome) {
		return filter, usagef("--outcome %q is not known%s; give one of %s", f.outcome, meant(f.outcome, outcomes), strings.Join(outcomes, ", "))
	}
	if f.since == "" {
		return filter, nil
	}
	if ago, err := time.ParseDuration(f.since); err == nil && ago >= 0 {
		filter.Since = now.Add(-ago)
		return filter, nil
	}
	var err error
	if filter.Since, err = time.Parse(time.RFC3339, f.since); err != nil {
		return filter, usagef("--since %q is neither a duration such as 24h nor a time such as 2026-01-31T12:00:00Z", f.since)
	}
	return filter, nil
}

func (a *app) journal(ctx context.Context, f journalFlags) (err error) {
	filter, err := f.filter(time.Now())
	if err != nil {
		return err
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	reader, err := journal.OpenReader(filepath.Join(home.State, "journal.db"))
	if errors.Is(err, fs.ErrNotExist) {
		a.tell("The journal is empty: nothing has run yet.")
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	if f.runs {
		return printJournal(a, f, filter, bound(ctx, reader.Runs), a.showRuns)
	}
	return printJournal(a, f, filter, bound(ctx, reader.Calls), a.showCalls)
}

// rowsOf are the rows that a filter chooses.
type rowsOf[T any] func(journal.Filter) iter.Seq2[T, error]

func bound[T any](ctx context.Context, read func(context.Context, journal.Filter) iter.Seq2[T, error]) rowsOf[T] {
	return func(filter journal.Filter) iter.Seq2[T, error] { return read(ctx, filter) }
}

// printJournal prints the rows that read finds, in the form that f asks for.
func printJournal[T journal.Call | journal.Run](a *app, f journalFlags, filter journal.Filter,
	read rowsOf[T], show func([]T) error) error {
	switch {
	case f.json:
		return journal.WriteJSON(a.plainOut(approvals.EscapedJSON), read(filter))
	case f.csv:
		return journal.WriteCSV(a.plainOut(visibleLine), read(filter))
	}
	bounded := filter.Limit == 0
	if bounded {
		filter.Limit = shownRows + 1
	}
	var rows []T
	for row, err := range read(filter) {
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	more := bounded && len(rows) > shownRows
	if more {
		rows = rows[:shownRows]
	}
	if len(rows) == 0 {
		a.tell("The journal has no such rows.")
		return nil
	}
	err := show(rows)
	if more {
		a.tell("There are more rows; --limit shows them.")
	}
	return err
}

func (a *app) showCalls(calls []journal.Call) error {
	var rows [][]string
	for _, c := range calls {
		why := c.Reason
		if c.Error != "" {
			why = c.Error
		}
		rows = append(rows, []string{c.Time.Local().Format(time.DateTime), outcomeOf(c.Outcome), c.Server, c.Tool, string(c.Class), c.Approver, strconv.FormatInt(c.DurationMS, 10), string(c.Arguments), why})
	}
	return a.table([]string{"TIME", "OUTCOME", "SERVER", "TOOL", "CLASS", "BY", "MS", "ARGUMENTS", "REASON"}, rows)
}

func (a *app) showRuns(runs []journal.Run) error {
	var rows [][]string
	for _, r := range runs {
		tokens := strconv.FormatInt(r.PromptTokens, 10) + "+" + strconv.FormatInt(r.CompletionTokens, 10)
		rows = append(rows, []string{r.Time.Local().Format(time.DateTime), outcomeOf(r.Outcome), r.Door, r.Client, r.Model, strconv.Itoa(r.Rounds), tokens, strconv.FormatInt(r.DurationMS, 10), r.Error})
	}
	return a.table([]string{"TIME", "OUTCOME", "DOOR", "CLIENT", "MODEL", "ROUNDS", "TOKENS", "MS", "ERROR"}, rows)
}

// outcomeOf words an outcome; a call that goes on has none yet.
func outcomeOf(o journal.Outcome) string {
	if o == "" {
		return "(running)"
	}
	return string(o)
}
