// Package port opens the address that the program serves on, and says who has it
// when somebody else does. No goroutine outlives a call.
package port

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// TakenError says that another process listens on an address.
type TakenError struct {
	Address string // host:port
	// Holder names the process that listens there, as the system tells it:
	// "process 812 (node)"; "another Pointsman" or "Ollama" when that process says so
	// itself; "" when nobody tells.
	Holder string
	err    error
}

// Error names the address and who has it.
func (e *TakenError) Error() string {
	who := e.Holder
	if who == "" {
		who = "another process"
	}
	return fmt.Sprintf("listening on %s: %s has the port", e.Address, who)
}

// Unwrap returns the system's error.
func (e *TakenError) Unwrap() error { return e.err }

// Listen opens an address of the form host:port. Its error is a *TakenError when
// another process has the port.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	ln, err := open(ctx, address)
	switch {
	case errors.Is(err, addressInUse):
		taken := &TakenError{Address: address, Holder: holder(address), err: err}
		if taken.Holder == "" { // another user's, or one that keeps others from looking at it
			taken.Holder = introduced(ctx, address)
		}
		return nil, taken
	case err != nil:
		return nil, fmt.Errorf("listening on %s: %w", address, err)
	}
	return ln, nil
}

func open(ctx context.Context, address string) (net.Listener, error) {
	var l net.ListenConfig
	return l.Listen(ctx, "tcp", address)
}

// healthPatience bounds the question to who has a port.
const healthPatience = 500 * time.Millisecond

// introduced is who the program that listens on an address says it is, if it is one
// that says so; else "".
func introduced(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var health struct{ Service string }
	if said, ok := get(ctx, &client, "http://"+address+"/health"); ok && json.Unmarshal(said, &health) == nil && health.Service == "pointsman" {
		return "another Pointsman"
	}
	if said, ok := get(ctx, &client, "http://"+address+"/"); ok && string(said) == "Ollama is running" {
		return "Ollama"
	}
	return ""
}

// get reads the first kilobyte of an answer.
func get(ctx context.Context, client *http.Client, url string) (said []byte, ok bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, false
	}
	response, err := client.Do(req)
	if err != nil {
		return nil, false
	}
	defer response.Body.Close()
	said, err = io.ReadAll(io.LimitReader(response.Body, 1<<10))
	return said, err == nil
}

// Check reports, as Listen does, why an address could not be listened on now.
func Check(ctx context.Context, address string) error {
	ln, err := Listen(ctx, address)
	if err != nil {
		return err
	}
	return ln.Close()
}

// tries are how many ports after a taken one are looked at.
const tries = 100

// NextFree returns the first address after the given one, with a higher port of
// the same host, that can be listened on now. Without any in reach it is an error.
func NextFree(ctx context.Context, address string) (string, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("looking for a free port after %q: %w", address, err)
	}
	first, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", fmt.Errorf("looking for a free port after %q: the port is not a number", address)
	}
	for port := first + 1; port <= min(first+tries, 1<<16-1) && ctx.Err() == nil; port++ {
		next := net.JoinHostPort(host, strconv.FormatUint(port, 10))
		if ln, err := open(ctx, next); err == nil {
			return next, ln.Close()
		}
	}
	return "", fmt.Errorf("looking for a free port after %s: none of the next %d is", address, tries)
}
