package approvals

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible returns s as one line in which nothing hides: control characters,
// line breaks, invisible and direction-changing characters and bytes that are
// not text are written out, as <U+202E> or <0xFF>. Everything a person is asked
// to judge goes through it.
func Visible(s string) string { return visible(s, "") }

// VisibleText is Visible for text of several lines: line breaks and tabs stay.
func VisibleText(s string) string { return visible(s, "\n\t") }

func visible(s, keep string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case strings.ContainsRune(keep, r) || !hidden(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// hidden reports whether r leaves no mark of its own, or changes how its
// neighbours are shown. Besides what is not printable those are the characters
// that fonts are told to ignore, and a blank that is not a space.
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || r == '\u2800' ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// EscapedJSON returns a JSON document that means the same, and in which nothing
// controls a terminal: what Visible writes out is escaped as JSON does it. Bytes
// that are not text become U+FFFD, as who reads the document would have them.
func EscapedJSON(doc []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(doc))
	for _, r := range string(doc) {
		switch high, low := utf16.EncodeRune(r); {
		case r == '\r': // only between values: inside a text it is escaped
			b.WriteByte(' ')
		case r == '\n' || r == '\t' || !hidden(r):
			b.WriteRune(r)
		case high != utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// VisibleJSON returns a call's arguments laid out over several lines, whole, in
// their own order, with nothing hidden: an escape that stands for a plain
// character is shown as that character. What is not JSON is shown as text.
func VisibleJSON(raw json.RawMessage) string {
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "", "  "); err != nil {
		return VisibleText(string(raw))
	}
	var b strings.Builder
	rest := indented.String()
	for rest != "" {
		start := strings.IndexByte(rest, '"')
		if start < 0 {
			break
		}
		b.WriteString(rest[:start])
		end := start + literalLen(rest[start:])
		b.WriteString(plainLiteral(rest[start:end]))
		rest = rest[end:]
	}
	b.WriteString(rest)
	return VisibleText(b.String())
}

// literalLen returns the length of the JSON string at the start of s.
func literalLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// plainLiteral writes a JSON string again with no escape it can do without.
func plainLiteral(lit string) string {
	var s string
	if json.Unmarshal([]byte(lit), &s) != nil {
		return lit
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return lit
	}
	return strings.TrimSuffix(b.String(), "\n")
}
