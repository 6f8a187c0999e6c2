// Command bench measures what the gateway costs. It starts a mock provider, a
// bare httputil.ReverseProxy and `pointsman serve`, each in a process of its
// own, sends all of them the same requests in turns, and prints one table. Then
// it calls MCP servers directly, as the gateway hosts and serves them, and through the
// MCP Go SDK on both sides, and starts `pointsman` in a desktop session of its own, to measure the tray and the
// windows.
//
//	go run ./bench                # seven minutes
//	go run ./bench -short         # a minute and a half
//	go run ./bench -desktop only  # the tray and the windows
//	go run ./bench -mcp only      # MCP servers
//	go run ./bench -json          # figures for a program
//
// The driver, the provider and the gateway share this machine, so absolute
// figures drift: what counts is the ratio to the bare proxy in the same run. It
// is a measurement and no test: it exits with 0 unless something broke.
//
// The processes are its own executable with an argument, and end when their
// standard input does, so none outlives it. Its goroutines are the clients of
// one measurement, which waits for them.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run does what the arguments say: one of the parts that a benchmark starts, or
// the benchmark.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "provider":
			return serveUntilEOF(newProvider(), stdin, stdout)
		case "proxy":
			return runProxy(args[1:], stdin, stdout)
		case "tools":
			return runTools(args[1:], stdin, stdout)
		case "sdk":
			return runSDK(ctx, args[1:], stdin, stdout)
		case "desktop":
			return runDesktop(ctx, args[1:], stderr)
		}
	}
	debug.SetGCPercent(400) // the driver shares the machine with what it measures
	opts, err := parse(args, stderr)
	if err != nil {
		return err
	}
	rep, err := measure(ctx, opts, stderr)
	if err != nil {
		return err
	}
	if opts.json {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(rep)
	}
	return rep.print(stdout)
}

// options say how much is measured.
type options struct {
	json   bool
	binary string // of pointsman; empty: built
	tags   string // to build with

	rounds  int           // turns of each target in a measurement
	slice   time.Duration // of load on one target
	cycles  int           // of paired requests in a round
	starts  int           // cold starts
	settle  time.Duration // before idle memory is read
	streams int           // that must arrive whole

	desktop string        // all, only or none: the tray and the windows
	mcp     string        // all, only or none: MCP servers
	popups  int           // of each kind
	idle    time.Duration // that an idle program is looked at
	short   bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	opts := options{rounds: 4, slice: time.Second, cycles: 300, starts: 10, settle: 3 * time.Second, streams: 2000,
		popups: 10, idle: time.Minute}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&opts.short, "short", false, "measure less, in a minute and a half")
	full := flags.Bool("full", false, "check 10,000 streams")
	flags.BoolVar(&opts.json, "json", false, "print the figures as JSON")
	flags.StringVar(&opts.desktop, "desktop", "all", "measure the tray and the windows, too: `all, only or none`")
	flags.StringVar(&opts.mcp, "mcp", "all", "measure MCP servers, too: `all, only or none`")
	flags.StringVar(&opts.binary, "binary", "", "the pointsman `executable`; built from this module when empty")
	flags.StringVar(&opts.tags, "tags", "", "build `tags`, as for go build")
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	for name, what := range map[string]string{"desktop": opts.desktop, "mcp": opts.mcp} {
		if !slices.Contains([]string{"all", "only", "none"}, what) {
			return opts, fmt.Errorf("-%s %q: must be all, only or none", name, what)
		}
	}
	if opts.short {
		opts.popups, opts.idle = 3, 10*time.Second
		opts.rounds, opts.slice, opts.cycles, opts.starts, opts.settle = 2, 300*time.Millisecond, 100, 4, time.Second
	}
	if *full {
		opts.streams = 10_000
	}
	return opts, nil
}

// measure starts everything, measures it, and ends it.
func measure(ctx context.Context, opts options, progress io.Writer) (*report, error) {
	dir, err := os.MkdirTemp("", "pointsman-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if opts.binary == "" {
		fmt.Fprintln(progress, "building pointsman …")
		if opts.binary, err = build(ctx, dir, opts.tags); err != nil {
			return nil, err
		}
	}
	rep := newReport()
	if opts.desktop != "only" && opts.mcp != "only" {
		if err := measureGateway(ctx, opts, dir, rep, progress); err != nil {
			return nil, err
		}
	}
	if opts.desktop != "only" && opts.mcp != "none" {
		if err := addMCP(ctx, opts, dir, rep, progress); err != nil {
			return nil, err
		}
	}
	if opts.desktop != "none" && opts.mcp != "only" {
		if err := addDesktop(ctx, opts, rep, progress); err != nil {
			return nil, err
		}
	}
	return rep, nil
}

// measureGateway measures the gateway beside the proxy.
func measureGateway(ctx context.Context, opts options, dir string, rep *report, progress io.Writer) error {
	s, err := startStage(ctx, dir, opts.binary)
	if err != nil {
		return err
	}
	defer s.end()
	return (&bench{opts: opts, stage: s, progress: progress, rep: rep}).run(ctx)
}

// build builds the program of the module that holds the working directory.
func build(ctx context.Context, dir, tags string) (string, error) {
	path := filepath.Join(dir, "pointsman.exe") // Windows wants the ending, nobody else minds
	out, err := exec.CommandContext(ctx, "go", "build", "-tags", tags, "-o", path, "pointsman").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building pointsman: %w\n%s\n-tags headless builds it without the windows; -binary names one that is built", err, out)
	}
	return path, nil
}
