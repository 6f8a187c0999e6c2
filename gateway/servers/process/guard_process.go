package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// watched is what the guard process knows: the groups to end, by the pid of
// their leader, each with the time its leader started, and the host's mark.
type watched struct {
	groups map[int]string
	mark   string
}

// RunGuard is the guard process. It reads lines from stdin, which is a pipe
// that only the host holds open:
//
//	mark TEXT    the mark of the host's processes
//	add PGID     a group was started
//	remove PGID  a group has ended
//	quit         the host ends in order
//
// When stdin ends without a quit, the host was killed: what is left of its
// servers gets TERM and, soon after, KILL. The signals that end the host are
// ignored. It returns when its work is done or ctx ends; then stdin may still
// be read by a goroutine, which the end of the process ends.
func RunGuard(ctx context.Context, stdin io.Reader) error {
	ignoreSignals()
	type outcome struct {
		left *watched
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		left, err := readOrders(stdin)
		done <- outcome{left, err}
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case o := <-done:
		if o.left != nil {
			o.left.end(termGrace)
		}
		return o.err
	}
}

// readOrders follows the host's orders to their end. It returns what is left to
// be ended, nil when the host quit in order.
func readOrders(stdin io.Reader) (*watched, error) {
	w := &watched{groups: map[int]string{}}
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		order, value, _ := strings.Cut(lines.Text(), " ")
		if order == "quit" {
			return nil, nil
		}
		w.obey(order, value)
	}
	if err := lines.Err(); err != nil {
		return w, fmt.Errorf("reading the guard's orders: %w", err)
	}
	return w, nil
}

// obey follows one order. One that makes no sense is ignored: the guard has
// nobody to tell, and must not end for it.
func (w *watched) obey(order, value string) {
	if order == "mark" {
		w.mark = value
		return
	}
	pgid, err := strconv.Atoi(value)
	if err != nil || pgid <= 1 { // -1 and 0 would mean everybody
		return
	}
	switch order {
	case "add":
		w.groups[pgid] = startTime(pgid)
	case "remove":
		delete(w.groups, pgid)
	}
}

// end ends all groups, and all processes that carry the mark: those with grace
// left get TERM before, and KILL when it is over.
func (w *watched) end(grace time.Duration) {
	w.signal(terminateSignal)
	deadline := time.Now().Add(grace)
	for w.signal(probeSignal) && time.Now().Before(deadline) {
		time.Sleep(pollEvery)
	}
	for range 3 { // a process may have started another in the meantime
		if !w.signal(killSignal) {
			return
		}
		time.Sleep(pollEvery)
	}
}
