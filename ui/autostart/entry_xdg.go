//go:build !windows && !darwin

package autostart

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// path is where the entry is, or would be.
func (e Entry) path() (string, error) {
	getenv := e.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // the specification says to ignore a relative one
		home := getenv("HOME")
		if home == "" {
			return "", errors.New("finding the folder of autostart entries: neither HOME nor XDG_CONFIG_HOME is set")
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "autostart", name+".desktop"), nil
}

func (e Entry) render() []byte {
	return fmt.Appendf(nil, `[Desktop Entry]
Type=Application
Name=Pointsman
Comment=MCP tools for any model, and a person before every risky call
Exec=%s
Icon=pointsman
Terminal=false
X-GNOME-Autostart-enabled=true
`, escapeValue(quoteArgument(e.Program)))
}

// quoteArgument quotes an argument of an Exec line. The backslashes are those
// of the argument; the value's own escaping comes on top.
func quoteArgument(arg string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`, `%`, `%%`).Replace(arg)
	return `"` + quoted + `"`
}

func escapeValue(value string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(value)
}

func unescapeValue(value string) string {
	return strings.NewReplacer(`\\`, `\`, `\s`, " ", `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(value)
}

// parse reads an entry of ours, which a desktop's settings may have changed.
func parse(data []byte) Status {
	s := Status{Present: true}
	values := keys(data)
	s.Program = firstArgument(unescapeValue(values["Exec"]))
	hidden := strings.EqualFold(values["Hidden"], "true")
	enabled := strings.EqualFold(cmp.Or(values["X-GNOME-Autostart-enabled"], "true"), "true")
	s.Enabled = s.Program != "" && !hidden && enabled
	return s
}

// keys are the values of the entry's main group.
func keys(data []byte) map[string]string {
	values := map[string]string{}
	group := ""
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			group = line
		}
		key, value, ok := strings.Cut(line, "=")
		if ok && group == "[Desktop Entry]" && !strings.HasPrefix(line, "#") {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return values
}

// firstArgument is the program of an Exec line, or "" when it cannot be read.
func firstArgument(line string) string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, `"`) {
		program, _, _ := strings.Cut(line, " ")
		return strings.ReplaceAll(program, "%%", "%")
	}
	var program strings.Builder
	for i := 1; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			return strings.ReplaceAll(program.String(), "%%", "%")
		case c == '\\' && i+1 < len(line):
			i++
			program.WriteByte(line[i])
		default:
			program.WriteByte(c)
		}
	}
	return "" // the quote does not end
}
