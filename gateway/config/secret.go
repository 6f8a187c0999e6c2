package config

import (
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"sort"
	"strings"
)

// hidden is what a literal secret prints as.
const hidden = "[secret]"

var embeddedRef = regexp.MustCompile(`\$\{(env|keychain):[^}]+\}`)

// variable is an environment variable as other programs' entries name one. In
// lower case, or beside other text, it may as well be a part of a literal.
var variable = regexp.MustCompile(`^\$(?:[A-Z_][A-Z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})$`)

// IsReference reports whether the secret is looked up elsewhere, as a whole or
// in a part of its text.
func (s Secret) IsReference() bool {
	return isWholeRef(string(s)) || embeddedRef.MatchString(string(s)) || isVariable(string(s))
}

// isVariable reports whether the text is an environment variable, alone or after
// a scheme.
func isVariable(text string) bool {
	if variable.MatchString(text) {
		return true
	}
	scheme, rest, ok := strings.Cut(text, " ")
	return ok && harmless(scheme) == scheme && variable.MatchString(rest)
}

func isWholeRef(s string) bool {
	return len(s) > len("keychain:") && strings.HasPrefix(s, "keychain:") ||
		len(s) > len("os.environ/") && strings.HasPrefix(s, "os.environ/")
}

// String is the secret without its literal text: a reference as it is, the
// references inside a text with the scheme before them, a mark for the rest.
func (s Secret) String() string {
	text := string(s)
	if text == "" || isWholeRef(text) || isVariable(text) {
		return text
	}
	spans := embeddedRef.FindAllStringIndex(text, -1)
	if len(spans) == 0 {
		return hidden
	}
	var b strings.Builder
	at := 0
	for _, span := range spans {
		b.WriteString(harmless(text[at:span[0]]))
		b.WriteString(text[span[0]:span[1]])
		at = span[1]
	}
	b.WriteString(harmless(text[at:]))
	return b.String()
}

// harmless keeps what may stand beside a reference: nothing, or a scheme.
func harmless(text string) string {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "bearer", "basic", "token", "apikey", "api-key", "bot":
		return text
	}
	return hidden
}

// GoString keeps %#v from printing the literal.
func (s Secret) GoString() string { return fmt.Sprintf("config.Secret(%q)", s.String()) }

// LogValue keeps logs from printing the literal.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is what JSON and other encoders get: never the literal. Store
// writes files by itself.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// SecretRef is one use of a secret that is kept elsewhere.
type SecretRef struct {
	Path string // where the configuration names it
	Ref  string // "keychain:NAME", "os.environ/NAME" or "env:NAME"
}

// SecretRefs lists every reference in the configuration, ordered by path.
func (c *Config) SecretRefs() []SecretRef {
	var refs []SecretRef
	eachText(reflect.ValueOf(c).Elem(), "", func(path, text string, _ bool) {
		if isWholeRef(text) {
			refs = append(refs, SecretRef{path, text})
			return
		}
		for _, found := range embeddedRef.FindAllString(text, -1) {
			refs = append(refs, SecretRef{path, found[2 : len(found)-1]})
		}
	})
	sort.SliceStable(refs, func(i, j int) bool { return refs[i].Path < refs[j].Path })
	return refs
}

// eachText visits every text of a value; secret says that it is a Secret.
func eachText(v reflect.Value, path string, visit func(path, text string, secret bool)) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > 0 {
			visit(path, v.String(), v.Type() == reflect.TypeFor[Secret]())
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			eachText(v.Elem(), path, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); keyOf(field) != "-" {
				eachText(v.Field(i), join(path, keyOf(field)), visit)
			}
		}
	case reflect.Map:
		for _, key := range sortedKeys(v) {
			eachText(v.MapIndex(key), join(path, key.String()), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachText(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	}
}

func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	return keys
}
