package models

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"pointsman/gateway/config"
)

// DemoProvider is the name of the scripted, offline provider.
const DemoProvider = "demo"

// Options are what a Router needs from outside.
type Options struct {
	// Resolve turns a secret reference into its value. Required.
	Resolve func(ctx context.Context, ref string) (string, error)
	// Client makes the requests. If nil, NewHTTPClient(). It is shared by all
	// routers of a gateway so that connections outlive a configuration change.
	Client *http.Client
	// Demo answers requests to the demo provider. If nil, there is none.
	Demo http.RoundTripper
	// Redact takes credentials out of what an error says. If nil, nothing is.
	Redact func(text string) string
	// UserAgent is sent to providers.
	UserAgent string
	// Logger takes what is not worth failing for. If nil, nothing is logged.
	Logger *slog.Logger
}

// Router knows who answers a model's name. It is fixed once made, but for the
// models it has discovered; a new configuration makes a new Router.
type Router struct {
	cfg       *config.Config
	catalogue *Catalogue
	opts      Options
	demo      *http.Client
	events    eventPool

	mu         sync.Mutex        // guards discovered
	discovered map[string]string // model id → provider
}

// NewHTTPClient returns a client fit for model providers: many kept connections,
// no compression (replies are forwarded as they come), and no time-out of its
// own, since every request carries its deadline.
func NewHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = 0
	transport.MaxIdleConnsPerHost = 256
	transport.DisableCompression = true
	transport.WriteBufferSize = 64 << 10
	transport.ReadBufferSize = 64 << 10
	return &http.Client{Transport: transport}
}

// NewRouter returns a router for cfg. It refuses an unknown default provider.
func NewRouter(cfg *config.Config, opts Options) (*Router, error) {
	catalogue, err := NewCatalogue(cfg.Models)
	if err != nil {
		return nil, err
	}
	if opts.Client == nil {
		opts.Client = NewHTTPClient()
	}
	opts.Client = staying(opts.Client)
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Router{cfg: cfg, catalogue: catalogue, opts: opts, discovered: map[string]string{}}
	if opts.Demo != nil {
		r.demo = &http.Client{Transport: opts.Demo}
	}
	if p := cfg.DefaultProvider; p != "" && !r.knows(p) {
		return nil, fmt.Errorf("default_provider %q is unknown; known are %s, and every name under providers: with a base_url", p, strings.Join(r.providerNames(), ", "))
	}
	return r, nil
}

// Deployment is one place that can answer: a provider's endpoint and a model there.
type Deployment struct {
	Provider string
	BaseURL  string // ends in a slash
	Model    string // the provider's name of it
	Timeout  time.Duration

	tier    string // the catalogue's tier of the model asked for
	key     config.Secret
	headers map[string]config.Secret
	params  config.LiteLLMParams // defaults to add where the caller is silent
	local   bool                 // needs no key, as no endpoint on this machine does
	redact  func(string) string  // may be nil
	// inputCost and outputCost are US dollars per token, nil when unknown.
	inputCost, outputCost *float64
}

// Route is who answers one request: the first, then the ones to fall back to.
type Route struct {
	Name        string // as the caller asked
	Deployments []*Deployment
}

// UnknownModelError is returned for a name that leads nowhere.
type UnknownModelError struct {
	Name  string
	Known []string
}

func (e *UnknownModelError) Error() string {
	return fmt.Sprintf("the model %q is unknown; known are %s", e.Name, strings.Join(e.Known, ", "))
}

// Resolve returns the route of a model id, an alias, a model_list name or
// provider/model. An empty name means the default model. It returns an
// *UnknownModelError for any other name, or an *Error when the model is known
// and nothing is set up to serve it.
func (r *Router) Resolve(name string) (*Route, error) {
	if name == "" {
		name = r.cfg.DefaultModel
	}
	first, err := r.deployment(name)
	if err != nil {
		return nil, err
	}
	route := &Route{Name: name, Deployments: []*Deployment{first}}
	if second := r.fallback(first); second != nil {
		route.Deployments = append(route.Deployments, second)
	}
	return route, nil
}

func (r *Router) deployment(name string) (*Deployment, error) {
	if alias, ok := r.cfg.RouterSettings.ModelGroupAlias[name]; ok {
		name = alias
	}
	for i := range r.cfg.ModelList {
		if r.cfg.ModelList[i].ModelName == name {
			return r.fromModelList(r.cfg.ModelList[i].LiteLLMParams)
		}
	}
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

// primary is the provider of models that say nothing about theirs.
func (r *Router) primary() string {
	if r.cfg.DefaultProvider != "" {
		return r.cfg.DefaultProvider
	}
	return "openai"
}

func (r *Router) fromCatalogue(m *config.CatalogueModel) (*Deployment, error) {
	provider := m.Provider
	if provider == "" {
		provider = r.primary()
	}
	if primary := r.cfg.DefaultProvider; primary != "" && provider != DemoProvider {
		if _, configured := r.cfg.Providers[provider]; gpt6(m.ID) || !configured && !glm(m.ID) {
			provider = primary
		}
	}
	if _, configured := r.cfg.Providers[provider]; glm(m.ID) && !configured && r.cfg.Fallback.BaseURL != "" {
		return r.fallbackDeployment(m.ID), nil
	}
	d, err := r.at(provider, m.ID)
	if err != nil {
		return nil, err
	}
	d.tier, d.inputCost, d.outputCost = m.Tier, m.InputCost, m.OutputCost
	return d, nil
}

func (r *Router) fromModelList(p config.LiteLLMParams) (*Deployment, error) {
	provider, model, ok := strings.Cut(p.Model, "/")
	if !ok || !r.knows(provider) && p.APIBase == "" && p.BaseURL == "" {
		provider, model = r.primary(), p.Model
		if m := r.catalogue.Find(model); m != nil && m.Provider != "" {
			provider = m.Provider
		}
	}
	d, err := r.at(provider, model)
	if base := cmp.Or(p.APIBase, p.BaseURL); base != "" {
		d, err = r.endpoint(provider, base, model), nil
	}
	if err != nil {
		return nil, err
	}
	if m := r.catalogue.Find(model); m != nil {
		d.tier, d.inputCost, d.outputCost = m.Tier, m.InputCost, m.OutputCost
	}
	if p.APIKey != "" {
		d.key = p.APIKey
	}
	if p.Timeout > 0 {
		d.Timeout = seconds(p.Timeout)
	}
	if p.InputCost != nil {
		d.inputCost = p.InputCost
	}
	if p.OutputCost != nil {
		d.outputCost = p.OutputCost
	}
	d.headers, d.params = p.ExtraHeaders, p
	return d, nil
}

// at returns the deployment of a model at a provider that is known by name.
func (r *Router) at(provider, model string) (*Deployment, error) {
	p, configured := r.cfg.Providers[provider]
	known, isKnown := r.known(provider)
	base := cmp.Or(p.BaseURL, known.BaseURL)
	if base == "" {
		return nil, &Error{
			Code: NoDeployment, Status: http.StatusServiceUnavailable,
			Message: fmt.Sprintf("nothing serves the model %q: the provider %q has no base_url; add it under providers: in %s", model, provider, "config.yaml"),
		}
	}
	d := r.endpoint(provider, base, model)
	d.key, d.headers = p.APIKey, p.Headers
	d.local = known.Local || configured && !isKnown
	if p.Timeout > 0 {
		d.Timeout = time.Duration(p.Timeout)
	}
	return d, nil
}

func (r *Router) endpoint(provider, base, model string) *Deployment {
	return &Deployment{
		Provider: provider,
		BaseURL:  strings.TrimRight(base, "/") + "/",
		Model:    model,
		Timeout:  seconds(r.cfg.Limits.RequestTimeoutS),
		redact:   r.opts.Redact,
	}
}

// fallback returns where to go when first fails, or nil.
func (r *Router) fallback(first *Deployment) *Deployment {
	f := r.cfg.Fallback
	if !f.Enabled || f.BaseURL == "" || first.Provider == DemoProvider {
		return nil
	}
	model := f.Model
	if model == "" {
		model = first.Model
	}
	second := r.fallbackDeployment(model)
	if second.BaseURL == first.BaseURL && second.Model == first.Model {
		return nil
	}
	return second
}

func (r *Router) fallbackDeployment(model string) *Deployment {
	f := r.cfg.Fallback
	d := r.endpoint("fallback", f.BaseURL, model)
	d.key = f.APIKey
	if f.Timeout > 0 {
		d.Timeout = time.Duration(f.Timeout)
	}
	if m := r.catalogue.Find(model); m != nil {
		d.tier, d.inputCost, d.outputCost = m.Tier, m.InputCost, m.OutputCost
	}
	return d
}

// known returns the built-in endpoint of a provider's name.
func (r *Router) known(name string) (KnownProvider, bool) {
	if name == DemoProvider && r.demo != nil {
		return KnownProvider{BaseURL: "http://demo.localhost/v1", Local: true}, true
	}
	p, ok := r.catalogue.providers[litellmName(name)]
	return p, ok
}

// litellmName maps LiteLLM's prefixes to our providers' names.
func litellmName(prefix string) string {
	switch prefix {
	case "ollama_chat":
		return "ollama"
	case "lm_studio":
		return "lmstudio"
	default:
		return prefix
	}
}

func (r *Router) knows(provider string) bool {
	_, configured := r.cfg.Providers[provider]
	_, known := r.known(provider)
	return configured || known
}

func (r *Router) providerNames() []string {
	var names []string
	for name := range r.catalogue.providers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r *Router) discoveredProvider(model string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	provider, ok := r.discovered[model]
	return provider, ok
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// loopback reports whether a base URL points at this machine.
func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	switch host := u.Hostname(); {
	case host == "localhost", host == "::1", strings.HasPrefix(host, "127."), strings.HasSuffix(host, ".localhost"):
		return true
	default:
		return false
	}
}
