package gateway

import (
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/ask"
	"pointsman/gateway/config"
	"pointsman/gateway/models"
	"pointsman/gateway/models/demo"
	"pointsman/gateway/owntools"
	"pointsman/gateway/policy"
	"pointsman/gateway/responses"
	"pointsman/gateway/servers/diagnostics"
	"pointsman/gateway/tools"
)

// live is what follows from one configuration. It never changes.
type live struct {
	cfg        *config.Config
	router     *models.Router
	asker      *ask.Asker
	classifier *tools.Classifier
	policy     *policy.Policy
	own        *owntools.Set
}

// applyLatest puts in force what the store has now. That is the latest of all
// changes, whoever tells of one first: an older one never comes back.
func (g *Gateway) applyLatest() error {
	g.applying.Lock()
	defer g.applying.Unlock()
	cfg := g.store.Config()
	old := g.live.Load()
	if cfg == old.cfg && reflect.DeepEqual(g.opts.Policy(), old.policy) {
		return nil
	}
	if err := g.apply(cfg); err != nil {
		return err
	}
	if !reflect.DeepEqual(old.cfg.Providers, cfg.Providers) {
		g.background(g.discover)
	}
	return nil
}

// background runs f, unless the gateway closes, which waits for it.
func (g *Gateway) background(f func()) {
	g.entering.Lock()
	defer g.entering.Unlock()
	if g.stopping.Err() == nil {
		g.running.Go(f)
	}
}

// apply puts a configuration in force, touching only what differs.
func (g *Gateway) apply(cfg *config.Config) error {
	next := &live{cfg: cfg, policy: g.opts.Policy()}
	err := config.Faults(next.policy.Check(cfg))
	if err != nil {
		g.demandApprovals()
		return err
	}
	if next.router, err = models.NewRouter(cfg, g.routerOptions()); err != nil {
		return err
	}
	next.asker = ask.New(cfg, next.router)
	if next.classifier, err = tools.NewClassifier(cfg.Tools.Risky, cfg.Tools.Safe); err != nil {
		return fmt.Errorf("reading tools.risky and tools.safe: %w", err)
	}
	if next.own, err = owntools.New(cfg.Integrations, next.classifier, owntools.Options{
		Gateway: ownGateway{g}, Client: g.client, Version: g.opts.Version, Capabilities: next.asker.Names(),
	}); err != nil {
		return err
	}
	approver, err := approvals.ForMode(cfg.Approvals.Approver, g.person(), cfg.Approvals.Allow, cfg.Approvals.Deny)
	if err != nil {
		return err
	}
	if err := g.rules.Load(fromConfig(cfg.Approvals.Rules)); err != nil {
		g.log.Warn("some remembered approvals are not usable", "error", err)
	}
	for _, secret := range cfg.LiteralSecrets() {
		g.redactor.Add(secret)
	}
	if old := g.live.Load(); old != nil {
		next.router.Inherit(old.router)
	}
	g.live.Store(next)
	g.setLogLevel(cfg.Log.Level)
	g.gate.Configure(approvals.Settings{
		Require: cfg.Approvals.Require, Approver: approver, Person: g.person(), Timeout: time.Duration(cfg.Approvals.Timeout),
	})
	g.host.SetDiagnostics(diagnostics.Level(cfg.Diagnostics.MCP))
	g.host.SetRoots(cfg.Roots)
	if !g.opts.NoMCP {
		g.applyServers(next)
	}
	g.ollama.look()
	g.noteChange()
	return nil
}

// routerOptions are what every router of ours needs from outside.
func (g *Gateway) routerOptions() models.Options {
	options := models.Options{Resolve: g.resolver.Resolve, Client: g.client, Redact: g.redactor.Redact, UserAgent: "pointsman/" + g.opts.Version, Logger: g.log, Changed: g.notices.notify, Responses: responses.Dialect{}}
	if g.opts.Demo {
		options.Demo = demo.Transport{Pace: 25 * time.Millisecond}
	}
	return options
}

// setLogLevel has the log follow the configuration, which was checked.
func (g *Gateway) setLogLevel(name string) {
	var level slog.Level
	if g.opts.LogLevel != nil && level.UnmarshalText([]byte(name)) == nil {
		g.opts.LogLevel.Set(level)
	}
}

// watchConfig puts the file's changes in force as they are made. A change that
// is not valid, or that would loosen a gate, is reported and not applied.
func (g *Gateway) watchConfig() {
	err := g.store.Watch(g.stopping, func(change config.Change) {
		switch {
		case change.Err != nil:
			for fault := range strings.SplitSeq(change.Err.Error(), "\n") {
				g.log.Error("the changed configuration is not valid; the running settings stay", "error", fault)
			}
			g.notices.notify()
			return
		case len(change.Held) > 0:
			g.log.Warn("parts of the changed configuration loosen a gate; they wait for a yes or the next start", "held", change.Held)
		}
		if parts := needRestart(g.began, change.New); len(parts) > 0 && len(needRestart(change.Old, change.New)) > 0 {
			g.log.Warn("parts of the changed configuration take effect at the next start", "parts", parts)
		}
		if err := g.applyLatest(); err != nil {
			g.log.Error("the changed configuration cannot be applied; the running settings stay", "error", err)
		}
		g.notices.notify() // also of what is held, which changes nothing in force
	})
	if err != nil && g.stopping.Err() == nil {
		g.log.Warn("the configuration file is not watched; changes need a restart", "error", err)
	}
}

// needRestart names what differs and is read at the start alone.
func needRestart(old, new *config.Config) []string {
	var parts []string
	if old.Gateway.Listen != new.Gateway.Listen {
		parts = append(parts, "gateway.listen")
	}
	if old.Journal != new.Journal {
		parts = append(parts, "journal")
	}
	return parts
}

// discover asks the providers for their models.
func (g *Gateway) discover() { g.Models().Discover(g.stopping) }
