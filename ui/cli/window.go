package cli

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/windows"
)

// Windows are what a window toolkit shows for a resident.
type Windows struct {
	Client  *control.Client // with the right to answer approvals
	Home    config.Home
	Parent  *windows.Parent
	Version string
	Logger  *slog.Logger
	// Rest gives memory back that the files of the program and of its libraries
	// take. It is called where libraries are loaded: on the toolkit's thread.
	Rest func()
}

// noWindows says why a build has none.
const noWindows = "no windows in this build"

// windowCommand is the process of the windows. The resident starts it.
func (a *app) windowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "window", Short: "Show the windows of the running Pointsman", Hidden: true, Args: arguments(0, 0),
		Example: "  started by the resident itself",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.window(cmd.Context()) },
	}
}

func (a *app) window(ctx context.Context) error {
	if a.Windows == nil {
		return errors.New(noWindows)
	}
	shield()
	parent, err := windows.Meet(a.Stdin, a.Stdout)
	if err != nil {
		return err
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	client, err := control.Dial(ctx, home)
	if err != nil {
		return err
	}
	defer client.Close()
	client.Secret = parent.Secret
	return a.Windows(ctx, Windows{Client: client, Home: home, Parent: parent, Version: a.Version, Logger: a.logger("info"), Rest: dropFilePages})
}
