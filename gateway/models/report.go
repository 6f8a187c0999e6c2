package models

import (
	"maps"
	"slices"
	"time"
)

// DeploymentHealth tells how one deployment is doing: an element of
// `models health --json`.
type DeploymentHealth struct {
	Group      string     `json:"group"`      // the name that leads there
	Deployment string     `json:"deployment"` // provider/model
	Provider   string     `json:"provider"`
	Model      string     `json:"model"`    // the provider's name of it
	BaseURL    string     `json:"base_url"` // credentials redacted
	State      State      `json:"state"`
	Until      *time.Time `json:"until"`     // until when it is not asked; null when it is
	InFlight   int        `json:"in_flight"` // requests under way, streams to their end
	Requests   int64      `json:"requests"`  // since the start
	Failures   int64      `json:"failures"`  // of the deployment, not of its callers
	LastError  *Failure   `json:"last_error"`
	Share      float64    `json:"share"` // of the group's requests, from 0 to 1, while all are healthy
	// Prices are US dollars per token, null when they are not known.
	InputCost  *float64 `json:"input_cost_per_token"`
	OutputCost *float64 `json:"output_cost_per_token"`
}

// Health tells of every deployment of model_list, of the default model's, and of
// every other that was asked since the start. It asks nobody.
func (r *Router) Health() []DeploymentHealth {
	report, told := []DeploymentHealth{}, map[*health]bool{}
	add := func(g *Group) {
		total := 0.0
		for _, weight := range g.weights {
			total += weight
		}
		for i, d := range g.Deployments {
			if !told[d.health] {
				told[d.health] = true
				row := d.report(time.Now())
				row.Share = g.weights[i] / total
				report = append(report, row)
			}
		}
	}
	for _, entry := range r.cfg.ModelList {
		if g := r.groups[entry.ModelName]; g != nil {
			add(g)
		}
	}
	if g, err := r.group(r.cfg.DefaultModel); err == nil {
		add(g)
	}
	known := r.healths.all()
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if d := known[key]; d.health.asked() {
			add(newGroup(d.Group, d))
		}
	}
	return report
}

// asked reports whether anything was ever sent there.
func (h *health) asked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests > 0
}

func (d *Deployment) report(now time.Time) DeploymentHealth {
	h := d.health
	h.mu.Lock()
	defer h.mu.Unlock()
	state, until := h.stateLocked(now, d.limits)
	row := DeploymentHealth{
		Group: d.Group, Deployment: d.Name(), Provider: d.Provider, Model: d.Model, BaseURL: d.BaseURL, State: state,
		InFlight: h.inFlight, Requests: h.requests, Failures: h.failures, LastError: h.last, InputCost: d.inputCost, OutputCost: d.outputCost,
	}
	if d.redact != nil {
		row.BaseURL = d.redact(row.BaseURL)
	}
	if !until.IsZero() && state != Trying {
		row.Until = &until
	}
	return row
}

// Forgive lets requests through again to deployments that refused our key, since
// it may be another now.
func (r *Router) Forgive() {
	for _, d := range r.healths.all() {
		d.health.forgive()
	}
}
