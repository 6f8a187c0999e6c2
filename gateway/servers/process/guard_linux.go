package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// startTime returns when the process started, as text to compare, or "" when
// there is no such process.
func startTime(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field, the command in parentheses, may hold anything.
	_, rest, ok := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return ""
	}
	return fields[19] // field 22 of the line
}

// markedProcesses returns the processes that were started with the mark in
// their environment: also those that left their group, and those that started
// in the moment before their group was told.
func markedProcesses(mark string) []int {
	if mark == "" {
		return nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	want := []byte(guardMark + "=" + mark)
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && bytes.Contains(environ, want) {
			pids = append(pids, pid)
		}
	}
	return pids
}
