package servers

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"

	"pointsman/gateway/servers/process"
)

// reference is $NAME or ${…}; a doubled $ before it takes its meaning away.
var reference = regexp.MustCompile(`\$?\$(?:\{([^{}]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

var (
	// named is what Options.Resolve knows between the braces: env:NAME,
	// keychain:NAME, NAME, and NAME:-default.
	named = regexp.MustCompile(`^(?:(?:env|keychain):.+|[A-Za-z_][A-Za-z0-9_]*(?::-.*)?)$`)
	// foreign is a reference of other programs that means nothing here, such as
	// input:token. Whatever else stands between braces is a shell's business.
	foreign = regexp.MustCompile(`^[A-Za-z]+:[A-Za-z_]`)
)

// expandSecret is expand for text that may be a reference as a whole, too.
func (s *server) expandSecret(ctx context.Context, what, text string) (string, error) {
	if !strings.HasPrefix(text, "keychain:") && !strings.HasPrefix(text, "os.environ/") {
		return s.expand(ctx, what, text)
	}
	value, err := s.host.opts.Resolve(ctx, text)
	if err != nil {
		return "", unresolved(what, err)
	}
	if value != text {
		s.secret.add(value)
	}
	return value, nil
}

// unresolved says in which field a reference stands for nothing. A word follows
// the field: with a colon after it, the name of a secret would make what is next
// look like that secret, which redaction takes away.
func unresolved(what string, err error) error {
	return fmt.Errorf("resolving %s failed: %w", what, err)
}

// expand replaces the references in one text of the entry: $NAME, ${NAME},
// ${env:NAME}, ${keychain:NAME}, ${workspaceFolder} and ${userHome}. One that
// stands for nothing is an error that names it. What they stand for is taken as
// it is, with references in it or not.
func (s *server) expand(ctx context.Context, what, text string) (string, error) {
	var out strings.Builder
	at := 0
	for _, m := range reference.FindAllStringSubmatchIndex(text, -1) {
		whole := text[m[0]:m[1]]
		value, err := s.meaning(ctx, whole, strings.Trim(strings.TrimLeft(whole, "$"), "{}"))
		if err != nil && m[4] >= 0 { // $NAME, which may be a mere text with a $ in it
			err = fmt.Errorf("%w (if the $ is part of the text, write $$)", err)
		}
		if err != nil {
			return "", unresolved(what, err)
		}
		out.WriteString(text[at:m[0]])
		out.WriteString(value)
		at = m[1]
	}
	out.WriteString(text[at:])
	return out.String(), nil
}

// meaning returns what one reference stands for. name is what stands between
// its braces.
func (s *server) meaning(ctx context.Context, whole, name string) (string, error) {
	switch {
	case strings.HasPrefix(whole, "$$"):
		return whole[1:], nil
	case name == "userHome":
		return os.UserHomeDir()
	case name == "workspaceFolder":
		roots := s.host.roots()
		if len(roots) == 0 {
			return "", fmt.Errorf("${workspaceFolder} stands for the first of `roots`, and the configuration has none")
		}
		return roots[0], nil
	case !named.MatchString(name):
		if foreign.MatchString(name) {
			return "", fmt.Errorf("%s is not known here; keep the value in the keychain and write ${keychain:NAME}", whole)
		}
		return whole, nil
	}
	ref := "${" + name + "}"
	value, err := s.host.opts.Resolve(ctx, ref)
	if err != nil || value == ref {
		return whole, err
	}
	if !process.IsInherited(strings.TrimPrefix(name, "env:")) { // what every server sees is no secret
		s.secret.add(value)
	}
	return value, nil
}
