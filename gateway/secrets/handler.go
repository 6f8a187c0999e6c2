package secrets

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// NewHandler wraps a log handler so that no secret reaches it: not in messages,
// attributes, groups, errors or any value that prints itself. A nil redactor
// still finds what looks like a credential.
func NewHandler(next slog.Handler, redactor *Redactor) slog.Handler {
	if redactor == nil {
		redactor = &Redactor{}
	}
	return &handler{next: next, redactor: redactor}
}

type handler struct {
	next     slog.Handler
	redactor *Redactor
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, h.redactor.Redact(record.Message), record.PC)
	record.Attrs(func(attr slog.Attr) bool {
		clean.AddAttrs(h.attr(attr))
		return true
	})
	return h.next.Handle(ctx, clean)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, attr := range attrs {
		clean[i] = h.attr(attr)
	}
	return &handler{h.next.WithAttrs(clean), h.redactor}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.next.WithGroup(h.redactor.Redact(name)), h.redactor}
}

func (h *handler) attr(attr slog.Attr) slog.Attr {
	return slog.Attr{Key: h.redactor.Redact(attr.Key), Value: h.value(attr.Key, attr.Value.Resolve())}
}

func (h *handler) value(key string, value slog.Value) slog.Value {
	switch value.Kind() {
	case slog.KindString:
		return slog.StringValue(h.text(key, value.String()))
	case slog.KindGroup:
		attrs := value.Group()
		clean := make([]slog.Attr, len(attrs))
		for i, attr := range attrs {
			clean[i] = h.attr(attr)
		}
		return slog.GroupValue(clean...)
	case slog.KindAny:
		return h.any(key, value.Any())
	}
	return value
}

func (h *handler) text(key, text string) string {
	if secretName(key) && worthHiding(key, text, true) {
		return Mark
	}
	return h.redactor.Redact(text)
}

// any handles values that print themselves, in words or in JSON. One in which
// nothing is found is passed on as it is.
func (h *handler) any(key string, value any) (clean slog.Value) {
	defer func() { // a value that cannot print itself must not end the program
		if recover() != nil {
			clean = slog.StringValue("[unprintable]")
		}
	}()
	switch v := value.(type) {
	case nil:
		return slog.AnyValue(nil)
	case error:
		return slog.StringValue(h.text(key, v.Error()))
	case fmt.Stringer:
		return slog.StringValue(h.text(key, v.String()))
	case json.RawMessage:
		return slog.StringValue(string(h.redactor.RedactJSON(v)))
	case []byte:
		return slog.StringValue(h.text(key, string(v)))
	}
	printed := fmt.Sprintf("%+v", value)
	if clean := h.text(key, printed); clean != printed {
		return slog.StringValue(clean)
	}
	if encoded, err := json.Marshal(value); err == nil {
		if clean := h.redactor.RedactJSON(encoded); string(clean) != string(encoded) {
			return slog.StringValue(string(clean))
		}
	}
	return slog.AnyValue(value)
}
