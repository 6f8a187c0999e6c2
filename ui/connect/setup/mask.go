package setup

import (
	"regexp"
	"slices"
	"strings"

	"pointsman/gateway/secrets"
	"pointsman/ui/connect/edit"
)

const (
	// masked stands for a secret in what is shown.
	masked = "••••••"
	// maskedKey stands for the endpoint's key, where it is newly written.
	maskedKey = "•••••• (the endpoint's key)"
)

// keepers are keys under which programs keep what may be secret.
var keepers = []string{"env", "headers", "http_headers", "requestHeaders", "apiKey", "api_key", "bearerToken", "oauthClientSecret"}

// onlyReference is a value that holds nothing but a reference.
var onlyReference = regexp.MustCompile(`^(?:[A-Za-z]+ )?\$\{[^{}]*\}$`)

// mask makes a text fit to be shown: nothing in it that may be secret.
func mask(format edit.Format, text []byte, key string) (string, error) {
	if format == nil {
		return string(text), nil // ours as a whole, without a secret
	}
	shown, err := format.Texts(text, func(path []string, value string) string {
		switch {
		case key != "" && value == key:
			return maskedKey
		case len(path) > 0 && strings.HasPrefix(path[len(path)-1], "POINTSMAN_") || onlyReference.MatchString(value) || value == "":
			return value
		case slices.ContainsFunc(path, func(step string) bool { return slices.Contains(keepers, step) }):
			return masked
		}
		return value
	})
	if err != nil {
		return "", err
	}
	var redactor secrets.Redactor
	redactor.Add(key)
	redacted := redactor.Redact(string(shown))
	return strings.ReplaceAll(redacted, "\r\n", "\n"), nil
}
