package servers

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// shortestSecret is the length, in bytes, from which a resolved value is kept
// out of texts: a shorter one would take ordinary words with it.
const shortestSecret = 6

// redactor knows what a server's references were resolved to, and keeps it, and
// what looks like a credential, out of errors and of the server's own output.
type redactor struct {
	options *Options // whose Redact is applied, too; fixed at creation

	mu      sync.Mutex // guards the fields below
	values  []string
	session string // the id of the last session with a remote server, or ""
}

// add notes what a reference was resolved to.
func (r *redactor) add(value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(value) >= shortestSecret && !slices.Contains(r.values, value) {
		r.values = append(r.values, value)
	}
}

// setSession notes the id of a session: who has it can speak in it.
func (r *redactor) setSession(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session = ""
	if len(id) >= shortestSecret {
		r.session = id
	}
}

// clean returns text without credentials.
func (r *redactor) clean(text string) string { return r.options.Redact(r.without(text)) }

// without returns text without the values.
func (r *redactor) without(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session != "" {
		text = strings.ReplaceAll(text, r.session, "[redacted]")
	}
	for _, value := range r.values {
		text = strings.ReplaceAll(text, value, "[redacted]")
	}
	return text
}

// cleanJSON is clean for a JSON document. One that cannot be cleaned is left out.
func (r *redactor) cleanJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	text := json.RawMessage(r.without(string(raw)))
	if !json.Valid(text) {
		return nil
	}
	return r.options.RedactJSON(text)
}
