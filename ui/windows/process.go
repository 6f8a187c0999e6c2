package windows

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"pointsman/ui/model"
)

const (
	// showPatience is how long the windows may take to show something.
	showPatience = 15 * time.Second
	// quitPatience is how long they may take to end when they are told to.
	quitPatience = 2 * time.Second
	// earlyDeath is how soon after its start the end of the process counts as
	// one in a row.
	earlyDeath = 5 * time.Second
	// deaths are how many in a row we try again after.
	deaths = 3
)

// Options are what a Process is made of.
type Options struct {
	// Command starts the windows: the program, and its arguments.
	Command []string
	// Secret is what gives the right to answer approvals.
	Secret string
	// Impossible says why there can be no windows, before one is tried; "" when
	// there can.
	Impossible string
	// Changed is called, from any goroutine, after what Fault tells has changed.
	Changed func()
	Logger  *slog.Logger
}

// Process keeps the windows' process. It is safe for concurrent use.
type Process struct {
	opts  Options
	shows chan request
	needs chan bool     // size 1: the last word
	warms chan struct{} // size 1

	mu    sync.Mutex // guards the field below
	fault string     // why there are no windows; "" while there could be
}

// request is one Show on its way.
type request struct {
	Command
	done  chan error // size 1
	again bool       // it was sent to a process that ended in that moment
}

// New returns the keeper of a process that is not started yet.
func New(opts Options) *Process {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Changed == nil {
		opts.Changed = func() {}
	}
	return &Process{opts: opts, shows: make(chan request), needs: make(chan bool, 1), warms: make(chan struct{}, 1), fault: opts.Impossible}
}

// Fault says, in a few words, why there are no windows; "" while there could be.
func (p *Process) Fault() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

func (p *Process) setFault(fault string) {
	p.mu.Lock()
	changed := p.fault != fault
	p.fault = fault
	p.mu.Unlock()
	if changed {
		p.opts.Changed()
	}
}

// Show opens the window for an action, and returns when it is there. It tries
// again what failed before. It works while Run does.
func (p *Process) Show(ctx context.Context, action model.Action) error {
	ctx, cancel := context.WithTimeoutCause(ctx, showPatience, fmt.Errorf("the window has not come up within %s", showPatience))
	defer cancel()
	r := request{Command: Command{Show: action}, done: make(chan error, 1)}
	select {
	case p.shows <- r:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Need says whether something waits for a person, for which the windows have to
// be there. They come up by themselves to show it.
func (p *Process) Need(needed bool) {
	for {
		select {
		case p.needs <- needed:
			return
		case <-p.needs: // what was said before does not hold any more
		}
	}
}

// Warm starts the windows ahead of need, when none run. They show nothing, and end
// by themselves when nothing comes of it.
func (p *Process) Warm() {
	select {
	case p.warms <- struct{}{}:
	default: // it is about to start
	}
}

// Run keeps the process until ctx ends, and ends it then. It is called once.
func (p *Process) Run(ctx context.Context) {
	k := keeper{Process: p, asked: map[int]request{}, ended: make(chan ending), told: make(chan report)}
	defer k.end()
	for {
		select {
		case r := <-p.shows:
			k.early = 0 // who asks wants it tried again
			k.show(ctx, r)
		case k.needed = <-p.needs:
			k.keep(ctx, k.needed)
		case <-p.warms:
			k.keep(ctx, true)
		case r := <-k.told:
			k.heed(r)
		case e := <-k.ended:
			k.child = nil
			k.bury(ctx, e)
			k.keep(ctx, k.needed)
		case <-ctx.Done():
			return
		}
	}
}

// keeper is one Run.
type keeper struct {
	*Process
	child  *child // nil: none runs
	needed bool
	open   bool // the main window is
	early  int  // deaths in a row
	last   int  // id of the last command
	asked  map[int]request
	ended  chan ending
	told   chan report
}

// ending is how a process went.
type ending struct {
	why   string // "" when it went by itself, having nothing to show
	lived time.Duration
}

// keep starts the process when it is wanted, unless it died too often.
func (k *keeper) keep(ctx context.Context, wanted bool) {
	if k.child != nil || !wanted || k.Fault() != "" {
		return
	}
	if err := k.start(ctx); err != nil {
		k.setFault(err.Error())
	}
}

// show passes a request on to the process, which is started for it.
func (k *keeper) show(ctx context.Context, r request) {
	if k.opts.Impossible != "" {
		r.done <- errors.New(k.opts.Impossible)
		return
	}
	if k.child == nil {
		if err := k.start(ctx); err != nil {
			r.done <- err
			return
		}
	}
	k.last++
	r.ID = k.last
	k.asked[r.ID] = r
	if err := k.child.write(r.Command); err != nil {
		k.opts.Logger.Debug("telling the windows what to show", "error", err) // their end, which comes now, is heeded
	}
}

// heed takes in what the process reports.
func (k *keeper) heed(r report) {
	if r.ID == 0 {
		k.open = r.Open
		return
	}
	k.finish(r.ID, nil)
}

// finish answers a request; all of them for the id 0.
func (k *keeper) finish(id int, err error) {
	if err == nil {
		k.setFault("")
	}
	for asked, r := range k.asked {
		if asked == id || id == 0 {
			r.done <- err
			delete(k.asked, asked)
		}
	}
}

// bury notes the end of a process, and has the next one do what it left undone.
func (k *keeper) bury(ctx context.Context, e ending) {
	if e.why == "" {
		k.early, k.open = 0, false
		k.askAgain(ctx)
		return
	}
	k.opts.Logger.Error("the windows have ended", "reason", e.why, "lived", e.lived)
	k.finish(0, fmt.Errorf("the windows have ended: %s", e.why))
	if e.lived > earlyDeath {
		k.early = 0
	}
	if k.early++; k.early > deaths {
		k.setFault(e.why)
	}
	if k.open && k.Fault() == "" {
		k.show(ctx, request{Command: Command{Show: model.Open, Failed: e.why}, done: make(chan error, 1)})
	}
	k.open = false
}

// askAgain passes on, once, what a process was asked for that had just decided to
// go.
func (k *keeper) askAgain(ctx context.Context) {
	asked := k.asked
	k.asked = map[int]request{}
	for _, r := range asked {
		if r.again {
			r.done <- errors.New("the windows ended before they showed it; try again")
			continue
		}
		r.again = true
		k.show(ctx, r)
	}
}

func (k *keeper) start(ctx context.Context) error {
	child, err := startChild(k.opts, func(r report) {
		select {
		case k.told <- r:
		case <-ctx.Done():
		}
	})
	if err != nil {
		return err
	}
	k.child = child
	k.child.work.Go(func() {
		e := child.wait()
		select {
		case k.ended <- e:
		case <-ctx.Done():
		}
	})
	return nil
}

// end ends the process with us: it sees our end of its input close.
func (k *keeper) end() {
	if k.child == nil {
		return
	}
	_ = k.child.stdin.Close()
	kill := time.AfterFunc(quitPatience, func() { _ = k.child.cmd.Process.Kill() })
	defer kill.Stop()
	k.child.work.Wait()
}
