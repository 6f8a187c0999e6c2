package mcpapi

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/servers"
)

// notices passes on what the servers say has changed, in their order, without
// holding the servers up. The zero value is ready.
type notices struct {
	mu      sync.Mutex // guards the fields below
	waiting []servers.Notice
	passing bool
	closed  bool
	work    sync.WaitGroup
}

// maxNotices is how many notices wait at most; of more, the oldest are dropped: a
// client that looks sees what is there.
const maxNotices = 1000

// Notice passes on to the clients that something of a server has changed. It does
// not wait.
func (d *Door) Notice(n servers.Notice) {
	if n.Method == servers.ToolsChanged {
		d.expectTools(n.Server)
		return
	}
	q := &d.notices
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if q.waiting = append(q.waiting, n); len(q.waiting) > maxNotices {
		q.waiting = q.waiting[1:]
	}
	if !q.passing {
		q.passing = true
		q.work.Go(d.passNotices)
	}
}

// expectTools has the clients be told with the next Changed, also when the list
// comes to the same then: it may have been another for a moment.
func (d *Door) expectTools(server string) {
	for _, s := range d.list() {
		if s.sees(server) {
			s.told.Store(0)
		}
	}
}

func (d *Door) passNotices() {
	for {
		n, ok := d.notices.next()
		if !ok {
			return
		}
		for _, s := range d.list() {
			if s.serves("servers") && s.sees(n.Server) {
				s.notice(n)
			}
		}
	}
}

func (q *notices) next() (servers.Notice, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 || q.closed {
		q.passing = false
		return servers.Notice{}, false
	}
	n := q.waiting[0]
	q.waiting = q.waiting[1:]
	return n, true
}

// close drops what waits, and waits for what is being passed on.
func (q *notices) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.work.Wait()
}

// notice tells the clients. As with tools, the SDK tells of changes of its own
// features alone: one that nobody sees is put there again.
func (s *service) notice(n servers.Notice) {
	switch n.Method {
	case servers.PromptsChanged:
		s.promptsChanged()
	case servers.ResourcesChanged:
		s.resourcesChanged()
	case servers.ResourceUpdated:
		_ = s.server.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: s.served(n.Server, n.URI)}) // never an error
	}
}

func (s *service) promptsChanged() { s.server.AddPrompt(&mcp.Prompt{Name: "changed"}, nil) }

func (s *service) resourcesChanged() {
	s.server.AddResource(&mcp.Resource{Name: "changed", URI: "pointsman:changed"}, nil)
}
