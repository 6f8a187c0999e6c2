package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
)

// TestKilled kills the program while calls of real servers are in flight. All
// that it started ends, also a server that would not end by itself, and the
// journal tells which calls nobody knows the outcome of.
func TestKilled(t *testing.T) {
	t.Parallel()
	id := t.TempDir()                         // no other test has it
	mark := map[string]string{"E2E_MARK": id} // what the servers start inherits it
	servers := map[string]any{
		"everything": map[string]any{
			"command": "node", "args": []string{npm(t, "@modelcontextprotocol/server-everything/dist/index.js"), "stdio"},
			"env": mark,
		},
		"wrapped": map[string]any{ // as npx does: a parent that stays
			"command": "sh", "args": []string{"-c", `node "$0" stdio; true`, npm(t, "@modelcontextprotocol/server-everything/dist/index.js")},
			"env": mark,
		},
	}
	p := serve(t, setup{servers: servers, extra: "approvals: {approver: allow}\n"})
	t.Cleanup(func() {
		for _, pid := range marked(t, "E2E_MARK="+id) { // none, unless the test has failed
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	started := append(marked(t, "E2E_MARK="+id), descendants(t, p.cmd.Process.Pid)...)
	if len(started) < 4 {
		t.Fatalf("only %d processes run below the program", len(started))
	}
	long := `{"duration":600,"steps":2}`
	script := "@tool everything__trigger-long-running-operation " + long + "\n@tool wrapped__trigger-long-running-operation " + long
	var client sync.WaitGroup
	client.Go(func() { p.attempt(t, p.fill(`{`+user(script)+`}`, "kill")) })
	await(t, "the calls to begin", func() bool { return p.inFlight(t) == 2 })

	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	client.Wait()
	<-p.exited
	await(t, "all that it started to end", func() bool {
		if len(marked(t, "E2E_MARK="+id)) > 0 {
			return false
		}
		for _, pid := range started {
			if alive(pid) {
				return false
			}
		}
		return true
	})
	rows := p.journal(t)
	expect(t, "rows", len(rows), 2)
	for _, row := range rows {
		expect(t, "the outcome of "+row.Get("offered").String(), row.Get("outcome").String(), "unknown")
		expect(t, "the arguments", row.Get("arguments.duration").Int(), 600)
	}
}

// attempt makes a request that must fail in the middle.
func (p *pointsman) attempt(t *testing.T, body []byte) {
	req := p.request(t.Context(), t, body)
	if response, err := http.DefaultClient.Do(req); err == nil {
		response.Body.Close()
		t.Errorf("the killed program answered %s", response.Status)
	}
}

// inFlight counts the calls that have begun and not ended.
func (p *pointsman) inFlight(t *testing.T) int {
	t.Helper()
	n := 0
	for _, row := range p.rows(t) {
		if row.Get("outcome").Type == gjson.Null || row.Get("outcome").String() == "" {
			n++
		}
	}
	return n
}

// marked returns the processes whose environment holds a mark.
func marked(t *testing.T, mark string) []int {
	t.Helper()
	var pids []int
	for _, pid := range processes(t) {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // it may have ended just now
		if err == nil && bytes.Contains(append([]byte{0}, environ...), append([]byte{0}, mark...)) && alive(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// descendants returns the processes below one.
func descendants(t *testing.T, root int) []int {
	t.Helper()
	parent := map[int]int{}
	for _, pid := range processes(t) {
		parent[pid], _ = readStat(pid)
	}
	var pids []int
	for pid := range parent {
		for up := parent[pid]; up > 1; up = parent[up] {
			if up == root {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

func processes(t *testing.T) []int {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(name)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// readStat returns a process's parent and its state; 0 when it is gone.
func readStat(pid int) (parent int, state string) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, ""
	}
	_, _ = fmt.Sscan(string(data[bytes.LastIndexByte(data, ')')+1:]), &state, &parent)
	return parent, state
}

// alive reports whether a process runs; one that waits to be collected does not.
func alive(pid int) bool {
	_, state := readStat(pid)
	return state != "" && state != "Z" && state != "X"
}
