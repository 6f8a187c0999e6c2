package secrets

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A value that one entry cannot hold is kept in numbered entries, and the entry
// of its name holds a header: the mark, the name of this writing, the number of
// parts and the hash of the whole. The parts are written before the header and
// the old ones are deleted after it, so an interrupted writing leaves the old
// value, and a mixture is told by its hash.
const (
	header   = "pointsman-parts:1:"
	partMark = "#part#"
	maxParts = 256
)

type parts struct {
	writing string // random, so that two writings never share entries
	count   int
	hash    string
}

func (p parts) String() string { return fmt.Sprintf("%s%s:%d:%s", header, p.writing, p.count, p.hash) }

func (p parts) entry(name string, i int) string {
	return fmt.Sprintf("%s%s%s#%d", name, partMark, p.writing, i+1)
}

// parseHeader reports ok=false for an entry that holds its value itself.
func parseHeader(entry string) (p parts, ok bool, err error) {
	rest, ok := strings.CutPrefix(entry, header)
	if !ok {
		return parts{}, false, nil
	}
	fields := strings.Split(rest, ":")
	if len(fields) != 3 {
		return parts{}, true, ErrTorn
	}
	p = parts{writing: fields[0], hash: fields[2]}
	if _, err := fmt.Sscanf(fields[1], "%d", &p.count); err != nil || p.count < 1 || p.count > maxParts {
		return parts{}, true, ErrTorn
	}
	return p, true, nil
}

func hashOf(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:16])
}

func (k *keychain) getParts(ctx context.Context, name string) (string, error) {
	entry, err := k.get(ctx, name)
	if err != nil {
		return "", err
	}
	value, err := k.assemble(ctx, name, entry)
	if !errors.Is(err, ErrTorn) {
		return value, err
	}
	// Another process may have replaced the value between the two reads.
	again, err := k.get(ctx, name)
	if err != nil {
		return "", err
	}
	return k.assemble(ctx, name, again)
}

func (k *keychain) assemble(ctx context.Context, name, entry string) (string, error) {
	p, split, err := parseHeader(entry)
	if err != nil || !split {
		return entry, err
	}
	var value strings.Builder
	for i := range p.count {
		part, err := k.get(ctx, p.entry(name, i))
		if errors.Is(err, ErrNotFound) {
			return "", ErrTorn
		}
		if err != nil {
			return "", err
		}
		value.WriteString(part)
	}
	if hashOf(value.String()) != p.hash {
		return "", ErrTorn
	}
	return value.String(), nil
}

func (k *keychain) setParts(ctx context.Context, name, value string) error {
	old, err := k.get(ctx, name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	entry := value
	if (k.Limit > 0 && len(value) > k.Limit) || strings.HasPrefix(value, header) {
		if entry, err = k.writeParts(ctx, name, value); err != nil {
			return err
		}
	}
	if err := k.set(ctx, name, entry); err != nil {
		return err
	}
	k.dropParts(ctx, name, old)
	return nil
}

// writeParts stores the parts of value and returns the header for them.
func (k *keychain) writeParts(ctx context.Context, name, value string) (string, error) {
	chunks := split(value, k.Limit)
	if len(chunks) > maxParts {
		return "", fmt.Errorf("the value is larger than %d bytes", maxParts*k.Limit)
	}
	p := parts{writing: strings.ToLower(rand.Text()[:12]), count: len(chunks), hash: hashOf(value)}
	for i, chunk := range chunks {
		if err := k.set(ctx, p.entry(name, i), chunk); err != nil {
			k.dropParts(ctx, name, p.String())
			return "", err
		}
	}
	return p.String(), nil
}

// dropParts deletes the parts that entry names. It is housekeeping: what stays
// behind is named by nothing.
func (k *keychain) dropParts(ctx context.Context, name, entry string) {
	p, split, err := parseHeader(entry)
	if err != nil || !split {
		return
	}
	for i := range p.count {
		if err := k.delete(ctx, p.entry(name, i)); err != nil && !errors.Is(err, ErrNotFound) {
			return
		}
	}
}

func (k *keychain) deleteParts(ctx context.Context, name string) error {
	entry, err := k.get(ctx, name)
	if err != nil {
		return err
	}
	if err := k.delete(ctx, name); err != nil {
		return err
	}
	p, split, err := parseHeader(entry)
	if err != nil || !split {
		return nil // the header was damaged; its parts cannot be found
	}
	for i := range p.count {
		if err := k.delete(ctx, p.entry(name, i)); err != nil && !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("part %d of it: %w", i+1, err)
		}
	}
	return nil
}

// split cuts value into chunks of at most limit bytes between characters, where
// the text is valid UTF-8.
func split(value string, limit int) []string {
	if limit <= 0 {
		return []string{value}
	}
	var chunks []string
	for len(value) > limit {
		cut := limit
		for cut > 1 && cut > limit-utf8.UTFMax && !utf8.RuneStart(value[cut]) {
			cut--
		}
		chunks = append(chunks, value[:cut])
		value = value[cut:]
	}
	return append(chunks, value)
}
