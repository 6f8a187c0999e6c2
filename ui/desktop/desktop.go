// Package desktop is the desktop's side of a running gateway: what its tray
// shows, what its menu does, notifications of what waits, and launch at login.
//
// Run owns every goroutine, and ends them before it returns.
package desktop

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/autostart"
	"pointsman/ui/clipboard"
	"pointsman/ui/model"
	"pointsman/ui/tray"
)

// quitAgain is how long a first Quit with calls in flight waits for the second.
const quitAgain = 10 * time.Second

// Options are what a Desktop is made of.
type Options struct {
	Source   Source
	Attached bool // Source is another process's: quitting leaves it alone
	Store    *config.Store
	// Quit ends the program.
	Quit func()
	// Announce is called, from any goroutine, after something has changed that
	// State tells and Source does not: launch at login, the tray, the windows. If
	// nil, nobody wants to know.
	Announce func()
	// Show opens the window for an action: Open, Approvals or Settings. If nil,
	// there are no windows, and NoWindows says why.
	Show      func(context.Context, model.Action) error
	NoWindows string
	// WindowFault says, in a few words, why windows do not come up; "" while they
	// would. If nil, it is not known.
	WindowFault func() string
	// Changed receives after what WindowFault tells has changed. May be nil.
	Changed <-chan struct{}
	// Entry is the desktop's entry for launch at login. If nil, there can be
	// none, and NoLaunch says why.
	Entry     *autostart.Entry
	NoLaunch  string
	Clipboard clipboard.Clipboard
	Logger    *slog.Logger
	// Tray shows the tray until its context ends. If nil, tray.Run does.
	Tray func(context.Context, tray.Options) error
}

// Desktop shows one gateway.
type Desktop struct {
	opts   Options
	log    *slog.Logger
	launch *launch

	tray    chan struct{} // size 1: the tray's turn to look
	waiting chan struct{} // size 1: the notifications' turn to look
	notices tray.Notifier // what waits
	faults  tray.Notifier // what could not be done

	trayless atomic.Bool // there is no tray, and none can come
	missing  missing

	mu       sync.Mutex  // guards the field below
	quitting *time.Timer // runs while Quit waits for its second click; else nil
}

// New returns a desktop. It starts nothing.
func New(opts Options) *Desktop {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Tray == nil {
		opts.Tray = tray.Run
	}
	d := &Desktop{opts: opts, log: opts.Logger, tray: make(chan struct{}, 1), waiting: make(chan struct{}, 1), missing: missing{turn: make(chan struct{}, 1)}}
	d.launch = &launch{entry: opts.Entry, why: opts.NoLaunch, store: opts.Store, log: d.log, changed: d.announce, written: make(chan struct{}, 1)}
	return d
}

// Run shows the gateway until parent ends, or the gateway goes, which is an error.
// Without a tray it goes on with notifications, unless it is attached: then the
// error wraps tray.ErrNoTray.
func (d *Desktop) Run(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	var work sync.WaitGroup
	defer func() {
		cancel(nil)
		work.Wait()
		d.forgetQuit()
		d.closeNotices()
	}()
	work.Go(func() { cancel(d.opts.Source.Watch(ctx, d.lookAgain)) })
	work.Go(func() { d.launch.run(ctx) })
	work.Go(func() { d.notify(ctx) })
	work.Go(func() { d.watchWindows(ctx) })
	work.Go(func() { d.missing.run(ctx, d) })
	err := d.opts.Tray(ctx, tray.Options{
		State: d.State, Changed: d.tray, Act: d.act, Logger: d.log,
		Shown: func() {
			d.log.Info("the tray is there")
			d.missing.set("")
		},
		Missing: func(why string) {
			d.log.Warn("the tray cannot be shown yet; it appears when there is a panel for it", "reason", why)
			d.missing.set(why)
		},
	})
	switch {
	case err != nil && d.opts.Attached:
		return err // there is nothing else to do
	case err != nil:
		d.trayless.Store(true)
		d.log.Warn("going on without a tray", "reason", err)
		d.missing.set(err.Error())
	}
	<-ctx.Done()
	if parent.Err() != nil {
		return nil
	}
	return context.Cause(ctx) // of the watch: the gateway has gone
}

// announce tells everybody that there may be something else to show, of the
// desktop's own.
func (d *Desktop) announce() {
	d.lookAgain()
	if d.opts.Announce != nil {
		d.opts.Announce()
	}
}

// lookAgain tells that there may be something else to show.
func (d *Desktop) lookAgain() {
	for _, turn := range []chan struct{}{d.tray, d.waiting} {
		select {
		case turn <- struct{}{}:
		default: // it is about to look
		}
	}
}

// State is all that there is to show.
func (d *Desktop) State(ctx context.Context) model.State {
	s, err := d.opts.Source.State(ctx)
	if err != nil && ctx.Err() == nil {
		s.Fault = "the gateway does not answer"
	}
	s.Attached, s.Tray = d.opts.Attached, !d.opts.Attached
	s.NoLaunchAtLogin = d.opts.NoLaunch
	d.launch.tell(&s)
	s.NoCopy = d.opts.Clipboard.Missing()
	s.NoTray = d.missing.why()
	if d.opts.Show == nil {
		s.NoWindows = d.opts.NoWindows
	}
	if fault := d.windowFault(); fault != "" && s.Fault == "" {
		s.Fault = "no windows: " + fault
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s.Quitting = d.quitting != nil
	return s
}

// Raise brings the window up, as a second start of the program does. show is
// what it shows: control.ShowOpen, ShowApprovals or ShowSettings.
func (d *Desktop) Raise(ctx context.Context, show string) control.Raised {
	if d.opts.Show == nil && d.trayless.Load() {
		return control.Raised{Message: "it has neither tray nor windows there"}
	}
	if d.opts.Show == nil {
		d.remind(ctx)
		return control.Raised{Message: "it has a tray, but no window to bring up (" + d.opts.NoWindows + ")"}
	}
	if err := d.opts.Show(ctx, model.Action(show)); err != nil {
		return control.Raised{Message: "its window does not come up: " + err.Error()}
	}
	return control.Raised{Window: true, Message: "its window is up"}
}

// remind tells somebody who started the program again where it is.
func (d *Desktop) remind(ctx context.Context) {
	notice := tray.Notice{Title: "Pointsman is running", Body: model.StatusLine(d.State(ctx)) + "\nIts menu is in the tray."}
	if err := d.faults.Show(ctx, notice); err != nil {
		d.log.Debug("telling that it runs", "error", err)
	}
}
