package hooks

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// mostTickets is how many calls may go on at a time; the oldest goes first.
	mostTickets = 4096
	// mostAgents is how many sub-agents are known by the session that began them.
	mostAgents = 1024
	// mostCompared is the largest file, in bytes, that an edit is tried on.
	mostCompared = 16 << 20
)

// ticket stands for one call that was allowed, until it has ended.
type ticket struct {
	call      Call   // as it may run: with the arguments as a person edited them
	record    string // the journal's row; "" when there is none
	digest    [sha256.Size]byte
	writes    []string // files
	given     time.Time
	permitted bool // Copilot's own question was answered with it
}

// tickets are the calls that go on. The zero value is ready; it is safe for
// concurrent use.
type tickets struct {
	mu     sync.Mutex // guards the fields below
	open   []*ticket  // in the order of their permissions
	agents []agent    // oldest first
	seen   []string   // sessions that have asked, oldest first
}

// agent is a sub-agent, and the session that it belongs to.
type agent struct{ id, root string }

// root returns the session that a call belongs to: of a sub-agent, the one that
// it was begun for, directly or not.
func (t *tickets) root(c *Call) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.Parent == "" || c.Parent == c.Session {
		return c.Session
	}
	root := c.Parent
	for _, a := range t.agents {
		if a.id == c.Session {
			return a.root
		}
		if a.id == c.Parent {
			root = a.root
		}
	}
	t.agents = append(t.agents, agent{c.Session, root})
	if len(t.agents) > mostAgents {
		t.agents = slices.Delete(t.agents, 0, 1)
	}
	return root
}

// meet notes that a session asks here.
func (t *tickets) meet(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Contains(t.seen, session) {
		return
	}
	t.seen = append(t.seen, session)
	if len(t.seen) > mostAgents {
		t.seen = slices.Delete(t.seen, 0, 1)
	}
}

// met reports whether a session has asked here.
func (t *tickets) met(session string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.seen, session)
}

// add keeps a ticket, and returns the one that has to go for it, or nil.
func (t *tickets) add(one *ticket) *ticket {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = append(t.open, one)
	if len(t.open) <= mostTickets {
		return nil
	}
	oldest := t.open[0]
	t.open = slices.Delete(t.open, 0, 1)
	return oldest
}

// permit takes the right to one answer from the ticket of the call that Copilot
// asks about, and reports whether there is one.
func (t *tickets) permit(c *Call) bool {
	t.mu.Lock()
	candidates := slices.Clone(t.open)
	t.mu.Unlock()
	for _, one := range candidates { // the disk is looked at without the lock
		if one.covers(c) && t.use(one) {
			return true
		}
	}
	return false
}

// use reports whether a ticket was still there, and not used.
func (t *tickets) use(one *ticket) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.permitted || !slices.Contains(t.open, one) {
		return false
	}
	one.permitted = true
	return true
}

// end takes the ticket of a call that has run: exact is false when the arguments
// are not those of it. It is nil when there is none for such a call.
func (t *tickets) end(c *Call) (one *ticket, exact bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	same := func(o *ticket) bool { return o.call.Session == c.Session && o.call.Tool == c.Tool }
	i := slices.IndexFunc(t.open, func(o *ticket) bool { return same(o) && o.digest == digest(c.Arguments) })
	exact = i >= 0
	if !exact {
		i = slices.IndexFunc(t.open, same)
	}
	if i < 0 {
		return nil, false
	}
	one = t.open[i]
	t.open = slices.Delete(t.open, i, i+1)
	return one, exact
}

// leave takes all tickets of a session.
func (t *tickets) leave(session string) []*ticket {
	t.mu.Lock()
	defer t.mu.Unlock()
	var left []*ticket
	t.open = slices.DeleteFunc(t.open, func(o *ticket) bool {
		if o.call.Session != session {
			return false
		}
		left = append(left, o)
		return true
	})
	return left
}

// covers reports whether Copilot's question is about the call of this ticket. It
// asks in other words than it says what it will do: every tool that writes is
// "edit" with a comparison, and an MCP server's is "server/tool".
func (one *ticket) covers(c *Call) bool {
	switch {
	case one.permitted || one.call.Session != c.Session:
		return false
	case one.call.Tool == c.Tool || sameTool(one.call.Tool, c.Tool):
		if one.digest == digest(c.Arguments) {
			return true
		}
	}
	return c.Tool == "edit" && len(one.writes) > 0 && one.coversEdit(c.Arguments)
}

// longestTool is how many characters Copilot's names of MCP tools have at most,
// and sameStart how many of a cut one count.
const longestTool, sameStart = 64, 48

// sameTool reports whether server/tool is what Copilot calls name elsewhere:
// server-tool, with "-" for what a name may not have, and cut.
func sameTool(name, asked string) bool {
	if !strings.Contains(asked, "/") {
		return false
	}
	plain := plainName(asked)
	if len(plain) < longestTool-4 {
		return plain == name
	}
	return len(name) >= sameStart && strings.HasPrefix(plain, name[:sameStart])
}

// plainName is a name with "-" for what Copilot's names of tools may not have.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
}

// coversEdit reports whether a change of a file that is shown as a comparison is
// one that the ticket's call makes: the file is one of its own, and each line that
// comes is one that the call brings.
func (one *ticket) coversEdit(arguments json.RawMessage) bool {
	var change struct {
		Path string `json:"file_path"`
		Diff string `json:"diff"`
	}
	if json.Unmarshal(arguments, &change) != nil || !slices.Contains(one.writes, one.call.absolute(change.Path)) {
		return false
	}
	brings, ok := one.brings(one.call.absolute(change.Path))
	if !ok {
		return false
	}
	inHunk := false
	for line := range strings.SplitSeq(change.Diff, "\n") {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			inHunk = false
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case inHunk && strings.HasPrefix(line, "+"):
			if text := strings.TrimRight(line[1:], "\r"); text != "" && !brings[text] {
				return false
			}
		}
	}
	return true
}

// brings returns the lines that the file may have after the call.
func (one *ticket) brings(path string) (map[string]bool, bool) {
	if one.call.Tool == patchTool {
		return patchLines(patchOf(one.call.Arguments)), true
	}
	var args struct {
		Text *string `json:"file_text"`
		Old  *string `json:"old_str"`
		New  *string `json:"new_str"`
	}
	if json.Unmarshal(one.call.Arguments, &args) != nil {
		return nil, false
	}
	switch {
	case args.Text != nil && args.Old == nil && args.New == nil:
		return linesOf(*args.Text), true
	case args.Text == nil && args.Old != nil && args.New != nil:
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > mostCompared {
			return nil, false
		}
		before, err := os.ReadFile(path)
		if err != nil || *args.Old == "" {
			return nil, false
		}
		return linesOf(strings.ReplaceAll(string(before), *args.Old, *args.New)), true
	default:
		return nil, false
	}
}

// patchLines are the lines that a patch brings.
func patchLines(patch string) map[string]bool {
	lines := map[string]bool{}
	for line := range strings.SplitSeq(patch, "\n") {
		if text, ok := strings.CutPrefix(line, "+"); ok {
			lines[strings.TrimRight(text, "\r")] = true
		}
	}
	return lines
}

func linesOf(text string) map[string]bool {
	lines := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		lines[strings.TrimRight(line, "\r")] = true
	}
	return lines
}
