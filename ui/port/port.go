// Package port opens the address that the program serves on, and says who has it
// when somebody else does. It starts no goroutine.
package port

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
)

// TakenError says that another process listens on an address.
type TakenError struct {
	Address string // host:port
	// Holder names the process that listens there, as the system tells it:
	// "process 812 (node)"; "" when it does not tell.
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
	var l net.ListenConfig
	ln, err := l.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, addressInUse):
		return nil, &TakenError{Address: address, Holder: holder(address), err: err}
	case err != nil:
		return nil, fmt.Errorf("listening on %s: %w", address, err)
	}
	return ln, nil
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
		if Check(ctx, next) == nil {
			return next, nil
		}
	}
	return "", fmt.Errorf("looking for a free port after %s: none of the next %d is", address, tries)
}
