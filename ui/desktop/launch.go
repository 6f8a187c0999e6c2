package desktop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"pointsman/gateway/config"
	"pointsman/ui/autostart"
)

// launch keeps the configuration's desktop.launch_at_login and the desktop's own
// entry the same. Whichever is changed while we run wins. At the start an entry
// that is there wins, as the desktop's settings may have changed it meanwhile;
// when there is none, the configuration does.
type launch struct {
	entry   *autostart.Entry // nil: it cannot be had
	why     string           // it cannot be had; "" when it can
	store   *config.Store
	log     *slog.Logger
	changed func()

	mu sync.Mutex // held while one is made like the other
}

// enabled reports whether we are started at login.
func (l *launch) enabled() bool {
	if l.entry == nil {
		return false
	}
	status, err := l.entry.Status()
	return err == nil && status.Enabled
}

// run settles both, and then watches them until ctx ends.
func (l *launch) run(ctx context.Context) {
	if l.entry == nil {
		return
	}
	l.report(l.settle())
	l.changed()
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() {
		l.report(l.entry.Watch(ctx, func() { l.report(l.followEntry()); l.changed() }))
	})
	l.report(l.store.Watch(ctx, func(change config.Change) {
		if change.New != nil && change.Old.Desktop.LaunchAtLogin != change.New.Desktop.LaunchAtLogin {
			l.report(l.followConfig(change.New.Desktop.LaunchAtLogin))
			l.changed()
		}
	}))
}

func (l *launch) report(err error) {
	if err != nil {
		l.log.Warn("keeping launch at login as it is configured", "error", err)
	}
}

func (l *launch) settle() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	repaired, err := l.entry.Repair()
	if err != nil {
		return err
	}
	if repaired {
		l.log.Info("launch at login named a program that has gone; it names this one now", "program", l.entry.Program)
	}
	status, err := l.entry.Status()
	switch {
	case err != nil:
		return err
	case status.Present:
		return l.saveLocked(status.Enabled)
	case l.store.Config().Desktop.LaunchAtLogin:
		return l.entry.Set(true)
	}
	return nil
}

// followEntry makes the configuration say what the desktop does.
func (l *launch) followEntry() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	status, err := l.entry.Status()
	if err != nil {
		return err
	}
	return l.saveLocked(status.Enabled)
}

// followConfig makes the desktop do what the configuration says.
func (l *launch) followConfig(on bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if status, err := l.entry.Status(); err != nil || status.Enabled == on {
		return err
	}
	return l.entry.Set(on)
}

// toggle changes both.
func (l *launch) toggle() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entry == nil {
		return errors.New("launch at login: " + l.why)
	}
	status, err := l.entry.Status()
	if err != nil {
		return err
	}
	if err := l.entry.Set(!status.Enabled); err != nil {
		return err
	}
	return l.saveLocked(!status.Enabled)
}

func (l *launch) saveLocked(on bool) error {
	if l.store.Config().Desktop.LaunchAtLogin == on {
		return nil
	}
	err := l.store.Update(func(c *config.Config) error {
		c.Desktop.LaunchAtLogin = on
		return nil
	})
	if err != nil {
		return fmt.Errorf("saving desktop.launch_at_login: %w", err)
	}
	return nil
}
