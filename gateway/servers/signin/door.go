package signin

import (
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strconv"
	"time"
)

// callbackPath is where browsers come back to on loopback.
const callbackPath = "/callback"

// door is a listener on loopback that browsers come back to. Several sign-ins
// share one: it is open while any waits.
type door struct {
	keeper *Keeper
	asked  int // the port that was asked for
	host   string
	server *http.Server

	waiting map[string]*Flow // by state; guarded by the keeper's lock
}

// enterDoor has a browser come back to f, and returns where. A server whose
// client has its redirect address registered by hand gets that port and no
// other.
func (k *Keeper) enterDoor(f *Flow, server Server) (string, error) {
	port := server.Port
	if port == 0 {
		port = DefaultPort
	}
	fixed := server.Port != 0 || server.ClientID != ""
	k.mu.Lock()
	defer k.mu.Unlock()
	d := k.doors[port]
	if d == nil {
		ln, err := listenOn(port)
		if err != nil && !fixed {
			ln, err = listenOn(0)
		}
		if err != nil {
			return "", fmt.Errorf("listening on 127.0.0.1:%d for the browser to come back: %w; end what listens there, or set `oauthCallbackPort` in the entry to the port of the client's registered redirect address", port, err)
		}
		d = k.openDoorLocked(ln, port)
	}
	if fixed && d.host != loopbackHost(port) {
		return "", fmt.Errorf("listening on 127.0.0.1:%d for the browser to come back: another program listens there; end it, or set `oauthCallbackPort` in the entry to the port of the client's registered redirect address", port)
	}
	d.waiting[f.state] = f
	return "http://" + d.host + callbackPath, nil
}

func loopbackHost(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func listenOn(port int) (net.Listener, error) { return net.Listen("tcp4", loopbackHost(port)) }

func (k *Keeper) openDoorLocked(ln net.Listener, asked int) *door {
	d := &door{keeper: k, asked: asked, host: ln.Addr().String(), waiting: map[string]*Flow{}}
	d.server = &http.Server{
		Handler: d, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: 10 * time.Second,
		MaxHeaderBytes: 64 << 10,
	}
	d.server.SetKeepAlivesEnabled(false)
	k.doors[asked] = d
	k.work.Go(func() { _ = d.server.Serve(ln) }) // it ends when its last flow does
	return d
}

// leaveDoor ends f's waiting, and closes the door behind the last one, when the
// pages that tell the end have been sent.
func (k *Keeper) leaveDoor(f *Flow) {
	const farewell = 2 * time.Second
	k.mu.Lock()
	var left *door
	for port, d := range k.doors {
		if d.waiting[f.state] != f {
			continue
		}
		delete(d.waiting, f.state)
		if len(d.waiting) == 0 {
			delete(k.doors, port)
			left = d
		}
	}
	k.mu.Unlock()
	if left == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if left.server.Shutdown(ctx) != nil {
		_ = left.server.Close() // who is slow is cut off
	}
}

//go:embed page.html
var pageText string

// page is what the person sees in the browser at the end.
type page struct{ Title, Text string }

// ServeHTTP takes a browser in. The Host that it names must be ours, so that no
// page of another name that leads here is served; forwarded headers mean nothing.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.keeper.mu.Lock()
	f := d.waiting[r.URL.Query().Get("state")]
	d.keeper.mu.Unlock()
	switch {
	case r.Host != d.host:
		show(w, http.StatusForbidden, page{"Not here", "This address is not one of Pointsman's."})
	case r.URL.Path != callbackPath || r.Method != http.MethodGet:
		show(w, http.StatusNotFound, page{"Nothing here", "Pointsman waits here for a browser to come back from a sign-in."})
	case f == nil:
		show(w, http.StatusBadRequest, page{"No sign-in waits for this", "Begin the sign-in again in Pointsman."})
	default:
		d.take(w, r, f)
	}
}

// take hands a browser's answer to its flow, and shows what came of it.
func (d *door) take(w http.ResponseWriter, r *http.Request, f *Flow) {
	err := f.accept(r.URL.Query())
	if err == nil {
		err = f.Wait(r.Context())
	}
	if err != nil {
		show(w, http.StatusBadRequest, page{"Not signed in", err.Error()})
		return
	}
	show(w, http.StatusOK, page{"Signed in", fmt.Sprintf("Pointsman is signed in to %q. You can close this page.", f.Server)})
}

func show(w http.ResponseWriter, status int, p page) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = template.Must(template.New("page").Parse(pageText)).Execute(w, p) // a browser that has gone cannot be told
}
