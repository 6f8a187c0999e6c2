package secrets

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
)

// Resolver turns the references of a configuration into values. It is safe for
// concurrent use.
type Resolver struct {
	// fixed at creation
	keychain  Keychain
	lookupEnv func(string) (string, bool)
	redactor  *Redactor

	mu    sync.Mutex        // guards the fields below
	cache map[string]string // what the keychain answered
	seen  map[string]string // variables that were judged, with the value each had
}

// NewResolver makes a resolver. A nil lookupEnv means os.LookupEnv; a nil
// redactor learns nothing.
func NewResolver(keychain Keychain, lookupEnv func(string) (string, bool), redactor *Redactor) *Resolver {
	if lookupEnv == nil {
		lookupEnv = os.LookupEnv
	}
	return &Resolver{keychain: keychain, lookupEnv: lookupEnv, redactor: redactor, cache: map[string]string{}, seen: map[string]string{}}
}

const (
	keychainPrefix = "keychain:"
	environPrefix  = "os.environ/"
)

// reference is ${env:NAME}, ${keychain:NAME}, or what other programs' server
// entries hold: ${NAME} and ${NAME:-default}.
var reference = regexp.MustCompile(`\$\{(?:(env|keychain):([^}]+)|([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?)\}`)

// wholeReference reports whether all of a text is one reference.
func wholeReference(text string) bool {
	return len(text) > len(keychainPrefix) && strings.HasPrefix(text, keychainPrefix) ||
		len(text) > len(environPrefix) && strings.HasPrefix(text, environPrefix)
}

// Resolve returns ref with every reference in it replaced: "keychain:NAME" and
// "os.environ/NAME" as the whole text, ${env:NAME}, ${keychain:NAME}, ${NAME}
// and ${NAME:-default} anywhere in it. Other text is returned as it is. A
// variable that is not set, or a name that the keychain does not have, is an
// error that names it. What it finds is made known to the Redactor.
func (r *Resolver) Resolve(ctx context.Context, ref string) (string, error) {
	if wholeReference(ref) {
		if name, ok := strings.CutPrefix(ref, keychainPrefix); ok {
			return r.fromKeychain(ctx, name)
		}
		return r.fromEnvironment(strings.TrimPrefix(ref, environPrefix), "")
	}
	var out strings.Builder
	at := 0
	for _, m := range reference.FindAllStringSubmatchIndex(ref, -1) {
		value, err := r.embedded(ctx, ref, m)
		if err != nil {
			return "", err
		}
		out.WriteString(ref[at:m[0]])
		out.WriteString(value)
		at = m[1]
	}
	if at == 0 {
		return ref, nil
	}
	out.WriteString(ref[at:])
	return out.String(), nil
}

// embedded resolves one match m of reference in text.
func (r *Resolver) embedded(ctx context.Context, text string, m []int) (string, error) {
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return text[m[2*i]:m[2*i+1]]
	}
	switch {
	case group(1) == "keychain":
		return r.fromKeychain(ctx, group(2))
	case group(1) == "env":
		return r.fromEnvironment(group(2), "")
	case m[8] >= 0:
		if value, ok := r.lookupEnv(group(3)); !ok || value == "" {
			return group(4), nil
		}
	}
	return r.fromEnvironment(group(3), "")
}

func (r *Resolver) fromEnvironment(name, fallback string) (string, error) {
	value, ok := r.lookupEnv(name)
	if !ok {
		return fallback, fmt.Errorf("environment variable %s is not set", name)
	}
	r.learn(name, value)
	return value, nil
}

// learn makes a variable's value known to the Redactor if it is a secret. Each
// request resolves some variable, and judging takes a while, so a value is judged
// once; it counts as seen only when the Redactor has it.
func (r *Resolver) learn(name, value string) {
	if r.redactor == nil {
		return
	}
	r.mu.Lock()
	before, known := r.seen[name]
	r.mu.Unlock()
	if known && before == value {
		return
	}
	if secretName(name) || random(value) {
		r.redactor.Add(value)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[name] = value
}

func (r *Resolver) fromKeychain(ctx context.Context, name string) (string, error) {
	r.mu.Lock()
	value, ok := r.cache[name]
	r.mu.Unlock()
	if ok {
		return value, nil
	}
	if r.keychain == nil {
		return "", fmt.Errorf("reading %q: %w", name, ErrUnavailable)
	}
	value, err := r.keychain.Get(ctx, name)
	if err != nil {
		return "", err
	}
	r.remember(name, value)
	return value, nil
}

func (r *Resolver) remember(name, value string) {
	if r.redactor != nil {
		r.redactor.Add(value)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cache[name] = value
}

// Forget makes the next Resolve ask the keychain for name again; "" forgets all.
func (r *Resolver) Forget(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == "" {
		clear(r.cache)
		return
	}
	delete(r.cache, name)
}

// Keychain is the resolver's keychain, kept in step: what is set or deleted
// through it is what Resolve finds next.
func (r *Resolver) Keychain() Keychain { return keptInStep{r} }

type keptInStep struct{ r *Resolver }

func (k keptInStep) Get(ctx context.Context, name string) (string, error) {
	return k.r.fromKeychain(ctx, name)
}

func (k keptInStep) Set(ctx context.Context, name, value string) error {
	if k.r.keychain == nil {
		return fmt.Errorf("storing %q: %w", name, ErrUnavailable)
	}
	k.r.Forget(name)
	if err := k.r.keychain.Set(ctx, name, value); err != nil {
		return err
	}
	k.r.remember(name, value)
	return nil
}

func (k keptInStep) Delete(ctx context.Context, name string) error {
	if k.r.keychain == nil {
		return fmt.Errorf("deleting %q: %w", name, ErrUnavailable)
	}
	k.r.Forget(name)
	defer k.r.Forget(name)
	return k.r.keychain.Delete(ctx, name)
}
