package model

import (
	"slices"
	"strings"

	"pointsman/gateway/config"
	"pointsman/gateway/tools"
)

// Ask is how a call of a tool comes before a person.
type Ask int

// The possibilities, in the order of AskWords.
const (
	AskByRisk Ask = iota
	AskAlways
	AskNever
)

// AskWords says each Ask to a person.
func AskWords() []string { return []string{"By its risk", "Always ask", "Never ask"} }

// ServerTool is a tool as a line of its server's list.
type ServerTool struct {
	tools.Row
	Ask Ask
	On  bool // the server's entry lets it be offered
}

// About is what the tool is for, and why it is not offered where it is not.
func (t ServerTool) About() string {
	about := clip(t.Description, longestText)
	if t.Missing != nil {
		about = "Not offered: " + clip(*t.Missing, longestText) + ". " + about
	}
	return about
}

// Reason is the evidence for the tool's class, in one line.
func (t ServerTool) Reason() string { return clip(strings.Join(t.Evidence, "; "), longestText) }

// ServerTools are the tools of one server that a search finds, all for "".
func ServerTools(cfg *config.Config, server string, rows []tools.Row, search string) []ServerTool {
	var list []ServerTool
	wanted := strings.ToLower(strings.TrimSpace(search))
	for _, row := range rows {
		if row.Server != server || !strings.Contains(strings.ToLower(row.Tool+"\n"+row.Title+"\n"+row.Description), wanted) {
			continue
		}
		list = append(list, ServerTool{Row: row, Ask: askOf(cfg, row), On: isOn(cfg.MCPServers[server].Tools, row)})
	}
	return list
}

func askOf(cfg *config.Config, row tools.Row) Ask {
	switch {
	case names(cfg.Tools.Risky, row):
		return AskAlways
	case names(cfg.Tools.Safe, row):
		return AskNever
	default:
		return AskByRisk
	}
}

// names reports whether a list holds the tool by one of its names.
func names(list []string, row tools.Row) bool {
	return row.Name != "" && slices.Contains(list, row.Name) || slices.Contains(list, row.Tool)
}

// isOn reports whether an entry's tools let a tool be offered. A pattern that
// does is not looked into: the gateway has, and says so in the row.
func isOn(allowed []string, row tools.Row) bool {
	return allowed == nil || names(allowed, row) || slices.ContainsFunc(allowed, isPattern) && row.Allowed
}

func isPattern(name string) bool { return strings.Contains(name, "*") }

// AskEdits are the edits after which a tool asks as chosen. all are the tools of
// every server: one that a list names by a bare name which others share is taken
// out for this tool alone.
func AskEdits(cfg *config.Config, all []tools.Row, row tools.Row, ask Ask) []config.Edit {
	risky, safe := without(cfg.Tools.Risky, all, row), without(cfg.Tools.Safe, all, row)
	switch ask {
	case AskAlways:
		risky = append(risky, row.Name)
	case AskNever:
		safe = append(safe, row.Name)
	}
	return []config.Edit{listEdit(risky, "tools", "risky"), listEdit(safe, "tools", "safe")}
}

// listEdit sets a list, or takes an empty one out of the file.
func listEdit(list []string, path ...string) config.Edit {
	return config.Edit{Path: path, Value: list, Remove: len(list) == 0}
}

// without takes a tool out of a list, and leaves the others in it that a bare
// name stands for.
func without(list []string, all []tools.Row, row tools.Row) []string {
	kept := []string{}
	for _, name := range list {
		switch name {
		case row.Name:
		case row.Tool:
			for _, other := range all {
				if other.Tool == row.Tool && other.Server != row.Server {
					kept = append(kept, other.Name)
				}
			}
		default:
			kept = append(kept, name)
		}
	}
	return kept
}

// OfferEdits are the edits after which a tool of a server is offered, or not. all
// are the tools of every server; what the entry names and no server has just now
// stays named.
func OfferEdits(cfg *config.Config, all []tools.Row, row tools.Row, on bool) []config.Edit {
	before, list, seen := cfg.MCPServers[row.Server].Tools, []string{}, map[string]bool{}
	for _, other := range all {
		if other.Server != row.Server {
			continue
		}
		seen[other.Tool], seen[other.Name] = true, true
		if other.Tool == row.Tool && on || other.Tool != row.Tool && isOn(before, other) {
			list = append(list, other.Tool)
		}
	}
	for _, name := range before {
		if !seen[name] && !isPattern(name) {
			list = append(list, name)
		}
	}
	return PartEdits(cfg, row.Server, config.Edit{Path: []string{"mcpServers", row.Server, "tools"}, Value: list})
}

// PartEdits are an edit of a part of a server's entry, and before it one that
// gives a server which comes with the program an entry at all.
func PartEdits(cfg *config.Config, server string, edit config.Edit) []config.Edit {
	if _, there := cfg.MCPServers[server]; there {
		return []config.Edit{edit}
	}
	return []config.Edit{{Path: []string{"mcpServers", server, "type"}, Value: builtinType}, edit}
}
