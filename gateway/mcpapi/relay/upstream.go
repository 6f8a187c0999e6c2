package relay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"pointsman/gateway/models"
)

// upstream is one stream to a gateway.
type upstream struct {
	number  int // in order of opening
	conn    io.ReadWriteCloser
	closing sync.Once

	writing sync.Mutex // held while a line is written

	mu      sync.Mutex        // guards the fields below
	replays map[string]bool   // ids of what was told again: the client has those answers
	asked   map[string]string // by the id that the client sees, the id of the gateway's request
	count   int
}

func (u *upstream) close() { u.closing.Do(func() { _ = u.conn.Close() }) }

func (u *upstream) write(line []byte) error {
	u.writing.Lock()
	defer u.writing.Unlock()
	_, err := u.conn.Write(ended(line))
	return err
}

// ask gives a request of the gateway's an id that no other gateway's has: a late
// answer must never be taken for that to another question.
func (u *upstream) ask(m message) []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count++
	id := fmt.Sprintf(`"pm-%d-%d"`, u.number, u.count)
	u.asked[id] = m.id
	return models.WithMember(m.line, "id", []byte(id))
}

// answered returns the gateway's own id of a request that the client answers; ""
// when it is none of this gateway's, or was answered.
func (u *upstream) answered(id string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	own := u.asked[id]
	delete(u.asked, id)
	return own
}

// takenBack turns the gateway's notice that it takes a request back into one that
// the client understands.
func (u *upstream) takenBack(m message) []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, own := range u.asked {
		if own == m.param("requestId") {
			delete(u.asked, id)
			params := models.WithMember([]byte(m.param("@this")), "requestId", []byte(id))
			return models.WithMember(m.line, "params", params)
		}
	}
	return m.line
}

// stream returns the stream to a gateway, and opens one when there is none.
func (r *relay) stream() (*upstream, error) {
	r.dialing.Lock()
	defer r.dialing.Unlock()
	r.mu.Lock()
	up, opening := r.up, slices.Clone(r.opening)
	r.mu.Unlock()
	if up != nil {
		return up, nil
	}
	if r.ctx.Err() != nil {
		return nil, context.Cause(r.ctx)
	}
	conn, err := r.opts.Dial(r.ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.streams++
	up = &upstream{number: r.streams, conn: conn, asked: map[string]string{}, replays: map[string]bool{}}
	r.up = up
	r.mu.Unlock()
	for _, m := range opening {
		if m.isRequest() {
			up.replays[m.id] = true
		}
	}
	r.readers.Go(func() { r.follow(up) })
	for _, m := range opening {
		if err := up.write(m.line); err != nil {
			up.close() // the reader sees to the rest
			return nil, fmt.Errorf("telling the gateway what the client began with: %w", err)
		}
	}
	if len(opening) > 0 {
		for _, of := range []string{"tools", "prompts", "resources"} { // it may have others
			r.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/%s/list_changed"}`, of))
		}
	}
	return up, nil
}

// follow passes on what a gateway sends until its stream ends.
func (r *relay) follow(up *upstream) {
	in := bufio.NewReaderSize(up.conn, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 && err == nil {
			r.pass(up, line)
		}
		if err != nil {
			up.close()
			r.lost(up, err)
			return
		}
	}
}

// pass passes on one line of a gateway's.
func (r *relay) pass(up *upstream, line []byte) {
	list := parse(line)
	for _, m := range list {
		switch {
		case m.isResponse() && r.isReplay(up, m.id):
			return
		case m.isResponse():
			r.landed(m.id)
		case m.isRequest() && len(list) == 1:
			line = up.ask(m)
		case m.method == methodCancelled && len(list) == 1:
			line = up.takenBack(m)
		}
	}
	r.write(line)
}

func (r *relay) isReplay(up *upstream, id string) bool {
	up.mu.Lock()
	defer up.mu.Unlock()
	replay := up.replays[id]
	delete(up.replays, id)
	return replay
}

// landed notes that a request was answered.
func (r *relay) landed(id string) {
	r.mu.Lock()
	delete(r.flight, id)
	r.mu.Unlock()
	select {
	case r.quiet <- struct{}{}:
	default: // whoever waits looks anyway
	}
}

// lost ends what was in flight over a stream.
func (r *relay) lost(up *upstream, err error) {
	r.mu.Lock()
	if r.up != up {
		r.mu.Unlock()
		return
	}
	flight := r.flight
	r.up, r.flight = nil, map[string]string{}
	r.mu.Unlock()
	if r.ctx.Err() != nil {
		return
	}
	if !errors.Is(err, io.EOF) {
		r.opts.Logger.Debug("the stream to the gateway was lost", "error", err)
	}
	for id, method := range flight {
		r.refuse(id, codeLost, lostText(method))
	}
	up.mu.Lock()
	asked := up.asked
	up.asked = map[string]string{}
	up.mu.Unlock()
	for id := range asked {
		r.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"requestId":%s,"reason":"Pointsman has gone away"}}`, methodCancelled, id))
	}
}

func lostText(method string) string {
	if method == methodCall {
		return "Pointsman went away during this call: whether the call ran is not known, and it is not sent again; `pointsman journal` tells what is known of it"
	}
	return "Pointsman went away before it answered; ask again"
}
