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

	written chan struct{} // size 1: we wrote the entry, and its folder is there

	mu     sync.Mutex // held while one is made like the other
	agreed bool       // what both last said: whichever says something else was changed by others
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
	watching.Go(func() { l.watchEntry(ctx) })
	l.report(l.store.Watch(ctx, func(config.Change) {
		l.report(l.followConfig())
		l.changed()
	}))
}

// watchEntry watches the desktop's entry; while there is no folder for it, from
// when we make it.
func (l *launch) watchEntry(ctx context.Context) {
	for {
		err := l.entry.Watch(ctx, func() { l.report(l.followEntry()); l.changed() })
		if err != nil {
			l.report(err)
			return
		}
		select {
		case <-l.written:
		case <-ctx.Done():
			return
		}
	}
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
	if err != nil {
		return err
	}
	l.agreed = status.Enabled
	if status.Present {
		return l.saveLocked(status.Enabled)
	}
	return l.followConfigLocked()
}

// followEntry makes the configuration say what the desktop does, when that was
// changed.
func (l *launch) followEntry() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	status, err := l.entry.Status()
	if err != nil || status.Enabled == l.agreed {
		return err
	}
	return l.saveLocked(status.Enabled)
}

// followConfig makes the desktop do what the configuration says, when that was
// changed.
func (l *launch) followConfig() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.followConfigLocked()
}

func (l *launch) followConfigLocked() error {
	on := l.store.Config().Desktop.LaunchAtLogin
	if on == l.agreed {
		return nil
	}
	return l.setLocked(on)
}

// toggle changes both.
func (l *launch) toggle() error {
	if l.entry == nil {
		return errors.New("launch at login: " + l.why)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	status, err := l.entry.Status()
	if err != nil {
		return err
	}
	if err := l.setLocked(!status.Enabled); err != nil {
		return err
	}
	return l.saveLocked(!status.Enabled)
}

// setLocked writes the entry.
func (l *launch) setLocked(on bool) error {
	if err := l.entry.Set(on); err != nil {
		return err
	}
	l.agreed = on
	select {
	case l.written <- struct{}{}:
	default: // it is known
	}
	return nil
}

// saveLocked writes the configuration.
func (l *launch) saveLocked(on bool) error {
	l.agreed = on
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
