package secrets

import (
	"strings"
	"unicode"
)

// maxName is the longest name of a setting that is looked at.
const maxName = 64

var (
	secretLast = setOf("password", "passwd", "passphrase", "pwd", "pass", "secret", "secrets", "token", "apikey", "credential", "credentials",
		"authorization", "authentication", "cookie", "jwt", "pat", "signature", "sig", "bearer", "privatekey", "accesskey", "secretkey", "authtoken",
		"accesstoken", "refreshtoken", "sessionid", "sessiontoken", "clientsecret", "sid", "otp", "auth", "pgpassword", "sshpass", "mnemonic")
	secretPair = setOf("api key", "access key", "private key", "secret key", "signing key", "encryption key", "account key", "shared key", "auth key",
		"master key", "service key", "session key", "session id", "subscription key", "license key", "storage key", "app key", "ssh key", "deploy key",
		"admin key", "anon key", "role key", "openai key", "connection string", "token value", "secret value", "id token")
	secretAny  = setOf("secret", "password", "passwd", "passphrase")
	harmlessTo = setOf("name", "names", "id", "arn", "type", "length", "len", "policy", "hint", "field", "file", "path", "url", "uri", "ref", "version", "count",
		"manager", "store", "reset", "expired", "expires", "expiry", "required", "provider", "service", "label", "title", "description", "env", "rotation", "min", "max", "set", "present", "at", "prompt", "scan", "scanning", "detection", "enabled", "strength", "rules")
	pairedSecretWords = setOf("password", "passwd", "passphrase", "pwd", "pass")
)

func setOf(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

// secretName reports whether a setting of this name holds a secret: api_key,
// clientSecret, X-Auth-Token; but not max_tokens or token_type.
func secretName(name string) bool {
	if len(name) < 3 || len(name) > maxName {
		return false
	}
	if !hinted(name) {
		return false
	}
	words := wordsOf(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if secretLast[last] || secretLast[strings.Join(words, "")] {
		return true
	}
	if len(words) > 1 && secretPair[words[len(words)-2]+" "+last] {
		return true
	}
	if harmlessTo[last] {
		return false
	}
	for _, word := range words {
		if secretAny[word] {
			return true
		}
	}
	return false
}

// hints are parts of which every secret name has one; most names have none, and
// are done with quickly.
var hints = []string{"pass", "pwd", "secret", "token", "key", "cred", "auth", "cookie", "jwt", "pat", "sig", "bearer", "sid", "otp", "session", "mnemonic", "string"}

func hinted(name string) bool {
	for i := range len(name) {
		for _, hint := range hints {
			if name[i]|0x20 == hint[0] && i+len(hint) <= len(name) && strings.EqualFold(name[i:i+len(hint)], hint) {
				return true
			}
		}
	}
	return false
}

// passwordName reports whether the name is one of a password, of which even a
// short or plain value is a secret.
func passwordName(name string) bool {
	for _, word := range wordsOf(name) {
		if pairedSecretWords[word] {
			return true
		}
	}
	return false
}

// modeName reports whether the name may be of a way of signing in as well as of
// what one signs in with.
func modeName(name string) bool {
	words := wordsOf(name)
	return len(words) > 0 && (words[len(words)-1] == "auth" || words[len(words)-1] == "authentication")
}

// longestMode is how long the name of a way of signing in may be.
const longestMode = 16

// isMode reports whether value is a short word in small letters, as ways of
// signing in are called.
func isMode(value string) bool {
	return len(value) <= longestMode && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz_-") == ""
}

// wordsOf splits a name at separators and at camelCase, in lower case.
func wordsOf(name string) []string {
	var words []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1])) {
			flush()
		}
		word.WriteRune(unicode.ToLower(r))
	}
	flush()
	return words
}
