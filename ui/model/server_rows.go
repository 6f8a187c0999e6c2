package model

import (
	"encoding/json"
	"strconv"
	"strings"

	"pointsman/gateway/config"
)

// pairRows turns the rows of a form into what the entry holds and what the
// keychain does.
type pairRows struct {
	form  ServerForm
	cfg   *config.Config
	draft *ServerDraft
}

func (r pairRows) build(section string, rows []Pair) map[string]config.Secret {
	built := map[string]config.Secret{}
	for i, row := range rows {
		field := rowName(section, i)
		key := strings.TrimSpace(row.Key)
		if _, twice := built[key]; twice {
			r.draft.Faults[field] = "This name is there twice"
			continue
		}
		switch {
		case key == "" && row.Value == "" && row.Kept == "":
			continue // a row that nobody has filled
		case key == "":
			r.draft.Faults[field] = "The value needs a name"
			continue
		}
		value, fault := r.value(section, key, row)
		if fault != "" {
			r.draft.Faults[field] = fault
		}
		built[key] = value
	}
	if len(built) == 0 {
		return nil
	}
	return built
}

// value is what the entry holds for a row.
func (r pairRows) value(section, key string, row Pair) (value config.Secret, fault string) {
	switch {
	case row.Value == "" && row.Kept != "":
		if strings.Contains(string(row.Kept), mask) && (key != row.keptKey || r.form.Name != r.form.was) {
			return row.Kept, "The value stands in the file and does not come along under another name; type it again"
		}
		return row.Kept, ""
	case row.Value == "" && row.Secret:
		return "", "Type the secret value"
	case row.Secret && !config.Secret(row.Value).IsReference():
		reference, secret := reference(r.nameFor(section, key, row), row.Value)
		r.draft.Secrets[keychainName(reference)] = secret
		return reference, ""
	default:
		return config.Secret(row.Value), ""
	}
}

// nameFor is the name under which a row's secret is kept: the one it has, unless
// something else uses that, or a new one that nothing else uses.
func (r pairRows) nameFor(section, key string, row Pair) string {
	saved := config.JoinPath("mcpServers", r.form.was) + "." + section + "." + config.JoinPath("", row.keptKey)
	if name := keychainName(row.Kept); name != "" && !r.taken(name, saved) {
		return name
	}
	return freeName(keyFor(r.form.Name, key), func(name string) bool { return r.taken(name, saved) })
}

// taken reports whether anything but what is at a path uses a keychain entry.
func (r pairRows) taken(name, but string) bool {
	if _, now := r.draft.Secrets[name]; now {
		return true
	}
	return usedElsewhere(r.cfg, name, but)
}

// KeyUsed reports whether the configuration refers to a keychain entry.
func KeyUsed(cfg *config.Config, name string) bool { return usedElsewhere(cfg, name, "") }

func usedElsewhere(cfg *config.Config, name, but string) bool {
	for _, used := range cfg.SecretRefs() {
		if used.Ref == keychainScheme+name && used.Path != but {
			return true
		}
	}
	return false
}

// freeName is a name, or the name with a number, that is not taken.
func freeName(name string, taken func(string) bool) string {
	free := name
	for i := 2; taken(free); i++ {
		free = name + "-" + strconv.Itoa(i)
	}
	return free
}

// joinArguments writes arguments as lines. One that would not be read back as it
// is, such as one with a line break, is written as JSON does.
func joinArguments(args []string) string {
	lines := make([]string, len(args))
	for i, arg := range args {
		lines[i] = arg
		if quoted := quoteArgument(arg); isHard(arg) || unquoteArgument(arg) != arg {
			lines[i] = quoted
		}
	}
	return strings.Join(lines, "\n")
}

// splitArguments reads what joinArguments writes, and what people type: blank
// lines are none.
func splitArguments(text string) []string {
	var args []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if strings.TrimSpace(line) != "" {
			args = append(args, unquoteArgument(line))
		}
	}
	return args
}

// isHard reports whether an argument cannot stand as a line.
func isHard(arg string) bool { return strings.ContainsAny(arg, "\r\n") || strings.TrimSpace(arg) == "" }

func quoteArgument(arg string) string {
	quoted, err := json.Marshal(arg)
	if err != nil { // a string cannot fail to encode
		return arg
	}
	return string(quoted)
}

// unquoteArgument is the argument that a line stands for: itself, unless it is
// one that only quotes can write.
func unquoteArgument(line string) string {
	var arg string
	if !strings.HasPrefix(line, `"`) || json.Unmarshal([]byte(line), &arg) != nil {
		return line
	}
	if isHard(arg) || unquoteArgument(arg) != arg {
		return arg
	}
	return line
}
