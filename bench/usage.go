package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU time in /proc: USER_HZ is 100 wherever Go runs.
const clockTick = 10 * time.Millisecond

// cpuTime returns the user and system time that a process has used. It is known
// where there is a /proc.
func cpuTime(pid int) (time.Duration, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The command's name, in brackets, may hold spaces: count behind it.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0, false
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, false
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * clockTick, err == nil
}

// residentMB returns the memory of a process that is resident, in MiB. It is
// known where there is a /proc.
func residentMB(pid int) (float64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return float64(pages) * float64(os.Getpagesize()) / (1 << 20), err == nil
}

// work is what the threads of a process have done.
type work struct {
	cpu   time.Duration // to the nanosecond, which cpuTime is not
	waits int64         // how often one of them went to sleep
}

// workOf returns what the threads that a process has now have done.
func workOf(pid int) (work, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(threads) == 0 {
		return work{}, fmt.Errorf("there is no process %d (%v)", pid, err)
	}
	var sum work
	for _, thread := range threads {
		spent, err := os.ReadFile(filepath.Join(thread, "schedstat"))
		if err != nil {
			return work{}, err
		}
		status, err := os.ReadFile(filepath.Join(thread, "status"))
		if err != nil {
			return work{}, err
		}
		var ns, waits int64
		if _, err := fmt.Sscan(string(spent), &ns); err != nil {
			return work{}, fmt.Errorf("reading %s: %w", thread, err)
		}
		_, rest, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
		if _, err := fmt.Sscan(rest, &waits); err != nil {
			return work{}, fmt.Errorf("reading %s: %w", thread, err)
		}
		sum.cpu += time.Duration(ns)
		sum.waits += waits
	}
	return sum, nil
}
