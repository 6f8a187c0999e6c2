package relay

import (
	"fmt"
	"slices"

	"pointsman/gateway/models"
)

// take takes one line of the client's, without the blanks around it.
func (r *relay) take(line []byte) {
	if len(line) == 0 {
		return
	}
	if code, err := fault(line, r.batches()); err != nil {
		r.refuse(idOf(line), code, err.Error())
		return
	}
	list := parse(line)
	if len(list) == 1 && list[0].isResponse() {
		r.reply(list[0])
		return
	}
	requests := slices.DeleteFunc(slices.Clone(list), func(m message) bool { return !m.isRequest() })
	if len(requests) == 0 {
		r.tell(list)
		return
	}
	up, err := r.stream()
	if err != nil {
		for _, m := range requests {
			r.refuse(m.id, codeLost, fmt.Sprintf("no Pointsman can be reached: %v", err))
		}
		return
	}
	if !r.depart(up, requests) {
		return
	}
	for _, m := range list {
		r.remember(m)
	}
	r.send(up, line)
}

// batches reports whether the client has begun with a protocol version in which
// several messages may come at once.
func (r *relay) batches() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.opening) == 0 {
		return false
	}
	version := r.opening[0].param("protocolVersion")
	return version == `"2024-11-05"` || version == `"2025-03-26"`
}

// send sends a line to a gateway. When that fails, all that is in flight there
// fails: how much of the line has arrived is not known.
func (r *relay) send(up *upstream, line []byte) {
	if err := up.write(line); err != nil {
		up.close()
		r.lost(up, err)
	}
}

// depart notes requests that are about to be sent. It reports whether they can be:
// the gateway may have gone this moment.
func (r *relay) depart(up *upstream, requests []message) bool {
	r.mu.Lock()
	gone := r.up != up
	for _, m := range requests {
		if !gone {
			r.flight[m.id] = m.method
		}
	}
	r.mu.Unlock()
	for _, m := range requests {
		if gone {
			r.refuse(m.id, codeLost, "Pointsman went away before this was sent; ask again")
		}
	}
	return !gone
}

// tell passes a notification on. Without a gateway it is about nothing.
func (r *relay) tell(list []message) {
	for _, m := range list {
		r.remember(m)
		if m.method == methodCancelled { // no answer is due any more
			r.landed(m.param("requestId"))
		}
	}
	r.mu.Lock()
	up := r.up
	r.mu.Unlock()
	if up != nil {
		r.send(up, list[0].line)
	}
}

// reply passes the client's answer on to the gateway that asked, and to no other.
func (r *relay) reply(m message) {
	r.mu.Lock()
	up := r.up
	r.mu.Unlock()
	if up == nil {
		return
	}
	if own := up.answered(m.id); own != "" {
		r.send(up, models.WithMember(m.line, "id", []byte(own)))
	}
}

// remember keeps what every further gateway has to be told.
func (r *relay) remember(m message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	forget := func(same func(message) bool) { r.opening = slices.DeleteFunc(r.opening, same) }
	of := func(method, uri string) func(message) bool {
		return func(o message) bool { return o.method == method && (uri == "" || o.param("uri") == uri) }
	}
	switch m.method {
	case methodInitialize:
		r.opening = []message{m}
	case methodInitialized:
		forget(of(m.method, ""))
		r.opening = append(r.opening, m)
	case methodSetLevel:
		forget(of(m.method, ""))
		r.opening = append(r.opening, m)
	case methodSubscribe:
		forget(of(m.method, m.param("uri")))
		r.opening = append(r.opening, m)
	case methodUnsubscribe:
		forget(of(methodSubscribe, m.param("uri")))
	}
}
