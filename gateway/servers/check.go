package servers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// checkPatience bounds how long a server may take to say that it is there.
const checkPatience = 10 * time.Second

// Check has every remote connection looked at, as after the machine has slept:
// one that is dead is made anew. Servers that wait to be tried again are tried
// now. It does not wait for any of them.
func (h *Host) Check() {
	h.opts.HTTPClient.CloseIdleConnections() // the looks themselves must not use them
	for _, s := range h.list() {
		select {
		case s.look <- struct{}{}:
		default: // it is about to look
		}
	}
}

// check looks at the session of a remote server: a local server's process wakes
// with us.
func (s *server) check(ctx context.Context, sess *session) {
	if sess.remote != nil {
		s.probe(ctx, sess)
	}
}

// probe asks the server of a session whether it is there, and ends a session whose
// server does not say so.
func (s *server) probe(ctx context.Context, sess *session) {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	err := sess.cs.Ping(ctx, nil)
	var answered *jsonrpc.Error
	if err == nil || errors.As(sess.explain(err), &answered) {
		return // an answer it is, even if it says that it knows no ping
	}
	sess.fail(fmt.Errorf("it does not answer any more: %w", err))
}
