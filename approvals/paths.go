package approvals

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// maxEscaped is how many times over a path may be written in %-escapes.
const maxEscaped = 3

// Readings returns the local paths that text can be read as: the one it is, or
// that of a file URL, and what comes out when %-escapes are decoded, as some
// servers do, once or more. It reports false when there is no telling: for URLs
// of other schemes and hosts, and escapes within escapes without end.
func Readings(text string) (paths []string, ok bool) {
	path, ok := localPath(text)
	if !ok {
		return nil, false
	}
	for range maxEscaped {
		paths = append(paths, path)
		decoded := Unescape(path)
		if decoded == path {
			return paths, true
		}
		path = decoded
	}
	return nil, false
}

// Unescape decodes the %-escapes of text, and leaves what only looks like one.
func Unescape(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if decoded, err := url.PathUnescape(text[i : i+3]); err == nil {
				b.WriteString(decoded)
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// localPath returns the path that s names: itself, or that of a file URI.
func localPath(s string) (string, bool) {
	scheme, _, ok := strings.Cut(s, "://")
	if !ok && !hasScheme(s, "file") {
		return s, true
	}
	u, err := url.Parse(s)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || scheme == "" {
		return "", false
	}
	if u.Host != "" && u.Host != "localhost" || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path), true
}

func hasScheme(s, scheme string) bool {
	return len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) && s[len(scheme)] == ':'
}
