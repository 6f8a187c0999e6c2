package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

func (v *validator) deployments(c *Config) {
	for i, d := range c.ModelList {
		path := fmt.Sprintf("model_list[%d]", i)
		if d.ModelName == "" {
			v.faultAt(path+".model_name", path, "a deployment needs a model_name")
		}
		params := path + ".litellm_params"
		v.url(params+".api_base", d.LiteLLMParams.APIBase)
		v.url(params+".base_url", d.LiteLLMParams.BaseURL)
		v.deploymentModel(c, path, d.LiteLLMParams)
		for name, n := range map[string]*int64{"rpm": d.LiteLLMParams.RPM, "tpm": d.LiteLLMParams.TPM, "max_tokens": d.LiteLLMParams.MaxTokens} {
			if n != nil && *n == 0 {
				v.fault(params+"."+name, "must be above zero: with 0 this deployment could answer nothing")
			}
		}
	}
}

// deploymentModel checks that a deployment says what it is and where.
func (v *validator) deploymentModel(c *Config, path string, p LiteLLMParams) {
	base := cmp.Or(p.APIBase, p.BaseURL)
	prefix, _, has := strings.Cut(p.Model, "/")
	_, configured := c.Providers[prefix]
	at := path + ".litellm_params.model"
	switch {
	case p.Model == "":
		v.faultAt(at, path, "a deployment needs litellm_params.model, such as openai/gpt-6-sol")
	case !has || base != "" || configured || knownAddress(prefix) || isWholeRef(p.Model):
	case litellmPrefixes[prefix]:
		fault := v.fault(at, "models of %q need an api_base: the address of an OpenAI-compatible API that has them", prefix)
		if ownAPI[prefix] && len(c.Capabilities) == 0 { // a file of LiteLLM's, whose other deployments work
			fault.Message += "; this deployment is left out"
			fault.Warning = true
		}
	default:
		fault := v.fault(at, "provider %q is unknown and there is no api_base", prefix)
		fault.Nearest = Nearest(prefix, knownProviders)
		fault.Allowed = append(KnownProviders(), "a name under providers", "any other with an api_base")
	}
}

// routing checks what refers to groups of deployments.
func (v *validator) routing(c *Config) {
	v.capabilities(c)
	s := c.RouterSettings
	for alias, to := range s.ModelGroupAlias {
		v.leadsSomewhere(c, join("router_settings.model_group_alias", alias), to, "alias %q leads to %q, which no model or model_list name is", alias, to)
	}
	for key, lists := range map[string][]map[string][]string{
		"fallbacks": s.Fallbacks, "context_window_fallbacks": s.ContextWindowFallbacks, "content_policy_fallbacks": s.ContentPolicyFallbacks,
	} {
		own := map[string][]string{}
		for i, list := range lists {
			for _, name := range slices.Sorted(maps.Keys(list)) {
				v.fallback(c, join(fmt.Sprintf("router_settings.%s[%d]", key, i), name), name, list[name])
				own[c.unaliased(name)] = append(own[c.unaliased(name)], list[name]...)
			}
		}
		v.cycles(c, "router_settings."+key, own)
	}
	for i, name := range s.DefaultFallbacks {
		v.leadsSomewhere(c, fmt.Sprintf("router_settings.default_fallbacks[%d]", i), name, "falls back to %q, which no model or model_list name is", name)
	}
	v.bounds(c)
}

// capabilities checks that what is declared can be asked for, and that nothing
// else can when anything is.
func (v *validator) capabilities(c *Config) {
	if len(c.Capabilities) == 0 {
		return
	}
	declared := slices.Sorted(maps.Keys(c.Capabilities))
	for i, d := range c.ModelList {
		if _, ok := c.Capabilities[d.ModelName]; !ok && d.ModelName != "" && !strings.Contains(d.ModelName, "*") {
			path := fmt.Sprintf("model_list[%d]", i)
			fault := v.faultAt(path+".model_name", path, "a deployment for %q, which is not under capabilities; declare it there, or give the deployment one of their names", d.ModelName)
			fault.Nearest, fault.Allowed = Nearest(d.ModelName, declared), declared
		}
	}
	for _, name := range declared {
		if !c.deploys(c.unaliased(name)) {
			fault := v.fault(join("capabilities", name), "the capability %q has no deployment; add one to model_list with model_name: %s", name, name)
			fault.Nearest = Nearest(name, c.groupNames())
		}
	}
}

// ladder checks the models that a debug marathon's questions climb.
func (v *validator) ladder(c *Config) {
	const path = "marathon.ladder"
	if n := len(c.Marathon.Ladder); n < 1 || n > maxRungs {
		v.fault(path, "the ladder has %d models; it must have 1 to %d", n, maxRungs)
	}
	for i, name := range c.Marathon.Ladder {
		v.leadsSomewhere(c, fmt.Sprintf("%s[%d]", path, i), name, "%q is no model and no model_list name, so no question can be put to it", name)
	}
}

// maxRungs is how long marathon.ladder may be: each of its models is asked each
// question, with all that was answered before.
const maxRungs = 10

// fallback checks one entry: that what falls back and what stands in are there.
func (v *validator) fallback(c *Config, path, name string, to []string) {
	if name != "*" && !c.leads(name) {
		fault := v.fault(path, "%q is no model and no model_list name, so it never falls back", name)
		fault.Warning, fault.Nearest = true, Nearest(name, c.groupNames())
	}
	for i, target := range to {
		at := fmt.Sprintf("%s[%d]", path, i)
		if c.unaliased(target) == c.unaliased(name) {
			v.fault(at, "%q falls back to itself", name)
			continue
		}
		v.leadsSomewhere(c, at, target, "%q falls back to %q, which no model or model_list name is", name, target)
	}
}

// leadsSomewhere reports a name that leads nowhere. What providers are found to
// have is not known yet, so that it may still be there.
func (v *validator) leadsSomewhere(c *Config, path, name, format string, args ...any) {
	if c.leads(name) {
		return
	}
	fault := v.fault(path, format, args...)
	fault.Nearest = Nearest(name, c.groupNames())
	for _, p := range c.Providers {
		fault.Warning = fault.Warning || p.Models.Discover
	}
	if fault.Nearest == "" {
		fault.Allowed = c.groupNames()
	}
}

// leads reports whether a model can be asked for by that name.
func (c *Config) leads(name string) bool {
	name = c.unaliased(name)
	prefix, _, slashed := strings.Cut(name, "/")
	_, configured := c.Providers[prefix]
	return slices.Contains(knownModels, name) || strings.HasPrefix(name, "glm-") || slashed && (configured || knownAddress(prefix)) ||
		name == c.DefaultModel || c.Fallback.Enabled && name == c.Fallback.Model || c.deploys(name) ||
		slices.ContainsFunc(c.Models, func(m CatalogueModel) bool { return m.ID == name || slices.Contains(m.Aliases, name) })
}

// deploys reports whether a deployment of model_list has that name, or a pattern
// that it fits.
func (c *Config) deploys(name string) bool {
	return slices.ContainsFunc(c.ModelList, func(d Deployment) bool {
		before, behind, pattern := strings.Cut(d.ModelName, "*")
		return d.ModelName == name || pattern && strings.HasPrefix(name, before) && strings.HasSuffix(name, behind)
	})
}

func (c *Config) unaliased(name string) string {
	return cmp.Or(c.RouterSettings.ModelGroupAlias[name], name)
}

// groupNames are the names of model_list and the aliases.
func (c *Config) groupNames() []string {
	names := slices.Collect(maps.Keys(c.RouterSettings.ModelGroupAlias))
	for _, d := range c.ModelList {
		names = append(names, d.ModelName)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// cycles reports groups that fall back to each other in a circle, once each.
func (v *validator) cycles(c *Config, path string, to map[string][]string) {
	done := map[string]bool{}
	var visit func(name string, way []string)
	visit = func(name string, way []string) {
		if at := slices.Index(way, name); at >= 0 {
			if len(way)-at > 1 { // one that falls back to itself is told of already
				circle := append(slices.Clone(way[at:]), name)
				v.faultAt(v.fallbackPath(c, path, way[len(way)-1]), path, "the fallbacks go in a circle: %s; take one out", strings.Join(circle, " → "))
			}
			return
		}
		if done[name] {
			return
		}
		for _, next := range to[name] {
			visit(c.unaliased(next), append(slices.Clone(way), name))
		}
		done[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(to)) {
		visit(name, nil)
	}
}

// fallbackPath is where the fallbacks of a group stand.
func (v *validator) fallbackPath(c *Config, path, name string) string {
	if v.decoded == nil {
		return path
	}
	for i := 0; v.decoded.places[fmt.Sprintf("%s[%d]", path, i)] != nil; i++ {
		for alias := range v.decoded.places {
			key, ok := strings.CutPrefix(alias, fmt.Sprintf("%s[%d].", path, i))
			if ok && c.unaliased(strings.Trim(key, `"`)) == name {
				return alias
			}
		}
	}
	return path
}

const aDay = 24 * 60 * 60 // in seconds

// bounds refuses limits that cannot be meant.
func (v *validator) bounds(c *Config) {
	s := c.RouterSettings
	for path, at := range map[string]struct{ value, most float64 }{
		"router_settings.num_retries":    {float64(s.NumRetries), 20},
		"router_settings.retry_after":    {s.RetryAfter, c.Limits.RequestTimeoutS},
		"router_settings.cooldown_time":  {s.CooldownTime, aDay},
		"router_settings.timeout":        {s.Timeout, aDay},
		"router_settings.stream_timeout": {s.StreamTimeout, aDay},
		"limits.request_timeout_s":       {c.Limits.RequestTimeoutS, aDay},
		"limits.schema_repair_attempts":  {float64(c.Limits.SchemaRepairAttempts), 10},
	} {
		if at.value > at.most {
			v.fault(path, "%v is more than the most that makes sense, %v", at.value, at.most)
		}
	}
	weights := map[string]float64{}
	for i, d := range c.ModelList {
		p := d.LiteLLMParams
		for name, n := range map[string]float64{"timeout": p.Timeout, "stream_timeout": p.StreamTimeout} {
			if n > aDay {
				v.fault(fmt.Sprintf("model_list[%d].litellm_params.%s", i, name), "%v is more than the most that makes sense, %v", n, aDay)
			}
		}
		if p.Weight == nil {
			weights[d.ModelName] += 1
		} else {
			weights[d.ModelName] += *p.Weight
		}
	}
	for i, d := range c.ModelList {
		if total, ok := weights[d.ModelName]; ok && total == 0 {
			v.fault(fmt.Sprintf("model_list[%d].litellm_params.weight", i), "all deployments of %q have the weight 0; give one of them more", d.ModelName)
			delete(weights, d.ModelName)
		}
	}
}
