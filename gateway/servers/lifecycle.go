package servers

import (
	"context"
	"fmt"
)

// Start starts a server that was stopped, rests after crashes, or waits to be
// tried again, and waits for the outcome, until ctx ends. That it cannot be
// connected is no error but in the Status. One that is connected, or is being
// connected, is left as it is. The error is a *StateError or ctx's cause.
func (h *Host) Start(ctx context.Context, name string) (Status, error) {
	return h.begin(ctx, name, (*server).isUp)
}

// Restart ends a server and starts it anew, whatever state it is in. See Start.
func (h *Host) Restart(ctx context.Context, name string) (Status, error) {
	return h.begin(ctx, name, func(*server) bool { return false })
}

// begin starts a server anew, unless it may be left as it is.
func (h *Host) begin(ctx context.Context, name string, leave func(*server) bool) (Status, error) {
	s, err := h.beginAnew(name, leave)
	if err != nil {
		return Status{}, err
	}
	h.opts.OnChange()
	err = s.settle(ctx)
	return s.status(), err
}

func (h *Host) beginAnew(name string, leave func(*server) bool) (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.servers[name]
	switch {
	case old == nil:
		return nil, unknown(name)
	case old.entry.Disabled:
		return nil, &StateError{Server: name, Status: Disabled, Reason: "the configuration disables it (`disabled`, or `disabledMcpServers`)"}
	case old.kind == "":
		return nil, &StateError{Server: name, Status: NotConfigured, Reason: "the entry has neither command nor url"}
	case h.ctx == nil || h.ctx.Err() != nil:
		return nil, &StateError{Server: name, Status: Stopped, Reason: "the servers are not being run"}
	}
	delete(h.stopped, name)
	if leave(old) {
		return old, nil
	}
	return h.replaceLocked(old), nil
}

// replaceLocked ends a server and puts another one of the same entry in its place.
func (h *Host) replaceLocked(old *server) *server {
	old.end()
	s := newServer(h, old.name, old.entry, h.stopped[old.name])
	h.servers[old.name] = s
	h.startLocked(s)
	return s
}

// Stop ends a server and keeps it stopped, whatever happens to its entry, until
// Start or Restart. It waits until nothing of it is left, or ctx ends; that
// takes 5 seconds at most. The error is a *StateError or ctx's cause.
func (h *Host) Stop(ctx context.Context, name string) (Status, error) {
	s, old, err := h.halt(name)
	if err != nil {
		return Status{}, err
	}
	h.opts.OnChange()
	if old != nil {
		select {
		case <-old.ended:
		case <-ctx.Done():
			return s.status(), context.Cause(ctx)
		}
	}
	return s.status(), nil
}

// halt puts a stopped server in the place of a running one, and returns it and
// what is to be waited for.
func (h *Host) halt(name string) (s, old *server, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s = h.servers[name]
	if s == nil {
		return nil, nil, unknown(name)
	}
	if s.entry.Disabled || s.kind == "" {
		return s, nil, nil // it does not run, and will not
	}
	h.stopped[name] = true
	if !s.idle {
		s = h.replaceLocked(s)
	}
	return s, h.last[name], nil
}

// Refresh restarts servers as something that they were started with has changed;
// those that are stopped, or disabled, stay so. It does not wait for any of them.
func (h *Host) Refresh(names ...string) {
	h.mu.Lock()
	for _, name := range names {
		if old := h.servers[name]; old != nil && !old.idle {
			h.replaceLocked(old)
		}
	}
	h.mu.Unlock()
	h.opts.OnChange()
}

// Connecting reports whether some server is on its way to its first connection,
// or will be when Run is called.
func (h *Host) Connecting() bool {
	for _, s := range h.list() {
		if s.isComing() {
			return true
		}
	}
	return false
}

// Settle waits until no server is on its way to its first connection any more, or
// ctx ends, whose cause it then returns. Run must have been called, or be called
// meanwhile.
func (h *Host) Settle(ctx context.Context) error {
	for _, s := range h.list() {
		if !s.isComing() {
			continue
		}
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A StateError says that a server cannot be started, stopped or restarted.
type StateError struct {
	Server string
	Status State // NotConfigured also when there is no server of the name
	Reason string
}

func (e *StateError) Error() string { return fmt.Sprintf("server %q: %s", e.Server, e.Reason) }

func unknown(name string) error {
	return &StateError{Server: name, Status: NotConfigured, Reason: "no server of this name is configured"}
}
