package servers

import (
	"slices"
	"strings"
	"sync"
)

// shortestSecret is the length, in bytes, from which a resolved value is kept
// out of texts: a shorter one would take ordinary words with it.
const shortestSecret = 6

// redactor knows what a server's references were resolved to, and keeps it out
// of errors and of the server's own output.
type redactor struct {
	mu     sync.Mutex // guards the fields below
	values []string
}

// add notes the value that text, which holds a reference, was resolved to. What
// stands around a ${…} is no secret.
func (r *redactor) add(text, value string) {
	if text == value {
		return
	}
	if begin, end := strings.Index(text, "${"), strings.LastIndexByte(text, '}'); begin >= 0 && end > begin {
		value = strings.TrimSuffix(strings.TrimPrefix(value, text[:begin]), text[end+1:])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(value) >= shortestSecret && !slices.Contains(r.values, value) {
		r.values = append(r.values, value)
	}
}

// clean returns text without the values.
func (r *redactor) clean(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, value := range r.values {
		text = strings.ReplaceAll(text, value, "[redacted]")
	}
	return text
}
