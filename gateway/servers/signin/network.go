package signin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A server says where its authorization server is, and that one says where to
// ask for tokens. Both could name addresses that only this machine can reach: a
// router, a metadata service, a program on loopback. So such addresses are
// spoken to only on behalf of a server that is as far inside itself. (The SDK
// has such a guard, too, but it keeps servers of a company's own network from
// using the authorization server beside them, and lets all others reach
// loopback.)

// depth is how far inside an address is.
type depth int

const (
	public depth = iota
	private
	loopback
)

var sharedSpace = netip.MustParsePrefix("100.64.0.0/10") // carrier-grade NAT, RFC 6598

func depthOf(ip netip.Addr) depth {
	ip = ip.Unmap()
	switch {
	case ip.IsLoopback(), !ip.IsValid(), ip.IsUnspecified():
		return loopback
	case ip.IsPrivate(), ip.IsLinkLocalUnicast(), ip.IsMulticast(), sharedSpace.Contains(ip):
		return private
	}
	return public
}

// network reaches authorization servers.
type network struct {
	transports [loopback + 1]http.RoundTripper // by how far inside they may go
	proxied    http.RoundTripper               // for addresses behind a proxy, which is what we dial then
	proxy      func(*http.Request) (*url.URL, error)
	lookup     func(ctx context.Context, host string) ([]netip.Addr, error)
}

func newNetwork(client *http.Client, lookup func(context.Context, string) ([]netip.Addr, error)) network {
	n := network{lookup: lookup}
	base, ok := http.DefaultTransport.(*http.Transport)
	if client != nil && client.Transport != nil {
		n.proxied = client.Transport
		base, ok = client.Transport.(*http.Transport)
	}
	if !ok { // the caller's own, which we cannot look into
		n.transports = [...]http.RoundTripper{n.proxied, n.proxied, n.proxied}
		return n
	}
	n.proxy, n.proxied = base.Proxy, base.Clone()
	for d := range n.transports {
		guarded := base.Clone()
		guarded.Proxy = nil
		guarded.DialContext = (&net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
			return depth(d).allows(address)
		}}).DialContext
		n.transports[d] = guarded
	}
	return n
}

// insideError says that an address was not spoken to.
type insideError struct{ address string }

func (e *insideError) Error() string {
	return fmt.Sprintf("the address %s is inside a network that the MCP server itself is not in, and is not spoken to for it", e.address)
}

// allows returns an error for an address that is further inside.
func (d depth) allows(address string) error {
	end, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if depthOf(end.Addr()) > d {
		return &insideError{address}
	}
	return nil
}

func (n *network) close() {
	for _, t := range append(n.transports[:], n.proxied) {
		if idle, ok := t.(interface{ CloseIdleConnections() }); ok {
			idle.CloseIdleConnections()
		}
	}
}

// client returns a client that goes as far inside as the server at address is.
func (n *network) client(ctx context.Context, address string) *witness {
	w := &witness{network: n}
	if u, err := url.Parse(address); err == nil {
		w.depth = n.depthOf(ctx, u.Hostname())
	}
	w.Client = &http.Client{Transport: w, CheckRedirect: checkRedirect, Timeout: stepPatience}
	return w
}

// depthOf is how far inside a host is, public when that is not known.
func (n *network) depthOf(ctx context.Context, host string) depth {
	if ip, err := netip.ParseAddr(host); err == nil {
		return depthOf(ip)
	}
	ips, err := n.lookup(ctx, host)
	if err != nil || len(ips) == 0 {
		return public
	}
	found := loopback
	for _, ip := range ips {
		found = min(found, depthOf(ip))
	}
	return found
}

// witness is a client that remembers what came of its last request. The SDK's
// discovery does not tell an answer from none.
type witness struct {
	*http.Client
	network *network
	depth   depth

	mu     sync.Mutex // guards the fields below
	status int        // of the last answer; 0: there was none
	err    error      // why there was none
}

// RoundTrip sends one request.
func (w *witness) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.transport(req).RoundTrip(req)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status, w.err = 0, err
	if err == nil {
		w.status = resp.StatusCode
	}
	return resp, err
}

func (w *witness) transport(req *http.Request) http.RoundTripper {
	if w.network.proxy != nil {
		if proxy, err := w.network.proxy(req); err != nil || proxy != nil {
			return w.network.proxied
		}
	}
	return w.network.transports[w.depth]
}

// last is the status of the last answer, or 0.
func (w *witness) last() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status
}

// fault returns why the last request came to nothing, if it was not answered or
// the answer is one that may be another later; else nil. what is in it has no
// secrets: neither addresses with a query nor bodies.
func (w *witness) fault(doing string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var inside *insideError
	switch {
	case errors.As(w.err, &inside):
		return fmt.Errorf("%s: %w", doing, inside)
	case w.err != nil:
		return &UnreachableError{Doing: doing, Err: w.err}
	case w.status >= http.StatusInternalServerError, w.status == http.StatusTooManyRequests:
		return &UnreachableError{Doing: doing, Status: w.status}
	}
	return nil
}

// checkRedirect follows redirects of what is merely read. What carries a code, a
// token or a secret goes nowhere but where it was sent.
func checkRedirect(req *http.Request, via []*http.Request) error {
	const most = 5
	first := via[0]
	switch {
	case first.Method != http.MethodGet:
		return errors.New("it redirects what carries a secret, which is not followed")
	case len(via) > most:
		return fmt.Errorf("it redirects more than %d times", most)
	}
	return checkSecure(req.URL.String())
}

// checkSecure returns what is wrong with an address of an authorization server:
// it must be https, or http on loopback.
func checkSecure(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return fmt.Errorf("%.200q is no address", address)
	case u.User != nil:
		return errors.New("an address with a name or password in it is not used")
	case u.Fragment != "":
		return fmt.Errorf("%.200q has a fragment", address)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%.200q must be https (http is for loopback alone)", address)
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
