package signin

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// A NeededError says that a person has to sign in before a server goes on.
type NeededError struct {
	Server string
	Reason string   // what was wrong
	Wider  []string // the scopes that are missing, when there is a grant that lacks them; else nil
	Again  bool     // there was a sign-in, which is of no use any more
}

func (e *NeededError) Error() string {
	again := ""
	if e.Again || e.Wider != nil {
		again = " again"
	}
	return fmt.Sprintf("sign in%s with `pointsman servers login %s`, or in the window: %s", again, shellName(e.Server), e.Reason)
}

// shellName is a name as it is typed at a prompt.
func shellName(name string) string {
	for _, r := range name {
		if !strings.ContainsRune("-_.@:/", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return strconv.Quote(name)
		}
	}
	return name
}

// An UnreachableError says that an authorization server, or what a server says
// of one, could not be had. Nobody has refused anything: what failed now may
// work later, and no sign-in is needed for it.
type UnreachableError struct {
	Doing  string // with its object: "renewing the token at https://…"
	Status int    // what was answered: 429 or 5xx; 0: there was no answer
	Err    error  // why there was none; nil when there was one
}

func (e *UnreachableError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s: it answered %d %s; it is tried again", e.Doing, e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s: it cannot be reached (is this machine online?): %v", e.Doing, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// A RefusedError is an authorization server's answer that it will not (RFC 6749,
// sections 4.1.2.1 and 5.2).
type RefusedError struct {
	Doing string
	Code  string // invalid_grant, access_denied …
	Words string // the server's own; ""
}

func (e *RefusedError) Error() string {
	if e.Words == "" {
		return fmt.Sprintf("%s: it was refused (%s)", e.Doing, e.Code)
	}
	return fmt.Sprintf("%s: it was refused (%s: %s)", e.Doing, e.Code, e.Words)
}

// newRefused makes a refusal of what a server sent, which is cut to what a
// refusal needs.
func newRefused(doing, code, words string) *RefusedError {
	const longestCode, longestWords = 60, 200
	return &RefusedError{Doing: doing, Code: printable(code, longestCode), Words: printable(words, longestWords)}
}

// printable keeps what RFC 6749 lets stand in an error.
func printable(text string, longest int) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text)
	return text[:min(len(text), longest)]
}
