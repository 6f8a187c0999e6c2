package loop

import (
	"fmt"
	"strings"
	"testing"
)

// TestMemoryIsBounded: by turns and by bytes, the oldest going first, and what it
// knows of call ids goes with them.
func TestMemoryIsBounded(t *testing.T) {
	key := func(n int) memoryKey { return memoryKey{call: fmt.Sprint(n % 2), before: [32]byte{byte(n)}} }
	turn := hiddenTurn{messages: [][]byte{[]byte(strings.Repeat("x", 100))}}
	for name, m := range map[string]*memory{"turns": newMemory(3, 0), "bytes": newMemory(0, 350)} {
		for n := range 10 {
			m.put(key(n), turn)
			m.put(key(n), turn) // again is the same
		}
		for n := range 10 {
			if _, ok := m.get(key(n)); ok != (n >= 7) {
				t.Errorf("%s: turn %d is kept: %v", name, n, ok)
			}
		}
		if len(m.turns) != 3 || m.bytes != 300 || m.calls["0"]+m.calls["1"] != 3 {
			t.Errorf("%s: %d turns, %d bytes, calls %v", name, len(m.turns), m.bytes, m.calls)
		}
		if !m.knows("0") || !m.knows("1") || m.knows("2") {
			t.Errorf("%s: knows the wrong calls", name)
		}
		m.put(key(11), hiddenTurn{messages: [][]byte{make([]byte, 65<<20)}})
		if name == "bytes" && (m.order.Len() != 0 || m.knows("0") || m.knows("1")) {
			t.Errorf("a turn that does not fit is kept: %v", m.calls)
		}
	}
}

// TestHashesGrow: the hash of a beginning does not depend on what was asked
// before, and messages that say the same hash the same.
func TestHashesGrow(t *testing.T) {
	list := func(texts ...string) *history {
		h := &history{}
		for _, text := range texts {
			h.caller = append(h.caller, []byte(text))
		}
		return h
	}
	a, b := list(`{"a":1,"b":null}`, `{"c":2}`, `{}`), list(`{ "a": 1 }`, `{"c":2}`, `{"d":1}`)
	if a.hashBefore(0) != b.hashBefore(0) || a.hashBefore(1) != b.hashBefore(1) || a.hashBefore(2) != b.hashBefore(2) {
		t.Error("equal beginnings hash differently")
	}
	if a.hashBefore(3) == b.hashBefore(3) {
		t.Error("different messages hash the same")
	}
	if fresh := (&history{caller: a.caller}); fresh.hashBefore(3) != a.hashBefore(3) {
		t.Error("the hash depends on what was asked before")
	}
}
