package gateway

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"

	"pointsman/gateway/httpapi"
)

// OllamaStatus tells how it stands with the Ollama-compatible door.
type OllamaStatus struct {
	Enabled bool   `json:"enabled"`
	Listen  string `json:"listen"`  // where it listens, as host:port, or would
	Serving bool   `json:"serving"` // it is open
	Error   string `json:"error"`   // why it is not, although it is switched on; or not where it should be
}

// Ollama returns how it stands with the Ollama-compatible door.
func (g *Gateway) Ollama() OllamaStatus {
	cfg := g.Config().Ollama
	s := OllamaStatus{Enabled: cfg.Enabled, Listen: cfg.Listen}
	g.ollama.mu.Lock()
	defer g.ollama.mu.Unlock()
	if g.ollama.address != "" {
		s.Listen, s.Serving = g.ollama.address, true
	}
	if cfg.Enabled && g.ollama.fault != nil {
		s.Error = g.redactor.Redact(g.ollama.fault.Error())
	}
	return s
}

// ollamaDoor is the Ollama-compatible door, which is opened and closed as the
// configuration wants it.
type ollamaDoor struct {
	gateway *Gateway
	again   chan struct{} // size 1: the configuration may want something else

	mu      sync.Mutex // guards the fields below
	address string     // where it listens; "" while it is closed
	fault   error      // why it could not be opened
}

// look has the door be as the configuration wants it.
func (d *ollamaDoor) look() {
	select {
	case d.again <- struct{}{}:
	default: // it will, already
	}
}

// opened is a door that is open, or has been.
type opened struct {
	listen  string // as the configuration has it
	address string // where that is
	stop    context.CancelFunc
	ended   chan struct{} // closed when it is
	err     error         // why it closed by itself; set before ended is closed
}

// close ends the door and waits for its requests. A nil one is closed.
func (o *opened) close() {
	if o != nil {
		o.stop()
		<-o.ended
	}
}

// at reports whether the door is open where the configuration wants it.
func (o *opened) at(listen string) bool {
	if o == nil || o.listen != listen {
		return false
	}
	select {
	case <-o.ended:
		return false
	default:
		return true
	}
}

// keep opens and closes the door, until ctx ends. The configuration that the
// gateway begins with has it look first.
func (d *ollamaDoor) keep(ctx context.Context) {
	var now *opened
	for d.await(ctx, now); ctx.Err() == nil; d.await(ctx, now) {
		now = d.adjust(ctx, now)
	}
	now.close()
	d.tell(nil, nil)
}

// adjust makes the door be as the configuration wants it. One that should be
// elsewhere and cannot stays where it is.
func (d *ollamaDoor) adjust(ctx context.Context, now *opened) *opened {
	want := d.gateway.Config().Ollama
	var fault error
	switch {
	case !want.Enabled:
		now.close()
		now = nil
	case !now.at(want.Listen):
		var next *opened
		if next, fault = d.open(ctx, want.Listen); fault == nil {
			now.close()
			now = next
		}
	}
	d.tell(now, fault)
	return now
}

// await waits until the configuration may want something else. A door that could
// not be opened, or has closed by itself, is tried again then.
func (d *ollamaDoor) await(ctx context.Context, now *opened) {
	if now != nil {
		select {
		case <-d.again:
			return
		case <-now.ended:
			d.tell(nil, now.err)
		}
	}
	select {
	case <-d.again:
	case <-ctx.Done():
	}
}

// tell notes how it stands with the door.
func (d *ollamaDoor) tell(now *opened, fault error) {
	if fault != nil {
		d.gateway.log.Warn("clients of Ollama's API cannot come in", "error", fault)
	}
	d.mu.Lock()
	d.address, d.fault = "", fault
	if now != nil {
		d.address = now.address
	}
	d.mu.Unlock()
	d.gateway.notices.notify()
}

// open begins to serve an address.
func (d *ollamaDoor) open(ctx context.Context, address string) (*opened, error) {
	g := d.gateway
	ln, err := g.opts.Listen(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("%w; stop it, or choose another address (ollama.listen)", err)
	}
	ctx, stop := context.WithCancel(ctx)
	o := &opened{listen: address, address: ln.Addr().String(), stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(o.ended)
		o.err = serveHTTP(ctx, ln, httpapi.NewOllama(g.ollamaOptions(address)))
	}()
	g.log.Info("serving Ollama's API, without a key", "address", "http://"+o.address)
	return o, nil
}

func (g *Gateway) ollamaOptions(address string) httpapi.Options {
	opts := g.doorOptions()
	opts.Settings = func() httpapi.Settings {
		s := g.doorSettings()
		s.Open, s.Key = true, nil                                                                                         // its clients know of no key
		s.CORSOrigins = slices.DeleteFunc(slices.Clone(s.CORSOrigins), func(origin string) bool { return origin == "*" }) // which is said of a door with a key
		s.ListenHost, _, _ = net.SplitHostPort(address)
		return s
	}
	return opts
}
