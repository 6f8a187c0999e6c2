package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/hooks"
)

const (
	// payloadPatience is how long Copilot may take to say what it wants.
	payloadPatience = 10 * time.Second
	// parentEvery is how often it is looked whether Copilot is still there.
	parentEvery = 250 * time.Millisecond
)

// exitBlocked is the exit code with which a hook blocks a tool, whatever becomes
// of what it prints.
const exitBlocked = 2

var (
	errCopilotGone = errors.New("the program that started this hook has gone")
	errNoPayload   = fmt.Errorf("no event came on the standard input within %s", payloadPatience)
)

// blockedError ends a hook that could not give a clear answer. It was said.
type blockedError struct{}

func (blockedError) Error() string { return "blocked" }

func (a *app) hookCommand() *cobra.Command {
	copilot := &cobra.Command{
		Use: "copilot [EVENT]", Short: "Answer a hook of the Copilot CLI",
		Long: `Answer a hook of the Copilot CLI or SDK: read the event from the standard input, put it
to the running Pointsman, and print one JSON object. What is unclear is denied. EVENT
is preToolUse, permissionRequest, postToolUse, postToolUseFailure or sessionEnd, and
must be what the event is; without it, it is told from the event.`,
		Example:            "  pointsman hook copilot preToolUse <event.json",
		Args:               cobra.ArbitraryArgs, // a wrong one is denied in Copilot's words
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE:               func(cmd *cobra.Command, args []string) error { return a.hook(cmd.Context(), args) },
	}
	file := &cobra.Command{
		Use: "file", Short: "Print the hooks file that has Copilot ask Pointsman", Args: arguments(0, 0),
		Example: "  pointsman hook file >~/.copilot/hooks/pointsman.json",
		RunE:    func(*cobra.Command, []string) error { return a.hookFile() },
	}
	return group("hook", "Gate the tools of other programs", "  pointsman hook file", copilot, file)
}

// hookFile prints the hooks file for this very program.
func (a *app) hookFile() error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program's path: %w", err)
	}
	content, err := hooks.File(program)
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(content)
	return err
}

// hook answers one event. Whatever goes wrong is printed as a denial, and ends
// the process with exitBlocked; a panic is no exception.
func (a *app) hook(ctx context.Context, args []string) (err error) {
	var event string
	defer func() {
		if p := recover(); p != nil {
			err = a.block(event, fmt.Errorf("an error inside Pointsman: %v", p))
		}
	}()
	ctx, stop := a.whileParentLives(ctx)
	defer stop()
	e, err := a.hookEvent(ctx, args)
	if err != nil {
		return a.block(event, err)
	}
	event = hooks.EventOf(e)
	verdict, err := a.hookVerdict(ctx, e)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return a.block(event, err)
	}
	return a.answerHook(event, verdict)
}

// hookEvent reads what Copilot wants.
func (a *app) hookEvent(ctx context.Context, args []string) (hooks.Event, error) {
	e := hooks.Event{Client: "copilot-cli", Home: a.Getenv("COPILOT_HOME")}
	if version := a.Getenv("COPILOT_CLI_BINARY_VERSION"); version != "" {
		e.Client += "/" + version
	}
	if len(args) > 1 {
		return e, fmt.Errorf("pointsman hook copilot does not take %q", args[1])
	}
	if len(args) == 1 {
		e.Name = args[0]
	}
	ctx, cancel := context.WithTimeoutCause(ctx, payloadPatience, errNoPayload)
	defer cancel()
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() { // a read cannot be interrupted: it ends with the input, or the process
		data, err := io.ReadAll(io.LimitReader(a.Stdin, hooks.MaxPayload+1))
		done <- read{data, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return e, fmt.Errorf("reading Copilot's event: %w", r.err)
		}
		e.Payload = r.data
		_, err := hooks.Read(e)
		return e, err
	case <-ctx.Done():
		return e, context.Cause(ctx)
	}
}

// hookVerdict asks the resident. Without one what only looks may run; that it
// does not answer is another thing.
func (a *app) hookVerdict(ctx context.Context, e hooks.Event) (hooks.Verdict, error) {
	home, err := a.home()
	if err != nil {
		return hooks.Verdict{}, err
	}
	client, err := control.Dial(ctx, home)
	if errors.Is(err, control.ErrNoResident) {
		return a.hookAlone(e, home)
	}
	if err != nil {
		return hooks.Verdict{}, fmt.Errorf("looking for the running Pointsman: %w", err)
	}
	defer client.Close()
	return client.Hook(ctx, e)
}

func (a *app) hookAlone(e hooks.Event, home config.Home) (hooks.Verdict, error) {
	file, err := config.Find(a.configPath, a.Getenv)
	if err != nil {
		return hooks.Verdict{}, err
	}
	v := gateway.HookAlone(e, home, file)
	if !v.Allow {
		return v, errors.New(cmp.Or(v.Reason, hooks.NotRunning))
	}
	return v, nil
}

// answerHook prints the answer, all of it at once.
func (a *app) answerHook(event string, v hooks.Verdict) error {
	if _, err := a.Stdout.Write(append(v.Output(event), '\n')); err != nil {
		return blockedError{} // what is cut short might not deny
	}
	return nil
}

// block prints a denial. That it cannot be read changes nothing: the exit code
// denies, too.
func (a *app) block(event string, why error) error {
	_ = a.answerHook(event, hooks.Verdict{Reason: why.Error()})
	return blockedError{}
}

// whileParentLives returns a context that ends when the process that started this
// one has gone. Where a parent's end cannot be seen, it ends with ctx.
func (a *app) whileParentLives(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { watchParent(ctx, parentEvery, func() { cancel(errCopilotGone) }) })
	return ctx, func() { cancel(nil); watching.Wait() }
}
