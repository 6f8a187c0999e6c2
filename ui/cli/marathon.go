package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pointsman/gateway/marathon"
)

func (a *app) marathonCommand() *cobra.Command {
	var asJSON bool
	run := &cobra.Command{
		Use: "run FILE|-", Short: "Begin a debug marathon and wait for its answers", Args: arguments(1, 1),
		Long: `Begin a debug marathon: 1 to 10 questions, each put to several models in turn, of
which each sees the earlier ones' answers (marathon.ladder in the configuration names
them). FILE holds {"tasks": [{"question": "…"}]}; a task may have a title, and priority,
difficulty and complexity from 1 to 5, which decide the order. "-" is the standard input.

The answers go to the standard output. With Pointsman running, the marathon goes on
without this command; otherwise it is done here, and what is left when this ends is done
when Pointsman next starts.`,
		Example: "  pointsman marathon run questions.json\n  echo '{\"tasks\":[{\"question\":\"Why is it slow?\"}]}' | pointsman marathon run -",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runMarathon(cmd.Context(), args[0], asJSON) },
	}
	status := &cobra.Command{
		Use: "status ID", Short: "Show a debug marathon and its answers so far", Args: arguments(1, 1), Example: "  pointsman marathon status job_1234 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withMarathons(cmd.Context(), func(ctx context.Context, c *connection) error {
				job, err := c.Marathon(ctx, args[0])
				if err != nil {
					return err
				}
				return a.showMarathon(job, asJSON)
			})
		},
	}
	list := &cobra.Command{
		Use: "list", Short: "List the debug marathons, the newest first", Args: arguments(0, 0), Example: "  pointsman marathon list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withMarathons(cmd.Context(), func(ctx context.Context, c *connection) error { return a.listMarathons(ctx, c, asJSON) })
		},
	}
	cancel := &cobra.Command{
		Use: "cancel ID", Short: "End a debug marathon for good", Args: arguments(1, 1), Example: "  pointsman marathon cancel job_1234",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withMarathons(cmd.Context(), func(ctx context.Context, c *connection) error { return a.cancelMarathon(ctx, c, args[0], asJSON) })
		},
	}
	for _, cmd := range []*cobra.Command{run, status, list, cancel} {
		jsonFlag(cmd, &asJSON)
	}
	return group("marathon", "Put questions to several models in turn, each of which sees the earlier answers", "  pointsman marathon run questions.json", run, status, list, cancel)
}

// withMarathons looks at the marathons, of the resident or of this user's record.
func (a *app) withMarathons(ctx context.Context, look func(context.Context, *connection) error) (err error) {
	conn, err := a.open(ctx, opening{noMCP: true, anyConfig: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return look(ctx, conn)
}

// runMarathon begins a marathon and waits for it.
func (a *app) runMarathon(ctx context.Context, file string, asJSON bool) (err error) {
	request, err := a.readMarathon(file)
	if err != nil {
		return err
	}
	conn, err := a.open(ctx, opening{loading: loading{dotEnv: true}, noMCP: true, start: true, marathons: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	job, err := conn.BeginMarathon(ctx, request)
	if err != nil {
		return err
	}
	a.tell("marathon %s: %s, %s", job.ID, counted(len(job.Tasks), "task"), counted(job.Of, "rung"))
	job, err = a.awaitMarathon(ctx, conn, job)
	if err != nil {
		a.tell("%s", goesOn(conn, job.ID))
		return err
	}
	if err := a.showMarathon(job, asJSON); err != nil {
		return err
	}
	if job.Status != marathon.Completed {
		return fmt.Errorf("marathon %s: %s", job.ID, marathonEnd(job))
	}
	return nil
}

// goesOn says what becomes of a marathon that is not waited for any more.
func goesOn(c *connection, id string) string {
	if c.attached() {
		return fmt.Sprintf("The marathon goes on as long as Pointsman runs: `pointsman marathon status %[1]s` shows it, `pointsman marathon cancel %[1]s` ends it.", id)
	}
	return fmt.Sprintf("The marathon goes on when Pointsman next starts, with the rung that it was at; `pointsman marathon cancel %s` ends it.", id)
}

// marathonEnd says why a marathon that is over has no answer.
func marathonEnd(job *marathon.Job) string {
	if job.Status == marathon.Cancelled {
		return "it was cancelled"
	}
	for _, task := range job.Tasks {
		for _, rung := range task.Rungs {
			if rung.Error != nil {
				return fmt.Sprintf("no model has answered; %s: %s: %s", rung.Model, rung.Error.Code, rung.Error.Message)
			}
		}
	}
	return "no model has answered"
}

// readMarathon reads a marathon's file, and no more of it than the gateway takes.
func (a *app) readMarathon(file string) ([]byte, error) {
	if file != "-" {
		text, err := readQuestionFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading the marathon: %w", err)
		}
		return []byte(text), nil
	}
	if a.interactive() {
		a.tell("Reading the marathon from the standard input; Ctrl-D ends it.")
	}
	text, err := a.readPrompt()
	return []byte(text), err
}

// awaitMarathon shows how a marathon goes on until it is over. It returns the job
// as it was last seen also with an error.
func (a *app) awaitMarathon(ctx context.Context, c *connection, job *marathon.Job) (*marathon.Job, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	shown := &marathonProgress{screen: a.screen(), done: map[string]bool{}}
	defer shown.screen.Status("")
	err := c.Changes(ctx, func() {
		seen, err := c.Marathon(ctx, job.ID)
		if err != nil {
			stop(err)
			return
		}
		job = seen
		shown.show(job)
		if job.Finished != nil {
			stop(errMarathonOver)
		}
	})
	if errors.Is(err, errMarathonOver) {
		err = nil
	}
	return job, err
}

// errMarathonOver ends the waiting for a marathon.
var errMarathonOver = errors.New("the marathon is over")

// marathonProgress shows a marathon on its way: a bar on a terminal, and a line for
// each rung that is done elsewhere. It is used by one goroutine.
type marathonProgress struct {
	screen *screen
	done   map[string]bool // the rungs that were told of
}

func (p *marathonProgress) show(job *marathon.Job) {
	now := ""
	for _, task := range job.Tasks {
		for i, rung := range task.Rungs {
			name := fmt.Sprintf("%d/%d %s", task.QueuePosition, len(job.Tasks), oneLine(rung.Model, 40))
			if rung.Status == marathon.Running {
				now = name + ": " + oneLine(taskName(task), 60)
			}
			key := fmt.Sprint(task.ID, i)
			if rung.Error == nil && rung.Answer == nil || p.done[key] {
				continue
			}
			p.done[key] = true
			switch {
			case rung.Error != nil:
				p.screen.Line("%s %s: %s: %s", p.screen.paint(red, "failed  "), name, rung.Error.Code, oneLine(rung.Error.Message, 200))
			case !p.screen.live:
				p.screen.Line("answered %s in %s", name, took(rung.DurationMS))
			}
		}
	}
	p.screen.Status(fmt.Sprintf("%s %s", progressBar(job.Done, job.Of), now))
}

// took is a duration for a person.
func took(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	return d.Round(max(time.Millisecond, d/100)).String()
}

// taskName is what a person knows a task by.
func taskName(t marathon.Task) string { return cmp.Or(t.Title, t.Question) }

// showMarathon prints a marathon with its answers.
func (a *app) showMarathon(job *marathon.Job, asJSON bool) error {
	if asJSON {
		return printJSON(a.Stdout, job)
	}
	for i, task := range job.Tasks {
		if i > 0 {
			if err := a.print(""); err != nil {
				return err
			}
		}
		if err := a.print("# %d. %s", task.QueuePosition, oneLine(taskName(task), marathon.MaxTitle)); err != nil {
			return err
		}
		for _, rung := range task.Rungs {
			if err := a.showRung(rung); err != nil {
				return err
			}
		}
	}
	a.tell("%s", marathonLine(job))
	return nil
}

func (a *app) showRung(rung marathon.Rung) error {
	facts := string(rung.Status)
	if rung.Answer != nil || rung.Error != nil {
		facts += " in " + took(rung.DurationMS) + ", " + costOf(rung.Usage.CostUSD)
	}
	if rung.FinishReason == "length" {
		facts += ", cut off"
	}
	if rung.Attempts > 1 {
		facts += fmt.Sprintf(", asked %d times", rung.Attempts)
	}
	if err := a.print("\n## %s (%s)\n", oneLine(rung.Model, 100), facts); err != nil {
		return err
	}
	switch {
	case rung.Error != nil:
		return a.printAnswer(fmt.Sprintf("%s: %s", rung.Error.Code, rung.Error.Message))
	case rung.Answer != nil:
		return a.printAnswer(strings.TrimRight(*rung.Answer, "\n"))
	}
	return nil
}

// costOf is an amount of money for a person.
func costOf(usd *float64) string {
	if usd == nil {
		return "cost unknown"
	}
	return fmt.Sprintf("$%.4f", *usd)
}

// marathonLine says in one line how it stands with a marathon.
func marathonLine(job *marathon.Job) string {
	line := fmt.Sprintf("%s: %s, %d of %s, %s, %s", job.ID, job.Status, job.Done, counted(job.Of, "rung"), took(job.DurationMS), costOf(job.CostUSD))
	if job.CostUSD != nil && job.Unpriced > 0 {
		line += fmt.Sprintf(" and %s at no known price", counted(job.Unpriced, "answer"))
	}
	if job.Faults > 0 {
		line += fmt.Sprintf(", %s", counted(job.Faults, "fault"))
	}
	return line
}

func (a *app) listMarathons(ctx context.Context, c *connection, asJSON bool) error {
	jobs, err := c.Marathons(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(a.Stdout, jobs)
	}
	if len(jobs) == 0 {
		a.tell("There is no marathon yet; `pointsman marathon run FILE` begins one.")
		return nil
	}
	var rows [][]string
	for _, job := range jobs {
		rows = append(rows, []string{job.ID, string(job.Status), fmt.Sprintf("%d/%d", job.Done, job.Of), job.Created.Local().Format(time.DateTime), took(job.DurationMS), costOf(job.CostUSD), taskName(job.Tasks[0])})
	}
	return a.table([]string{"ID", "STATUS", "RUNGS", "BEGUN", "TIME", "COST", "FIRST TASK"}, rows)
}

func (a *app) cancelMarathon(ctx context.Context, c *connection, id string, asJSON bool) error {
	before, err := c.Marathon(ctx, id)
	if err != nil {
		return err
	}
	job, err := c.CancelMarathon(ctx, id)
	if err != nil {
		return err
	}
	if asJSON {
		if err := printJSON(a.Stdout, job); err != nil {
			return err
		}
	}
	if before.Finished != nil || job.Status != marathon.Cancelled {
		return fmt.Errorf("marathon %s was over already: %s", job.ID, job.Status)
	}
	a.tell("%s", marathonLine(job))
	return nil
}
