package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/httpapi"
	"pointsman/gateway/secrets"
)

// shutdownPatience is how long open requests may take to end when we stop.
const shutdownPatience = 5 * time.Second

// Serve answers HTTP requests on ln until ctx ends, then lets open requests end
// for a moment. Meanwhile it keeps the Ollama-compatible door as the configuration
// wants it. The listener is closed when it returns.
func (g *Gateway) Serve(ctx context.Context, ln net.Listener) error {
	g.key.serving.Store(true)
	address := ln.Addr().String()
	g.address.Store(&address)
	g.notices.notify()
	ctx, stop := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() { g.ollama.keep(ctx) })
	defer keeping.Wait()
	defer stop()
	return serveHTTP(ctx, ln, g.Handler())
}

// serveHTTP is Serve, for any handler.
func serveHTTP(ctx context.Context, ln net.Listener, handler http.Handler) error {
	server := NewServer(handler)
	requests, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	server.BaseContext = func(net.Listener) context.Context { return requests }
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(ln) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
		end(approvals.ErrShuttingDown) // what waits for a person is told why
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownPatience)
	defer cancel()
	err := server.Shutdown(bounded)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	<-failed
	return err
}

// NewServer returns an HTTP server with the limits that every door of ours has.
func NewServer(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute, MaxHeaderBytes: 64 << 10}
}

// accessKey is the key that HTTP clients must show. A key in the keychain is
// read when it is first needed, and again after a keychain was locked.
type accessKey struct {
	gateway *Gateway
	serving atomic.Bool

	mu    sync.Mutex // guards the fields below
	ref   string     // what value was resolved from
	value string
	err   error
	tried time.Time
}

// keyRetry is how long a failure to read the key is believed.
const keyRetry = 2 * time.Second

// get returns the key, or why it cannot be had.
func (k *accessKey) get() (string, error) {
	ref := string(k.gateway.Config().Gateway.APIKey)
	k.mu.Lock()
	defer k.mu.Unlock()
	if ref == k.ref && (k.err == nil || time.Since(k.tried) < keyRetry) {
		return k.value, k.err
	}
	k.ref, k.tried = ref, time.Now()
	k.value, k.err = k.gateway.resolver.Resolve(context.Background(), ref)
	if errors.Is(k.err, secrets.ErrNotFound) {
		k.value, k.err = k.gateway.makeKey(ref)
	}
	if k.err == nil && k.value == "" {
		k.err = errors.New("gateway.api_key is empty; set it, set GATEWAY_API_KEY, or write gateway.auth: none")
	}
	return k.value, k.err
}

// forget has the key be read again when it is next needed.
func (k *accessKey) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ref, k.value, k.err = "", "", nil
}

// freshKey returns a key that nobody can guess.
func freshKey() string { return "pm-" + rand.Text() + rand.Text() }

// makeKey makes the key of a first start and keeps it in the keychain.
func (g *Gateway) makeKey(ref string) (string, error) {
	name, ok := strings.CutPrefix(ref, "keychain:")
	if !ok {
		return "", fmt.Errorf("gateway.api_key %s cannot be resolved", ref)
	}
	key := freshKey()
	if err := g.resolver.Keychain().Set(context.Background(), name, key); err != nil {
		return "", fmt.Errorf("keeping the new gateway key in the keychain: %w", err)
	}
	g.redactor.Add(key)
	return key, nil
}

// NoKeychainError is why there is no key for clients where no keychain could
// hold one. It gives the advice that helps here, in the place of the keychain's.
type NoKeychainError struct{ Err error }

func (NoKeychainError) Error() string {
	return "reading the gateway's key: no keychain is available here; set GATEWAY_API_KEY to a long random text that clients will show"
}

// Unwrap returns the keychain's error.
func (e NoKeychainError) Unwrap() error { return e.Err }

// AccessKey returns the key that HTTP clients must show, made on the first
// start; "" when gateway.auth is none.
func (g *Gateway) AccessKey() (string, error) {
	if g.Config().Gateway.Auth == "none" {
		return "", nil
	}
	key, err := g.key.get()
	if errors.Is(err, secrets.ErrUnavailable) {
		return "", NoKeychainError{err}
	}
	if err != nil {
		return "", fmt.Errorf("reading the gateway's key: %w", err)
	}
	return key, nil
}

// doorSettings are the HTTP door's settings now.
func (g *Gateway) doorSettings() httpapi.Settings {
	cfg := g.Config().Gateway
	host, _, _ := net.SplitHostPort(cfg.Listen)
	s := httpapi.Settings{
		Open: cfg.Auth == "none", Key: g.AccessKey, ListenHost: host, AllowedHosts: cfg.AllowedHosts, CORSOrigins: cfg.CORSOrigins, MaxBodyBytes: cfg.MaxBodyBytes,
	}
	return s
}
