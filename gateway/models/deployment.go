package models

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pointsman/gateway/config"
)

// Deployment is one place that can answer: a provider's endpoint and a model there.
type Deployment struct {
	Group    string // whose name leads here
	Provider string
	BaseURL  string // ends in a slash
	Model    string // the provider's name of it
	Timeout  time.Duration

	tier      string // the catalogue's tier of the model asked for
	key       config.Secret
	headers   map[string]config.Secret
	params    config.LiteLLMParams // defaults to add where the caller is silent
	local     bool                 // needs no key, as no endpoint on this machine does
	azure     bool                 // the key goes into a header of Azure's own
	offers    offer                // of the Responses API, before it was asked
	query     string               // behind the path, with its "?"; may be ""
	redact    func(string) string  // may be nil
	place     int                  // among the deployments of its group that are its like
	limits    limits               // with router_settings.enable_pre_call_checks alone
	window    int64                // tokens of context; zero: not known
	vision    bool                 // it is said to take images
	health    *health
	ownTime   time.Duration // what one request may take; zero: what is left
	ownStream time.Duration // … of a stream, until it begins
	// inputCost and outputCost are US dollars per token, nil when unknown.
	inputCost, outputCost *float64
}

// Name is how people know the deployment: provider/model.
func (d *Deployment) Name() string { return d.Provider + "/" + d.Model }

// patience is how long one request may take, or a stream until it begins; zero
// says that nobody has set it.
func (d *Deployment) patience(stream bool) time.Duration {
	if stream {
		return cmp.Or(d.ownStream, d.ownTime)
	}
	return d.ownTime
}

// identity tells deployments apart: another address, model or key is another.
func (d *Deployment) identity() string {
	p := d.params
	parts := []string{d.Group, d.Provider, d.BaseURL, d.Model, string(d.key), p.Model, p.APIBase, p.BaseURL, strconv.Itoa(d.place)}
	for _, name := range slices.Sorted(maps.Keys(d.headers)) {
		parts = append(parts, name, string(d.headers[name]))
	}
	return strings.Join(parts, "\x00")
}

// describedBy takes what the catalogue says of the model, unless it is known
// better.
func (d *Deployment) describedBy(m *config.CatalogueModel) {
	if m == nil {
		return
	}
	d.tier, d.inputCost, d.outputCost = m.Tier, m.InputCost, m.OutputCost
	if m.ContextWindow != nil {
		d.window = *m.ContextWindow
	}
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
	d.describedBy(m)
	return d, nil
}

// fromModelList returns the deployment of an entry of model_list.
func (r *Router) fromModelList(entry config.Deployment) (*Deployment, error) {
	p := entry.LiteLLMParams
	base := cmp.Or(p.APIBase, p.BaseURL)
	provider, model := r.providerOf(p.Model)
	d, err := r.at(provider, model)
	if base != "" {
		d, err = r.endpoint(provider, base, model), nil
	}
	if err != nil {
		return nil, err
	}
	if provider == "azure" {
		d.asAzure(p.APIVersion)
	}
	d.asLiteLLMSays(entry.ModelInfo)
	d.describedBy(r.catalogue.Find(model))
	if n := maxInput(entry.ModelInfo); n > 0 {
		d.window = n
	}
	d.vision, _ = entry.ModelInfo["supports_vision"].(bool)
	if p.APIKey != "" {
		d.key = p.APIKey
	}
	d.ownTime = cmp.Or(seconds(p.Timeout), d.ownTime)
	d.ownStream = seconds(p.StreamTimeout)
	d.inputCost, d.outputCost = cmp.Or(p.InputCost, d.inputCost), cmp.Or(p.OutputCost, d.outputCost)
	if len(p.ExtraHeaders) > 0 {
		d.headers = p.ExtraHeaders
	}
	d.params = p
	r.settle(d)
	return d, nil
}

// providerOf splits a model name of LiteLLM's into a provider and the model
// there. What is before a slash is no provider if none has that name.
func (r *Router) providerOf(name string) (provider, model string) {
	prefix, model, ok := strings.Cut(name, "/")
	if ok && (r.knows(prefix) || config.IsProviderPrefix(prefix)) {
		return prefix, model
	}
	if m := r.catalogue.Find(name); m != nil && m.Provider != "" {
		return m.Provider, name
	}
	return r.primary(), name
}

// maxInput is the tokens of context that model_info gives; zero when it does not.
func maxInput(info map[string]any) int64 {
	for _, name := range []string{"max_input_tokens", "max_tokens"} {
		switch n := info[name].(type) {
		case int:
			return int64(n)
		case int64:
			return n
		case float64:
			return int64(n)
		}
	}
	return 0
}

// asAzure makes the endpoint one of Azure's: with an api_version its own shape of
// address and header, without one the v1 API, which is OpenAI's. An address that
// says v1 itself is left as it is.
func (d *Deployment) asAzure(version string) {
	switch {
	case strings.HasSuffix(d.BaseURL, "/v1/"):
	case strings.Contains(d.BaseURL, "/openai/deployments/"):
		d.azure = true
	case version == "" || version == "v1" || version == "latest" || version == "preview":
		d.BaseURL += "openai/v1/"
		d.offers = offered
	default:
		d.BaseURL, d.azure = d.BaseURL+"openai/deployments/"+url.PathEscape(d.Model)+"/", true
	}
	if d.azure && version != "" {
		d.query = "?api-version=" + url.QueryEscape(version)
	}
}

// asLiteLLMSays has a model asked by the Responses API alone that LiteLLM's
// configuration says this of: by its name, or by its mode.
func (d *Deployment) asLiteLLMSays(info map[string]any) {
	name, named := strings.CutPrefix(d.Model, "responses/")
	if named {
		d.Model = name
	}
	if named || info["mode"] == "responses" {
		d.offers = offeredAlone
	}
}

// chatURL is where chat completions are asked for.
func (d *Deployment) chatURL() string { return d.BaseURL + "chat/completions" + d.query }

// responsesURL is where responses are asked for.
func (d *Deployment) responsesURL() string { return d.BaseURL + "responses" + d.query }

// at returns the deployment of a model at a provider that is known by name.
func (r *Router) at(provider, model string) (*Deployment, error) {
	p, configured := r.cfg.Providers[provider]
	if !configured {
		p, configured = r.cfg.Providers[litellmName(provider)]
	}
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
	d.ownTime = time.Duration(p.Timeout)
	r.settle(d)
	return d, nil
}

func (r *Router) endpoint(provider, base, model string) *Deployment {
	d := &Deployment{Provider: provider, BaseURL: strings.TrimRight(base, "/") + "/", Model: model, redact: r.opts.Redact}
	if known, ok := r.known(provider); ok && known.BaseURL+"/" == d.BaseURL {
		d.offers = known.offer()
	}
	r.settle(d)
	return d
}

// settle fills in the times that only the router's settings give.
func (r *Router) settle(d *Deployment) {
	s := r.cfg.RouterSettings
	d.ownStream = cmp.Or(d.ownStream, seconds(s.StreamTimeout))
	d.ownTime = cmp.Or(d.ownTime, seconds(s.Timeout))
	d.Timeout = cmp.Or(d.ownTime, seconds(r.cfg.Limits.RequestTimeoutS))
}

// fallbackDeployment is a model at the endpoint of the configuration's fallback
// section.
func (r *Router) fallbackDeployment(model string) *Deployment {
	f := r.cfg.Fallback
	d := r.endpoint("fallback", f.BaseURL, model)
	d.key, d.ownTime = f.APIKey, time.Duration(f.Timeout)
	d.describedBy(r.catalogue.Find(model))
	r.settle(d)
	return d
}

// isReference reports whether text is looked up when a request is made.
func isReference(text string) bool { return config.Secret(text).IsReference() }

// located returns the deployment with the references in its address and model
// replaced by what they stand for now.
func (r *Router) located(ctx context.Context, d *Deployment) (*Deployment, error) {
	p := d.params
	base := strings.TrimSuffix(d.BaseURL, "/")
	if !isReference(p.Model) && !isReference(base) {
		return d, nil
	}
	now := *d
	if p.Model == "" { // a provider's own
		var err error
		if base, err = r.opts.Resolve(ctx, base); err != nil {
			return nil, d.noKey(fmt.Errorf("its address: %w", err))
		}
		now.BaseURL = strings.TrimRight(base, "/") + "/"
		return &now, nil
	}
	for _, text := range []*string{&p.Model, &p.APIBase, &p.BaseURL} {
		value, err := r.opts.Resolve(ctx, *text)
		if err != nil {
			return nil, d.noKey(fmt.Errorf("its address or model: %w", err))
		}
		*text = value
	}
	made, err := r.fromModelList(config.Deployment{ModelName: d.Group, LiteLLMParams: p})
	if err != nil {
		return nil, err
	}
	now = *made
	now.Group, now.place, now.health, now.limits, now.window = d.Group, d.place, d.health, d.limits, cmp.Or(d.window, made.window)
	return &now, nil
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
