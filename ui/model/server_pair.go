package model

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"pointsman/gateway/config"
)

// Pair is a row of a server's environment or headers.
type Pair struct {
	Key   string
	Value string // as typed; of a secret "" keeps what there is
	// Secret says that the value goes to the keychain.
	Secret bool
	// Kept is what the saved entry has here and the form does not show: a
	// reference to the keychain, or a mask. It is "" where there is none.
	Kept    config.Secret
	keptKey string // of Kept
}

// mask is what a literal secret shows as.
var mask = config.Secret("x").String()

// KeptWords says where the value is that the form does not show; "" when there
// is none.
func (p Pair) KeptWords() string { return keptWords(p.Kept) }

func keptWords(kept config.Secret) string {
	switch {
	case kept == "":
		return ""
	case strings.Contains(string(kept), mask):
		return "In the file · replace"
	default:
		return "In the keychain · replace"
	}
}

// savedPair is a row of an entry as the resident tells it: with no secret in it.
func savedPair(key string, value config.Secret) Pair {
	switch {
	case keychainName(value) != "":
		return Pair{Key: key, Secret: true, Kept: value, keptKey: key}
	case strings.Contains(string(value), mask):
		return Pair{Key: key, Secret: LooksSecret(key), Kept: value, keptKey: key}
	default: // empty, or a reference to the environment
		return Pair{Key: key, Value: string(value)}
	}
}

// pastedPair is a row of an entry as a README has it.
func pastedPair(key string, value config.Secret) Pair {
	text := string(value)
	switch {
	case keychainName(value) != "":
		return Pair{Key: key, Secret: true, Kept: value, keptKey: key}
	case value.IsReference():
		return Pair{Key: key, Value: text}
	case isBlank(text):
		return Pair{Key: key, Secret: true}
	default:
		return Pair{Key: key, Value: text, Secret: standsOpen(key, text) || hasPassword(text)}
	}
}

// isBlank reports whether a README's value asks for one: "<your token>",
// "${input:token}", also behind a scheme.
func isBlank(text string) bool {
	if scheme, rest, ok := strings.Cut(text, " "); ok && isScheme(scheme) {
		text = rest
	}
	lower := strings.ToLower(strings.TrimSpace(text))
	return strings.HasPrefix(lower, "<") && strings.HasSuffix(lower, ">") || strings.HasPrefix(lower, "${input:") ||
		strings.HasPrefix(lower, "your_") || strings.HasPrefix(lower, "your-")
}

// hasPassword reports whether a text is an address with a password in it.
func hasPassword(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.User == nil {
		return false
	}
	_, has := u.User.Password()
	return has
}

// LooksSecret reports whether a value of that name would be taken for a secret.
func LooksSecret(key string) bool { return standsOpen(key, "q7Zk2mX9vB4n") }

// standsOpen reports whether the configuration warns of a value as of a secret
// that stands in the file as text.
func standsOpen(key, value string) bool {
	if key == "" || value == "" {
		return false
	}
	entry := config.Default()
	entry.MCPServers = map[string]config.MCPServer{"s": {Env: map[string]config.Secret{key: config.Secret(value)}}}
	return len(entry.LiteralSecrets()) > 0
}

// isScheme reports whether a word may stand before a secret, in the open.
func isScheme(word string) bool {
	text := word + " ${keychain:x}"
	return word != "" && config.Secret(text).String() == text
}

// keychainName is the name of the one keychain entry that a secret refers to, or
// "".
func keychainName(s config.Secret) string {
	only := config.Config{MCPServers: map[string]config.MCPServer{"s": {Env: map[string]config.Secret{"k": s}}}}
	refs := only.SecretRefs()
	if len(refs) != 1 {
		return ""
	}
	name, ok := strings.CutPrefix(refs[0].Ref, keychainScheme)
	if !ok {
		return ""
	}
	return name
}

const keychainScheme = "keychain:"

// reference refers to a keychain entry, behind the scheme that the value has, and
// returns the rest of the value: what is to be kept there.
func reference(name, value string) (config.Secret, string) {
	if scheme, rest, ok := strings.Cut(value, " "); ok && isScheme(scheme) && strings.TrimSpace(rest) != "" {
		return config.Secret(scheme + " ${" + keychainScheme + name + "}"), strings.TrimSpace(rest)
	}
	return config.Secret(keychainScheme + name), value
}

// longestKey is how many bytes of a name of a keychain entry are ours to use.
const longestKey = 100

// keyFor proposes the name of the keychain entry of a server's secret:
// SERVER_KEY.
func keyFor(server, key string) string { return keyName(server + "_" + key) }

// keyName is a name as a keychain entry can have it.
func keyName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.", r) {
			return r
		}
		return '-'
	}, name)
	if len(name) <= longestKey {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	cut := longestKey - 9
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + "-" + hex.EncodeToString(sum[:4])
}
