// Package cli is the terminal: the commands, what they print, and how a person
// at a terminal is asked.
//
// Data goes to the standard output, everything for people to the standard
// error; both, and everything else a command needs from outside, come in
// through Options. A command works through the running resident when there is
// one, and with a gateway in this process otherwise; both look the same to it
// (see connection).
//
// Run owns every goroutine that a command starts, and returns when all have
// ended, but for one: a read from a terminal cannot be interrupted, and ends
// with the terminal's next line or with the process.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/policy"
	"pointsman/gateway/secrets"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitDenied = 3 // a denial left no answer
)

// Options are what a command works with.
type Options struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Version is ours. If empty, what the build recorded.
	Version string
	// Getenv reads the environment. If nil, os.Getenv.
	Getenv func(string) string
	// Keychain holds the secrets. If nil, the system's.
	Keychain secrets.Keychain
	// Policy returns what the administrator has settled. If nil, the machine's own.
	Policy func() *policy.Policy
	// Windows shows the windows, on the main goroutine. If nil, this build has
	// none.
	Windows func(context.Context, Windows) error
}

// app is one run of the command line.
type app struct {
	Options
	out        *output // Stdout
	configPath string
	shown      *screen // see screen; nil before it is needed
}

// output is the standard output. It remembers that nobody reads it any more:
// that ends a command, and is no failure.
type output struct {
	to     io.Writer
	unread atomic.Bool
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if errors.Is(err, pipeClosed) {
		o.unread.Store(true)
	}
	return n, err
}

// Run runs the command that opts.Args name, until it is done or ctx ends, and
// returns the program's exit code.
func Run(ctx context.Context, opts Options) int {
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	if opts.Keychain == nil {
		opts.Keychain = secrets.System()
	}
	if opts.Policy == nil {
		opts.Policy = policy.System
	}
	if opts.Version == "" {
		opts.Version = builtVersion()
	}
	a := &app{Options: opts, out: &output{to: opts.Stdout}}
	a.Stdout = a.out
	root := a.root()
	root.SetArgs(append([]string{}, opts.Args...)) // nil would mean os.Args
	return a.exitCode(ctx, root.ExecuteContext(ctx))
}

func builtVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return info.Main.Version
}

// errDenied says that a denial left no answer.
var errDenied = errors.New("there is no answer: a call that it needed was not approved")

// usageError is a fault of the command line itself.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// silentError fails a command that has said already why.
type silentError struct{}

func (silentError) Error() string { return "failed" }

// exitCode turns the end of a command into words for a person and a number for
// a script. It is the only place that does.
func (a *app) exitCode(ctx context.Context, err error) int {
	var usage *usageError
	var silent silentError
	var blocked blockedError
	switch {
	case errors.As(err, &blocked): // also when nobody reads what was printed
		return exitBlocked
	case err == nil, a.out.unread.Load():
		return exitDone
	case errors.As(err, &silent):
		return exitFailed
	case errors.As(err, &usage):
		a.complain(err)
		return exitUsage
	case errors.Is(err, errDenied):
		a.complain(err)
		return exitDenied
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, approvals.ErrShuttingDown)):
		a.tell("cancelled")
		return exitFailed
	}
	a.complain(err)
	return exitFailed
}

// complain prints an error, one line for each that is joined in it.
func (a *app) complain(err error) {
	for line := range strings.SplitSeq(strings.TrimRight(err.Error(), "\n"), "\n") {
		a.tell("pointsman: %s", approvals.VisibleText(line))
	}
}

// tell prints a line for a person. That nobody reads it is no reason to fail.
func (a *app) tell(format string, args ...any) {
	_, _ = fmt.Fprintf(a.lines(), format+"\n", args...)
}

// lines takes whole lines for a person: the screen, where there is one.
func (a *app) lines() io.Writer {
	if a.shown != nil {
		return a.shown
	}
	return a.Stderr
}

// root is the whole command line.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "pointsman",
		Short: "An OpenAI-compatible endpoint with MCP tools, and a person before every risky call",
		Long: `Pointsman answers OpenAI clients on this machine, lets any model use your MCP
tools, and asks you before a risky call runs.

To begin:  pointsman demo     see it work, without a key and without a network
           pointsman          serve, and stand in the tray
           pointsman serve    serve, and ask at this terminal`,
		Example:       "  pointsman\n  pointsman serve\n  pointsman chat \"What is in my folder?\"",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          subcommandsOnly,
	}
	root.Version = a.Version
	root.SetVersionTemplate(strings.ReplaceAll(a.versionLine(), "{{", "") + "\n")
	a.resideAlone(root)
	root.PersistentFlags().StringVar(&a.configPath, "config", "", "read the configuration from `PATH`")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.serveCommand(), a.chatCommand(), a.askCommand(), a.capabilitiesCommand(), a.marathonCommand(), a.modelsCommand(), a.toolsCommand(), a.statusCommand(),
		a.serversCommand(), a.approvalsCommand(), a.keysCommand(), a.configCommand(), a.journalCommand(),
		a.mcpCommand(), a.hookCommand(), a.connectCommand(), a.demoCommand(), a.versionCommand(), a.guardCommand(), a.windowCommand())
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout) // before the completion command, which asks for it when it is made
	root.SetErr(a.Stderr)
	root.InitDefaultCompletionCmd(a.Args...)
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Args = helpTopic
		}
	}
	return root
}

// group is a command that only holds others.
func group(use, short, example string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example, Args: subcommandsOnly,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("%s needs a command: %s", cmd.CommandPath(), strings.Join(names(cmd), ", "))
		},
	}
	cmd.AddCommand(commands...)
	return cmd
}

// home is where this user's files are.
func (a *app) home() (config.Home, error) { return config.Locate(a.Getenv) }

// loading says where a command's configuration comes from.
type loading struct {
	dotEnv bool                 // read the working directory's .env
	flags  func(*config.Config) // laid over everything else
}

// load reads the configuration.
func (a *app) load(from loading) (*config.Store, error) {
	opts := config.Options{Path: a.configPath, Getenv: a.Getenv, Flags: from.flags, Check: a.checkPolicy}
	if from.dotEnv {
		opts.DotEnv = ".env"
	}
	return config.Load(opts)
}
