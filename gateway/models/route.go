package models

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pointsman/gateway/config"
)

// Route is who answers one request: the deployments of a name, and the deadline
// that they and those behind them share.
type Route struct {
	Name string // as the caller asked
	// Fit, if not nil, changes the body of each request for the deployment that it
	// goes to, before the deployment's own quirks do.
	Fit func(d *Deployment, body *Body)
	// Responses says that the caller speaks the Responses API: the body holds what
	// Dialect turns into a request, and the reply carries what the caller has a
	// use for beyond a chat completion.
	Responses bool
	// Deadline, if not zero, is when all requests of the route must have ended,
	// those of Do's later calls included.
	Deadline time.Time

	group    *Group
	patience time.Duration
}

// Group is the deployments that share a name. It is fixed once made, but for
// how requests are shared out.
type Group struct {
	Name        string
	Deployments []*Deployment

	weights []float64
	balance *balance
}

// First returns the deployment that stands for the route where only one can be
// shown.
func (r *Route) First() *Deployment { return r.group.Deployments[0] }

// FallsBack reports whether a deployment stands in for those that the route
// begins with.
func (r *Route) FallsBack(d *Deployment) bool { return d.Group != r.group.Name }

// GroupName returns the name that an alias stands for; any other name as it is.
func (r *Router) GroupName(name string) string { return r.unaliased(name) }

// Fallbacks returns the names of the groups that are asked when those of a name
// have failed, in order.
func (r *Router) Fallbacks(name string) []string {
	return append([]string{}, r.after(r.unaliased(name), onFailure)...)
}

// newGroup makes a group of deployments that have their health.
func newGroup(name string, deployments ...*Deployment) *Group {
	return &Group{Name: name, Deployments: deployments, weights: weights(deployments), balance: &balance{credit: make([]float64, len(deployments))}}
}

// detour is why a request goes to another group.
type detour int

const (
	onFailure detour = iota // router_settings.fallbacks, default_fallbacks
	onLength                // context_window_fallbacks
	onPolicy                // content_policy_fallbacks
	detours
)

// addGroups makes the groups of model_list.
func (r *Router) addGroups() error {
	members := map[string][]*Deployment{}
	seen := map[string]int{}
	var order []string
	for _, entry := range r.cfg.ModelList {
		d, err := r.fromModelList(entry)
		if e := (*Error)(nil); errors.As(err, &e) && e.Code == NoDeployment {
			r.unserved[entry.ModelName] = e
			continue
		}
		if err != nil {
			return fmt.Errorf("model_list: %q: %w", entry.ModelName, err)
		}
		d.Group = entry.ModelName
		if p := entry.LiteLLMParams; r.cfg.RouterSettings.EnablePreCallChecks {
			d.limits = limits{requests: value(p.RPM), tokens: value(p.TPM)}
		}
		like := d.identity()
		d.place = seen[like]
		seen[like]++
		r.healths.adopt(d)
		if members[d.Group] == nil {
			order = append(order, d.Group)
		}
		members[d.Group] = append(members[d.Group], d)
	}
	for _, name := range order {
		delete(r.unserved, name) // the others serve it
		r.groups[name] = newGroup(name, members[name]...)
		if strings.Contains(name, "*") {
			r.patterns = append(r.patterns, r.groups[name])
		}
	}
	slices.SortStableFunc(r.patterns, func(a, b *Group) int { return cmp.Compare(len(b.Name), len(a.Name)) })
	return nil
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// addDetours notes which groups are asked in whose place.
func (r *Router) addDetours() {
	s := r.cfg.RouterSettings
	for why, lists := range [detours][]map[string][]string{onFailure: s.Fallbacks, onLength: s.ContextWindowFallbacks, onPolicy: s.ContentPolicyFallbacks} {
		r.detours[why] = map[string][]string{}
		for _, list := range lists {
			for name, to := range list {
				name = r.unaliased(name)
				r.detours[why][name] = append(r.detours[why][name], to...)
			}
		}
	}
}

// after returns the names of the groups that are asked in the place of the one
// of that name, in order.
func (r *Router) after(name string, why detour) []string {
	if to, ok := r.detours[why][name]; ok {
		return to
	}
	if to, ok := r.detours[why]["*"]; ok {
		return to
	}
	if why == onFailure {
		return r.cfg.RouterSettings.DefaultFallbacks
	}
	return nil
}

func (r *Router) unaliased(name string) string {
	if alias, ok := r.cfg.RouterSettings.ModelGroupAlias[name]; ok {
		return alias
	}
	return name
}

// Resolve returns the route of a model id, an alias, a model_list name or
// provider/model. An empty name means the default model. It returns an
// *UnknownModelError for any other name, or an *Error when the model is known
// and nothing is set up to serve it.
func (r *Router) Resolve(name string) (*Route, error) {
	if name == "" {
		name = r.cfg.DefaultModel
	}
	group, err := r.group(name)
	if err != nil {
		return nil, err
	}
	return r.route(name, group), nil
}

// route returns the route that begins at a group. Its deadline is that of
// limits.request_timeout_s, unless one of the group is set to take longer.
func (r *Router) route(name string, group *Group) *Route {
	patience := seconds(r.cfg.Limits.RequestTimeoutS)
	for _, d := range group.Deployments {
		patience = max(patience, d.ownTime)
	}
	return &Route{Name: name, group: group, patience: patience}
}

// group returns the deployments that a name leads to.
func (r *Router) group(name string) (*Group, error) {
	name = r.unaliased(name)
	if g, ok := r.groups[name]; ok && !strings.Contains(name, "*") {
		return g, nil
	}
	if e, ok := r.unserved[name]; ok {
		return nil, e
	}
	if name != DemoProvider {
		for _, pattern := range r.patterns {
			if captured, ok := matches(pattern.Name, name); ok {
				return pattern.filledIn(r, captured), nil
			}
		}
	}
	if g := r.healths.group(name); g != nil {
		return g, nil
	}
	d, err := r.single(name)
	if err != nil {
		return nil, err
	}
	d.Group = name
	r.healths.adopt(d)
	g := newGroup(name, d)
	if _, found := r.discoveredProvider(name); !found { // where that is may change
		r.healths.keep(name, g)
	}
	return g, nil
}

// matches reports whether a name fits a pattern with one "*", and what stands in
// its place.
func matches(pattern, name string) (captured string, ok bool) {
	before, behind, _ := strings.Cut(pattern, "*")
	if len(name) < len(before)+len(behind) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, behind) {
		return "", false
	}
	return name[len(before) : len(name)-len(behind)], true
}

// filledIn returns the group of a pattern for a name, with what the "*" stands
// for in the models' names. How its deployments do is the pattern's own.
func (g *Group) filledIn(r *Router, captured string) *Group {
	filled := *g
	filled.Deployments = make([]*Deployment, len(g.Deployments))
	for i, d := range g.Deployments {
		own := *d
		text := captured
		if known := r.catalogue.Find(captured); known != nil {
			text = known.ID
		}
		text = strings.TrimPrefix(text, d.Provider+"/")
		own.Model = strings.Replace(d.Model, "*", text, 1)
		if d.azure {
			own.BaseURL = strings.Replace(d.BaseURL, "%2A", text, 1)
		}
		if own.inputCost == nil {
			own.describedBy(r.catalogue.Find(own.Model))
		}
		filled.Deployments[i] = &own
	}
	return &filled
}

// single returns the deployment of a name that model_list does not have.
func (r *Router) single(name string) (*Deployment, error) {
	if m := r.catalogue.Find(name); m != nil && (m.Provider != DemoProvider || r.demo != nil) {
		return r.fromCatalogue(m)
	}
	if glm(name) {
		return r.fromCatalogue(&config.CatalogueModel{ID: name, Provider: "zai"})
	}
	if provider, model, ok := strings.Cut(name, "/"); ok && r.knows(provider) {
		return r.at(provider, model)
	}
	if name == r.cfg.DefaultModel {
		return r.at(r.primary(), name)
	}
	if f := r.cfg.Fallback; f.Enabled && name == f.Model {
		return r.fallbackDeployment(name), nil
	}
	if provider, ok := r.discoveredProvider(name); ok {
		return r.at(provider, name)
	}
	return nil, &UnknownModelError{Name: name, Known: r.Names()}
}

// lastResort returns the deployment of the configuration's fallback section that
// is asked when the groups have failed, or nil. instead is who was asked first.
func (r *Router) lastResort(instead *Deployment) *Group {
	f := r.cfg.Fallback
	if !f.Enabled || f.BaseURL == "" || instead.Provider == DemoProvider {
		return nil
	}
	model := cmp.Or(f.Model, instead.Model)
	d := r.fallbackDeployment(model)
	if d.BaseURL == instead.BaseURL && d.Model == instead.Model {
		return nil
	}
	d.Group = "fallback"
	r.healths.adopt(d)
	return newGroup(d.Group, d)
}

// inheritHealth has deployments that stayed the same go on as they were.
func (r *Router) inheritHealth(old *Router) {
	known := old.healths.all()
	for _, key := range slices.Sorted(maps.Keys(known)) {
		was := known[key]
		var group *Group
		if g, ok := r.groups[was.Group]; ok {
			group = g
		} else if was.Provider == "fallback" {
			group = newGroup(was.Group, r.fallbackLike(was))
		} else if g, err := r.group(was.Group); err == nil {
			group = g
		} else {
			continue
		}
		for _, d := range group.Deployments {
			if d.identity() == key {
				r.healths.share(d, was.health)
			}
		}
	}
}

// fallbackLike is the deployment of the fallback section for the model of
// another one.
func (r *Router) fallbackLike(was *Deployment) *Deployment {
	d := r.fallbackDeployment(was.Model)
	d.Group = was.Group
	return d
}
