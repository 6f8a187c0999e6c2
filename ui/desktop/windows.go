package desktop

import "context"

// windowFault says why windows do not come up.
func (d *Desktop) windowFault() string {
	if d.opts.WindowFault == nil {
		return ""
	}
	return d.opts.WindowFault()
}

// watchWindows has the tray look again when the windows' fault has changed.
func (d *Desktop) watchWindows(ctx context.Context) {
	for {
		select {
		case <-d.opts.Changed: // nil: never
			d.announce()
		case <-ctx.Done():
			return
		}
	}
}
