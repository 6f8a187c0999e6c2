// Package secrets finds secrets where the configuration says they are kept, and
// keeps them out of everything that is written down.
//
// Keychain is the operating system's store of secrets, Resolver turns
// references into values, Redactor takes values and anything that looks like a
// credential out of text.
//
// The package starts one goroutine per keychain call, because the system's call
// cannot be cancelled: it may wait for a person to unlock the keychain. Such a
// goroutine ends with its call; there are never more than a few.
package secrets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Keychain stores secrets by name. Get and Delete return ErrNotFound for a name
// that is not there.
type Keychain interface {
	Get(ctx context.Context, name string) (string, error)
	Set(ctx context.Context, name, value string) error
	Delete(ctx context.Context, name string) error
}

var (
	// ErrNotFound says that the keychain has no entry of that name.
	ErrNotFound = errors.New("not in the keychain")

	// ErrLocked says that the keychain is locked, or waits for a person to
	// answer its prompt.
	ErrLocked = errors.New("the keychain is locked; unlock it and try again, or name an environment variable (os.environ/NAME) instead")

	// ErrUnavailable says that this session has no keychain that answers.
	ErrUnavailable = errors.New("no keychain is available here; name an environment variable (os.environ/NAME) instead")

	// ErrTorn says that a value stored in several parts is incomplete, because
	// writing it was interrupted.
	ErrTorn = errors.New("the keychain entry is incomplete; set it again")
)

// Backend is what an operating system offers: calls that cannot be cancelled.
// Its errors are those of go-keyring.
type Backend interface {
	Get(service, user string) (string, error)
	Set(service, user, value string) error
	Delete(service, user string) error
}

// Options adjust a keychain.
type Options struct {
	Service string        // what entries are filed under; empty: "pointsman"
	Timeout time.Duration // bound of one operation; zero: 5 seconds
	Limit   int           // bytes that one entry can hold; zero: no limit
}

// maxStuck bounds the calls that wait for an answer of the system.
const maxStuck = 4

// System is the keychain of the user's session.
func System() Keychain {
	return New(systemBackend{}, &Options{Limit: systemLimit})
}

// New makes a keychain of a backend; opts may be nil.
func New(backend Backend, opts *Options) Keychain {
	k := &keychain{backend: backend, slots: make(chan struct{}, maxStuck)}
	if opts != nil {
		k.Options = *opts
	}
	if k.Service == "" {
		k.Service = "pointsman"
	}
	if k.Timeout == 0 {
		k.Timeout = 5 * time.Second
	}
	return k
}

type keychain struct {
	Options
	backend Backend
	slots   chan struct{} // one taken for each call that has not returned
}

func (k *keychain) Get(ctx context.Context, name string) (string, error) {
	ctx, cancel := k.bound(ctx)
	defer cancel()
	value, err := k.getParts(ctx, name)
	if err != nil {
		return "", fmt.Errorf("reading %q from the keychain: %w", name, err)
	}
	return value, nil
}

func (k *keychain) Set(ctx context.Context, name, value string) error {
	ctx, cancel := k.bound(ctx)
	defer cancel()
	err := checkName(name)
	if err == nil {
		err = k.setParts(ctx, name, value)
	}
	if err != nil {
		return fmt.Errorf("storing %q in the keychain: %w", name, err)
	}
	return nil
}

func (k *keychain) Delete(ctx context.Context, name string) error {
	ctx, cancel := k.bound(ctx)
	defer cancel()
	if err := k.deleteParts(ctx, name); err != nil {
		return fmt.Errorf("deleting %q from the keychain: %w", name, err)
	}
	return nil
}

func (k *keychain) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, k.Timeout, ErrLocked)
}

// checkName refuses names that some keychain could not keep.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > 128:
		return errors.New("the name is longer than 128 bytes")
	case strings.ContainsAny(name, "\x00\r\n}") || strings.Contains(name, partMark):
		return errors.New("the name holds a line break, a brace or the mark of a part")
	}
	return nil
}

// call runs one backend call under ctx. The call itself cannot be stopped: when
// it overstays it keeps its slot until it returns.
func (k *keychain) call(ctx context.Context, run func() (string, error)) (string, error) {
	type result struct {
		value string
		err   error
	}
	if err := ctx.Err(); err != nil {
		return "", context.Cause(ctx)
	}
	select {
	case k.slots <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-k.slots }()
		var r result
		defer func() { done <- r }()
		defer func() { // go-keyring panics when the session's bus goes while it waits for a person
			if cause := recover(); cause != nil {
				r = result{err: fmt.Errorf("asking the system's keychain: %v", cause)}
			}
		}()
		r.value, r.err = run()
	}()
	select {
	case r := <-done:
		return r.value, classify(r.err)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (k *keychain) get(ctx context.Context, name string) (string, error) {
	return k.call(ctx, func() (string, error) { return k.backend.Get(k.Service, name) })
}

func (k *keychain) set(ctx context.Context, name, value string) error {
	_, err := k.call(ctx, func() (string, error) { return "", k.backend.Set(k.Service, name, value) })
	return err
}

func (k *keychain) delete(ctx context.Context, name string) error {
	_, err := k.call(ctx, func() (string, error) { return "", k.backend.Delete(k.Service, name) })
	return err
}
