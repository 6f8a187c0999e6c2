package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// screen is a client of the X server that sees windows come up and be drawn. It
// is told, and asks for nothing while it waits. Its goroutine ends with close.
type screen struct {
	conn    *xgb.Conn
	root    xproto.Window
	events  chan seen
	title   xproto.Atom
	pid     xproto.Atom
	mapped  map[xproto.Window]bool // the windows of programs
	picture maphash.Seed
}

// seen is an event, and when it came.
type seen struct {
	event xgb.Event
	at    time.Time
}

// pane is a window that is drawn.
type pane struct {
	window xproto.Window
	pid    int       // of its process
	at     time.Time // when it was there
}

// manyEvents is more than come while nobody looks.
const manyEvents = 100_000

func openScreen() (*screen, error) {
	xgb.Logger.SetOutput(io.Discard) // it tells of windows that have gone
	conn, err := xgb.NewConn()
	if err != nil {
		return nil, fmt.Errorf("connecting to the X server: %w", err)
	}
	s := &screen{conn: conn, root: xproto.Setup(conn).DefaultScreen(conn).Root, events: make(chan seen, manyEvents),
		mapped: map[xproto.Window]bool{}, picture: maphash.MakeSeed()}
	if err := s.listen(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("asking the X server to tell of windows: %w", err)
	}
	go func() {
		defer close(s.events)
		for {
			event, failure := conn.WaitForEvent() // a failure is of a window that has gone
			if event == nil && failure == nil {
				return
			}
			s.events <- seen{event, time.Now()}
		}
	}()
	return s, nil
}

func (s *screen) listen() error {
	if err := errors.Join(damage.Init(s.conn), xtest.Init(s.conn)); err != nil {
		return err
	}
	if _, err := damage.QueryVersion(s.conn, 1, 1).Reply(); err != nil {
		return err
	}
	var err error
	if s.title, err = s.atom("_NET_WM_NAME"); err != nil {
		return err
	}
	if s.pid, err = s.atom("_NET_WM_PID"); err != nil {
		return err
	}
	return xproto.ChangeWindowAttributesChecked(s.conn, s.root, xproto.CwEventMask, []uint32{xproto.EventMaskSubstructureNotify}).Check()
}

func (s *screen) atom(name string) (xproto.Atom, error) {
	reply, err := xproto.InternAtom(s.conn, false, uint16(len(name)), name).Reply()
	if err != nil {
		return 0, err
	}
	return reply.Atom, nil
}

// close ends the connection, and waits for the goroutine.
func (s *screen) close() {
	s.conn.Close()
	for range s.events {
	}
}

// drawn waits until a window whose title is wanted is on the screen, with a
// picture in it.
func (s *screen) drawn(ctx context.Context, wanted func(title string) bool) (pane, error) {
	for {
		event, err := s.next(ctx)
		if err != nil {
			return pane{}, fmt.Errorf("waiting for a window: %w", err)
		}
		switch event.event.(type) {
		case damage.NotifyEvent, xproto.MapNotifyEvent:
		default:
			continue
		}
		for window, mapped := range s.mapped {
			if !mapped || !wanted(string(s.property(window, s.title))) || !s.hasPicture(window) {
				continue
			}
			if pid := s.property(window, s.pid); len(pid) == 4 { // it has not gone meanwhile
				return pane{window: window, pid: int(binary.NativeEndian.Uint32(pid)), at: event.at}, nil
			}
		}
	}
}

// gone waits until a window is not on the screen any more.
func (s *screen) gone(ctx context.Context, p pane) error {
	for s.mapped[p.window] {
		if _, err := s.next(ctx); err != nil {
			return fmt.Errorf("waiting for a window to go: %w", err)
		}
	}
	return nil
}

// next takes the next event, and keeps account of the windows.
func (s *screen) next(ctx context.Context) (seen, error) {
	select {
	case next, open := <-s.events:
		if !open {
			return next, errors.New("the X server has gone")
		}
		s.note(next.event)
		return next, nil
	case <-ctx.Done():
		return seen{}, context.Cause(ctx)
	}
}

func (s *screen) note(event xgb.Event) {
	switch e := event.(type) {
	case xproto.CreateNotifyEvent:
		if e.OverrideRedirect {
			return // of the window manager or the panel
		}
		// What fails here fails for a window that has gone.
		xproto.ChangeWindowAttributes(s.conn, e.Window, xproto.CwEventMask, []uint32{xproto.EventMaskStructureNotify})
		if id, err := damage.NewDamageId(s.conn); err == nil {
			damage.Create(s.conn, id, xproto.Drawable(e.Window), damage.ReportLevelRawRectangles)
		}
		s.mapped[e.Window] = s.viewable(e.Window)
	case xproto.MapNotifyEvent:
		if _, ours := s.mapped[e.Window]; ours {
			s.mapped[e.Window] = true
		}
	case xproto.UnmapNotifyEvent:
		if _, ours := s.mapped[e.Window]; ours {
			s.mapped[e.Window] = false
		}
	case xproto.DestroyNotifyEvent:
		delete(s.mapped, e.Window)
	}
}

// viewable reports whether a window and all that it is in are on the screen.
func (s *screen) viewable(window xproto.Window) bool {
	reply, err := xproto.GetWindowAttributes(s.conn, window).Reply()
	return err == nil && reply.MapState == xproto.MapStateViewable
}

// property reads a property of a window; nil when it has none.
func (s *screen) property(window xproto.Window, name xproto.Atom) []byte {
	const words = 256
	reply, err := xproto.GetProperty(s.conn, false, window, name, xproto.GetPropertyTypeAny, 0, words).Reply()
	if err != nil {
		return nil
	}
	return reply.Value
}

// pixels are those of a window on the screen, four bytes each, from a column on.
func (s *screen) pixels(window xproto.Window, from int16) ([]byte, error) {
	size, err := xproto.GetGeometry(s.conn, xproto.Drawable(window)).Reply()
	if err != nil {
		return nil, err
	}
	image, err := xproto.GetImage(s.conn, xproto.ImageFormatZPixmap, xproto.Drawable(window), from, 0, size.Width-uint16(from), size.Height, ^uint32(0)).Reply()
	if err != nil {
		return nil, err
	}
	return image.Data, nil
}

// manyColours are more than there are in a window before it is drawn; letters
// alone have more.
const manyColours = 16

// hasPicture reports whether something is drawn in a window that is on the screen.
func (s *screen) hasPicture(window xproto.Window) bool {
	if !s.viewable(window) {
		return false
	}
	pixels, err := s.pixels(window, 0)
	if err != nil {
		return false
	}
	colours := map[[4]byte]bool{}
	for ; len(pixels) >= 4 && len(colours) < manyColours; pixels = pixels[4:] {
		colours[[4]byte(pixels)] = true
	}
	return len(colours) >= manyColours
}

// lookOf tells one picture of a window, from a column on, from another.
func (s *screen) lookOf(p pane, from int16) (uint64, error) {
	pixels, err := s.pixels(p.window, from)
	if err != nil {
		return 0, fmt.Errorf("looking at a window: %w", err)
	}
	return maphash.Bytes(s.picture, pixels), nil
}

// click presses the mouse's button at a place of a window.
func (s *screen) click(p pane, x, y int16) error {
	at, err := xproto.TranslateCoordinates(s.conn, p.window, s.root, x, y).Reply()
	if err != nil {
		return fmt.Errorf("finding a window: %w", err)
	}
	xtest.FakeInput(s.conn, xproto.MotionNotify, 0, 0, s.root, at.DstX, at.DstY, 0)
	xtest.FakeInput(s.conn, xproto.ButtonPress, xproto.ButtonIndex1, 0, s.root, 0, 0, 0)
	return xtest.FakeInputChecked(s.conn, xproto.ButtonRelease, xproto.ButtonIndex1, 0, s.root, 0, 0, 0).Check()
}
