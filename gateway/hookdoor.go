package gateway

import (
	"cmp"
	"os"
	"path/filepath"
	"sync"

	"pointsman/gateway/hooks"
)

// attached are the sessions that our MCP door serves over a stream. The zero value
// is ready.
type attached struct {
	mu       sync.Mutex // guards the field below
	sessions map[string]int
}

// add notes that a session is served, and returns what forgets it.
func (a *attached) add(session string) (forget func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sessions == nil {
		a.sessions = map[string]int{}
	}
	a.sessions[session]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.sessions[session]--; a.sessions[session] <= 0 {
			delete(a.sessions, session)
		}
	}
}

func (a *attached) has(session string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[session] > 0
}

// served reports whether Copilot's call of a tool goes through our own MCP door,
// which asks itself: the door serves that very session, and the user has set it up
// under the name that the tool carries.
func (g *Gateway) served(e hooks.Event, session, tool string) bool {
	if !g.attached.has(session) {
		return false
	}
	program, err := os.Executable()
	if err != nil {
		return false
	}
	home := cmp.Or(e.Home, filepath.Join(userHome(), ".copilot"))
	for _, name := range hooks.DoorNames(home, program) {
		own, ok := hooks.DoorTool(name, tool)
		if ok && (g.catalogue.Load().Lookup(own) != nil || g.live.Load().own.Catalogue().Lookup(own) != nil) {
			return true
		}
	}
	return false
}
