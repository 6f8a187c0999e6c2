package desktop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pointsman/ui/model"
	"pointsman/ui/tray"
)

// act does what was chosen in the menu, and tells when it could not be done.
func (d *Desktop) act(ctx context.Context, action model.Action) {
	err := d.do(ctx, action)
	d.lookAgain()
	if err == nil || ctx.Err() != nil {
		return
	}
	d.log.Error("doing what was chosen in the tray", "action", string(action), "error", err)
	if err := d.faults.Show(ctx, tray.Notice{Title: "That did not work", Body: err.Error()}); err != nil {
		d.log.Debug("telling so", "error", err)
	}
}

func (d *Desktop) do(ctx context.Context, action model.Action) error {
	state := d.State(ctx)
	switch action {
	case model.Pause:
		return d.opts.Source.Pause(ctx, !state.Paused)
	case model.CopyURL:
		return d.opts.Clipboard.Copy(ctx, state.Endpoint())
	case model.CopyKey:
		return d.copyKey(ctx)
	case model.LaunchAtLogin:
		return d.launch.toggle()
	case model.Quit:
		return d.quit(ctx, state)
	case model.Open, model.Approvals, model.Settings:
		if d.opts.Show == nil {
			return errors.New("there are no windows: " + d.opts.NoWindows)
		}
		return d.opts.Show(ctx, action)
	}
	return fmt.Errorf("%q is not something to do", action)
}

// RepairLaunch has the desktop start this program at login, in the place of
// another one.
func (d *Desktop) RepairLaunch() error {
	err := d.launch.repair()
	d.launch.report(err)
	d.announce()
	return err
}

func (d *Desktop) copyKey(ctx context.Context) error {
	key, err := d.opts.Source.Key(ctx)
	if err != nil {
		return err
	}
	if key == "" {
		return errors.New("no key is asked for (gateway.auth: none)")
	}
	return d.opts.Clipboard.Copy(ctx, key)
}

// quit ends the program; with calls in flight, only when it is chosen twice.
func (d *Desktop) quit(ctx context.Context, state model.State) error {
	d.mu.Lock()
	asks := model.QuitAsks(state) && d.quitting == nil
	if asks {
		d.quitting = time.AfterFunc(quitAgain, d.forgetQuit)
	}
	d.mu.Unlock()
	if !asks {
		d.opts.Quit()
		return nil
	}
	state.Quitting = true
	if err := d.faults.Show(ctx, tray.Notice{Title: "Pointsman is at work", Body: model.QuitTitle(state)}); err != nil {
		d.log.Debug("asking whether to quit", "error", err) // the menu says it, too
	}
	return nil
}

// forgetQuit takes a first Quit back.
func (d *Desktop) forgetQuit() {
	d.mu.Lock()
	if d.quitting != nil {
		d.quitting.Stop()
		d.quitting = nil
	}
	d.mu.Unlock()
	d.lookAgain()
}
