package secrets

import (
	"bytes"
	"encoding/json"
	"strings"
)

// RedactJSON is Redact for a JSON document, which stays one. Values of
// secret-named keys go too, whatever they look like. What is no JSON comes back
// as a JSON string of the redacted text.
func (r *Redactor) RedactJSON(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return raw
	}
	if !json.Valid(raw) {
		return encode(r.Redact(string(raw)))
	}
	w := &jsonWalk{redactor: r, in: raw}
	w.run()
	if w.out == nil {
		return raw
	}
	return append(w.out, raw[w.copied:]...)
}

// jsonWalk goes over the tokens of a valid document and copies it from the
// first change on.
type jsonWalk struct {
	redactor *Redactor
	in, out  []byte
	copied   int // how much of in is in out, or replaced there

	secretNext bool   // the next value belongs to a secret-named key or flag
	named      string // value of the last "name" key, for {"name": …, "value": …}
	key        string // the key of the value that comes
}

func (w *jsonWalk) run() {
	for i := 0; i < len(w.in); {
		switch c := w.in[i]; {
		case c == '"':
			end := stringEnd(w.in, i)
			w.text(i, end)
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(w.in) && strings.IndexByte("0123456789+-.eE", w.in[end]) >= 0 {
				end++
			}
			if w.secretNext && end-i >= shortest {
				w.replace(i, end, Mark)
			}
			w.secretNext = false
			i = end
		case c == '{' || c == '}':
			w.secretNext, w.named, w.key = false, "", ""
			i++
		case c == ']' || c >= 'a' && c <= 'z': // end of a list; true, false, null
			w.secretNext = false
			i++
		default:
			i++
		}
	}
}

// text handles the string at start:end, a key or a value.
func (w *jsonWalk) text(start, end int) {
	var s string
	if json.Unmarshal(w.in[start:end], &s) != nil {
		return
	}
	if next := bytes.TrimLeft(w.in[end:], " \t\r\n"); len(next) > 0 && next[0] == ':' {
		w.key = s
		w.secretNext = secretName(s) || w.named != "" && strings.EqualFold(s, "value")
		if redacted := w.redactor.Redact(s); redacted != s {
			w.replace(start, end, redacted)
		}
		return
	}
	redacted := w.redactor.Redact(s)
	if w.secretNext && worthHiding(orPassword(w.key), s, true) {
		redacted = Mark
	}
	w.secretNext = false
	if flag, ok := strings.CutPrefix(s, "--"); ok && secretName(flag) {
		w.key, w.secretNext = flag, true
	}
	if (strings.EqualFold(w.key, "name") || strings.EqualFold(w.key, "key")) && secretName(s) {
		w.named = s
	}
	if redacted != s {
		w.replace(start, end, redacted)
	}
}

// orPassword gives the name by which a value is judged: "value" beside a
// secret name counts as a password.
func orPassword(key string) string {
	if strings.EqualFold(key, "value") {
		return "password"
	}
	return key
}

func (w *jsonWalk) replace(start, end int, text string) {
	if w.out == nil {
		w.out = make([]byte, 0, len(w.in))
	}
	w.out = append(w.out, w.in[w.copied:start]...)
	w.out = append(w.out, encode(text)...)
	w.copied = end
}

// stringEnd returns the index after the string that begins at i.
func stringEnd(doc []byte, i int) int {
	for i++; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}

// encode writes a JSON string, with <, > and & as they are.
func encode(text string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return []byte(`"` + Mark + `"`) // a string always encodes
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
