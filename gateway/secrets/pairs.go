package secrets

import (
	"regexp"
	"strings"
)

// valueAfter finds a secret behind the separator at i: the value of a
// secret-named setting, or the user information of an address.
func valueAfter(text string, i, from int) (start, end int, found bool) {
	if text[i] == ':' && strings.HasPrefix(text[i:], "://") {
		return userInfo(text, i)
	}
	if i+1 < len(text) && text[i+1] == '=' || i > 0 && strings.IndexByte("=!<>", text[i-1]) >= 0 {
		return 0, 0, false // a comparison, or :=, which the '=' handles
	}
	name, ok := nameBefore(text, i, from)
	if !ok {
		return 0, 0, false
	}
	query := text[i] == '=' && name == "key" && inQuery(text, i-len(name))
	if !query && !secretName(name) {
		return 0, 0, false
	}
	start, end, quoted := valueSpan(text, i+1, text[i] == '=', lineValued(name))
	value := text[start:end]
	if !worthHiding(name, value, quoted) {
		return 0, 0, false
	}
	if !quoted && (isCode(value) || text[i] == ':' && isProse(text, start, end)) {
		return 0, 0, false
	}
	return start, end, true
}

// lineValued reports whether the value of a header runs to the end of its line.
func lineValued(name string) bool {
	return strings.EqualFold(name, "cookie") || strings.EqualFold(name, "set-cookie") || strings.EqualFold(name, "authorization") || strings.EqualFold(name, "proxy-authorization")
}

// nameBefore reads the name that ends before the separator at i.
func nameBefore(text string, i, from int) (string, bool) {
	end := i
	if end > 0 && text[end-1] == ':' { // name := value
		end--
	}
	for end > 0 && end > i-4 && (text[end-1] == ' ' || text[end-1] == '\t') {
		end--
	}
	if end > 0 && (text[end-1] == '"' || text[end-1] == '\'' || text[end-1] == '`') {
		for end--; end > 0 && text[end-1] == '\\'; end-- {
		}
	} else if end > 1 && text[end-1] == ']' { // headers["api_key"] = value
		end--
		if text[end-1] == '"' || text[end-1] == '\'' {
			end--
		}
	}
	start := end
	for start > 0 && end-start <= maxName && (isWord(text[start-1]) || text[start-1] == '-' || text[start-1] == '.') {
		start--
	}
	if start == end || end-start > maxName {
		return "", false
	}
	name := text[start:end]
	if start > 0 && text[start-1] == '\\' && len(name) > 3 && strings.IndexByte("nrt", name[0]) >= 0 {
		name = name[1:] // the letter belongs to an escaped line break
	}
	return name, true
}

// inQuery reports whether a name that begins at i is a query parameter.
func inQuery(text string, i int) bool {
	return i > 0 && (text[i-1] == '?' || text[i-1] == '&')
}

// valueSpan finds the value that begins after a separator.
func valueSpan(text string, i int, equals, wholeLine bool) (start, end int, quoted bool) {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	slashes := 0
	for i+slashes < len(text) && text[i+slashes] == '\\' && slashes < 8 {
		slashes++
	}
	if at := i + slashes; at < len(text) && (text[at] == '"' || text[at] == '\'' || text[at] == '`') {
		return at + 1, closingQuote(text, at+1, text[at], slashes), true
	}
	stops := " \t\r\n\"'`,;&<>)]}|"
	if wholeLine {
		stops = "\r\n\"'`"
	}
	end = i
	for end < len(text) {
		if strings.HasPrefix(text[end:], Mark) {
			end += len(Mark)
			continue
		}
		if strings.IndexByte(stops, text[end]) >= 0 {
			break
		}
		if text[end] == '\\' && (end+1 == len(text) || strings.IndexByte("nrt\"'\\", text[end+1]) >= 0) {
			break // an escaped line break or quote, in text within a string
		}
		if opens(text, end) {
			if closing := strings.IndexAny(text[end:min(len(text), end+200)], "}\n"); closing > 0 {
				end += closing
			}
		}
		end++
	}
	return i, min(end, len(text)), false
}

// opens reports whether a placeholder such as ${NAME} or {{name}} begins at i.
func opens(text string, i int) bool {
	return strings.HasPrefix(text[i:], "${") || strings.HasPrefix(text[i:], "{{")
}

// closingQuote finds the end of a quoted value whose opening quote had that
// many backslashes before it.
func closingQuote(text string, i int, quote byte, slashes int) int {
	run := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '\\':
			run++
			continue
		case quote:
			if slashes == 0 && run%2 == 0 || slashes > 0 && run <= slashes {
				return i - run*boolInt(slashes > 0)
			}
		case '\n':
			if quote != '`' {
				return i
			}
		}
		run = 0
	}
	return i
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// worthHiding reports whether the value of a secret-named setting is a secret,
// and not a placeholder, a reference or a description.
func worthHiding(name, value string, quoted bool) bool {
	value = strings.TrimSpace(value)
	for _, scheme := range []string{"bearer ", "basic ", "token ", "digest ", "apikey "} {
		if len(value) > len(scheme) && strings.EqualFold(value[:len(scheme)], scheme) {
			value = strings.TrimSpace(value[len(scheme):])
		}
	}
	switch {
	case isPlaceholder(value), !quoted && strings.HasPrefix(value, "{"), !quoted && strings.HasPrefix(value, "["):
		return false
	case strings.HasSuffix(strings.ToLower(name), "cookie"):
		return strings.Contains(value, "=")
	case modeName(name) && isMode(value):
		return false // auth: none
	case passwordName(name):
		return len(value) >= 3
	case strings.Contains(strings.TrimSpace(value), " ") && !hasDigit(value):
		return false // a sentence about it
	case len(value) < shortest && strings.Trim(value, "0123456789.") == "":
		return false // an amount
	}
	return len(value) >= 4
}

var (
	placeholders = regexp.MustCompile(`(?i)^(` +
		`\$\{[^}]*\}|\$[a-z_][a-z0-9_]*|\$\([^)]*\)|%[a-z_]+%|%[svdqT]|\{\{[^}]*\}\}|\{[a-z_.]*\}|<[^>]*>|\[[a-z_ -]*\]|` +
		`keychain:.*|os\.environ/.*|(bearer|basic) ?|` +
		`(your|my|the|some|insert|enter|put|paste|replace|change|example|dummy|fake)[-_ a-z]*|[a-z_-]*(_here|-here|placeholder)|` +
		`(sk|pk|ghp|gho|xoxb|glpat|key|api|token)?[-_]?[x*.•…#-]+|` +
		`true|false|null|nil|none|undefined|empty|optional|required|string|str|bytes|number|integer|int|bool|boolean|any|object|text|secret|password|passwd|token|api_?key|key|value|yes|no|on|off|redacted|hidden|masked|unset|n/a` +
		`)?$`)
	code = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*((\.|->|::)[A-Za-z_$][A-Za-z0-9_$]*)*[(\[]|^(process\.env|os\.|self\.|this\.|config\.|cfg\.|req\.|request\.|ctx\.|args\.|opts\.|options\.|settings\.|env\.|c\.|s\.|r\.)[A-Za-z_.]|^[&*!(]`)
)

// isPlaceholder reports whether value stands for a secret without being one.
func isPlaceholder(value string) bool {
	value = strings.TrimSpace(value)
	return strings.HasPrefix(value, Mark) && strings.Trim(strings.ReplaceAll(value, Mark, ""), " .,;:") == "" ||
		len(value) < 256 && placeholders.MatchString(value) || onlyReferences(value)
}

// onlyReferences reports whether nothing but references stands in value.
func onlyReferences(value string) bool {
	return strings.Contains(value, "${") && strings.TrimSpace(reference.ReplaceAllString(value, "")) == ""
}

// isFill reports whether what follows a token's prefix is filling: xxxx, ....
func isFill(rest string) bool {
	if strings.Trim(rest, "xX*._-") == "" {
		return true
	}
	lower := strings.ToLower(rest)
	return strings.HasPrefix(lower, "your") || strings.HasPrefix(lower, "xxxx") || strings.HasPrefix(lower, "example") || strings.HasPrefix(lower, "placeholder")
}

// isCode reports whether an unquoted value is an expression of a program.
func isCode(value string) bool { return code.MatchString(value) }

// isProse reports whether the unquoted value at start:end is a word of a
// sentence: letters alone, with another word after it on the line.
func isProse(text string, start, end int) bool {
	for i := start; i < end; i++ {
		if c := text[i]; !(c|0x20 >= 'a' && c|0x20 <= 'z') && c < 0x80 && strings.IndexByte(".,-'!?", c) < 0 {
			return false
		}
	}
	if end-start > 24 {
		return false
	}
	return end+1 < len(text) && text[end] == ' ' && (text[end+1]|0x20 >= 'a' && text[end+1]|0x20 <= 'z')
}

// maxAuthority bounds the part of an address that is looked at.
const maxAuthority = 512

// userInfo finds the user information of the address whose "://" is at i.
func userInfo(text string, i int) (start, end int, found bool) {
	start = i + len("://")
	at := -1
	for j := start; j < len(text) && j < start+maxAuthority && strings.IndexByte("/?# \t\r\n\"'`<>\\", text[j]) < 0; j++ {
		if text[j] == '@' {
			at = j
		}
	}
	if at < 0 {
		return 0, 0, false
	}
	info := text[start:at]
	user, password, has := strings.Cut(info, ":")
	switch {
	case info == Mark || isPlaceholder(info):
		return 0, 0, false
	case has && password != "" && !isPlaceholder(password) && !strings.Contains(password, Mark):
		return start, at, true
	case !has && len(user) >= 16 && hasDigit(user):
		return start, at, true
	}
	return 0, 0, false
}
