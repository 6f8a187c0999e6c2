package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"

	"golang.org/x/sync/errgroup"

	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/desktop"
	"pointsman/ui/model"
	"pointsman/ui/wake"
)

// service is a resident at work: a gateway, and everybody who is asked for it.
type service struct {
	*app
	how     serving
	store   *config.Store
	home    config.Home
	gateway *gateway.Gateway
	person  *attendant       // at this terminal
	panes   *panes           // nil: there are no windows
	tray    *desktop.Desktop // nil: there is none
	log     *slog.Logger
	quit    func() // ends it all
}

// serveOn runs the resident on an open listener, which it closes.
func (a *app) serveOn(ctx context.Context, ln net.Listener, resident *control.Resident, store *config.Store, home config.Home, how serving) (err error) {
	shield()
	screen := a.screen()
	kept := a.openLog(home, store.Config().Log.Level)
	defer func() { err = errors.Join(err, kept.close()) }()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	secret := rand.Text()
	s := &service{
		app: a, how: how, store: store, home: home, log: kept.logger, quit: func() { stop(context.Canceled) },
		person: a.attendant(how.flags.ask == "terminal", screen), panes: a.newPanes(secret, how.desktop != nil, kept.logger),
	}
	s.gateway, err = a.newGateway(ctx, store, home, gateway.Options{
		NoMCP: how.flags.noMCP, Attended: s.attended, OnIdle: giveBack, OnAlarm: s.alarm,
		Logger: kept.logger, LogLevel: kept.level, LogFile: kept.path, Redactor: kept.redactor,
	})
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	door, err := resident.Listen(ln.Addr().String(), store.Path())
	if err != nil {
		return errors.Join(err, ln.Close(), s.gateway.Close())
	}
	if how.desktop != nil {
		s.tray = how.desktop(s)
	}
	err = s.run(ctx, ln, door, s.controlOptions(secret))
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, s.gateway.Close())
}

// attended reports whether somebody could answer: at this terminal, or in a
// window.
func (s *service) attended() bool { return s.person.attends() || s.panes.attend() }

// alarm tells the person, wherever they are, of a call that ran although it was
// not allowed.
func (s *service) alarm(text string) {
	s.app.tell("alarm: %s", text)
	if s.how.desktop == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellPatience)
	defer cancel()
	if err := desktop.Tell(ctx, "A call ran that was not allowed", text); err != nil {
		s.log.Warn("telling the desktop of an alarm", "error", err)
	}
}

// controlOptions say what the control socket does beyond what every gateway's
// does.
func (s *service) controlOptions(secret string) control.Options {
	opts := control.Options{Secret: secret, Logger: s.log, Views: s.configViews(s.gateway, s.store), Quit: s.quit}
	switch {
	case s.tray != nil:
		opts.Raise, opts.RepairLaunch = s.tray.Raise, s.tray.RepairLaunch
		opts.Views[desktop.View] = func(ctx context.Context) any { return s.tray.State(ctx) }
	case s.panes != nil:
		opts.Raise = s.panes.raise
	}
	return opts
}

// run serves both doors until ctx ends or one fails. It returns when all that it
// starts has ended.
func (s *service) run(ctx context.Context, ln, door net.Listener, opts control.Options) error {
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { return s.gateway.Serve(ctx, ln) })
	server := controlServer(s.gateway, opts)
	work.Go(func() error { return server.Serve(ctx, door) })
	s.gateway.Start()
	s.announce(ln, s.store, s.how.flags.noMCP)
	work.Go(func() error { return s.tellKey(s.gateway, s.store.Config()) })
	if s.person.terminal != nil {
		work.Go(func() error { return s.attend(ctx, s.person, s.gateway) })
	}
	if s.panes != nil {
		work.Go(func() error { s.panes.Run(ctx); return nil })
		work.Go(func() error { s.panes.watch(ctx, s.gateway); return nil })
	}
	work.Go(func() error { s.watchSleep(ctx); return nil })
	if s.opensAtOnce() {
		work.Go(func() error { s.showAtOnce(ctx); return nil })
	}
	work.Go(func() error {
		<-ctx.Done()
		s.gateway.Desk().Close() // before the streams end, so that what waits is told why
		return nil
	})
	var err error
	if s.tray != nil {
		err = s.tray.Run(ctx) // on the main goroutine, as macOS wants it
	}
	return errors.Join(err, work.Wait())
}

// watchSleep has connections looked at when the machine wakes. Where the system
// does not tell, the gateway finds out with the next run.
func (s *service) watchSleep(ctx context.Context) {
	if err := wake.Watch(ctx, s.gateway.Woke); err != nil {
		s.log.Debug("looking for sleep when the next run begins", "reason", err)
	}
}

// opensAtOnce reports whether the window opens with the program: when it was
// started for it, and where nothing is configured yet, for the first steps.
func (s *service) opensAtOnce() bool {
	first := s.tray != nil && s.panes != nil && model.FirstStart(s.store.Config()) && !model.Welcomed(s.home)
	return s.how.show || first
}

// showAtOnce opens the window with the program.
func (s *service) showAtOnce(ctx context.Context) {
	err := errors.New(noWindows)
	if s.panes != nil {
		err = s.panes.open(ctx, model.Open)
	}
	if err != nil && ctx.Err() == nil {
		s.tell("The window does not open: %v. The tray's menu has what there is.", err)
	}
}
