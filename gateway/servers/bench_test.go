package servers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"pointsman/gateway/servers"
)

// BenchmarkCall is one tools/call over stdio, the fake server's share included.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprint(callers, "-callers"), func(b *testing.B) {
			h := start(b, servers.Options{}, oneFake(b, "normal"))
			h.awaitState("fake", servers.Connected)
			call := servers.Call{Server: "fake", Tool: "echo", Arguments: json.RawMessage(`{"text":"hello, world","n":42}`)}
			b.ReportAllocs()
			b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
			b.ResetTimer()
			if callers == 1 {
				for b.Loop() {
					mustCall(b, h, call)
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					mustCall(b, h, call)
				}
			})
		})
	}
}

func BenchmarkBigResult(b *testing.B) {
	h := start(b, servers.Options{}, oneFake(b, "normal"))
	call := servers.Call{Server: "fake", Tool: "big", Arguments: json.RawMessage(`{"n":5242880}`)}
	b.SetBytes(5 << 20)
	for b.Loop() {
		mustCall(b, h, call)
	}
}

func mustCall(b *testing.B, h *harness, call servers.Call) {
	if _, err := h.Call(context.Background(), call); err != nil {
		b.Error(err)
	}
}
