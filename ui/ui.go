// Package ui is the windows: the main window with its screens, and the window
// that puts what waits before a person. It is a client of the running resident,
// and holds no state of its own.
//
// Run owns every goroutine. All widget code runs on the UI goroutine: work in the
// background comes back to it through UI.post alone.
package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"fyne.io/fyne/v2"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/theme"
	"pointsman/ui/windows"
)

// Options are what the windows work with.
type Options struct {
	// Client reaches the resident, with the right to answer approvals.
	Client *control.Client
	// Home is where the user's files are.
	Home config.Home
	// Parent is the resident's end of the pipe: what it wants shown.
	Parent *windows.Parent
	// Quiet keeps a window that has not been shown yet from taking the keyboard
	// when it comes up. Nil: nothing does.
	Quiet func(fyne.App, fyne.Window)
	// Keep is how long the process stays after its last window went. If zero, 2
	// minutes.
	Keep    time.Duration
	Version string
	// Announce has the windows tell the desktop of what waits; where a resident can
	// do so itself, it does.
	Announce bool
	// Rest gives memory back to the system that is not Go's. It is called on the UI
	// goroutine, a moment after a window or a screen has come up, or gone. Nil:
	// nothing does.
	Rest   func()
	Logger *slog.Logger // nil: discard
}

// UI is the windows of one process.
type UI struct {
	app     fyne.App
	opts    Options
	log     *slog.Logger
	client  *control.Client
	journal *journalFile
	post    func(func()) // runs a function on the UI goroutine, later

	ctx  context.Context // of Run
	work sync.WaitGroup  // every goroutine of ours

	// What follows is the UI goroutine's.
	face      theme.Choice    // that the windows wear
	notify    bool            // the user wants to be told of what waits
	told      map[string]bool // the ids of what waited when it was last looked at
	main      *mainWindow
	approval  *approvalWindow
	questions *elicitationWindow
	asked     map[string]bool // the ids of what servers asked when it was last looked at
	leaving   *time.Timer     // runs while no window is open
	resting   *time.Timer     // runs for a moment after what is shown has changed
	err       error           // why Run ends
}

// New returns the windows of an app. It shows nothing yet.
func New(app fyne.App, opts Options) *UI {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Keep == 0 {
		opts.Keep = 2 * time.Minute
	}
	u := &UI{app: app, opts: opts, log: opts.Logger, client: opts.Client, post: fyne.Do,
		journal: &journalFile{path: filepath.Join(opts.Home.State, "journal.db")}}
	u.wear(theme.System)
	return u
}

// heed does what the configuration says of all windows.
func (u *UI) heed(now control.Settings) {
	if now.Config == nil {
		return // it is not known yet: what held before does
	}
	u.wear(faceOf(now))
	u.notify = now.Config.Desktop.Notify
}

// wear gives the windows a face.
func (u *UI) wear(face theme.Choice) {
	if u.face != face {
		u.face = face
		u.app.Settings().SetTheme(theme.New(face))
	}
}

// facePatience bounds how long the first window waits for the face it is to wear.
const facePatience = 500 * time.Millisecond

// dress gives the windows the face that was chosen, before there are any.
func (u *UI) dress(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, facePatience)
	defer cancel()
	settings, err := u.client.Settings(ctx)
	if err != nil {
		u.log.Warn("reading the chosen theme; the system's is taken", "error", err)
		return
	}
	u.heed(settings)
}

// Run shows what the resident asks for and what waits, until the resident goes,
// ctx ends, or no window has been open for a while. It must be called on the
// main goroutine.
func (u *UI) Run(ctx context.Context) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer func() {
		// Of a tap, say. Fyne's loop cannot go on: the next process does.
		if cause := recover(); cause != nil {
			u.logPanic("the windows", cause)
			err = fmt.Errorf("a screen has failed: %v", cause)
		}
	}()
	u.ctx = ctx
	u.dress(ctx)
	u.work.Go(func() { // what waits is known when the windows are made; it is shown when the app runs
		if err := u.watchApprovals(ctx); ctx.Err() == nil {
			u.post(func() { u.end(err) })
		}
	})
	u.work.Go(func() {
		if err := u.watchQuestions(ctx); ctx.Err() == nil {
			u.post(func() { u.end(err) })
		}
	})
	u.main = newMainWindow(u)
	u.approval = u.newApprovals()
	u.questions = u.newQuestions()
	u.app.Lifecycle().SetOnStarted(func() {
		u.leaveLater()
		go u.obey() // ends with the process: nothing else ends a read of the standard input
	})
	// The driver's Quit, as Fyne has ended by itself when a signal ends ctx: the
	// app's would close windows of a toolkit that has gone.
	quitting := context.AfterFunc(ctx, func() { u.post(u.app.Driver().Quit) })
	u.app.Run()
	quitting() // there is no loop any more that could be quit
	stop()
	u.approval.Close()
	u.questions.Close()
	u.work.Wait()
	return errors.Join(u.err, u.journal.close())
}

// obey does what the resident asks for. That it hangs up ends the windows: what
// they show comes from it alone.
func (u *UI) obey() {
	err := u.opts.Parent.Commands(func(c windows.Command) {
		u.post(func() { u.safely("showing "+string(c.Show), func() { u.show(c) }) })
	})
	u.post(func() { u.end(err) })
}

// end ends the windows, for a reason or for none.
func (u *UI) end(err error) {
	if u.err == nil && u.ctx.Err() == nil {
		u.err = err
	}
	u.app.Quit()
}

func (u *UI) show(c windows.Command) {
	switch c.Show {
	case "": // be there, and wait
	case model.Approvals:
		if u.approval.Visible() {
			u.approval.Raise()
		} else {
			u.main.open(screenApprovals)
		}
	case model.Settings:
		u.main.open(screenSettings)
	default:
		u.main.open("")
	}
	if c.Failed != "" {
		u.main.tellFailed(c.Failed)
	}
	u.opts.Parent.Shown(c)
	u.leaveLater()
}

// leaveLater ends the process when no window is open for a while.
func (u *UI) leaveLater() {
	if u.leaving != nil {
		u.leaving.Stop()
		u.leaving = nil
	}
	if u.main.visible || u.approval.Visible() || u.questions.Visible() {
		return
	}
	u.leaving = time.AfterFunc(u.opts.Keep, func() {
		u.post(func() {
			if u.leaving != nil {
				u.app.Quit()
			}
		})
	})
}

// rest is how long after a window or a screen has come up, or gone, memory is
// given back: its first pictures are drawn then.
const rest = 2 * time.Second

// restLater gives memory back when what comes up now is drawn.
func (u *UI) restLater() {
	if u.opts.Rest == nil {
		return
	}
	if u.resting != nil {
		u.resting.Stop()
	}
	u.resting = time.AfterFunc(rest, func() {
		debug.FreeOSMemory() // collects first, which the UI goroutine need not wait for
		u.post(u.opts.Rest)
	})
}

// act is what a button does, run safely.
func (u *UI) act(doing string, f func()) func() { return func() { u.safely(doing, f) } }

// safely runs a part of a screen. Its panic is logged and shown, and ends
// nothing.
func (u *UI) safely(doing string, part func()) {
	defer func() {
		if cause := recover(); cause != nil {
			u.logPanic(doing, cause)
			u.main.failed(doing)
		}
	}()
	part()
}

// logPanic logs a panic that was recovered from.
func (u *UI) logPanic(doing string, cause any) {
	u.log.Error("a screen has failed", "doing", doing, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
}
