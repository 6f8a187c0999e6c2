package model

import (
	"maps"
	"slices"
	"strings"

	"pointsman/gateway/config"
)

// PastedLine is one of several servers that were pasted.
type PastedLine struct {
	Form  ServerForm
	Draft ServerDraft
	About string // what it runs or where it is
	Fault string // why it cannot be added as it is, or ""
}

// PastedLines makes lines of pasted servers, by name. No two of them keep a
// secret under the same name.
func PastedLines(found map[string]config.MCPServer, cfg *config.Config) []PastedLine {
	var lines []PastedLine
	taken := cfg.Clone()
	for _, name := range slices.Sorted(maps.Keys(found)) {
		form := pastedServer(name, found[name])
		draft := form.Draft(taken)
		line := PastedLine{Form: form, Draft: draft, About: clip(strings.Join(append([]string{form.Command}, found[name].Args...), " "), longestText)}
		if form.Remote {
			line.About = clip(form.URL, longestText)
		}
		line.Fault = firstFault(form, draft.Faults)
		if line.Fault == "" {
			if taken.MCPServers == nil {
				taken.MCPServers = map[string]config.MCPServer{}
			}
			taken.MCPServers[name] = draft.Entry
		}
		lines = append(lines, line)
	}
	return lines
}

// firstFault is one of the faults, always the same, with the row it is about; ""
// when there is none.
func firstFault(f ServerForm, faults Faults) string {
	if len(faults) == 0 {
		return ""
	}
	field := slices.Min(slices.Collect(maps.Keys(faults)))
	for section, rows := range map[string][]Pair{FieldEnv: f.Env, FieldHeaders: f.Headers} {
		for i, row := range rows {
			if field == rowName(section, i) {
				return clip(row.Key, longestName) + ": " + faults[field]
			}
		}
	}
	return faults[field]
}

// Whole are the lines with which nothing is wrong.
func Whole(lines []PastedLine) []PastedLine {
	return slices.DeleteFunc(slices.Clone(lines), func(l PastedLine) bool { return l.Fault != "" })
}
