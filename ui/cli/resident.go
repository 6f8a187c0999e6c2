package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/secrets"
	"pointsman/ui/autostart"
	"pointsman/ui/clipboard"
	"pointsman/ui/desktop"
	"pointsman/ui/model"
	"pointsman/ui/tray"
)

// claimPatience is how long a resident that has just started may take until it
// can be reached.
const claimPatience = 5 * time.Second

// tellPatience bounds how long the desktop is told why the program ends.
const tellPatience = 2 * time.Second

// residentFlags are what `pointsman` is asked for.
type residentFlags struct {
	serveFlags
	show bool
}

// resideAlone makes the program without a subcommand the resident.
func (a *app) resideAlone(root *cobra.Command) {
	var f residentFlags
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.check(cmd.Flags().Changed("port")); err != nil {
			return err
		}
		return a.reside(cmd.Context(), f)
	}
	f.register(root)
	root.Flags().BoolVar(&f.show, "show", false, "open the window, too")
}

// reside is the resident with a tray. When there is a resident already, that
// one is brought up; one without a tray is given one.
func (a *app) reside(ctx context.Context, f residentFlags) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	client, err := control.Dial(ctx, home)
	if err == nil {
		return a.second(ctx, client, home)
	}
	if !errors.Is(err, control.ErrNoResident) {
		return fmt.Errorf("looking for a running Pointsman: %w", err)
	}
	err = a.serve(ctx, serving{loading: loading{flags: f.apply}, flags: f.serveFlags, desktop: a.desktopOf, show: f.show})
	var running *control.RunningError
	if !errors.As(err, &running) {
		a.tellDesktop(err)
		return err
	}
	if client, err = awaitResident(ctx, home); err != nil {
		return errors.Join(running, err)
	}
	return a.second(ctx, client, home)
}

// tellDesktop tells the desktop why the program ends, when no terminal can: it
// was started at login, or from a menu.
func (a *app) tellDesktop(failure error) {
	if failure == nil || a.interactive() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellPatience)
	defer cancel()
	if err := desktop.Tell(ctx, "Pointsman has ended", approvals.VisibleText(failure.Error())); err != nil {
		a.tell("the desktop was not told: %v", err)
	}
}

// awaitResident reaches a resident that has started in this very moment.
func awaitResident(ctx context.Context, home config.Home) (*control.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	for {
		client, err := control.Dial(ctx, home)
		if err == nil {
			return client, nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// desktopOf is what shows a gateway of this process.
func (a *app) desktopOf(s *service) *desktop.Desktop {
	opts := desktop.Options{Source: desktop.Own(s.gateway), Store: s.store, Logger: s.log, Quit: s.quit, Announce: s.gateway.Announce}
	if s.panes != nil {
		opts.Show, opts.WindowFault, opts.Changed = s.panes.open, s.panes.Fault, s.panes.changed
	}
	return desktop.New(a.desktopOptions(opts))
}

// desktopOptions fills in what every desktop of ours has.
func (a *app) desktopOptions(opts desktop.Options) desktop.Options {
	opts.NoWindows, opts.Clipboard = noWindows, clipboard.Find(a.Getenv)
	program, err := residentProgram()
	switch {
	case a.Getenv("POINTSMAN_HOME") != "":
		opts.NoLaunch = "not with POINTSMAN_HOME"
	case a.configPath != "":
		opts.NoLaunch = "not with --config"
	case err != nil:
		opts.NoLaunch = "the program's path is not known"
	default:
		opts.Entry = &autostart.Entry{Program: program, Getenv: a.Getenv}
	}
	return opts
}

// second is a start beside a running resident: it brings that one up, or puts a
// tray on it.
func (a *app) second(ctx context.Context, client *control.Client, home config.Home) error {
	defer client.Close()
	var state model.State
	if err := client.Get(ctx, "/"+desktop.View, &state); err != nil {
		return err
	}
	if !state.Tray {
		return a.attachTray(ctx, client, home)
	}
	return a.raise(ctx, client)
}

// raise brings the running resident's window up, or says why it does not come.
func (a *app) raise(ctx context.Context, client *control.Client) error {
	raised, err := client.Raise(ctx, control.ShowOpen)
	if err != nil {
		return err
	}
	a.tell("Pointsman is running already (process %d, serving %s); %s", client.Info.PID, client.Info.Listen, approvals.Visible(raised.Message))
	return nil
}

// showRemotely shows a window of the running resident.
func showRemotely(client *control.Client) func(context.Context, model.Action) error {
	return func(ctx context.Context, action model.Action) error {
		raised, err := client.Raise(ctx, string(action))
		if err == nil && !raised.Window {
			return errors.New(raised.Message)
		}
		return err
	}
}

// attachTray shows a resident that has no tray, until either goes.
func (a *app) attachTray(ctx context.Context, client *control.Client, home config.Home) error {
	store, err := a.load(loading{})
	if err != nil {
		return err
	}
	lock := flock.New(filepath.Join(home.Runtime, "tray.lock"), flock.SetPermissions(0o600))
	switch ours, err := lock.TryLock(); {
	case err != nil:
		return fmt.Errorf("locking %s: %w", lock.Path(), err)
	case !ours:
		return a.raise(ctx, client)
	}
	defer func() { _ = lock.Unlock() }() // the process's end does it, too
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	a.tell("Pointsman puts a tray on process %d, serving %s", client.Info.PID, client.Info.Listen)
	err = desktop.New(a.desktopOptions(desktop.Options{
		Source: desktop.Remote(client, a.clientKey(store)), Attached: true, Store: store, Show: showRemotely(client),
		Logger: a.logger(store.Config().Log.Level), Quit: stop,
	})).Run(ctx)
	if errors.Is(err, tray.ErrNoTray) {
		a.tell("Pointsman goes on without: %v", err)
		return nil
	}
	return err
}

// clientKey reads the key that clients need, from where the resident has it.
func (a *app) clientKey(store *config.Store) func(context.Context) (string, error) {
	resolver := secrets.NewResolver(a.Keychain, store.LookupEnv, &secrets.Redactor{})
	return func(ctx context.Context) (string, error) {
		cfg := store.Config().Gateway
		if cfg.Auth == "none" {
			return "", nil
		}
		resolver.Forget("") // the resident may have made a new one
		key, err := resolver.Resolve(ctx, string(cfg.APIKey))
		if err != nil {
			return "", fmt.Errorf("reading the gateway's key: %w", err)
		}
		return key, nil
	}
}
