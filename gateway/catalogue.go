package gateway

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// noteChange makes the catalogue be built anew soon.
func (g *Gateway) noteChange() {
	g.notices.notify()
	select {
	case g.changed <- struct{}{}:
	default: // it will be, already
	}
}

// keepCatalogue builds the catalogue whenever the servers' tools have changed.
func (g *Gateway) keepCatalogue() {
	for {
		select {
		case <-g.changed:
			g.buildCatalogue()
		case <-g.stopping.Done():
			return
		}
	}
}

// Ready waits until no MCP server is connecting any more (each is connected, or
// has failed to) and the tools of the connected ones can be called, or until
// ctx ends.
func (g *Gateway) Ready(ctx context.Context) error {
	for {
		g.building.Lock()
		built := g.built
		g.building.Unlock()
		if !g.host.Connecting() {
			g.freshenCatalogue()
			return nil
		}
		select {
		case <-built:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (g *Gateway) buildCatalogue() {
	g.building.Lock()
	defer g.building.Unlock()
	g.buildCatalogueLocked(g.host.Tools())
}

// freshenCatalogue builds the catalogue if the servers' tools, or the settings, are
// not those that it was built of: doors ask for that with each list.
func (g *Gateway) freshenCatalogue() {
	g.building.Lock()
	defer g.building.Unlock()
	if listed := g.host.Tools(); g.live.Load() != g.builtFor || !slices.EqualFunc(listed, g.builtOf, sameTool) {
		g.buildCatalogueLocked(listed)
	}
}

func sameTool(a, b servers.Tool) bool {
	return a.Server == b.Server && a.Name == b.Name && a.Trusted == b.Trusted && a.Fault == b.Fault && bytes.Equal(a.Raw, b.Raw)
}

func (g *Gateway) buildCatalogueLocked(listed []servers.Tool) {
	defer func() { close(g.built); g.built = make(chan struct{}) }()
	live := g.live.Load()
	g.builtFor, g.builtOf = live, listed
	var defs []tools.Definition
	for _, t := range listed {
		def, err := tools.Parse(t.Server, t.Raw, t.Trusted)
		if err != nil {
			g.log.Warn("a tool is set aside", "server", t.Server, "tool", t.Name, "error", err)
			defs = append(defs, tools.Broken(t.Server, t.Name, t.Raw, errors.New(g.redactor.Redact(err.Error()))))
			continue
		}
		def.Fault = t.Fault
		if g.pins.Check(def).Changed {
			if err := g.rules.Void(def.Server, def.Name, def.Hash); err != nil {
				g.log.Error("ending the remembered approvals of a changed tool", "server", def.Server, "tool", def.Name, "error", err)
			}
		}
		defs = append(defs, def)
	}
	settings := toolSettings(live)
	settings.Self = g.ourselves()
	settings.Previous = g.catalogue.Load()
	g.catalogue.Store(tools.NewCatalogue(defs, settings))
	g.notices.notify()
	g.door.Changed()
	if err := g.pins.Save(); err != nil {
		g.log.Error("saving the pinned tool definitions", "error", err)
	}
}

func toolSettings(live *live) tools.Settings {
	s := tools.Settings{
		Allowed: live.cfg.Tools.Allowed, PerServer: map[string][]string{}, Prefix: map[string]string{},
		Classifier: live.classifier, MaxOffered: live.cfg.Tools.MaxOffered,
	}
	for name, entry := range live.cfg.MCPServers {
		s.PerServer[name] = entry.Tools
		if entry.Prefix != nil {
			s.Prefix[name] = *entry.Prefix
		}
	}
	return s
}

// Tools returns every tool of every server, offered or not, and why not.
func (g *Gateway) Tools() []tools.Row {
	rows := []tools.Row{}
	for _, entry := range g.catalogue.Load().Entries() {
		if entry.Fault == "" && g.pins.Check(entry.Definition).Changed {
			rows = append(rows, entry.ChangedRow())
			continue
		}
		rows = append(rows, entry.Row())
	}
	return rows
}
