package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

const (
	maxNameLength = 64 // what providers accept
	nameSeparator = "__"
	digestLength  = 10 // hex digits; 40 bits, and only names equal up to it can clash
)

// ownPrefixes start the names of the gateway's own tools.
var ownPrefixes = [...]string{"gpt6_", "gateway_"}

// FindTools is the name of the gateway's tool that finds others.
const FindTools = "find_tools"

// UpdatePlan is the name of the tool by which a model publishes its plan.
const UpdatePlan = "update_plan"

// ownNames are the gateway's own tools for models, beside those of ownPrefixes.
var ownNames = [...]string{FindTools, UpdatePlan}

// looksDigested matches names that end as a digested name does. No plain name
// may, or a server could name a tool after another one's digested name.
var looksDigested = regexp.MustCompile(`_[0-9a-f]{10}$`)

// OfferedName returns the name under which a model sees a tool: prefix__tool, or
// the bare tool name for an empty prefix. It is at most 64 characters of
// [a-zA-Z0-9_-] and depends on nothing but the pair. A name that had to be cut
// or cleaned, that could be read as another pair's, or that begins like our own
// tools ends in a short hash of the pair, so two pairs never share a name. Nor
// does one begin with another server's prefix and "__": lists of names go by that.
func OfferedName(prefix, tool string) string {
	name := tool
	if prefix != "" {
		name = prefix + nameSeparator + tool
	}
	if plainName(prefix, tool, name) {
		return name
	}
	sum := sha256.Sum256([]byte(prefix + "\x00" + tool))
	digest := "_" + hex.EncodeToString(sum[:])[:digestLength]
	clean := unseparated(tool)
	if prefix != "" {
		clean = unseparated(prefix) + nameSeparator + clean
	}
	return endedPlainly(clean[:min(len(clean), maxNameLength-len(digest))]) + digest
}

// separators matches what could be read as one.
var separators = regexp.MustCompile(`__+`)

// unseparated is a name in which no separator can be read, whatever follows it.
func unseparated(name string) string {
	return endedPlainly(separators.ReplaceAllString(cleanName(name), "_"))
}

// endedPlainly is a name that makes no separator with an underscore after it.
func endedPlainly(name string) string {
	if strings.HasSuffix(name, "_") {
		return name[:len(name)-1] + "-"
	}
	return name
}

// plainName reports whether name can be offered as it is. Plain names hold "__"
// once, between prefix and tool, with no underscore beside it, so they can be
// split in one way only.
func plainName(prefix, tool, name string) bool {
	return tool != "" && len(name) <= maxNameLength && cleanName(name) == name &&
		!strings.Contains(prefix, nameSeparator) && !strings.Contains(tool, nameSeparator) &&
		!strings.HasSuffix(prefix, "_") && (prefix == "" || !strings.HasPrefix(tool, "_")) &&
		!hasOwnPrefix(name) && !slices.Contains(ownNames[:], name) && !looksDigested.MatchString(name)
}

// cleanName replaces each byte providers refuse by an underscore.
func cleanName(name string) string {
	clean := []byte(name)
	for i, c := range clean {
		if !isNameByte(c) {
			clean[i] = '_'
		}
	}
	return string(clean)
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func hasOwnPrefix(name string) bool {
	for _, own := range ownPrefixes {
		if strings.HasPrefix(name, own) {
			return true
		}
	}
	return false
}
