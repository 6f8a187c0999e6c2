package models

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// A quirk is one way in which an upstream wants its requests. The table is the
// only place that knows of them; apply changes the body and returns a sentence
// when something that the caller asked for could not be kept.
type quirk struct {
	name    string
	applies func(d *Deployment, b *Body) bool
	apply   func(d *Deployment, b *Body) (notice string)
}

// quirks are applied in order, after the deployment's own defaults.
var quirks = []quirk{
	{"DeepSeek serves the GPT-6 tiers with deepseek-flash", func(d *Deployment, b *Body) bool {
		return gpt6(d.Model) && d.isDeepSeek()
	}, deepSeekTier},
	{"the GPT-6 family takes function tools on chat completions with effort none only", func(d *Deployment, b *Body) bool {
		return gpt6(d.Model) && !d.isDeepSeek() && hasFunctionTools(b)
	}, effortNone},
	{"OpenAI's reasoning models take max_completion_tokens", func(d *Deployment, b *Body) bool {
		return d.Provider == "openai" && gpt6(d.Model) && b.Has("max_tokens") && !b.Has("max_completion_tokens")
	}, renameKey("max_tokens", "max_completion_tokens")},
	{"these providers know max_tokens alone", func(d *Deployment, b *Body) bool {
		return b.Has("max_completion_tokens") && !b.Has("max_tokens") && (d.Provider == "zai" || d.Provider == "mistral" || d.isDeepSeek())
	}, renameKey("max_completion_tokens", "max_tokens")},
}

// fit makes body what the deployment takes: its model name, its configured
// defaults, and its quirks. effort is the configured reasoning effort, or "".
func (d *Deployment) fit(b *Body, effort string) (notices []string) {
	if b.Get("model").String() != d.Model || !b.Has("model") {
		b.SetString("model", d.Model)
	}
	d.addDefaults(b, effort)
	for _, q := range quirks {
		if q.applies(d, b) {
			if notice := q.apply(d, b); notice != "" {
				notices = append(notices, notice)
			}
		}
	}
	return notices
}

// addDefaults adds what the configuration sets where the caller is silent.
func (d *Deployment) addDefaults(b *Body, effort string) {
	if e := cmp.Or(d.params.ReasoningEffort, effort); e != "" && !b.Has("reasoning_effort") && !b.Has("reasoning") {
		b.SetString("reasoning_effort", e)
	}
	if t := d.params.Temperature; t != nil && !b.Has("temperature") {
		b.Set("temperature", strconv.AppendFloat(nil, *t, 'g', -1, 64))
	}
	if m := d.params.MaxTokens; m != nil && !b.Has("max_tokens") && !b.Has("max_completion_tokens") && !b.Has("max_output_tokens") {
		b.Set("max_tokens", strconv.AppendInt(nil, *m, 10))
	}
}

// isDeepSeek reports whether the upstream really is DeepSeek: by its host, or
// because the user gave the endpoint that name.
func (d *Deployment) isDeepSeek() bool {
	if d.Provider == "deepseek" {
		return true
	}
	u, err := url.Parse(d.BaseURL)
	return err == nil && (u.Hostname() == "deepseek.com" || strings.HasSuffix(u.Hostname(), ".deepseek.com"))
}

// TakesSchema reports whether the upstream holds its answers to a JSON Schema in
// response_format. Those that do not are known to take json_object at most.
func (d *Deployment) TakesSchema() bool {
	return d.Provider != "zai" && d.Provider != "anthropic" && !d.isDeepSeek()
}

// deepSeekTiers are the efforts and output limits that stand for the GPT-6
// tiers at DeepSeek.
var deepSeekTiers = map[string]struct {
	effort    string
	maxTokens int
}{
	"luna":  {"low", 4096},
	"sol":   {"medium", 8192},
	"astra": {"high", 16384},
}

func deepSeekTier(d *Deployment, b *Body) string {
	_, name, _ := strings.Cut(d.Model, "gpt-6-")
	tier, ok := deepSeekTiers[name]
	if !ok {
		tier = deepSeekTiers["sol"]
	}
	b.SetString("model", "deepseek-flash")
	if !b.Has("reasoning_effort") {
		b.SetString("reasoning_effort", tier.effort)
	}
	if !b.Has("max_tokens") && !b.Has("max_completion_tokens") {
		b.Set("max_tokens", strconv.AppendInt(nil, int64(tier.maxTokens), 10))
	}
	return ""
}

func effortNone(d *Deployment, b *Body) string {
	asked := b.Get("reasoning_effort")
	b.SetString("reasoning_effort", "none")
	if asked.Type == gjson.String && asked.String() != "none" {
		return fmt.Sprintf("reasoning_effort %q was sent as \"none\": %s takes function tools on chat completions only without reasoning", asked.String(), d.Model)
	}
	return ""
}

func renameKey(from, to string) func(*Deployment, *Body) string {
	return func(_ *Deployment, b *Body) string {
		value := b.Raw(from)
		b.Delete(from)
		b.Set(to, value)
		return ""
	}
}

// hasTools reports whether the request offers any tool.
func hasTools(b *Body) bool { return len(b.Elements("tools")) > 0 }

// hasFunctionTools reports whether the request offers at least one function.
func hasFunctionTools(b *Body) bool {
	found := false
	b.Get("tools").ForEach(func(_, tool gjson.Result) bool {
		found = tool.Get("type").String() == "function"
		return !found
	})
	return found
}

// Reasons reports whether a model of OpenAI's of that name is known to reason.
func Reasons(model string) bool { return gpt6(model) }
