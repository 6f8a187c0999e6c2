// Package signin signs in to remote MCP servers with OAuth 2.1, as MCP has it.
//
// A Keeper has an Account for each server. An Account puts a token on the
// server's requests, renews it before it expires and when it is refused, and
// says so (Need) when only a person can go on. A Flow is a person's sign-in: it
// finds the authorization server, registers us there if it must, and waits for
// the browser to come back, to a door of ours on loopback or to an address that
// the caller hosts. There is one Flow at a time for each server.
//
// Grants are kept in the keychain, one entry for each server and address, and
// nowhere else. A token goes to the origin it was issued for, and to no other.
//
// # What is ours and what is the libraries'
//
// Discovery, the checks of what it finds, registration, and the reading of
// challenges are the SDK's (its packages auth and oauthex); PKCE and the token
// requests are golang.org/x/oauth2's. The SDK's AuthorizationCodeHandler puts
// these together, but keeps tokens and registrations in memory alone, renews
// them for no resource in particular, and does not tell an authorization server
// that cannot be reached from one that refuses. So they are put together here,
// and what the SDK lacks is added: the keychain, renewal with a resource
// (RFC 8707), revocation (RFC 7009), and a guard against metadata that names
// addresses inside a network that the server itself is not in.
//
// # Goroutines
//
// The Keeper owns a goroutine for each Flow, for each renewal, and for each door
// on loopback. All are bounded, and Close ends them and waits for them.
package signin

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"pointsman/gateway/secrets"
)

// DefaultPort is the loopback port that a browser comes back to, so that a
// client which is registered by hand has an address to register:
// http://127.0.0.1:8641/callback.
const DefaultPort = 8641

const (
	// flowPatience bounds a sign-in: a person has this long in the browser.
	flowPatience = 10 * time.Minute
	// stepPatience bounds what is asked of an authorization server without a
	// person: discovery and registration together, an exchange, a renewal.
	stepPatience = 30 * time.Second
)

// ClientCredentials is the Server.Grant of a program that signs in for itself
// (RFC 6749, section 4.4).
const ClientCredentials = "client_credentials"

// Server is what is signed in to: an entry of the configuration, its references
// resolved.
type Server struct {
	Name string
	URL  string // where it serves MCP, and what tokens are asked for
	// ClientID is that of a client which is registered by hand, or the https
	// address of a client ID metadata document. If empty, we register ourselves.
	ClientID     string
	ClientSecret string   // "" for a public client
	Scopes       []string // asked for when the server's challenge names none
	Grant        string   // "" or authorization_code: a person signs in; or ClientCredentials
	Port         int      // the loopback port for the browser; 0: DefaultPort, or any that is free
}

// Options configures a Keeper.
type Options struct {
	// Keychain keeps the grants. If nil, they are kept in memory alone.
	Keychain secrets.Keychain
	// HTTPClient gives the transport to authorization servers. If it is an
	// *http.Transport, or nil, addresses inside a network are guarded.
	HTTPClient *http.Client
	// Lookup finds a host's addresses. If nil, the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Learn is told each token and secret, to be kept out of what is written
	// down. May be nil.
	Learn func(secret string)
	// Tokens is asked for tokens before anything else. May be nil.
	Tokens TokenHook
	// OnEvent is told what came of sign-ins and renewals, without locks held. May
	// be nil.
	OnEvent func(Event)
	// OnChange is told that a server was signed in to, or out of, without locks
	// held. May be nil.
	OnChange func(server string, in bool)
	// Logger takes what cannot be told to anybody else. If nil, nothing is.
	Logger *slog.Logger
	// Version is ours, as told at registration.
	Version string
}

// Keeper keeps the accounts. Make one with New. It is safe for concurrent use.
type Keeper struct {
	opts Options
	net  network

	ctx  context.Context // of all the work; ends with Close
	stop context.CancelCauseFunc
	work sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	closed   bool
	accounts map[string]*Account // by name and address
	flows    map[string]*Flow    // by id: those that have not ended, and the last ones that have
	doors    map[int]*door       // by the port that was asked for
}

// errClosing ends what runs when the Keeper is closed.
var errClosing = errors.New("the program is shutting down")

// New returns a keeper. It starts nothing.
func New(opts Options) *Keeper {
	if opts.Keychain == nil {
		opts.Keychain = secrets.Memory()
	}
	if opts.Learn == nil {
		opts.Learn = func(string) {}
	}
	if opts.OnEvent == nil {
		opts.OnEvent = func(Event) {}
	}
	if opts.OnChange == nil {
		opts.OnChange = func(string, bool) {}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Lookup == nil {
		opts.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	k := &Keeper{opts: opts, accounts: map[string]*Account{}, flows: map[string]*Flow{}, doors: map[int]*door{}}
	k.net = newNetwork(opts.HTTPClient, opts.Lookup)
	k.ctx, k.stop = context.WithCancelCause(context.Background())
	return k
}

// Close cancels what runs, and waits for it. It may be called more than once.
func (k *Keeper) Close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.stop(errClosing)
	k.work.Wait()
	k.net.close()
}

// background runs f unless the keeper is closed. ctx ends with the keeper.
func (k *Keeper) background(f func(ctx context.Context)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return errClosing
	}
	k.work.Go(func() { f(k.ctx) })
	return nil
}

// Account returns the account for a server's name and address, with the rest of
// the entry as it is now.
func (k *Keeper) Account(server Server) *Account {
	id := server.Name + "\x00" + server.URL
	k.mu.Lock()
	a := k.accounts[id]
	if a == nil {
		a = &Account{keeper: k, name: server.Name, entry: entryName(server)}
		k.accounts[id] = a
	}
	k.mu.Unlock()
	k.opts.Learn(server.ClientSecret)
	a.configure(server)
	return a
}

// entryName is the keychain's name of a server's grant: readable, and different
// for each name and address.
func entryName(server Server) string {
	const readable = 40 // bytes of the name that are kept
	plain := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '_'
	}, server.Name)
	sum := sha256.Sum256([]byte(server.Name + "\x00" + server.URL))
	return fmt.Sprintf("signin/%s/%x", plain[:min(len(plain), readable)], sum[:8])
}

// Waiting returns the sign-in of a server that has not ended, or nil.
func (k *Keeper) Waiting(server string) *Flow {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.flows {
		if f.account.name == server && !f.ended {
			return f
		}
	}
	return nil
}

// Flow returns the sign-in of an id, which may have ended a while ago.
func (k *Keeper) Flow(id string) (*Flow, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f := k.flows[id]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("looking for the sign-in %.40q: it does not wait any more; begin a new one with `pointsman servers login NAME`", id)
}
