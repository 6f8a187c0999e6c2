package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"pointsman/gateway/control"
)

const (
	// drawnTime is how long after a window has come up its memory is read: some
	// is given back when it is drawn.
	drawnTime = 4 * time.Second
	// keepTime is how long the process of the windows stays without one.
	keepTime = 2 * time.Minute
	// afterRun is when the program gives memory back after its last run.
	afterRun = 8 * time.Second
)

// windowMemory reads the memory of the windows' process: with the approval
// window, when it has gone, and with the main window after every screen.
func (d *desktop) windowMemory(ctx context.Context) error {
	withdraw := d.ask(ctx, riskyModel)
	approval, _, err := d.asked(ctx)
	if err == nil {
		err = rest(ctx, drawnTime)
	}
	mb, known := residentMB(approval.pid)
	withdraw()
	if err != nil || !known {
		return errors.Join(err, d.screen.gone(ctx, approval))
	}
	d.add("window process, with the approval window", "MB", atMost(180), mb)
	if err := rest(ctx, drawnTime); err != nil {
		return err
	}
	if mb, known = residentMB(approval.pid); known {
		d.add("window process, when that has gone", "MB", nothing, mb)
	}
	if _, err := d.resident.client.Raise(ctx, control.ShowOpen); err != nil {
		return fmt.Errorf("opening the main window: %w", err)
	}
	if err := d.visitScreens(ctx); err != nil {
		return err
	}
	most, _ := residentMB(approval.pid)
	if err := rest(ctx, drawnTime); err != nil {
		return err
	}
	if mb, known = residentMB(approval.pid); known {
		d.add("window process, main window, just after every screen", "MB", nothing, most)
		d.add("window process, main window, after every screen", "MB", atMost(180), mb)
	}
	return stopWindows(ctx, approval.pid)
}

// The navigation, in pixels of the main window, and how many screens it has.
const (
	railWidth  = 184
	railHeight = 520
	railStep   = 14
	screens    = 8
)

// visitScreens clicks all along the navigation of the main window.
func (d *desktop) visitScreens(ctx context.Context) error {
	opening, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	p, err := d.screen.drawn(opening, func(title string) bool { return title == "Pointsman" })
	if err != nil {
		return err
	}
	looks := map[uint64]bool{}
	for y := int16(railStep); y < railHeight; y += railStep {
		if err := d.screen.click(p, railWidth/2, y); err != nil {
			return err
		}
		if err := rest(ctx, settled); err != nil {
			return err
		}
		look, err := d.screen.lookOf(p, railWidth)
		if err != nil {
			return err
		}
		looks[look] = true
	}
	if len(looks) < screens {
		return fmt.Errorf("the main window showed %d different screens, want %d or more", len(looks), screens)
	}
	return nil
}

// killed is how often the windows are killed; more in a row, and they stay away.
const killed = 3

// kills kills the windows while a call waits, and sees them come back.
func (d *desktop) kills(ctx context.Context) error {
	withdraw := d.ask(ctx, riskyModel)
	defer withdraw()
	p, _, err := d.asked(ctx)
	if err != nil {
		return err
	}
	first, err := d.resident.client.Pending(ctx)
	if err != nil {
		return err
	}
	slowest, answered := 0.0, 0.0
	for range killed {
		if err := rest(ctx, settled); err != nil {
			return err
		}
		process, err := os.FindProcess(p.pid)
		if err != nil {
			return err
		}
		before, began := p, time.Now()
		if err := process.Kill(); err != nil {
			return fmt.Errorf("killing the windows: %w", err)
		}
		for p.pid == before.pid { // what it still said is seen first
			if p, _, err = d.asked(ctx); err != nil {
				return err
			}
		}
		if now, err := d.resident.client.Pending(ctx); err != nil || len(now) != 1 || now[0].ID != first[0].ID {
			answered++
		}
		slowest = max(slowest, milliseconds(p.at.Sub(began)))
	}
	withdraw()
	if err := d.screen.gone(ctx, p); err != nil {
		return err
	}
	d.add("window process killed, call waiting, until the window is back, worst", "ms", atMost(1000), slowest)
	d.add(fmt.Sprintf("calls answered by killing it %d times", killed), "", atMost(0), answered)
	return stopWindows(ctx, p.pid)
}

// idle looks at the program, and at its hidden windows, while nothing happens,
// and sees those end.
func (d *desktop) idle(ctx context.Context) error {
	p, _, err := d.popup(ctx, riskyModel)
	hidden := time.Now()
	if err != nil {
		return err
	}
	if err := rest(ctx, afterRun); err != nil {
		return err
	}
	pids := []int{d.resident.process.pid(), p.pid}
	var before, spent [2]work
	for i, pid := range pids {
		if before[i], err = workOf(pid); err != nil {
			return err
		}
	}
	if err := rest(ctx, d.opts.idle); err != nil {
		return err
	}
	for i, pid := range pids {
		after, err := workOf(pid)
		if err != nil {
			return err
		}
		spent[i] = work{after.cpu - before[i].cpu, after.waits - before[i].waits}
	}
	d.addIdle("resident, idle", spent[0], atMost(0.05))
	if mb, known := residentMB(pids[0]); known {
		d.add("resident, idle, no window open", "MB", atMost(50), mb)
	}
	d.addIdle("window process, no window open", spent[1], nothing)
	if mb, known := residentMB(pids[1]); known {
		d.add("window process, no window open", "MB", nothing, mb)
	}
	if d.opts.short {
		return stopWindows(ctx, p.pid)
	}
	if err := awaitEnd(ctx, p.pid, 2*keepTime); err != nil {
		return err
	}
	d.add("window process ends after its last window", "s", atMost(1.1*keepTime.Seconds()), time.Since(hidden).Seconds())
	return nil
}

func (d *desktop) addIdle(who string, spent work, f floor) {
	seconds := d.opts.idle.Seconds()
	d.add(fmt.Sprintf("%s, CPU over %s", who, d.opts.idle), "%", f, 100*spent.cpu.Seconds()/seconds)
	d.add(who+", wake-ups", "/s", nothing, float64(spent.waits)/seconds)
}
