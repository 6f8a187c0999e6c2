package models

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

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
	// Responses speaks with providers that have the Responses API. If nil, all
	// are asked for chat completions.
	Responses Dialect
	// Redact takes credentials out of what an error says. If nil, nothing is.
	Redact func(text string) string
	// Changed is called when a deployment begins, or ends, to be kept from
	// requests. It must not wait. If nil, nobody is told.
	Changed func()
	// UserAgent is sent to providers.
	UserAgent string
	// Logger takes what is not worth failing for. If nil, nothing is logged.
	Logger *slog.Logger
}

// Router knows who answers a model's name. It is fixed once made, but for the
// models it has discovered and how its deployments have been doing; a new
// configuration makes a new Router, which inherits both.
type Router struct {
	cfg       *config.Config
	catalogue *Catalogue
	opts      Options
	demo      *http.Client
	events    eventPool
	policy    policy
	groups    map[string]*Group // of model_list
	unserved  map[string]*Error // names of model_list whose deployments have no address, and why
	patterns  []*Group          // … whose name holds a "*", the most exact first
	detours   [detours]map[string][]string
	healths   healths

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
	r := &Router{
		cfg: cfg, catalogue: catalogue, opts: opts, discovered: map[string]string{}, groups: map[string]*Group{}, unserved: map[string]*Error{},
		policy: policy{allowedFails: cfg.RouterSettings.AllowedFails, cooldown: seconds(cfg.RouterSettings.CooldownTime)},
	}
	if opts.Demo != nil {
		r.demo = &http.Client{Transport: opts.Demo}
	}
	if p := cfg.DefaultProvider; p != "" && !r.knows(p) {
		return nil, fmt.Errorf("default_provider %q is unknown; known are %s, and every name under providers: with a base_url", p, strings.Join(r.providerNames(), ", "))
	}
	if err := r.addGroups(); err != nil {
		return nil, err
	}
	r.addDetours()
	return r, nil
}

// changed tells of a change, if it is one, in how deployments are doing.
func (r *Router) changed(really bool) {
	if really && r.opts.Changed != nil {
		r.opts.Changed()
	}
}

// UnknownModelError is returned for a name that leads nowhere.
type UnknownModelError struct {
	Name  string
	Known []string
}

func (e *UnknownModelError) Error() string {
	return fmt.Sprintf("the model %q is unknown; known are %s", e.Name, strings.Join(e.Known, ", "))
}

// primary is the provider of models that say nothing about theirs.
func (r *Router) primary() string {
	if r.cfg.DefaultProvider != "" {
		return r.cfg.DefaultProvider
	}
	return "openai"
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
