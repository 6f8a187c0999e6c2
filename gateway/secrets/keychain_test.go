package secrets_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"
	"go.uber.org/goleak"

	"pointsman/gateway/secrets"
)

// store is a backend in memory with a limit, and with failures to order.
type store struct {
	mu      sync.Mutex
	values  map[string]string
	limit   int
	failSet func(user string) error
	answer  func() // called before every answer; nil: at once
}

func newStore(limit int) *store { return &store{values: map[string]string{}, limit: limit} }

func (s *store) wait() {
	if s.answer != nil {
		s.answer()
	}
}

func (s *store) Get(service, user string) (string, error) {
	s.wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[service+":"+user]
	if !ok {
		return "", keyring.ErrNotFound
	}
	return value, nil
}

func (s *store) Set(service, user, value string) error {
	s.wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failSet != nil {
		if err := s.failSet(user); err != nil {
			return err
		}
	}
	if len(value) > s.limit {
		return keyring.ErrSetDataTooBig
	}
	s.values[service+":"+user] = value
	return nil
}

func (s *store) Delete(service, user string) error {
	s.wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.values[service+":"+user]; !ok {
		return keyring.ErrNotFound
	}
	delete(s.values, service+":"+user)
	return nil
}

func TestKeychain(t *testing.T) {
	values := map[string]string{
		"short": "abc", "empty": "", "exactly the limit": strings.Repeat("x", 100), "over it": strings.Repeat("0123456789", 37),
		"characters of several bytes": strings.Repeat("é€😀", 60), "looks like a header": "pointsman-parts:1:x:1:y", "no text": strings.Repeat("\xff\x00", 90),
		"lines": "-----BEGIN\n" + strings.Repeat("line\n", 50),
	}
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			backend := newStore(100)
			k := secrets.New(backend, &secrets.Options{Limit: 100})
			ctx := t.Context()
			if _, err := k.Get(ctx, "n"); !errors.Is(err, secrets.ErrNotFound) {
				t.Errorf("before: %v", err)
			}
			for _, v := range []string{value, strings.Repeat("other", 50), value} {
				if err := k.Set(ctx, "n", v); err != nil {
					t.Fatal(err)
				}
				if got, err := k.Get(ctx, "n"); err != nil || got != v {
					t.Errorf("got %q, %v", got, err)
				}
			}
			if err := k.Delete(ctx, "n"); err != nil {
				t.Fatal(err)
			}
			if len(backend.values) != 0 {
				t.Errorf("left behind: %v", backend.values)
			}
			if err := k.Delete(ctx, "n"); !errors.Is(err, secrets.ErrNotFound) {
				t.Errorf("deleting nothing: %v", err)
			}
		})
	}
}

func TestKeychainNeverGivesHalfAValue(t *testing.T) {
	ctx := t.Context()
	backend := newStore(80)
	k := secrets.New(backend, &secrets.Options{Limit: 80})
	old, fresh := strings.Repeat("old", 60), strings.Repeat("new", 90)
	if err := k.Set(ctx, "n", old); err != nil {
		t.Fatal(err)
	}
	for stop := range 5 { // interrupted after each of the writes: four parts, then the header
		writes := 0
		backend.failSet = func(string) error {
			if writes++; writes > stop {
				return errors.New("power cut")
			}
			return nil
		}
		if err := k.Set(ctx, "n", fresh); err == nil {
			t.Errorf("no error after %d writes", stop)
		}
		if got, err := k.Get(ctx, "n"); err != nil || got != old {
			t.Errorf("after %d writes: %q, %v", stop, got, err)
		}
	}
	backend.failSet = nil
	if err := k.Set(ctx, "n", fresh); err != nil {
		t.Fatal(err)
	}
	for user := range backend.values {
		if strings.HasSuffix(user, "#2") {
			backend.values[user] = "damaged"
		}
	}
	if got, err := k.Get(ctx, "n"); !errors.Is(err, secrets.ErrTorn) || got != "" {
		t.Errorf("a damaged part: %q, %v", got, err)
	}
	for user := range backend.values {
		if strings.HasSuffix(user, "#2") {
			delete(backend.values, user)
		}
	}
	if got, err := k.Get(ctx, "n"); !errors.Is(err, secrets.ErrTorn) || got != "" {
		t.Errorf("a missing part: %q, %v", got, err)
	}
}

func TestKeychainThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var mu sync.Mutex
		calls := 0
		backend := newStore(100)
		backend.answer = func() {
			mu.Lock()
			calls++
			mu.Unlock()
			<-release
		}
		k := secrets.New(backend, nil)
		start := time.Now()
		for range 10 {
			if _, err := k.Get(t.Context(), "n"); !errors.Is(err, secrets.ErrLocked) {
				t.Errorf("error = %v", err)
			}
		}
		if took := time.Since(start); took != 50*time.Second {
			t.Errorf("ten calls took %v", took)
		}
		mu.Lock()
		if calls > 4 {
			t.Errorf("%d calls are stuck", calls)
		}
		mu.Unlock()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := k.Get(ctx, "n"); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled call: %v", err)
		}
		close(release)
		synctest.Wait()
		if _, err := k.Get(t.Context(), "n"); !errors.Is(err, secrets.ErrNotFound) {
			t.Errorf("after it answers again: %v", err)
		}
	})
}

func TestKeychainErrors(t *testing.T) {
	for text, want := range map[string]error{
		"failed to unlock correct collection '/org/freedesktop/secrets/aliases/default'": secrets.ErrLocked,
		"Cannot create an item in a locked collection":                                   secrets.ErrLocked,
		"The name org.freedesktop.secrets was not provided by any .service files":        secrets.ErrUnavailable,
		"something else": secrets.ErrUnavailable,
	} {
		backend := newStore(100)
		backend.failSet = func(string) error { return errors.New(text) }
		err := secrets.New(backend, nil).Set(t.Context(), "n", "the-value")
		if !errors.Is(err, want) || strings.Contains(fmt.Sprint(err), "the-value") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if !strings.Contains(secrets.ErrUnavailable.Error(), "os.environ/") {
		t.Error("no way out is named")
	}
	for _, name := range []string{"", "a\nb", "a}b", "a#part#b", strings.Repeat("n", 200)} {
		if err := secrets.New(newStore(100), nil).Set(t.Context(), name, "v"); err == nil {
			t.Errorf("name %q is taken", name)
		}
	}
}

// TestKeychainThatPanics: a fault of the system's library ends no program.
func TestKeychainThatPanics(t *testing.T) {
	backend := newStore(100)
	keys := secrets.New(backend, nil)
	if err := keys.Set(t.Context(), "name", "value"); err != nil {
		t.Fatal(err)
	}
	backend.answer = func() { panic("no signal") }
	if _, err := keys.Get(t.Context(), "name"); !errors.Is(err, secrets.ErrUnavailable) {
		t.Errorf("a panic is told as %v", err)
	}
	backend.answer = nil
	if value, err := keys.Get(t.Context(), "name"); err != nil || value != "value" {
		t.Errorf("after the panic: %q, %v", value, err)
	}
}

func TestMemoryIsAKeychain(t *testing.T) {
	k, ctx := secrets.Memory(), t.Context()
	if err := k.Set(ctx, "n", "v"); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Get(ctx, "n"); err != nil || got != "v" {
		t.Errorf("%q, %v", got, err)
	}
	if err := k.Delete(ctx, "n"); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Get(ctx, "n"); !errors.Is(err, secrets.ErrNotFound) {
		t.Errorf("error = %v", err)
	}
	if err := k.Delete(ctx, "n"); !errors.Is(err, secrets.ErrNotFound) {
		t.Errorf("error = %v", err)
	}
}

func TestResolve(t *testing.T) {
	variables := map[string]string{"TOKEN": "tok-from-env", "EMPTY": "", "HOME": "/home/somebody"}
	lookup := func(name string) (string, bool) { value, ok := variables[name]; return value, ok }
	k := secrets.Memory()
	for name, value := range map[string]string{"github": "gh-from-keychain", "a b": "spaced-value"} {
		if err := k.Set(t.Context(), name, value); err != nil {
			t.Fatal(err)
		}
	}
	var redactor secrets.Redactor
	r := secrets.NewResolver(k, lookup, &redactor)
	tests := []struct{ ref, want, fault string }{
		{"", "", ""}, {"plain", "plain", ""}, {"keychain:github", "gh-from-keychain", ""}, {"keychain:a b", "spaced-value", ""},
		{"os.environ/TOKEN", "tok-from-env", ""}, {"${env:TOKEN}", "tok-from-env", ""}, {"Bearer ${keychain:github}", "Bearer gh-from-keychain", ""},
		{"${env:TOKEN}:${keychain:github}@${HOME}", "tok-from-env:gh-from-keychain@/home/somebody", ""}, {"${NOPE:-other}/x", "other/x", ""}, {"${EMPTY:-other}", "other", ""},
		{"os.environ/EMPTY", "", ""}, {"os.environ/NOPE", "", "NOPE"}, {"a ${env:NOPE}", "", "NOPE"}, {"${NOPE}", "", "NOPE"}, {"keychain:nope", "", "nope"}, {"x ${keychain:nope}", "", "nope"},
		{"$TOKEN", "$TOKEN", ""}, {"${", "${", ""}, {"${input:x}", "${input:x}", ""}, {"keychain:", "keychain:", ""}, {"a keychain:github", "a keychain:github", ""},
	}
	for _, tt := range tests {
		got, err := r.Resolve(t.Context(), tt.ref)
		if got != tt.want || (err != nil) != (tt.fault != "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("Resolve(%q) = %q, %v", tt.ref, got, err)
		}
	}
	if got := redactor.Redact("gh-from-keychain tok-from-env /home/somebody"); got != "[redacted] [redacted] /home/somebody" {
		t.Errorf("redacted: %q", got)
	}
}

// counting counts what reaches a keychain.
type counting struct {
	secrets.Keychain
	gets int
}

func (c *counting) Get(ctx context.Context, name string) (string, error) {
	c.gets++
	return c.Keychain.Get(ctx, name)
}

func TestResolverAsksTheKeychainOnce(t *testing.T) {
	ctx := t.Context()
	k := &counting{Keychain: secrets.Memory()}
	if err := k.Set(ctx, "n", "first-value"); err != nil {
		t.Fatal(err)
	}
	r := secrets.NewResolver(k, nil, nil)
	expect := func(want string, gets int) {
		t.Helper()
		if got, err := r.Resolve(ctx, "keychain:n"); err != nil || got != want || k.gets != gets {
			t.Errorf("%q, %v after %d reads", got, err, k.gets)
		}
	}
	expect("first-value", 1)
	expect("first-value", 1)
	if err := r.Keychain().Set(ctx, "n", "second-value"); err != nil {
		t.Fatal(err)
	}
	expect("second-value", 1)
	if err := k.Set(ctx, "n", "third-value"); err != nil {
		t.Fatal(err)
	}
	expect("second-value", 1)
	r.Forget("n")
	expect("third-value", 2)
	if err := r.Keychain().Delete(ctx, "n"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resolve(ctx, "keychain:n"); !errors.Is(err, secrets.ErrNotFound) {
		t.Errorf("error = %v", err)
	}
}

// inSession tells the test binary that it runs inside a session made for it.
const inSession = "POINTSMAN_TEST_SESSION"

func TestMain(m *testing.M) {
	if os.Getenv(inSession) != "" {
		os.Exit(m.Run()) // the D-Bus library keeps its connection for as long as the process lives
	}
	goleak.VerifyTestMain(m)
}
