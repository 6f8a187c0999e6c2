package loop

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// memory keeps the hidden part of turns in which the model called tools of ours
// and of the caller together: the caller sees its own calls only, and when it
// sends their results, ours are put back in their place. It is bounded; a turn
// that was forgotten still works, the model then does not see what ours found.
type memory struct {
	maxTurns, maxBytes int

	mu    sync.Mutex // guards the fields below
	turns map[memoryKey]*list.Element
	calls map[string]int // how many of turns have the call id
	order *list.List     // of *memoryEntry, oldest first
	bytes int
}

// memoryKey names a turn by one of the caller's call ids in it and by the
// messages before it, since providers reuse ids.
type memoryKey struct {
	call   string
	before [sha256.Size]byte
}

type memoryEntry struct {
	key  memoryKey
	turn hiddenTurn
}

// hiddenTurn is what stands in the place of the assistant message that the
// caller saw.
type hiddenTurn struct {
	messages [][]byte // rounds of ours before it, the whole assistant message, our results
}

func (t hiddenTurn) size() int {
	n := 0
	for _, m := range t.messages {
		n += len(m)
	}
	return n
}

// newMemory returns a memory of at most maxTurns turns (zero: 1,000) and
// maxBytes bytes (zero: 64 MiB).
func newMemory(maxTurns, maxBytes int) *memory {
	if maxTurns == 0 {
		maxTurns = 1000
	}
	if maxBytes == 0 {
		maxBytes = 64 << 20
	}
	return &memory{maxTurns: maxTurns, maxBytes: maxBytes, turns: map[memoryKey]*list.Element{}, calls: map[string]int{}, order: list.New()}
}

func (m *memory) put(key memoryKey, turn hiddenTurn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.turns[key]; ok {
		m.removeLocked(old)
	}
	m.turns[key] = m.order.PushBack(&memoryEntry{key: key, turn: turn})
	m.calls[key.call]++
	m.bytes += turn.size()
	for m.order.Len() > m.maxTurns || m.bytes > m.maxBytes && m.order.Len() > 0 {
		m.removeLocked(m.order.Front())
	}
}

func (m *memory) get(key memoryKey) (hiddenTurn, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.turns[key]
	if !ok {
		return hiddenTurn{}, false
	}
	m.order.MoveToBack(e)
	return e.Value.(*memoryEntry).turn, true
}

// knows reports whether a turn with that call id is kept, for whatever messages
// before it: those are much to read.
func (m *memory) knows(call string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls[call] > 0
}

func (m *memory) removeLocked(e *list.Element) {
	entry := m.order.Remove(e).(*memoryEntry)
	delete(m.turns, entry.key)
	if m.calls[entry.key.call]--; m.calls[entry.key.call] == 0 {
		delete(m.calls, entry.key.call)
	}
	m.bytes -= entry.turn.size()
}
