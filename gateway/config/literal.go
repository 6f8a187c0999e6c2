package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

var (
	secretName  = regexp.MustCompile(`(?i)(api[_-]?key|apikey|token|secret|passw|credential|authorization|cookie|private[_-]?key|access[_-]?key|(^|[_-])(pat|key|auth)$)`)
	placeholder = regexp.MustCompile(`(?i)^(none|null|empty|dummy|fake|test|anything|na|n/a|not[-_]?needed|no[-_]?key(-required)?|sk-x*|x+|<.*>|your[-_].*|ollama|lm-studio|true|false|[0-9]{1,5})?$`)
)

// LiteralSecrets returns the secrets that stand in the configuration as text:
// what a log must never show. A Bearer or Basic scheme is not part of one.
func (c *Config) LiteralSecrets() []string {
	var values []string
	c.eachLiteral(func(_, _, value string) { values = append(values, value) })
	return values
}

// eachLiteral visits every secret that stands in the configuration as text. The
// scheme is what stands before it in a header ("Bearer "), or "".
func (c *Config) eachLiteral(visit func(path, scheme, value string)) {
	eachText(reflect.ValueOf(c).Elem(), "", func(path, text string, secret bool) {
		if !secret || Secret(text).IsReference() || strings.Contains(text, "${") {
			return
		}
		scheme, value := "", text
		if before, after, ok := strings.Cut(text, " "); ok && harmless(before) == before {
			scheme, value = before+" ", strings.TrimSpace(after)
		}
		last := path[strings.LastIndexByte(path, '.')+1:]
		if !placeholder.MatchString(value) && secretName.MatchString(strings.Trim(last, `"`)) {
			visit(path, scheme, value)
		}
	})
}

// literalSecrets warns of secrets that stand in the file as text, and says how
// to move each one.
func (v *validator) literalSecrets(c *Config) {
	c.eachLiteral(func(path, scheme, _ string) {
		if v.decoded != nil && v.decoded.places[path] == nil {
			return // it came from the environment
		}
		name := keyName(path)
		reference := "keychain:" + name
		if scheme != "" {
			reference = scheme + "${keychain:" + name + "}"
		}
		p := v.fault(path, "the secret stands in the file as text; move it with `pointsman keys set %s`, then write %q here", name, reference)
		p.Warning = true
	})
}

var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// keyName proposes the name under which a secret at path is kept: the
// provider's, the server's or the section's.
func keyName(path string) string {
	parts := strings.Split(path, ".")
	name := parts[0]
	if len(parts) > 2 && (name == "providers" || name == "mcpServers") {
		name = parts[1]
		if name == "" || parts[len(parts)-2] == "env" {
			name = parts[len(parts)-1]
		}
	} else if i := strings.IndexByte(name, '['); i >= 0 {
		name = fmt.Sprintf("model%s", name[i:])
	}
	return strings.Trim(notInName.ReplaceAllString(name, "-"), "-")
}
