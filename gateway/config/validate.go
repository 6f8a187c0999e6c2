package config

import (
	"encoding"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// efforts are the reasoning efforts that some provider accepts.
var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// validator collects what is wrong with the values of a Config. It has the one
// set of rules: files, the environment, forms and commands all come here.
type validator struct {
	decoded  *decoder // gives places; nil when the values did not come from a file
	problems []Problem
}

// Problems returns everything that is wrong, or worth a warning, in the values
// of c. Forms call it to mark their fields by Path.
func (c *Config) Problems() []Problem { return validate(c, nil) }

func validate(c *Config, decoded *decoder) []Problem {
	v := &validator{decoded: decoded}
	v.general(c)
	v.gateway(c)
	v.providers(c)
	v.deployments(c)
	v.routing(c)
	v.ladder(c)
	v.servers(c)
	v.enums(c)
	v.numbers(reflect.ValueOf(c).Elem(), "")
	v.atLeastOne(c)
	v.literalSecrets(c)
	return v.problems
}

// fault records an error at path and returns it for more to be said.
func (v *validator) fault(path, format string, args ...any) *Problem {
	v.problems = append(v.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	p := &v.problems[len(v.problems)-1]
	v.place(p, path)
	return p
}

// place puts a problem where the file sets path; what came from elsewhere has no place.
func (v *validator) place(p *Problem, path string) {
	if v.decoded == nil || v.decoded.places[path] == nil {
		return
	}
	node := v.decoded.places[path]
	p.File, p.Line, p.Column = v.decoded.file, node.Line, node.Column
}

// faultAt places a fault about something absent at the nearest thing that is there.
func (v *validator) faultAt(path, nearby, format string, args ...any) *Problem {
	p := v.fault(path, format, args...)
	if p.Line == 0 {
		v.place(p, nearby)
	}
	return p
}

func (v *validator) general(c *Config) {
	if c.Version > Version {
		v.fault("version", "version %d was written by a newer Pointsman; this one reads up to %d", c.Version, Version)
	} else if c.Version < 1 {
		v.fault("version", "version %d does not exist", c.Version).Allowed = []string{strconv.Itoa(Version)}
	}
	for i, m := range c.Models {
		if path := fmt.Sprintf("models[%d]", i); m.ID == "" {
			v.faultAt(path+".id", path, "a model needs an id")
		}
	}
	if lo, hi := c.Tools.LoopDetection.Soft, c.Tools.LoopDetection.Hard; lo > hi && hi > 0 {
		v.fault("tools.loop_detection.soft", "the soft threshold %d is above the hard one, %d", lo, hi)
	}
}

func (v *validator) gateway(c *Config) {
	g := c.Gateway
	if loopback, ok := v.listen("gateway.listen", g.Listen); ok && !loopback {
		if !g.AllowRemote {
			v.fault("gateway.listen", "%s is reachable from other machines; set gateway.allow_remote: true, or listen on 127.0.0.1", g.Listen)
		}
		if g.Auth == "none" {
			v.fault("gateway.auth", "auth none is for loopback alone, and %s is not", g.Listen)
		} else if g.APIKey == "" {
			v.fault("gateway.api_key", "listening on %s needs a key", g.Listen)
		}
	}
	if c.Ollama.Enabled {
		if loopback, ok := v.listen("ollama.listen", c.Ollama.Listen); ok && !loopback {
			v.fault("ollama.listen", "%s is reachable from other machines; this door listens on loopback alone", c.Ollama.Listen)
		} else if ok && c.Ollama.Listen == g.Listen && !strings.HasSuffix(g.Listen, ":0") {
			v.fault("ollama.listen", "%s is gateway.listen, too; each door needs an address of its own", g.Listen)
		}
	}
	for i, origin := range g.CORSOrigins {
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" || strings.Trim(u.Path, "/") != "") {
			v.fault(fmt.Sprintf("gateway.cors_origins[%d]", i), "%q is not an origin such as http://localhost:3000", origin)
		}
	}
}

// listen checks a listen address and reports whether it is loopback.
func (v *validator) listen(path, address string) (loopback, ok bool) {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil || strings.ContainsAny(host, " /@") {
		v.fault(path, "%q is not a listen address such as 127.0.0.1:8640", address)
		return false, false
	}
	return isLoopback(host), true
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

func (v *validator) providers(c *Config) {
	for name, p := range c.Providers {
		path := join("providers", name)
		if p.BaseURL == "" && !knownAddress(name) {
			fault := v.faultAt(path, "providers", "provider %q is not a known one and has no base_url", name)
			fault.Nearest = Nearest(name, knownProviders)
			fault.Allowed = append(KnownProviders(), "any other name with a base_url")
		}
		v.url(path+".base_url", p.BaseURL)
	}
	v.url("fallback.base_url", c.Fallback.BaseURL)
	v.url("integrations.hubspot.base_url", c.Integrations.HubSpot.BaseURL)
	if name := c.DefaultProvider; name != "" && !knownAddress(name) {
		if _, ok := c.Providers[name]; !ok {
			fault := v.fault("default_provider", "provider %q is neither known nor under providers", name)
			fault.Nearest = Nearest(name, knownProviders)
			fault.Allowed = KnownProviders()
		}
	}
}

// knownAddress reports whether the provider's address need not be configured.
func knownAddress(name string) bool {
	return slices.Contains(knownProviders, name) || name == "ollama_chat" || name == "lm_studio"
}

// url checks an address of a web service. One with references in it is only
// known at run time.
func (v *validator) url(path, text string) {
	if text == "" || isWholeRef(text) || strings.Contains(text, "${") {
		return
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		v.fault(path, "not an address such as https://example.com/v1")
		return
	}
	if u.User != nil {
		v.fault(path, "the address holds a user name or password; anyone who reads the file has it").Warning = true
	}
}

func (v *validator) enums(c *Config) {
	v.enum("gateway.auth", c.Gateway.Auth, "key", "none")
	v.enum("reasoning_effort", c.ReasoningEffort, append([]string{""}, efforts...)...)
	v.enum("approvals.approver", c.Approvals.Approver, "ask", "deny", "allow", "static")
	for i, rule := range c.Approvals.Rules {
		v.enum(fmt.Sprintf("approvals.rules[%d].action", i), rule.Action, "allow", "deny")
	}
	v.enum("desktop.theme", c.Desktop.Theme, "system", "light", "dark")
	v.enum("journal.results", c.Journal.Results, "redacted", "none")
	v.enum("mcp.tools", c.MCP.Tools, "all", "own", "servers")
	v.enum("quirks.responses_bridge", c.Quirks.ResponsesBridge, "auto", "off")
	v.enum("diagnostics.mcp", c.Diagnostics.MCP, "off", "error", "warning", "info", "debug", "trace")
	v.enum("log.level", c.Log.Level, "debug", "info", "warn", "error")
}

// enum checks a value against a closed list; "" in it means that it may be empty.
func (v *validator) enum(path, value string, allowed ...string) {
	if slices.Contains(allowed, value) {
		return
	}
	allowed = slices.DeleteFunc(allowed, func(s string) bool { return s == "" })
	fault := v.fault(path, "%q is not one of the possible values", value)
	fault.Allowed, fault.Nearest = allowed, Nearest(value, allowed)
}

// written is a number as the file has it: a duration as 5m, not as nanoseconds.
func written(value reflect.Value) string {
	if text, ok := value.Interface().(encoding.TextMarshaler); ok {
		if said, err := text.MarshalText(); err == nil {
			return string(said)
		}
	}
	return fmt.Sprint(value.Interface())
}

// numbers refuses every negative number: no setting has a use for one.
func (v *validator) numbers(value reflect.Value, path string) {
	switch value.Kind() {
	case reflect.Int, reflect.Int64:
		if value.Int() < 0 {
			v.fault(path, "%s is negative", written(value))
		}
	case reflect.Float64:
		if value.Float() < 0 {
			v.fault(path, "%v is negative", value.Interface())
		}
	case reflect.Pointer:
		if !value.IsNil() {
			v.numbers(value.Elem(), path)
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if key := keyOf(value.Type().Field(i)); key != "-" && key != "" {
				v.numbers(value.Field(i), join(path, key))
			}
		}
	case reflect.Map:
		for _, key := range sortedKeys(value) {
			v.numbers(value.MapIndex(key), join(path, key.String()))
		}
	case reflect.Slice:
		for i := range value.Len() {
			v.numbers(value.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	}
}

// atLeastOne checks the bounds with which nothing could work at zero.
func (v *validator) atLeastOne(c *Config) {
	for path, zero := range map[string]bool{
		"gateway.max_body_bytes":    c.Gateway.MaxBodyBytes == 0,
		"tools.max_rounds":          c.Tools.MaxRounds == 0,
		"tools.max_offered":         c.Tools.MaxOffered == 0,
		"tools.parallel":            c.Tools.Parallel == 0,
		"limits.max_prompt_chars":   c.Limits.MaxPromptChars == 0,
		"limits.max_output_tokens":  c.Limits.MaxOutputTokens == 0,
		"limits.request_timeout_s":  c.Limits.RequestTimeoutS == 0,
		"approvals.timeout":         c.Approvals.Timeout == 0,
		"tools.loop_detection.soft": c.Tools.LoopDetection.Enabled && c.Tools.LoopDetection.Soft == 0,
		"tools.loop_detection.hard": c.Tools.LoopDetection.Enabled && c.Tools.LoopDetection.Hard == 0,
	} {
		if zero {
			v.fault(path, "must be above zero")
		}
	}
}
