package secrets

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"
)

// Mark is what stands in the place of a secret.
const Mark = "[redacted]"

// shortest is the length under which a value is not looked for: it would be
// found in ordinary words.
const shortest = 6

// Redactor takes secrets out of text: the values it was given, and whatever
// looks like a credential. It is safe for concurrent use; the zero value works.
type Redactor struct {
	mu     sync.Mutex              // guards writing of the fields below
	values map[string]bool         // what was added
	needle atomic.Pointer[needles] // what is looked for; replaced as a whole
}

// needles are the texts to be found, by their first bytes. It is never changed.
type needles struct {
	pairs  [1 << 16 / 64]uint64 // which two bytes some needle begins with
	byHead map[[4]byte][]string // needles by their first four bytes, longest first
}

// Add makes value a secret wherever it appears, also URL-encoded, escaped for
// JSON, or in base64. Values under 6 bytes are not looked for.
func (r *Redactor) Add(value string) {
	value = strings.TrimSpace(value)
	if len(value) < shortest || isPlaceholder(value) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.values[value] {
		return
	}
	if r.values == nil {
		r.values = map[string]bool{}
	}
	r.values[value] = true
	r.needle.Store(compile(r.values))
}

func compile(values map[string]bool) *needles {
	all := map[string]bool{}
	for value := range values {
		for _, form := range forms(value) {
			if len(form) >= shortest {
				all[form] = true
			}
		}
	}
	n := &needles{byHead: map[[4]byte][]string{}}
	for form := range all {
		head := [4]byte([]byte(form[:4]))
		n.byHead[head] = append(n.byHead[head], form)
		pair := uint16(form[0])<<8 | uint16(form[1])
		n.pairs[pair/64] |= 1 << (pair % 64)
	}
	for _, list := range n.byHead {
		slices.SortFunc(list, func(a, b string) int {
			if len(a) != len(b) {
				return len(b) - len(a)
			}
			return strings.Compare(a, b)
		})
	}
	return n
}

// forms are the ways in which a value is commonly written.
func forms(value string) []string {
	list := append([]string{value, url.PathEscape(value)}, queryForms(value)...)
	for _, escaped := range jsonForms(value) {
		list = append(append(list, escaped), jsonForms(escaped)...)
	}
	list = append(list, strings.ReplaceAll(strings.ReplaceAll(value, "\r\n", `\n`), "\n", `\n`))
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		list = append(list, encoding.EncodeToString([]byte(value)))
	}
	// Inside a longer text the base64 of a value depends on where it begins; what
	// does not touch a neighbour stays the same.
	for shift := 1; shift <= 2; shift++ {
		padded := append(make([]byte, shift), value...)
		whole := len(padded) / 3 * 3
		if core := base64.StdEncoding.EncodeToString(padded[:whole]); len(core) >= 16 {
			list = append(list, core[4:])
		}
	}
	if whole := len(value) / 3 * 3; whole >= 12 {
		list = append(list, base64.StdEncoding.EncodeToString([]byte(value[:whole])))
	}
	return list
}

// queryForms are the ways in which programs percent-encode a value: Go's, that of
// Python, which leaves slashes alone, and JavaScript's, each also with small digits.
func queryForms(value string) []string {
	form := url.QueryEscape(value)
	spaced := strings.ReplaceAll(form, "+", "%20")
	script := strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(spaced)
	var list []string
	for _, upper := range []string{form, spaced, strings.ReplaceAll(spaced, "%2F", "/"), script} {
		list = append(list, upper, percents.ReplaceAllStringFunc(upper, strings.ToLower))
	}
	return list
}

// percents matches what is percent-encoded.
var percents = regexp.MustCompile(`%[0-9A-F]{2}`)

// jsonForms are the ways in which programs write a value in JSON, without the
// quotes: Go's, which escapes what means something in HTML, the usual one, and
// that of Python, which is ASCII.
func jsonForms(value string) []string {
	var usual strings.Builder
	encoder := json.NewEncoder(&usual)
	encoder.SetEscapeHTML(false)
	quoted, err := json.Marshal(value)
	if err := errors.Join(err, encoder.Encode(value)); err != nil {
		return nil // no text is without a form
	}
	plain := strings.TrimSpace(usual.String())
	plain = plain[1 : len(plain)-1]
	return []string{string(quoted[1 : len(quoted)-1]), plain, asciiJSON(plain)}
}

// asciiJSON escapes what is not ASCII in the inside of a JSON string.
func asciiJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// at returns the end of the longest needle that begins at i, or -1.
func (n *needles) at(text string, i int) int {
	if n == nil || i+shortest > len(text) {
		return -1
	}
	pair := uint16(text[i])<<8 | uint16(text[i+1])
	if n.pairs[pair/64]&(1<<(pair%64)) == 0 {
		return -1
	}
	for _, form := range n.byHead[[4]byte{text[i], text[i+1], text[i+2], text[i+3]}] {
		if strings.HasPrefix(text[i:], form) {
			return i + len(form)
		}
	}
	return -1
}

// Redact returns text with a mark in the place of each secret. Redacting twice
// changes nothing more.
func (r *Redactor) Redact(text string) string {
	// What a mark stands beside can look different from what it was, so the
	// result is looked at again until nothing is found. Clean text takes one look.
	for range 8 {
		redacted, found := r.once(text)
		if !found {
			return text
		}
		text = redacted
	}
	return text
}

// Holds reports whether text still holds a secret. Placeholders and marks are none.
func (r *Redactor) Holds(text string) bool {
	_, _, found := r.next(text, 0)
	return found
}

func (r *Redactor) once(text string) (string, bool) {
	start, end, found := r.next(text, 0)
	if !found {
		return text, false
	}
	var out strings.Builder
	out.Grow(len(text))
	at := 0
	for found {
		out.WriteString(text[at:start])
		out.WriteString(Mark)
		at = end
		start, end, found = r.next(text, at)
	}
	out.WriteString(text[at:])
	return out.String(), true
}

// next finds the first secret at or after from. Each byte is looked at once,
// by a table that says which of them can begin something.
func (r *Redactor) next(text string, from int) (start, end int, found bool) {
	var known *needles
	if r != nil {
		known = r.needle.Load()
	}
	escape := from // where an escape last began, or could have
	for i := from; i < len(text); i++ {
		if known != nil {
			if end := known.at(text, i); end > 0 {
				return i, end, true
			}
		}
		kind := trigger[text[i]]
		if kind&^inWord == 0 {
			continue
		}
		if kind&escapes != 0 {
			escape = i
		}
		if kind&opensToken != 0 && (i == 0 || trigger[text[i-1]]&inWord == 0 || i-escape <= longestEscape) {
			if start, end, found := tokenAt(text, i); found {
				return start, end, true
			}
		}
		if kind&separates != 0 {
			if start, end, found := valueAfter(text, i, from); found {
				return start, end, true
			}
		}
		if kind&isDash != 0 {
			if start, end, found := dashAt(text, i); found {
				return start, end, true
			}
		}
	}
	return 0, 0, false
}

const (
	opensToken = 1 << iota // may begin a token with a known prefix
	separates              // ':' or '=', between a name and its value
	isDash                 // may begin a key block or a command line flag
	escapes                // may begin an escape, whose end is no word
	inWord                 // belongs to a word
)

// longestEscape is the length of \uXXXX.
const longestEscape = 6

// trigger says what each byte may begin.
var trigger = func() (table [256]uint8) {
	for _, p := range prefixes {
		table[p.text[0]] |= opensToken
	}
	for _, c := range "bB" { // bearer, basic
		table[c] |= opensToken
	}
	table[':'] |= separates
	table['='] |= separates
	table['-'] |= isDash
	table['\\'] |= escapes
	table['%'] |= escapes
	for c := range table {
		if isWord(byte(c)) {
			table[c] |= inWord
		}
	}
	return table
}()
