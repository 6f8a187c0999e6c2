package control

import (
	"context"
	"net"
	"sync"
)

// Local returns a listener for a Server in this very process, and the client
// that reaches it, so that a command works the same with a resident and without
// one. Closing the listener ends both.
func Local(info Info) (net.Listener, *Client) {
	l := &localListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	return l, newClient(info, l.dial)
}

// localListener hands the server's ends of pipes to Accept.
type localListener struct {
	conns   chan net.Conn
	closed  chan struct{}
	closing sync.Once
}

func (l *localListener) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept waits for a client.
func (l *localListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends the listener; it may be called more than once.
func (l *localListener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return nil
}

// Addr names the listener in messages.
func (l *localListener) Addr() net.Addr { return localAddr{} }

type localAddr struct{}

func (localAddr) Network() string { return "pipe" }
func (localAddr) String() string  { return "this process" }
