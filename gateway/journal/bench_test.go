package journal_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pointsman/gateway/journal"
)

// BenchmarkRun is what a plain forwarded request costs its caller and, with the
// last flush in the time, the writer.
func BenchmarkRun(b *testing.B) {
	path := newPath(b)
	j := open(b, path, options())
	ids := make([]string, b.N)
	for i := range ids {
		ids[i] = fmt.Sprintf("%016d", i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for _, id := range ids {
		j.StartRun(journal.Run{ID: id, Time: time.Now(), Door: "http", Client: "openai-python/1.2", Model: "gpt-6-sol"})
		j.FinishRun(id, journal.RunEnd{Outcome: journal.OK, Rounds: 1, PromptTokens: 1000, CompletionTokens: 200, DurationMS: 12})
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCall is one Begin and Finish.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			j := open(b, newPath(b), options())
			var next atomic.Int64
			b.SetParallelism(max(1, callers/2)) // two processors
			b.ReportAllocs()
			if callers == 1 {
				for b.Loop() {
					call(b, j, next.Add(1))
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					call(b, j, next.Add(1))
				}
			})
		})
	}
}

func call(b *testing.B, j *journal.Journal, n int64) {
	id := fmt.Sprintf("%016d", n)
	ctx := context.Background()
	if err := j.Begin(ctx, journal.Call{ID: id, Server: "fs", Tool: "write_file", Arguments: []byte(`{"path":"/a","text":"hello"}`)}); err != nil {
		b.Fatal(err)
	}
	if err := j.Finish(ctx, id, journal.End{Outcome: journal.OK, Result: "done"}); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkOpen(b *testing.B) {
	path := newPath(b)
	for b.Loop() {
		j, err := journal.Open(path, options())
		if err != nil {
			b.Fatal(err)
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWindow is what the windows read of a record of 10,000 calls in 1,000
// runs over 90 days.
func BenchmarkWindow(b *testing.B) {
	j := open(b, newPath(b), options())
	ctx := context.Background()
	now := time.Now()
	for i := range 10_000 {
		run := fmt.Sprintf("run%04d", i/10)
		at := now.Add(-time.Duration(10_000-i) * 90 * 24 * time.Hour / 10_000)
		if i%10 == 0 {
			j.StartRun(journal.Run{ID: run, Time: at, Client: "copilot", Model: fmt.Sprintf("m%d", i%30)})
			j.FinishRun(run, journal.RunEnd{Outcome: journal.OK, PromptTokens: 1000, DurationMS: 10})
		}
		id := fmt.Sprint(i)
		c := journal.Call{ID: id, Time: at, Run: run, Server: fmt.Sprintf("s%d", i%5), Tool: "write_file", Arguments: []byte(`{"path":"/a/file","text":"hello"}`)}
		if err := j.Begin(ctx, c); err != nil {
			b.Fatal(err)
		}
		if err := j.Finish(ctx, id, journal.End{Outcome: journal.OK, Result: "done"}); err != nil {
			b.Fatal(err)
		}
	}
	for _, bench := range []struct {
		name string
		read func() error
	}{
		{"first page", func() error { _, _, err := j.RunsPage(ctx, journal.Filter{Limit: 100}, nil); return err }},
		{"a word that is nowhere", func() error {
			_, _, err := j.RunsPage(ctx, journal.Filter{Limit: 100, Deep: true, Text: "xyzzy"}, nil)
			return err
		}},
		{"usage of 90 days", func() error { _, err := j.Usage(ctx, now.AddDate(0, 0, -89), now); return err }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				if err := bench.read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
