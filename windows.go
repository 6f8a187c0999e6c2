//go:build !headless

package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"

	"beforefyne"
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"

	"pointsman/assets"
	"pointsman/ui"
	"pointsman/ui/cli"
)

// appID names us to the desktop; FyneApp.toml and the desktop file have it, too.
const appID = "dev.pointsman.Pointsman"

// windowCollectAt collects the heap of the windows when it has grown by half, once
// their first pictures are drawn: they have the time then, and are one more program
// beside the resident.
const windowCollectAt = 50

// speak lets the standard log speak, which nothing of ours uses, now that Fyne is
// initialised.
func speak() { beforefyne.Over() }

// showWindows is the process of the windows.
func showWindows(ctx context.Context, w cli.Windows) error {
	complain(os.Stderr)
	a := app.NewWithID(appID)
	a.SetIcon(fyne.NewStaticResource("pointsman.png", assets.AppIcon()))
	return ui.New(a, ui.Options{
		Client: w.Client, Home: w.Home, Parent: w.Parent, Version: w.Version, Logger: w.Logger, Quiet: keepQuiet,
		Rest:     func() { debug.SetGCPercent(windowCollectAt); w.Rest() },
		Announce: runtime.GOOS == "windows" || runtime.GOOS == "darwin",
	}).Run(ctx)
}
