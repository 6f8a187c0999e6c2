package gateway

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/models"
	"pointsman/gateway/models/demo"
	"pointsman/gateway/tools"
)

// live is what follows from one configuration. It never changes.
type live struct {
	cfg        *config.Config
	router     *models.Router
	classifier *tools.Classifier
}

// apply puts a configuration in force, touching only what differs.
func (g *Gateway) apply(cfg *config.Config) error {
	next := &live{cfg: cfg}
	var err error
	options := models.Options{Resolve: g.resolver.Resolve, Client: g.client, Redact: g.redactor.Redact, UserAgent: "pointsman/" + g.opts.Version, Logger: g.log}
	if g.opts.Demo {
		options.Demo = demo.Transport{Pace: 25 * time.Millisecond}
	}
	if next.router, err = models.NewRouter(cfg, options); err != nil {
		return err
	}
	if next.classifier, err = tools.NewClassifier(cfg.Tools.Risky, cfg.Tools.Safe); err != nil {
		return fmt.Errorf("reading tools.risky and tools.safe: %w", err)
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
	g.gate.Configure(approvals.Settings{
		Require: cfg.Approvals.Require, Approver: approver, Person: g.person(), Timeout: time.Duration(cfg.Approvals.Timeout),
	})
	if !g.opts.NoMCP {
		g.host.Apply(cfg.MCPServers, cfg.DisabledMCPServers)
	}
	g.noteChange()
	return nil
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
			g.log.Warn("parts of the changed configuration loosen a gate; they wait for the next start", "held", change.Held)
		}
		if parts := needRestart(g.began, change.New); len(parts) > 0 && len(needRestart(change.Old, change.New)) > 0 {
			g.log.Warn("parts of the changed configuration take effect at the next start", "parts", parts)
		}
		if err := g.apply(change.New); err != nil {
			g.log.Error("the changed configuration cannot be applied; the running settings stay", "error", err)
			return
		}
		if !reflect.DeepEqual(change.Old.Providers, change.New.Providers) {
			g.running.Go(g.discover)
		}
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
	if !slices.Equal(old.Roots, new.Roots) {
		parts = append(parts, "roots")
	}
	if old.Log != new.Log {
		parts = append(parts, "log")
	}
	return parts
}

// discover asks the providers for their models.
func (g *Gateway) discover() { g.Models().Discover(g.stopping) }
