package secrets_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pointsman/gateway/secrets"
)

type printsItself struct{ s string }

func (p printsItself) String() string { return p.s }

type logsItself struct{ s string }

func (l logsItself) LogValue() slog.Value { return slog.GroupValue(slog.String("inner", l.s)) }

type panics struct{}

func (*panics) String() string { panic("no") }

func TestHandler(t *testing.T) {
	const secret = "planted-value-77"
	var redactor secrets.Redactor
	redactor.Add(secret)
	text := "a " + secret + " b"
	pointer := &struct{ Inner *struct{ S string } }{&struct{ S string }{text}}
	for name, newHandler := range map[string]func(*bytes.Buffer) slog.Handler{
		"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log := slog.New(secrets.NewHandler(newHandler(&out), &redactor))
			log.With("with", text).WithGroup("g").With(slog.Group("h", "deep", text)).Info(text,
				"string", text, "error", fmt.Errorf("calling: %w", errors.New(text)), "stringer", printsItself{text}, "valuer", logsItself{text},
				"bytes", []byte(text), "raw", json.RawMessage(`{"a":"`+text+`"}`), "map", map[string]any{"k": []string{text}}, "pointer", pointer,
				"any", any(text), secret, 1, "password", "pw12345", "nil", nil, "panics", (*panics)(nil), "number", 42, "plain", []int{1, 2})
			got := out.String()
			if strings.Contains(got, secret) || strings.Contains(got, "pw12345") {
				t.Errorf("a secret is in the log: %s", got)
			}
			for _, part := range []string{"42", secrets.Mark, "calling"} {
				if !strings.Contains(got, part) {
					t.Errorf("%q is missing: %s", part, got)
				}
			}
			if name == "json" && !json.Valid(out.Bytes()) {
				t.Errorf("no JSON: %s", got)
			}
		})
	}
}
