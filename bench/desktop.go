package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/tools"
)

// desktop is a session, a program with tray and windows in it, and what was
// measured.
type desktop struct {
	opts     options
	stage    *stage
	screen   *screen
	bus      *dbus.Conn
	items    chan *dbus.Signal // of the panel
	resident *resident
	rows     []*row
}

// measureDesktop measures all there is of the desktop.
func measureDesktop(ctx context.Context, opts options, dir string, progress io.Writer) (rows []*row, err error) {
	d := &desktop{opts: opts, stage: &stage{binary: opts.binary, dir: dir}}
	defer func() { // what was started complains there
		if said := d.stage.end(); err != nil {
			err = fmt.Errorf("%w\n%s", err, said)
		}
	}()
	if err := d.prepare(ctx); err != nil {
		return nil, err
	}
	defer d.screen.close()
	defer d.bus.Close()
	if err := runSteps(ctx, progress, []step{
		{"starts with a tray", d.starts},
		{"a call while no window process runs", d.popups("call waits to window drawn, window process not running", riskyModel, false, 400)},
		{"a call of a model that thinks", d.popups("the same, the model thinks for 1 s before it calls", slowModel, false, 400)},
		{"a call while the window process runs", d.popups("call waits to window drawn, window process running", riskyModel, true, 150)},
		{"the windows' memory", d.windowMemory},
		{"killed windows", d.kills},
		{"the idle program", d.idle},
	}); err != nil {
		return nil, err
	}
	return d.rows, nil
}

// prepare starts what there is for all measurements.
func (d *desktop) prepare(ctx context.Context) error {
	p, addr, err := startPart(ctx, "provider")
	if err != nil {
		return err
	}
	d.stage.processes, d.stage.provider = append(d.stage.processes, p), addr
	if d.bus, err = dbus.ConnectSessionBus(); err != nil {
		return fmt.Errorf("connecting to the session's bus: %w", err)
	}
	d.items = make(chan *dbus.Signal, 1000)
	d.bus.Signal(d.items)
	if err := d.bus.AddMatchSignalContext(ctx, dbus.WithMatchInterface("org.kde.StatusNotifierWatcher"), dbus.WithMatchMember("StatusNotifierItemRegistered")); err != nil {
		return errors.Join(fmt.Errorf("asking the bus for tray items: %w", err), d.bus.Close())
	}
	if d.screen, err = openScreen(); err != nil {
		return errors.Join(err, d.bus.Close())
	}
	return nil
}

func (d *desktop) add(figure, unit string, f floor, value float64) {
	r := newRow(figure, unit, f)
	r.set(gateway, value)
	(&report{}).add(r) // which compares it with its floor
	d.rows = append(d.rows, r)
}

// starts starts the program again and again; the last one stays.
func (d *desktop) starts(ctx context.Context) error {
	home := filepath.Join(d.stage.dir, "home")
	if err := d.stage.writeHome(home, "mcpServers: {scratch: {type: builtin}}\n"); err != nil {
		return err
	}
	var trays, healths []float64
	for i := range d.opts.starts {
		r, err := d.reside(ctx, home)
		if err != nil {
			return err
		}
		trays, healths = append(trays, r.tray), append(healths, r.health)
		if d.resident = r; i < d.opts.starts-1 {
			r.process.end()
		}
	}
	d.stage.processes = append(d.stage.processes, d.resident.process)
	d.add("pointsman: start until the tray icon is in the panel, median", "ms", atMost(300), quantile(trays, 0.5))
	d.add("pointsman: start until /health answers, median", "ms", atMost(300), quantile(healths, 0.5))
	location, err := config.Locate(func(string) string { return home })
	if err != nil {
		return err
	}
	if d.resident.client, err = control.Dial(ctx, location); err != nil {
		return err
	}
	return await(ctx, "the tool "+riskyTool, func(ctx context.Context) bool {
		rows, err := d.resident.client.Tools(ctx)
		return err == nil && slices.ContainsFunc(rows, func(row tools.Row) bool { return row.Name == riskyTool && row.Missing == nil })
	})
}

// resident is a program with a tray.
type resident struct {
	process      *process
	addr, home   string
	client       *control.Client
	tray, health float64 // milliseconds until they were there
}

// reside starts the program and waits for its tray.
func (d *desktop) reside(ctx context.Context, home string) (*resident, error) {
	addr, err := freePort()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	p, err := d.stage.pointsman(ctx, home, "--listen", addr)
	if err != nil {
		return nil, err
	}
	r := &resident{process: p, addr: addr, home: home}
	var wg sync.WaitGroup
	var trayErr error
	wg.Go(func() {
		var at time.Time
		at, trayErr = d.trayItem(ctx, p.pid())
		r.tray = milliseconds(at.Sub(began))
	})
	err = awaitHealth(ctx, addr)
	r.health = milliseconds(time.Since(began))
	wg.Wait()
	if err = errors.Join(err, trayErr); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, p.end())
	}
	return r, nil
}

func milliseconds(d time.Duration) float64 { return micros(d) / 1e3 }

// trayItem waits until a process stands in the panel.
func (d *desktop) trayItem(ctx context.Context, pid int) (time.Time, error) {
	timer := time.NewTimer(startPatience)
	defer timer.Stop()
	for {
		select {
		case signal := <-d.items:
			at := time.Now()
			if len(signal.Body) == 0 {
				continue // of something else
			}
			name, _, _ := strings.Cut(fmt.Sprint(signal.Body[0]), "/")
			var owner int
			if d.bus.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetConnectionUnixProcessID", 0, name).Store(&owner) == nil && owner == pid {
				return at, nil
			}
		case <-timer.C:
			return time.Time{}, fmt.Errorf("no tray icon came within %s", startPatience)
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		}
	}
}

// ask sends a request whose model wants to run a risky tool. Whoever calls
// withdraw takes it back, waits for its end, and hears what came of it if it had
// ended before.
func (d *desktop) ask(ctx context.Context, model string) (withdraw func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.resident.addr+"/v1/chat/completions", bytes.NewReader(request("mock/"+model, false, 200)))
		if err != nil {
			return // the address is ours
		}
		req.Header.Set("Authorization", "Bearer "+accessKey)
		if reply, err := http.DefaultClient.Do(req); err == nil { // withdrawing fails it
			_ = reply.Body.Close()
		}
	})
	return func() { cancel(); wg.Wait() }
}

// asked waits for the approval window, and returns the milliseconds since the
// call has waited.
func (d *desktop) asked(ctx context.Context) (pane, float64, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	p, err := d.screen.drawn(ctx, func(title string) bool { return strings.HasPrefix(title, "Pointsman approval") })
	if err != nil {
		return p, 0, err
	}
	waiting, err := d.resident.client.Pending(ctx)
	if err != nil || len(waiting) != 1 {
		return p, 0, fmt.Errorf("%d calls wait, want 1 (%w)", len(waiting), err)
	}
	return p, milliseconds(p.at.Sub(waiting[0].Created)), nil
}

// popup has a call ask, and takes it back.
func (d *desktop) popup(ctx context.Context, model string) (pane, float64, error) {
	withdraw := d.ask(ctx, model)
	p, took, err := d.asked(ctx)
	withdraw()
	if err != nil {
		return p, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	return p, took, d.screen.gone(ctx, p)
}

// popups measures how soon the approval window is there, with a process of the
// windows that runs or does not.
func (d *desktop) popups(figure, model string, running bool, limit float64) func(context.Context) error {
	return func(ctx context.Context) error {
		var took []float64
		for i := range d.opts.popups + 1 {
			p, ms, err := d.popup(ctx, model)
			if err != nil {
				return err
			}
			if !running || i > 0 { // the first one starts it
				took = append(took, ms)
			}
			if !running || i == d.opts.popups {
				if err := stopWindows(ctx, p.pid); err != nil {
					return err
				}
			}
			if err := rest(ctx, settled); err != nil {
				return err
			}
		}
		d.add(figure+", median", "ms", atMost(limit), quantile(took, 0.5))
		d.add(figure+", worst", "ms", nothing, quantile(took, 1))
		return nil
	}
}

// settled is when nothing goes on any more of what was measured before.
const settled = 300 * time.Millisecond

// stopWindows ends the windows' process in a way that counts as no fault.
func stopWindows(ctx context.Context, pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	if err := process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("ending the windows: %w", err)
	}
	return awaitEnd(ctx, pid, farewell)
}
