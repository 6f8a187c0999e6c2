package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
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

// mcpBench measures calls of MCP servers through our hosting beside direct ones.
type mcpBench struct {
	opts options
	self string // our own executable, which is the servers, too
	rows []mcpRow
}

// mcpRow is one figure, direct and hosted.
type mcpRow struct {
	Figure string  `json:"figure"`
	Unit   string  `json:"unit"`
	Direct float64 `json:"direct"`
	Hosted float64 `json:"hosted"`
}

// addMCP adds what MCP servers cost to a report.
func addMCP(ctx context.Context, opts options, rep *report, progress io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b := &mcpBench{opts: opts, self: self}
	steps := []step{{"1,000 tools", b.lists}, {"the start of 20 servers", b.starts}}
	for _, transport := range []string{"stdio", "http"} {
		for _, callers := range []int{1, 16} {
			steps = append(steps, step{
				fmt.Sprintf("tools/call over %s, callers: %d", transport, callers),
				func(ctx context.Context) error { return b.calls(ctx, transport, callers) },
			})
		}
	}
	err = runSteps(ctx, progress, steps)
	rep.MCP = b.rows
	return err
}

func (b *mcpBench) add(figure, unit string, direct, hosted float64) {
	b.rows = append(b.rows, mcpRow{figure, unit, direct, hosted})
}

// entry is a server with so many tools as a user would configure it.
func (b *mcpBench) entry(tools int) config.MCPServer {
	return config.MCPServer{Command: b.self, Args: []string{"tools", "stdio", fmt.Sprint(tools)}}
}

func (b *mcpBench) directStdio(ctx context.Context, tools int) (*stdioCaller, error) {
	return newStdioCaller(ctx, toolName(0), toolName(tools-1), nil, b.self, "tools", "stdio", fmt.Sprint(tools))
}

// pair returns a direct and a hosted way to call servers that are alike.
func (b *mcpBench) pair(ctx context.Context, transport string, callers int) (direct, ours caller, err error) {
	entry := b.entry(toolCount)
	if transport == "http" {
		p, addr, err := startPart(ctx, "tools", transport, fmt.Sprint(toolCount))
		if err != nil {
			return nil, nil, err
		}
		direct = newHTTPCaller(&target{addr: addr, path: "/mcp", pid: p.pid()}, callers, toolName(toolCount-1), p)
		entry = config.MCPServer{URL: "http://" + addr + "/mcp"}
	} else if direct, err = b.directStdio(ctx, toolCount); err != nil {
		return nil, nil, err
	}
	ours, err = newHosted(ctx, map[string]config.MCPServer{serverName: entry}, toolCount)
	if err != nil {
		direct.close()
		return nil, nil, err
	}
	return direct, ours, nil
}

// calls measures how long calls take, and how many there are in a second, in turns.
func (b *mcpBench) calls(ctx context.Context, transport string, callers int) error {
	direct, ours, err := b.pair(ctx, transport, callers)
	if err != nil {
		return err
	}
	defer direct.close()
	defer ours.close()
	ways := []caller{direct, ours}
	var took [2][]float64
	var rate [2][]float64
	for turn := range b.opts.rounds + 1 {
		for _, way := range rand.Perm(len(ways)) {
			samples, err := burst(ctx, ways[way], callers, b.opts.slice)
			if err != nil {
				return err
			}
			if turn == 0 {
				continue // its heap has to have its size
			}
			took[way] = append(took[way], samples...)
			rate[way] = append(rate[way], float64(len(samples))/b.opts.slice.Seconds())
		}
	}
	name := fmt.Sprintf("tools/call, %s, callers: %d", transport, callers)
	b.add(name+", median", "µs", quantile(took[0], 0.5), quantile(took[1], 0.5))
	b.add(name+", 99th percentile", "µs", quantile(took[0], 0.99), quantile(took[1], 0.99))
	b.add(name+", calls/s", "", quantile(rate[0], 0.5), quantile(rate[1], 0.5))
	return nil
}

// burst has callers call for some time, and returns the microseconds that each
// call took.
func burst(ctx context.Context, way caller, callers int, d time.Duration) ([]float64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	samples := make([][]float64, callers)
	var wg sync.WaitGroup
	start := time.Now()
	for who := range callers {
		wg.Go(func() {
			for ctx.Err() == nil && time.Since(start) < d {
				began := time.Now()
				if err := way.call(ctx, who); err != nil {
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

// lists measures how long it takes until a new server's tools are known, when
// there are many.
func (b *mcpBench) lists(ctx context.Context) error {
	return b.compareStarts(ctx, "start until 1,000 tools are listed, median", 1, manyTools)
}

// starts measures how long it takes until many servers are there.
func (b *mcpBench) starts(ctx context.Context) error {
	return b.compareStarts(ctx, "start of 20 servers, median", manyServers, toolCount)
}

func (b *mcpBench) compareStarts(ctx context.Context, figure string, count, tools int) error {
	var direct, ours []float64
	for range b.opts.starts {
		took, err := b.startDirect(ctx, count, tools)
		if err != nil {
			return err
		}
		direct = append(direct, micros(took)/1e3)
		if took, err = b.startHosted(ctx, count, tools); err != nil {
			return err
		}
		ours = append(ours, micros(took)/1e3)
	}
	b.add(figure, "ms", quantile(direct, 0.5), quantile(ours, 0.5))
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
	fmt.Fprintf(w, "\nMCP servers, called directly and through the gateway's hosting. In brackets: times direct.\n\n")
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "figure\tunit\tdirect\thosted\t")
	for _, r := range rows {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s (%.2f)\t\n", r.Figure, r.Unit, figure(r.Direct), figure(r.Hosted), r.Hosted/r.Direct)
	}
	return tab.Flush()
}
