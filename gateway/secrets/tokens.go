package secrets

import (
	"encoding/base64"
	"strings"
)

// prefix is how the tokens of one issuer begin.
type prefix struct {
	text  string
	least int  // further bytes a token has at least
	digit bool // a digit is among them; for prefixes that are also ordinary words
	dots  bool // dots are part of it
}

// prefixes are tried in order: a longer one stands before the one it contains.
var prefixes = []prefix{
	{"sk-ant-", 8, false, false}, {"sk-proj-", 8, false, false}, {"sk-or-v1-", 8, false, false}, {"sk-svcacct-", 8, false, false}, {"sk-", 16, true, false},
	{"AIza", 30, false, false}, {"gsk_", 16, true, false}, {"xai-", 16, true, false}, {"pplx-", 16, true, false}, {"hf_", 20, false, false}, {"r8_", 20, true, false},
	{"nvapi-", 20, true, false}, {"tvly-", 16, true, false}, {"csk-", 20, true, false}, {"fw_", 20, true, false},
	{"ghp_", 16, false, false}, {"gho_", 16, false, false}, {"ghu_", 16, false, false}, {"ghs_", 16, false, false}, {"ghr_", 16, false, false}, {"github_pat_", 16, false, false},
	{"glpat-", 16, false, false}, {"gldt-", 16, false, false}, {"glrt-", 16, false, false}, {"glptt-", 16, false, false},
	{"xoxb-", 10, false, false}, {"xoxp-", 10, false, false}, {"xoxa-", 10, false, false}, {"xoxr-", 10, false, false}, {"xoxs-", 10, false, false}, {"xoxe-", 10, false, false}, {"xoxc-", 10, false, false}, {"xoxd-", 10, false, false},
	{"xoxe.", 10, false, true}, {"xapp-", 10, false, false},
	{"sk_live_", 8, false, false}, {"sk_test_", 8, false, false}, {"rk_live_", 8, false, false}, {"rk_test_", 8, false, false}, {"whsec_", 16, false, false},
	{"npm_", 24, false, false}, {"pypi-", 24, true, false}, {"rubygems_", 24, true, false}, {"dop_v1_", 24, false, false}, {"dckr_pat_", 16, false, false},
	{"ya29.", 16, false, true}, {"GOCSPX-", 16, false, false}, {"SG.", 30, false, true}, {"lin_api_", 16, false, false}, {"ntn_", 20, true, false},
	{"shpat_", 16, false, false}, {"shpss_", 16, false, false}, {"hvs.", 20, false, true}, {"hvb.", 20, false, true}, {"figd_", 16, false, false}, {"PMAK-", 16, true, false}, {"sntrys_", 16, false, false},
	{"pat-na1-", 16, true, false}, {"dapi", 32, true, false}, {"AGE-SECRET-KEY-", 16, false, false}, {"pul-", 32, true, false},
	{"AKIA", 16, false, false}, {"ASIA", 16, false, false},
	{"eyJ", 8, false, true},
}

// tokenAt finds a token that begins at i. A token begins where no word goes on.
func tokenAt(text string, i int) (start, end int, found bool) {
	if !atBoundary(text, i) {
		return 0, 0, false
	}
	if text[i]|0x20 == 'b' {
		return authAt(text, i)
	}
	for _, p := range byFirst[text[i]] {
		if !strings.HasPrefix(text[i:], p.text) {
			continue
		}
		// A token shows what it is in its beginning; its end is looked for only
		// then, so that a long text of near misses costs no more than its length.
		rest := text[i+len(p.text) : min(len(text), i+decides)]
		rest = rest[:tokenEnd(rest, 0, p.dots)]
		if len(rest) >= p.least && genuine(p, rest) {
			return i, tokenEnd(text, i+len(p.text), p.dots), true
		}
	}
	return 0, 0, false
}

// decides is how much of a long token is looked at to decide that it is one.
const decides = 256

// byFirst holds the prefixes by their first byte.
var byFirst = func() (table [256][]prefix) {
	for _, p := range prefixes {
		table[p.text[0]] = append(table[p.text[0]], p)
	}
	return table
}()

// genuine reports whether what follows a prefix is what its issuer makes.
func genuine(p prefix, rest string) bool {
	switch {
	case isFill(rest):
		return false
	case p.text == "eyJ":
		first, others, ok := strings.Cut(rest, ".")
		return ok && len(first) >= 8 && len(others) >= 4
	case p.text == "AKIA" || p.text == "ASIA":
		return len(rest) == 16 && strings.ToUpper(rest) == rest && !strings.ContainsAny(rest, "-_")
	case p.digit:
		return strings.ContainsAny(rest, "0123456789")
	}
	return true
}

func tokenEnd(text string, i int, dots bool) int {
	for i < len(text) && (isWord(text[i]) || text[i] == '-' || (dots && text[i] == '.')) {
		i++
	}
	for dots && i > 0 && text[i-1] == '.' { // the full stop of a sentence
		i--
	}
	return i
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// atBoundary reports whether no word runs into i. The end of an escape, as in
// "\nsk-" or "%20sk-", is no word.
func atBoundary(text string, i int) bool {
	if i == 0 || !isWord(text[i-1]) {
		return true
	}
	switch {
	case i >= 2 && text[i-2] == '\\' && strings.IndexByte("nrtbfv0", text[i-1]) >= 0:
		return true
	case i >= 3 && text[i-3] == '%' && isHex(text[i-1]) && isHex(text[i-2]):
		return true
	case i >= 6 && text[i-6] == '\\' && text[i-5] == 'u':
		return true
	case i >= 4 && text[i-4] == '\\' && text[i-3] == 'x':
		return true
	}
	return false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// authAt finds the credential behind "Bearer " or "Basic ".
func authAt(text string, i int) (start, end int, found bool) {
	scheme, ok := "", false
	for _, s := range []string{"bearer", "basic"} {
		if len(text) > i+len(s)+1 && strings.EqualFold(text[i:i+len(s)], s) {
			scheme, ok = s, true
		}
	}
	if !ok {
		return 0, 0, false
	}
	start = i + len(scheme)
	switch {
	case strings.HasPrefix(text[start:], "%20"):
		start += 3
	case text[start] == ' ' || text[start] == '+':
		for start < len(text) && (text[start] == ' ' || text[start] == '+') {
			start++
		}
	default:
		return 0, 0, false
	}
	value := text[start:credentialEnd(text[:min(len(text), start+decides)], start)]
	if scheme == "basic" {
		found = len(value) >= 8 && isBasic(value)
	} else {
		found = (random(value) || len(value) >= 12 && hasDigit(value)) && !isPlaceholder(value)
	}
	if !found {
		return 0, 0, false
	}
	return start, credentialEnd(text, start), true
}

func credentialEnd(text string, i int) int {
	start := i
	for i < len(text) && (isWord(text[i]) || strings.IndexByte("-._~+/=%", text[i]) >= 0) {
		i++
	}
	for i > start && text[i-1] == '.' {
		i--
	}
	return i
}

// isBasic reports whether value is user:password in base64.
func isBasic(value string) bool {
	value = strings.NewReplacer("%3D", "", "=", "").Replace(value)
	decoded, err := base64.RawStdEncoding.DecodeString(value)
	if err != nil {
		decoded, err = base64.RawURLEncoding.DecodeString(value)
	}
	return err == nil && strings.ContainsRune(string(decoded), ':')
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// random reports whether value looks made by a machine for being unguessable:
// long, without spaces or paths, of letters and digits.
func random(value string) bool {
	if len(value) < 16 || strings.ContainsAny(value, " \t\n\\/") && !strings.Contains(value, "=") || strings.Contains(value, "://") {
		return false
	}
	letters := strings.ContainsAny(strings.ToLower(value), "abcdefghijklmnopqrstuvwxyz")
	return letters && hasDigit(value)
}

const keyBlock = "-----BEGIN "

// longestKey bounds how far the end of a key block is looked for.
const longestKey = 32 << 10

// dashAt finds a private key block, or the value of a flag such as --token.
func dashAt(text string, i int) (start, end int, found bool) {
	if strings.HasPrefix(text[i:], keyBlock) {
		return keyBlockAt(text, i)
	}
	if strings.HasPrefix(text[i:], "--") && (i == 0 || text[i-1] != '-') && i+2 < len(text) && isWord(text[i+2]) {
		return flagAt(text, i+2)
	}
	return 0, 0, false
}

func keyBlockAt(text string, i int) (start, end int, found bool) {
	window := text[i:min(len(text), i+longestKey)]
	title := window[:min(len(window), 80)]
	closing := strings.Index(title[len(keyBlock):], "-----")
	if closing >= 0 {
		title = title[:len(keyBlock)+closing]
	}
	if !strings.Contains(title, "PRIVATE KEY") {
		return 0, 0, false
	}
	body := len(title)
	if at := strings.Index(window[body:], "-----END "); at >= 0 {
		end = body + at + len("-----END ")
		for end < len(window) && (window[end] >= 'A' && window[end] <= 'Z' || window[end] == ' ' || window[end] == '-') {
			end++
		}
		return i, i + end, true
	}
	// Cut off: all that can belong to a key goes.
	end = body
	for end < len(window) && (isWord(window[end]) || strings.IndexByte("+/=-,: \t\r\n\\", window[end]) >= 0) {
		end++
	}
	return i, i + end, true
}

// flagAt finds the value that follows a flag whose name begins at i, also in an
// array of arguments.
func flagAt(text string, i int) (start, end int, found bool) {
	nameEnd := tokenEnd(text, i, false)
	if nameEnd-i > maxName || !secretName(text[i:nameEnd]) {
		return 0, 0, false
	}
	at := nameEnd
	for at < len(text) && at < nameEnd+8 && strings.IndexByte(" \t\"',\\", text[at]) >= 0 {
		at++
	}
	if at == nameEnd || at >= len(text) || text[at] == '-' {
		return 0, 0, false
	}
	end = at
	for end < len(text) {
		if strings.HasPrefix(text[end:], Mark) {
			end += len(Mark)
			continue
		}
		if strings.IndexByte(" \t\r\n\"'\\,;|&)]}", text[end]) >= 0 {
			break
		}
		end++
	}
	value := text[at:end]
	if len(value) < 4 || isPlaceholder(value) || isCode(value) || isProse(text, at, end) {
		return 0, 0, false
	}
	return at, end, true
}
