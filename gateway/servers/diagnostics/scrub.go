package diagnostics

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

const removed = "[redacted]"

var (
	// address is a URL in a text. Its end is where text usually goes on.
	address = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>\\^{}|]+`)
	// header is a header, or what is written like one, that holds a credential,
	// to the end of the line or of the quotation.
	header = regexp.MustCompile(`(?i)\b((?:set-)?cookie2?|mcp-session-id|session[-_]?id|(?:proxy-)?authorization|x-api-key|api-key)(\\?["']?\s*[:=]\s*\\?["']?)[^\r\n"'\\]+`)
)

// Scrub returns a text without what addresses and headers may hold of
// credentials: user info, the values of queries, fragments, cookies, session
// ids, authorizations.
func Scrub(text string) string {
	if strings.Contains(text, "://") {
		text = address.ReplaceAllStringFunc(text, scrubAddress)
	}
	return header.ReplaceAllString(text, "$1$2"+removed)
}

// scrubAddress works on the text of the address: one that cannot be parsed may
// hold a credential, too.
func scrubAddress(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, asked := strings.Cut(rest, "?")
	authority, path, hasPath := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[at+1:]
	}
	out := scheme + "://" + authority
	if hasPath {
		out += "/" + path
	}
	if !asked {
		return out
	}
	pairs := strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' })
	for i, pair := range pairs {
		if name, _, ok := strings.Cut(pair, "="); ok {
			pairs[i] = name + "=" + removed
		} else {
			pairs[i] = removed
		}
	}
	return out + "?" + strings.Join(pairs, "&")
}

// ScrubJSON is Scrub for a JSON document, from which maps of headers go as a
// whole. What is no JSON comes back as Scrub leaves it, as a JSON string.
func ScrubJSON(doc json.RawMessage) json.RawMessage {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil || decoder.More() {
		v = string(doc)
	}
	return encode(scrubValue(v))
}

func encode(v any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return json.RawMessage(`"` + removed + `"`) // what was decoded encodes again
	}
	return bytes.TrimSpace(b.Bytes())
}

func scrubValue(v any) any {
	switch v := v.(type) {
	case string:
		return Scrub(v)
	case []any:
		for i := range v {
			v[i] = scrubValue(v[i])
		}
	case map[string]any:
		for name, value := range v {
			if holdsHeaders(name, value) || header.MatchString(name+": x") {
				v[name] = removed
				continue
			}
			v[name] = scrubValue(value)
		}
	}
	return v
}

// holdsHeaders reports whether a member is a map, or a list, of headers.
func holdsHeaders(name string, value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return strings.HasSuffix(strings.ToLower(name), "headers")
	}
	return false
}
