package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// similarNames is how many names are told that may be meant.
const similarNames = 5

// WhyTool tells how it stands with the tools of a name, as models see it or as
// their servers have it: whether they are offered, and what is in their way. Of a
// name that no connected server has it tells one answer: why that may be.
func (g *Gateway) WhyTool(name string) []tools.Why {
	name = strings.TrimSpace(name)
	answers := []tools.Why{}
	for _, entry := range g.catalogue.Load().Named(name) {
		answers = append(answers, g.whyEntry(name, entry))
	}
	if len(answers) == 0 {
		answers = append(answers, g.whyUnknown(name))
	}
	return answers
}

func (g *Gateway) whyEntry(asked string, entry *tools.Entry) tools.Why {
	why := tools.Why{
		Asked: asked, Name: entry.Offered, Server: entry.Server, Tool: entry.Name,
		Offered: entry.Missing == "", Callable: entry.Allowed, Reasons: []tools.Reason{}, Similar: []string{},
	}
	for _, s := range g.host.Status() {
		if s.Name == entry.Server {
			why.Reasons = append(why.Reasons, notConnected(s)...)
		}
	}
	why.Callable = why.Callable && len(why.Reasons) == 0
	if entry.Missing != "" {
		why.Reasons = append(why.Reasons, tools.Reason{Cause: entry.Cause, Text: entry.Missing})
	}
	if entry.Fault == "" && g.pins.Check(entry.Definition).Changed {
		why.Reasons = append(why.Reasons, tools.Reason{Cause: tools.Changed, Text: "its definition is not the one that was agreed to: its next call asks, and shows what changed"})
	}
	return g.withPause(why)
}

func (g *Gateway) withPause(why tools.Why) tools.Why {
	if g.Paused() {
		why.Callable = false
		why.Reasons = append(why.Reasons, tools.Reason{Cause: tools.Paused, Text: "tools are paused: every call is denied until they are resumed"})
	}
	return why
}

// notConnected says why a server's tools are not there; nothing of a connected one.
func notConnected(s servers.Status) []tools.Reason {
	text := ""
	switch s.Live.Status {
	case servers.Connected:
		return nil
	case servers.Disabled:
		text = fmt.Sprintf("server %q is disabled in the configuration", s.Name)
	case servers.NotConfigured:
		text = fmt.Sprintf("server %q has neither a command nor a url in the configuration", s.Name)
	case servers.Pending:
		text = fmt.Sprintf("server %q is still connecting", s.Name)
	case servers.NeedsAuth:
		text = fmt.Sprintf("server %q wants you to sign in", s.Name)
	default:
		text = fmt.Sprintf("server %q is not connected (%s)", s.Name, s.Live.Status)
	}
	if s.Live.Error != "" {
		text += ": " + s.Live.Error
	}
	return []tools.Reason{{Cause: tools.NotConnected, Text: text}}
}

// whyUnknown tells of a name that no connected server has.
func (g *Gateway) whyUnknown(name string) tools.Why {
	why := tools.Why{Asked: name, Reasons: []tools.Reason{}, Similar: []string{}}
	all := g.host.Status()
	if i := slices.IndexFunc(all, func(s servers.Status) bool { return strings.HasPrefix(name, g.prefixOf(s.Name)+"__") }); i >= 0 {
		why.Server, why.Tool = all[i].Name, strings.TrimPrefix(name, g.prefixOf(all[i].Name)+"__")
		all = all[i : i+1]
	}
	for _, s := range all {
		why.Reasons = append(why.Reasons, notConnected(s)...)
	}
	switch {
	case len(all) == 0:
		why.Reasons = append(why.Reasons, tools.Reason{Cause: tools.Unknown, Text: "no MCP server is configured"})
	case why.Server != "" && len(why.Reasons) == 0:
		why.Reasons = append(why.Reasons, tools.Reason{Cause: tools.Unknown, Text: fmt.Sprintf("server %q is connected, and has no tool of that name", why.Server)})
	case why.Server == "":
		why.Reasons = slices.Insert(why.Reasons, 0, tools.Reason{Cause: tools.Unknown, Text: "no connected server has a tool of that name"})
	}
	why.Similar = g.similar(name)
	return g.withPause(why)
}

// similar returns names of tools that may be meant: the one spelled nearest, and
// those that share words.
func (g *Gateway) similar(name string) []string {
	catalogue, names := g.catalogue.Load(), []string{}
	known := map[string]string{}
	for _, entry := range catalogue.Entries() {
		known[entry.Name], known[entry.Offered] = entry.Offered, entry.Offered
	}
	if nearest := config.Nearest(name, slices.Sorted(maps.Keys(known))); nearest != "" {
		names = append(names, known[nearest])
	}
	for _, entry := range catalogue.Find(name, similarNames) {
		if len(names) < similarNames && !slices.Contains(names, entry.Offered) {
			names = append(names, entry.Offered)
		}
	}
	return names
}

// prefixOf is what the offered names of a server's tools begin with.
func (g *Gateway) prefixOf(server string) string {
	if prefix := g.Config().MCPServers[server].Prefix; prefix != nil {
		return cmp.Or(*prefix, server) // without a prefix nothing tells whose a name is
	}
	return server
}
