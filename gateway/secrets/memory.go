package secrets

import (
	"context"
	"fmt"
	"sync"
)

// Memory is a keychain that forgets everything with the process.
func Memory() Keychain { return &memory{values: map[string]string{}} }

type memory struct {
	mu     sync.Mutex // guards values
	values map[string]string
}

func (m *memory) Get(ctx context.Context, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[name]
	if !ok {
		return "", fmt.Errorf("reading %q: %w", name, ErrNotFound)
	}
	return value, ctx.Err()
}

func (m *memory) Set(ctx context.Context, name, value string) error {
	if err := checkName(name); err != nil {
		return fmt.Errorf("storing %q: %w", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[name] = value
	return ctx.Err()
}

func (m *memory) Delete(ctx context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.values[name]; !ok {
		return fmt.Errorf("deleting %q: %w", name, ErrNotFound)
	}
	delete(m.values, name)
	return ctx.Err()
}
