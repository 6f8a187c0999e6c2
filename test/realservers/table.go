package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// row is what came of one server.
type row struct {
	name     string
	version  string // of its package
	protocol string
	tools    int
	took     time.Duration // from its start to its tools
	junk     int64         // lines on its stdout that were no message
	fault    string
}

// judge notes which tools could not be offered to a model.
func (r *row) judge(listed []servers.Tool) {
	var defs []tools.Definition
	for _, t := range listed {
		def, err := tools.Parse(t.Server, t.Raw, t.Trusted)
		if err != nil {
			def = tools.Broken(t.Server, t.Name, t.Raw, err)
		}
		defs = append(defs, def)
	}
	for _, entry := range tools.NewCatalogue(defs, tools.Settings{}).Entries() {
		if entry.Missing != "" {
			r.fault = strings.TrimPrefix(r.fault+"; "+entry.Name+": "+entry.Missing, "; ")
		}
	}
	if r.fault == "" && len(listed) == 0 {
		r.fault = "it lists no tools"
	}
}

// printTable writes the rows as a table in Markdown. The error says that some
// server is at fault.
func printTable(w io.Writer, rows []row) error {
	listed, faulty := 0, 0
	fmt.Fprintf(w, "%s, %s/%s, %d CPUs, %d servers at once.\n\n", time.Now().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), atOnce)
	fmt.Fprintln(w, "| server | version | protocol | tools | start ms | junk lines | fault |")
	fmt.Fprintln(w, "|---|---|---|--:|--:|--:|---|")
	for _, r := range rows {
		fault := strings.ReplaceAll(strings.Join(strings.Fields(r.fault), " "), "|", `\|`)
		fmt.Fprintf(w, "| %s | %s | %s | %d | %d | %d | %s |\n", r.name, r.version, r.protocol, r.tools, r.took.Milliseconds(), r.junk, fault)
		listed += r.tools
		if r.fault != "" {
			faulty++
		}
	}
	_, err := fmt.Fprintf(w, "\n%d servers, %d tools; %d at fault.\n", len(rows), listed, faulty)
	if faulty > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d servers are at fault", faulty, len(rows)))
	}
	return err
}
