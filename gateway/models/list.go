package models

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	openai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/tidwall/gjson"

	"pointsman/gateway/config"
	"pointsman/gateway/nesting"
)

// Info is one model that can be asked for.
type Info struct {
	config.CatalogueModel
	OwnedBy    string
	Capability bool // a model_list name rather than a model
	Vision     bool // each of its deployments is said to take images (model_info.supports_vision)
}

// List returns every model that can be asked for: the model_list names, the
// catalogue, the default model and what providers were found to have.
func (r *Router) List() []Info {
	var list []Info
	seen := map[string]bool{}
	add := func(info Info) {
		if !seen[info.ID] {
			seen[info.ID] = true
			list = append(list, info)
		}
	}
	for _, d := range r.cfg.ModelList {
		if strings.Contains(d.ModelName, "*") || r.groups[d.ModelName] == nil { // a pattern, which names no model; or nobody serves it
			continue
		}
		add(r.groupInfo(d.ModelName))
	}
	for _, m := range r.catalogue.models {
		if m.Provider == DemoProvider && r.demo == nil {
			continue
		}
		add(Info{CatalogueModel: m, OwnedBy: m.Provider})
	}
	add(Info{CatalogueModel: config.CatalogueModel{ID: r.cfg.DefaultModel}, OwnedBy: r.primary()})
	if f := r.cfg.Fallback; f.Enabled && f.Model != "" {
		add(Info{CatalogueModel: config.CatalogueModel{ID: f.Model}, OwnedBy: "fallback"})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []string
	for id := range r.discovered {
		found = append(found, id)
	}
	slices.Sort(found)
	for _, id := range found {
		add(Info{CatalogueModel: config.CatalogueModel{ID: id}, OwnedBy: r.discovered[id]})
	}
	return list
}

// groupInfo describes a name of model_list by what each of its deployments takes.
func (r *Router) groupInfo(name string) Info {
	info := Info{CatalogueModel: config.CatalogueModel{ID: name, Label: r.cfg.Capabilities[name]}, OwnedBy: "pointsman", Capability: true, Vision: true}
	var window int64
	for i, d := range r.groups[name].Deployments {
		info.Vision = info.Vision && d.vision
		if i == 0 || d.window < window { // one whose window is not known makes that of all unknown
			window = d.window
		}
	}
	if window > 0 {
		info.ContextWindow = &window
	}
	return info
}

// Names returns the ids of List.
func (r *Router) Names() []string {
	var names []string
	for _, info := range r.List() {
		names = append(names, info.ID)
	}
	return names
}

// Discover asks every provider that has `models: {discover: true}` for its
// models. One that does not answer keeps the rest from nothing: its error is
// logged.
func (r *Router) Discover(ctx context.Context) {
	for name, p := range r.cfg.Providers {
		if !p.Models.Discover {
			continue
		}
		ids, err := r.ask(ctx, name)
		if err != nil {
			r.opts.Logger.Warn("asking a provider for its models", "provider", name, "error", err)
			continue
		}
		r.mu.Lock()
		for _, id := range ids {
			r.discovered[id] = name
		}
		r.mu.Unlock()
	}
}

// Inherit takes over how the deployments of an earlier router have been doing
// where they stay the same, and the models that it has found at providers that
// are still to be asked, until they have been. It is called before r is used.
func (r *Router) Inherit(old *Router) {
	r.inheritHealth(old)
	old.mu.Lock()
	found := maps.Clone(old.discovered)
	old.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, provider := range found {
		if _, newer := r.discovered[id]; !newer && r.cfg.Providers[provider].Models.Discover {
			r.discovered[id] = provider
		}
	}
}

// ask returns the model ids of a provider's GET /models.
func (r *Router) ask(ctx context.Context, provider string) ([]string, error) {
	d, err := r.at(provider, "")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, d.Timeout, errTimeout)
	defer cancel()
	opts, err := r.requestOptions(ctx, d)
	if err != nil {
		return nil, err
	}
	var reply *http.Response
	client := openai.Client{Options: opts}
	err = client.Get(ctx, "models", nil, &reply)
	if reply == nil {
		return nil, fmt.Errorf("GET %smodels: %w", d.BaseURL, err)
	}
	defer reply.Body.Close()
	body, err := readAll(reply.Body, reply.ContentLength)
	if err != nil {
		return nil, fmt.Errorf("reading GET %smodels: %w", d.BaseURL, err)
	}
	if reply.StatusCode >= 300 {
		return nil, d.fromStatus(reply.StatusCode, reply.Header, body)
	}
	return d.idsIn(body)
}

// idsIn reads a list of models. Some providers send the list alone, without
// {"data": …} around it.
func (d *Deployment) idsIn(body []byte) ([]string, error) {
	list := gjson.ParseBytes(body)
	if !list.IsArray() {
		list = list.Get("data")
	}
	if nesting.TooDeep(body) || !gjson.ValidBytes(body) || !list.IsArray() {
		return nil, d.malformed("its list of models is not a JSON object: " + cut(saidBy(body), 200))
	}
	var ids []string
	for _, model := range list.Array() {
		if id := model.Get("id").String(); id != "" {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// requestOptions are openai-go's options for a deployment. The client is made
// without openai.NewClient, which would read OPENAI_* variables and send the
// user's OpenAI key to any provider.
func (r *Router) requestOptions(ctx context.Context, d *Deployment) ([]option.RequestOption, error) {
	header := http.Header{"User-Agent": {r.opts.UserAgent}}
	if err := r.addCredentials(ctx, d, header); err != nil {
		return nil, err
	}
	opts := []option.RequestOption{option.WithBaseURL(d.BaseURL), option.WithHTTPClient(r.opts.Client), option.WithMaxRetries(0)}
	for name := range header {
		opts = append(opts, option.WithHeader(name, header.Get(name)))
	}
	return opts, nil
}
