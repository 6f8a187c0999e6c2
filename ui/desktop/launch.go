package desktop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"pointsman/gateway/config"
	"pointsman/ui/autostart"
	"pointsman/ui/model"
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

	failure atomic.Pointer[string] // how keeping both the same has failed; nil: it has not

	written chan struct{} // size 1: we wrote the entry, and its folder is there

	mu     sync.Mutex // held while one is made like the other
	agreed bool       // what both last said: whichever says something else was changed by others
}

// tell says in s whether we are started at login, and what is wrong with that.
func (l *launch) tell(s *model.State) {
	if l.entry == nil {
		return
	}
	status, err := l.entry.Status()
	s.LaunchAtLogin = err == nil && status.Enabled
	switch failure := l.failure.Load(); {
	case err != nil:
		s.LaunchFault = err.Error()
	case status.Enabled && status.Program != l.entry.Program:
		s.LaunchFault, s.LaunchOther = fmt.Sprintf("login starts %s, not this program (%s)", status.Program, l.entry.Program), true
	case failure != nil:
		s.LaunchFault = *failure
	}
}

// repair has the desktop start this program, and no other.
func (l *launch) repair() error {
	if l.entry == nil {
		return errors.New("launch at login: " + l.why)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.setLocked(true); err != nil {
		return err
	}
	return l.saveLocked(true)
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

// report notes how keeping both the same has gone.
func (l *launch) report(err error) {
	if err == nil {
		l.failure.Store(nil)
		return
	}
	text := err.Error()
	l.failure.Store(&text)
	l.log.Warn("keeping launch at login as it is configured", "error", err)
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
