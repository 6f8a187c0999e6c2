package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// bench measures the targets of a stage, in turns, and fills a report.
type bench struct {
	opts     options
	stage    *stage
	progress io.Writer
	rep      *report
}

// run measures all there is to measure.
func (b *bench) run(ctx context.Context) error {
	return runSteps(ctx, b.progress, []step{
		{"idle memory", b.idle("resident memory, idle, fresh", b.opts.settle, atMost(45))},
		{"added latency", b.added("added latency", false)},
		{"first token", b.added("first token added", true)},
		{"requests per second, 1 client", b.rate("requests/s, 1 client", 1, nothing)},
		{"requests per second, 16 clients", b.rate("requests/s, 16 clients", 16, ratioAtLeast(0.8))},
		{"requests per second, 64 clients", b.rate("requests/s, 64 clients", 64, nothing)},
		{"unpaced chunks", b.chunks},
		{"100 KB bodies", b.bodies("100 KB bodies, 16 clients", 100_000, 16)},
		{"1 MB bodies", b.bodies("1 MB bodies, 8 clients", 1_000_000, 8)},
		{"whole streams", b.whole},
		{"idle memory after the load", b.idle("resident memory, idle, after the load", afterLoad, nothing)},
		{"cold starts", b.coldStarts},
		{"hooks", b.hookCalls},
	})
}

// step is one measurement.
type step struct {
	name string
	run  func(context.Context) error
}

// runSteps measures one after the other, and says which.
func runSteps(ctx context.Context, progress io.Writer, steps []step) error {
	for _, step := range steps {
		fmt.Fprintf(progress, "measuring %s …\n", step.name)
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("measuring %s: %w", step.name, err)
		}
	}
	return nil
}

// afterLoad is how long processes rest before their memory is read again: a
// gateway gives memory back when it has been idle for some seconds.
const afterLoad = 8 * time.Second

// idle reads the memory of the processes after a pause.
func (b *bench) idle(name string, pause time.Duration, floor floor) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := rest(ctx, pause); err != nil {
			return err
		}
		row := newRow(name, "MB", floor)
		for i, t := range b.stage.targets {
			if mb, known := residentMB(t.pid); known && i != direct && i != round {
				row.set(i, mb)
			}
		}
		b.rep.add(row)
		return nil
	}
}

func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// loadFor is what a target is sent.
func loadFor(t *target, model string, size, chunks int) load {
	want := []byte(`"finish_reason":"stop"`)
	if t.tool {
		model, want = toolModel, []byte(`"executed":true`)
	}
	return load{message: t.message(request(t.model+model, chunks > 0, size)), chunks: chunks, want: want}
}

// added measures what the proxy and each gateway add to the direct way: one
// client sends a request to each in turn, and differences are taken within a
// cycle. Each gateway has cycles of its own with the proxy, so that no other
// goes on working while they are measured.
func (b *bench) added(name string, stream bool) func(context.Context) error {
	return func(ctx context.Context) error {
		median, worst := newRow(name+", median", "µs", ratioAtMost(1.3)), newRow(name+", 99th percentile", "µs", nothing)
		last := round
		if stream {
			last = offered // the first token of a tool round comes when the tool has run
		}
		for i := gateway; i <= last; i++ {
			base, own, err := b.pairs(ctx, i, stream)
			if err != nil {
				return err
			}
			median.setBeside(i, quantile(own, 0.5), quantile(base, 0.5))
			worst.setBeside(i, quantile(own, 0.99), quantile(base, 0.99))
		}
		b.rep.add(median, worst)
		return nil
	}
}

// pairs returns the microseconds that the proxy and one other target took longer
// than direct.
func (b *bench) pairs(ctx context.Context, other int, stream bool) (base, own []float64, err error) {
	model, chunks := plainModel, 0
	if stream {
		model, chunks = chunksModel+"3", 3
	}
	members := []int{direct, proxy, other}
	var loads [targets]load
	var conns [targets]*conn
	for _, i := range members {
		t := b.stage.targets[i]
		loads[i], conns[i] = loadFor(t, model, 200, chunks), newConn(t.addr)
		defer conns[i].close()
		warm := crowd{target: t, load: loads[i], conns: conns[i : i+1]} // its heap has to have its size
		if _, err := warm.send(ctx, max(b.opts.slice/2, 300*time.Millisecond), 0); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	for range b.opts.rounds * b.opts.cycles {
		var took [targets]timing
		for _, k := range rand.Perm(len(members)) {
			i := members[k]
			if took[i], err = conns[i].do(loads[i]); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", b.stage.targets[i].name, err)
			}
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		base = append(base, micros(took[proxy].first-took[direct].first))
		own = append(own, micros(took[other].first-took[direct].first))
	}
	return base, own, nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// rate measures plain requests per second, and the CPU time they cost.
func (b *bench) rate(name string, clients int, floor floor) func(context.Context) error {
	return func(ctx context.Context) error {
		return b.turns(ctx, name, clients, floor, targets, func(t *target) load { return loadFor(t, plainModel, 200, 0) })
	}
}

func (b *bench) bodies(name string, size, clients int) func(context.Context) error {
	return func(ctx context.Context) error {
		return b.turns(ctx, name, clients, ratioAtLeast(0.8), round, func(t *target) load { return loadFor(t, plainModel, size, 0) })
	}
}

// chunksInStream is how many pieces of text a stream has that is not paced.
const chunksInStream = 1000

func (b *bench) chunks(ctx context.Context) error {
	return b.turns(ctx, "streams/s of 1000 chunks, 8 clients", 8, nothing, round, func(t *target) load {
		return loadFor(t, chunksModel+strconv.Itoa(chunksInStream), 200, chunksInStream)
	})
}

// turns loads the first count targets in turns and reports requests per second
// and, for each ten thousand of them, the CPU time of the target's process.
func (b *bench) turns(ctx context.Context, name string, clients int, floor floor, count int, loadOf func(*target) load) error {
	var rates, costs [targets][]float64
	crowds := make([]*crowd, count)
	for i, t := range b.stage.targets[:count] {
		crowds[i] = newCrowd(t, clients, loadOf(t))
		defer crowds[i].close()
		if _, err := crowds[i].send(ctx, b.opts.slice/4, 0); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	for range b.opts.rounds {
		for _, i := range rand.Perm(count) {
			sent, err := crowds[i].send(ctx, b.opts.slice, 0)
			if err != nil {
				return fmt.Errorf("%s: %w", b.stage.targets[i].name, err)
			}
			rates[i] = append(rates[i], float64(sent.n)/sent.took.Seconds())
			if sent.cpuKnown {
				costs[i] = append(costs[i], sent.cpu.Seconds()*1e4/float64(sent.n))
			}
		}
	}
	rate, cost := newRow(name, "/s", floor), newRow("CPU per 10,000", "s", nothing)
	for i := range count {
		rate.set(i, quantile(rates[i], 0.5))
		if i != direct && len(costs[i]) > 0 {
			cost.set(i, quantile(costs[i], 0.5))
		}
	}
	rate.compareRounds(rates)
	cost.compareRounds(costs)
	b.rep.add(rate, cost)
	return nil
}

// crowd is a number of clients of one target, each with its connection.
type crowd struct {
	target *target
	load   load
	conns  []*conn
}

func newCrowd(t *target, clients int, l load) *crowd {
	c := &crowd{target: t, load: l}
	for range clients {
		c.conns = append(c.conns, newConn(t.addr))
	}
	return c
}

func (c *crowd) close() {
	for _, conn := range c.conns {
		conn.close()
	}
}

// sent is what a crowd did.
type sent struct {
	n        int
	took     time.Duration
	cpu      time.Duration // of the target's process
	cpuKnown bool
}

// send lets the crowd send requests for d, or count of them when that is not
// zero. A request that fails ends it.
func (c *crowd) send(ctx context.Context, d time.Duration, count int64) (sent, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var n, begun atomic.Int64
	before, known := cpuTime(c.target.pid)
	start := time.Now()
	var wg sync.WaitGroup
	for _, conn := range c.conns {
		wg.Go(func() {
			for ctx.Err() == nil && (count > 0 && begun.Add(1) <= count || count == 0 && time.Since(start) < d) {
				if _, err := conn.do(c.load); err != nil {
					cancel(fmt.Errorf("after %d requests: %w", n.Load(), err))
					return
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	after, _ := cpuTime(c.target.pid)
	return sent{n: int(n.Load()), took: took, cpu: after - before, cpuKnown: known}, context.Cause(ctx)
}

// whole checks that streams through the gateway arrive whole.
func (b *bench) whole(ctx context.Context) error {
	t := b.stage.targets[offered]
	c := newCrowd(t, 16, loadFor(t, chunksModel+"20", 200, 20))
	defer c.close()
	cut := 0
	for left := int64(b.opts.streams); left > 0; {
		done, err := c.send(ctx, 0, left)
		left -= int64(done.n)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		cut, left = cut+1, left-1
		fmt.Fprintf(b.progress, "  a stream broke: %v\n", err)
		if !errors.Is(err, errCut) && cut > 10 {
			return err
		}
	}
	row := newRow(fmt.Sprintf("streams cut, of %d", b.opts.streams), "", atMost(0))
	row.set(gateway, float64(cut))
	b.rep.add(row)
	return nil
}

// coldStarts starts a gateway again and again in a home that has been used.
func (b *bench) coldStarts(ctx context.Context) error {
	home := filepath.Join(b.stage.dir, "cold")
	if err := b.stage.writeHome(home, ""); err != nil {
		return err
	}
	var ready, answered []float64
	for range b.opts.starts + 1 {
		health, chat, err := b.coldStart(ctx, home)
		if err != nil {
			return err
		}
		ready, answered = append(ready, health), append(answered, chat)
	}
	first, again, chat := newRow("first start in an empty home, until /health answers", "ms", atMost(100)),
		newRow("serve ready: start until /health answers, median", "ms", atMost(100)),
		newRow("start until a chat is answered, median", "ms", nothing)
	first.set(gateway, ready[0])
	again.set(gateway, quantile(ready[1:], 0.5))
	chat.set(gateway, quantile(answered[1:], 0.5))
	b.rep.add(first, again, chat)
	return nil
}

// coldStart returns the milliseconds until a new gateway answers.
func (b *bench) coldStart(ctx context.Context, home string) (health, chat float64, err error) {
	addr, err := freePort()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	p, err := b.stage.serve(ctx, home, addr)
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if said := p.end(); err != nil {
			err = fmt.Errorf("%w\n%s", err, said)
		}
	}()
	if err := awaitHealth(ctx, addr); err != nil {
		return 0, 0, err
	}
	health = micros(time.Since(began)) / 1e3
	t := b.stage.target("cold", addr, p, "mock/")
	c := newConn(addr)
	defer c.close()
	if _, err := c.do(loadFor(t, plainModel, 200, 0)); err != nil {
		return 0, 0, err
	}
	return health, micros(time.Since(began)) / 1e3, nil
}
