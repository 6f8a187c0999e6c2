package config

import (
	"fmt"
	"strings"
	"time"
)

// Duration is a Go duration as written in the file: "5m", "1h30m". A bare
// number is taken as seconds, as LiteLLM writes them.
type Duration time.Duration

// UnmarshalText reads a Go duration.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		if parsed, err = time.ParseDuration(string(text) + "s"); err != nil {
			return fmt.Errorf("%q is not a duration such as 30s or 5m", text)
		}
	}
	*d = Duration(parsed)
	return nil
}

// MarshalText writes what String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String is a Go duration without the parts that are zero: "5m", not "5m0s".
func (d Duration) String() string {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
