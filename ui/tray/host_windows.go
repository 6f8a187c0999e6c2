package tray

import (
	"context"
	"runtime"
	"time"

	"fyne.io/systray"
)

// loopPatience is how long the system's loop may take to end.
const loopPatience = 2 * time.Second

// host stands the tray in the taskbar until ctx ends. Without a desktop no
// window can be made, and the system's loop waits for ever for a message to it:
// that one is left behind.
func (t *tray) host(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		runtime.LockOSThread() // a window's messages go to the thread that made it
		defer close(ended)
		systray.Run(func() {
			t.show(t.opts.State(ctx))
			t.opts.Shown()
			t.run(ctx)
			systray.Quit()
		}, nil)
	}()
	<-ctx.Done()
	select {
	case <-ended:
	case <-time.After(loopPatience):
	}
	return nil
}
