// Command realservers lists the tools of real MCP servers of many authors, each
// hosted as Pointsman hosts a user's, and prints what came of it as a table:
//
//	make realservers
//
// servers.json has them, in the shape of a user's `mcpServers`, by the name of
// the package that package.json has; their credentials are made up. It exits with
// 1 when one of them cannot be had, or one of its tools cannot be offered.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// atOnce is how many servers are tried at once: more would only wait for the
// processor.
const atOnce = 2

// startTimeout bounds the start of one server.
const startTimeout = time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "realservers:", err)
		os.Exit(1)
	}
}

// run tries the servers of a folder, all of them or those that are named.
func run(ctx context.Context, args []string, stdout, progress io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: realservers FOLDER [SERVER …]")
	}
	folder, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	entries, versions, err := read(folder)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "pointsman-realservers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	if err := os.Setenv("HOME", home); err != nil { // which the servers write to
		return err
	}
	var wanted []string
	for name := range entries {
		if len(args) == 1 || slices.Contains(args[1:], name) {
			wanted = append(wanted, name)
		}
	}
	slices.SortFunc(wanted, func(a, b string) int { return cmp.Compare(strings.TrimPrefix(a, "@"), strings.TrimPrefix(b, "@")) })
	rows := tryAll(ctx, folder, wanted, entries, progress)
	for i, name := range wanted {
		rows[i].version = versions[name]
	}
	return printTable(stdout, rows)
}

// read returns the servers' entries, and the versions of their packages.
func read(folder string) (map[string]config.MCPServer, map[string]string, error) {
	path := filepath.Join(folder, "servers.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	entries, err := config.ParseServers(string(text))
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	path = filepath.Join(folder, "package.json")
	if text, err = os.ReadFile(path); err != nil {
		return nil, nil, err
	}
	var pkg struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(text, &pkg); err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return entries, pkg.Dependencies, nil
}

// tryAll tries the servers, in no order, and returns a row for each, in theirs.
func tryAll(ctx context.Context, folder string, names []string, entries map[string]config.MCPServer, progress io.Writer) []row {
	rows := make([]row, len(names))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, name := range names {
		group.Go(func() error {
			rows[i] = try(ctx, folder, name, entries[name])
			fmt.Fprintf(progress, "%s: %d tools %s\n", name, rows[i].tools, rows[i].fault)
			return nil
		})
	}
	_ = group.Wait() // none fails: what went wrong is in the rows
	return rows
}

// try hosts one server until its tools are listed, or it has failed.
func try(ctx context.Context, folder, name string, entry config.MCPServer) row {
	entry.StartTimeout = startTimeout.Milliseconds()
	h := servers.New(servers.Options{
		Path:  filepath.Join(folder, "node_modules", ".bin"),
		Roots: []string{folder},
	})
	h.Apply(map[string]config.MCPServer{name: entry}, nil)
	ctx, cancel := context.WithTimeout(ctx, startTimeout+10*time.Second)
	ended := make(chan error, 1)
	began := time.Now()
	go func() { ended <- h.Run(ctx) }()
	defer func() { cancel(); <-ended; h.Close() }()
	if err := h.Settle(ctx); err != nil {
		return row{name: name, fault: err.Error()}
	}
	status := h.Status()[0]
	r := row{
		name: name, protocol: status.Live.Protocol, took: time.Since(began),
		tools: status.Tools, junk: status.Junk, fault: status.Live.Error,
	}
	r.judge(h.Tools())
	return r
}
