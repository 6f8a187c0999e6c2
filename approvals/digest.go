package approvals

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// digestScheme begins a Rule's Arguments that are a hash. No JSON object begins so.
const digestScheme = "sha256:"

// Concealed reports whether Arguments is a hash of the exact arguments, kept in
// their place because a secret is among them.
func (r Rule) Concealed() bool { return isDigest(r.Arguments) }

func isDigest(arguments string) bool {
	sum, ok := strings.CutPrefix(arguments, digestScheme)
	if !ok || sum != strings.ToLower(sum) {
		return false
	}
	bytes, err := hex.DecodeString(sum)
	return err == nil && len(bytes) == sha256.Size
}

// digest is the hash of canonical arguments. None stay none, and a hash is one
// already.
func digest(arguments string) string {
	if arguments == "" || isDigest(arguments) {
		return arguments
	}
	sum := sha256.Sum256([]byte(arguments))
	return digestScheme + hex.EncodeToString(sum[:])
}

// Conceal has the rules keep a hash in the place of exact arguments that hold a
// secret, as secret says of their canonical JSON; those that Load brings as well.
// It is to be called before the rules are used.
func (r *Rules) Conceal(secret func(arguments string) bool) { r.secret = secret }

// conceal hides what m must not keep.
func (r *Rules) conceal(m remembered) remembered {
	if m.Arguments != "" && !m.Concealed() && r.secret != nil && r.secret(m.Arguments) {
		m.Arguments = digest(m.Arguments)
	}
	return m
}
