package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"pointsman/gateway/config"
)

// manyTools is a long list; manyServers are started at once.
const (
	manyTools   = 1000
	manyServers = 20
)

// The ways to a server, in the order they are shown. All are compared with the
// first.
const (
	unaided = iota // the server itself
	bySDK          // the MCP Go SDK on both sides
	byHost         // a host of ours, in this process
	byStdio        // pointsman mcp, attached to pointsman serve
	byHTTP         // the same pointsman serve, at /mcp
	ways           // how many there are
)

// wayNames head the columns of the ways, in their order.
func wayNames() []string {
	return []string{unaided: "direct", bySDK: "go-sdk twice", byHost: "hosted", byStdio: "pointsman mcp", byHTTP: "/mcp"}
}

// mcpBench measures calls of MCP servers through our hosting, and through our
// doors, beside direct ones.
type mcpBench struct {
	opts options
	dir  string
	self string // our own executable, which is the servers, too
	rows []mcpRow
}

// mcpRow is one figure, by the way's place; 0: not measured.
type mcpRow struct {
	Figure string        `json:"figure"`
	Unit   string        `json:"unit"`
	Values [ways]float64 `json:"values"`
}

// addMCP adds what MCP servers cost to a report.
func addMCP(ctx context.Context, opts options, dir string, rep *report, progress io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b := &mcpBench{opts: opts, dir: dir, self: self}
	steps := []step{{"1,000 tools", b.lists}, {"the start of 20 servers", b.starts}, {"first answers", b.firstAnswers}}
	for _, transport := range []string{"stdio", "http"} {
		steps = append(steps, step{"tools/call over " + transport, func(ctx context.Context) error { return b.calls(ctx, transport) }})
	}
	err = runSteps(ctx, progress, steps)
	rep.MCP = b.rows
	return err
}

// callers are how many call at once, one measurement after the other.
func callers() []int { return []int{1, 16} }

// calls measures how long calls take, and how many there are in a second.
func (b *mcpBench) calls(ctx context.Context, transport string) error {
	s, err := b.open(ctx, transport, toolCount)
	if err != nil {
		return err
	}
	defer s.close()
	for _, callers := range callers() {
		took, rate, err := b.compare(ctx, s, callers, caller.call)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("tools/call, %s, callers: %d", transport, callers)
		b.add(name+", median", "µs", took, 0.5)
		b.addAdded("  added to direct, median", took)
		b.add(name+", 99th percentile", "µs", took, 0.99)
		b.add(name+", calls/s", "", rate, 0.5)
	}
	return nil
}

// lists measures a long list, and how long it takes until a new server's is known.
func (b *mcpBench) lists(ctx context.Context) error {
	s, err := b.open(ctx, "stdio", manyTools)
	if err != nil {
		return err
	}
	defer s.close()
	took, _, err := b.compare(ctx, s, 1, caller.list)
	if err != nil {
		return err
	}
	took[byHost] = nil // it keeps the list ready
	b.add("tools/list of 1,000 tools, median", "µs", took, 0.5)
	return b.compareStarts(ctx, "start until 1,000 tools are listed, median", 1, manyTools)
}

// add adds a quantile of each way's samples.
func (b *mcpBench) add(figure, unit string, samples [ways][]float64, q float64) {
	r := mcpRow{Figure: figure, Unit: unit}
	for way := range samples {
		r.Values[way] = quantile(samples[way], q)
	}
	b.rows = append(b.rows, r)
}

// addAdded adds what each way adds to the direct one at the median.
func (b *mcpBench) addAdded(figure string, took [ways][]float64) {
	r := mcpRow{Figure: figure, Unit: "µs"}
	for way := range took {
		if way != unaided && len(took[way]) > 0 {
			r.Values[way] = quantile(took[way], 0.5) - quantile(took[unaided], 0.5)
		}
	}
	b.rows = append(b.rows, r)
}

// firstAnswers measures how long it takes from the start of `pointsman mcp` to its
// answer to the first message: attached to a gateway, and alone, while its servers
// are still connecting.
func (b *mcpBench) firstAnswers(ctx context.Context) error {
	s := &stage{binary: b.opts.binary, dir: b.dir, provider: "127.0.0.1:9"} // no model is asked
	defer s.end()
	inFile := fmt.Sprintf("mcpServers: {%s: {type: local, command: %q, args: [tools, stdio, %q]}}\n", serverName, b.self, fmt.Sprint(manyTools))
	attached, alone := "attached", s.home("alone")
	if _, err := s.startGateway(ctx, attached, inFile); err != nil {
		return err
	}
	if err := s.writeHome(alone, inFile); err != nil {
		return err
	}
	for _, test := range []struct{ figure, home string }{
		{"start of pointsman mcp until its first answer, attached", s.home(attached)}, {"the same, alone", alone},
	} {
		var took [ways][]float64
		for range b.opts.starts {
			began := time.Now()
			c, err := newStdioCaller(ctx, firstTool, "", s.env(test.home), s.binary, "mcp")
			if err != nil {
				return fmt.Errorf("%s: %w", test.figure, err)
			}
			took[byStdio] = append(took[byStdio], micros(time.Since(began))/1e3)
			c.close()
		}
		b.add(test.figure+", median", "ms", took, 0.5)
	}
	return nil
}

// compare has callers do something in all ways, in turns, and returns the
// microseconds that each took, and how many there were in a second of each turn.
func (b *mcpBench) compare(ctx context.Context, s *mcpStage, callers int, do func(caller, context.Context, int) error) (took, rate [ways][]float64, err error) {
	for turn := range b.opts.rounds + 1 {
		for _, way := range rand.Perm(ways) {
			samples, err := burst(ctx, s.ways[way], callers, b.opts.slice, do)
			if err != nil {
				return took, rate, fmt.Errorf("%s: %w", wayNames()[way], err)
			}
			if turn == 0 {
				continue // its heap has to have its size
			}
			took[way] = append(took[way], samples...)
			rate[way] = append(rate[way], float64(len(samples))/b.opts.slice.Seconds())
		}
	}
	return took, rate, nil
}

// burst has callers do something for some time, and returns the microseconds that
// it took each time.
func burst(ctx context.Context, way caller, callers int, d time.Duration, do func(caller, context.Context, int) error) ([]float64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	samples := make([][]float64, callers)
	var wg sync.WaitGroup
	start := time.Now()
	for who := range callers {
		wg.Go(func() {
			for ctx.Err() == nil && time.Since(start) < d {
				began := time.Now()
				if err := do(way, ctx, who); err != nil {
					cancel(err)
					return
				}
				samples[who] = append(samples[who], micros(time.Since(began)))
			}
		})
	}
	wg.Wait()
	return slices.Concat(samples...), context.Cause(ctx)
}

// starts measures how long it takes until many servers are there.
func (b *mcpBench) starts(ctx context.Context) error {
	return b.compareStarts(ctx, "start of 20 servers, median", manyServers, toolCount)
}

func (b *mcpBench) compareStarts(ctx context.Context, figure string, count, tools int) error {
	var took [ways][]float64
	for range b.opts.starts {
		for way, start := range map[int]func(context.Context, int, int) (time.Duration, error){unaided: b.startDirect, byHost: b.startHosted} {
			d, err := start(ctx, count, tools)
			if err != nil {
				return err
			}
			took[way] = append(took[way], micros(d)/1e3)
		}
	}
	b.add(figure, "ms", took, 0.5)
	return nil
}

// startDirect starts servers all at once, and lists their tools.
func (b *mcpBench) startDirect(ctx context.Context, count, tools int) (time.Duration, error) {
	callers := make([]*stdioCaller, count)
	defer func() {
		for _, c := range callers {
			if c != nil {
				c.close()
			}
		}
	}()
	var group errgroup.Group
	began := time.Now()
	for i := range callers {
		group.Go(func() (err error) {
			if callers[i], err = b.directStdio(ctx, tools); err != nil {
				return err
			}
			return callers[i].list(ctx, 0)
		})
	}
	err := group.Wait()
	return time.Since(began), err
}

// startHosted has a host start as many.
func (b *mcpBench) startHosted(ctx context.Context, count, tools int) (time.Duration, error) {
	entries := map[string]config.MCPServer{}
	for i := range count {
		entries[fmt.Sprint(serverName, i)] = b.entry(tools)
	}
	began := time.Now()
	h, err := newHosted(ctx, entries, count*tools)
	took := time.Since(began)
	if err == nil {
		h.close()
	}
	return took, err
}

// printMCP writes the table for people.
func printMCP(w io.Writer, rows []mcpRow) error {
	fmt.Fprintf(w, "\nMCP servers, called directly, and as the gateway hosts and serves them. In brackets: times direct.\n\n")
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "figure\tunit\t%s\t\n", strings.Join(wayNames(), "\t"))
	for _, r := range rows {
		fmt.Fprintf(tab, "%s\t%s", r.Figure, r.Unit)
		for way, v := range r.Values {
			switch {
			case v == 0:
				fmt.Fprint(tab, "\t-")
			case way == unaided || r.Values[unaided] == 0:
				fmt.Fprintf(tab, "\t%s", figure(v))
			default:
				fmt.Fprintf(tab, "\t%s (%.2f)", figure(v), v/r.Values[unaided])
			}
		}
		fmt.Fprintln(tab, "\t")
	}
	return tab.Flush()
}
