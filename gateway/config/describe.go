package config

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Describe is what `config show --json` prints: the whole configuration under
// its own keys, and beside them the flat keys of the original package. No
// secret is in it: references stay, literals, the environment and headers of
// servers and the user information of addresses do not. keyPresent reports
// whether a secret can be found; nil takes what is configured for present.
func (c *Config) Describe(keyPresent func(Secret) bool) map[string]any {
	if keyPresent == nil {
		keyPresent = func(s Secret) bool { return s != "" }
	}
	present := func(s Secret) bool { return s != "" && keyPresent(s) }
	out, _ := plain(reflect.ValueOf(c.presentable()).Elem()).(map[string]any)
	provider := c.DefaultProvider
	if provider == "" {
		provider = "openai"
	}
	for key, value := range map[string]any{
		"llm_provider":                 provider,
		"llm_model_id":                 c.DefaultModel,
		"llm_base_url":                 withoutUser(c.Providers[provider].BaseURL),
		"llm_api_key_present":          present(c.Providers[provider].APIKey),
		"llm_timeout_seconds":          c.Limits.RequestTimeoutS,
		"llm_reasoning_effort":         c.ReasoningEffort,
		"llm_fallback_enabled":         c.Fallback.Enabled,
		"llm_fallback_base_url":        withoutUser(c.Fallback.BaseURL),
		"llm_fallback_model_id":        c.Fallback.Model,
		"llm_fallback_api_key_present": present(c.Fallback.APIKey),
		"mcp_allowed_tools":            orEmpty(c.Tools.Allowed),
		"mcp_require_approval":         c.Approvals.Require,
		"mcp_max_tool_rounds":          c.Tools.MaxRounds,
		"mcp_plan_mode":                c.Tools.PlanMode,
		"mcp_loop_detection":           c.Tools.LoopDetection.Enabled,
		"mcp_loop_soft_threshold":      c.Tools.LoopDetection.Soft,
		"mcp_loop_hard_threshold":      c.Tools.LoopDetection.Hard,
		"gateway_api_key_required":     c.Gateway.Auth != "none",
		"gateway_cors_origins":         orEmpty(c.Gateway.CORSOrigins),
	} {
		out[key] = value
	}
	c.describeServers(out)
	return out
}

// describeServers adds the original's keys about servers. It knew one server,
// which is the one named default here, or else the first.
func (c *Config) describeServers(out map[string]any) {
	servers := []map[string]any{}
	var first *MCPServer
	for _, key := range sortedKeys(reflect.ValueOf(c.MCPServers)) {
		server := c.MCPServers[key.String()]
		if first == nil || key.String() == "default" {
			first = &server
		}
		entry := map[string]any{"name": key.String(), "transport": transportOf(server), "auth_token_present": server.Headers["Authorization"] != ""}
		if server.URL != "" {
			entry["url"] = withoutUser(server.URL)
		} else {
			entry["command"] = server.Command
		}
		servers = append(servers, entry)
	}
	out["mcp_servers"] = servers
	out["mcp_server_url"], out["mcp_transport"] = "", ""
	if first != nil {
		out["mcp_server_url"], out["mcp_transport"] = withoutUser(first.URL), transportOf(*first)
	}
	timeout := c.MCPTimeout
	if timeout == 0 && first != nil {
		timeout = first.Timeout
	}
	if timeout == 0 {
		timeout = 60_000
	}
	out["mcp_timeout_seconds"] = float64(timeout) / 1000
}

func transportOf(server MCPServer) string {
	switch {
	case server.Type == "local" || server.Type == "" && server.URL == "":
		return "stdio"
	case server.Type == "" || server.Type == "streamable-http":
		return "http"
	}
	return server.Type
}

// YAML is what `config show` prints: the whole configuration in the form of its
// file, defaults included, without secrets.
func (c *Config) YAML() (string, error) {
	node, err := wholeNode(reflect.ValueOf(c.presentable()).Elem())
	if err != nil {
		return "", fmt.Errorf("rendering configuration: %w", err)
	}
	return encodeNode(node)
}

// wholeNode is nodeOf for the sections of the file, whose zero values are
// written, too.
func wholeNode(v reflect.Value) (*yaml.Node, error) {
	if v.Kind() != reflect.Struct {
		return nodeOf(v)
	}
	node := &yaml.Node{Kind: yaml.MappingNode}
	for i := range v.NumField() {
		name := keyOf(v.Type().Field(i))
		if name == "-" || v.Field(i).Kind() == reflect.Pointer && v.Field(i).IsNil() {
			continue
		}
		value, err := wholeNode(v.Field(i))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		node.Content = append(node.Content, scalarNode("!!str", name), value)
	}
	return node, nil
}

// presentable is a copy of c with what must not be shown taken out.
func (c *Config) presentable() *Config {
	clean := c.Clone()
	eachSettable(reflect.ValueOf(clean).Elem(), "", func(v reflect.Value, path string) {
		v.SetString(shownText(v.String(), v.Type() == reflect.TypeFor[Secret](), path))
	})
	for _, server := range clean.MCPServers {
		hideArguments(server.Args)
	}
	return clean
}

// hideArguments takes the values of flags such as --token out of a command line.
func hideArguments(args []string) {
	for i, arg := range args {
		name, _, joined := strings.Cut(arg, "=")
		if !secretName.MatchString(name) || Secret(arg).IsReference() {
			continue
		}
		if joined {
			args[i] = name + "=" + hidden
		} else if i+1 < len(args) && strings.HasPrefix(arg, "-") && !Secret(args[i+1]).IsReference() {
			args[i+1] = hidden
		}
	}
}

// eachSettable hands over every text of a value to be replaced. Maps are
// rebuilt, because their elements cannot be set.
func eachSettable(v reflect.Value, path string, replace func(v reflect.Value, path string)) {
	switch v.Kind() {
	case reflect.String:
		replace(v, path)
	case reflect.Pointer:
		if !v.IsNil() {
			eachSettable(v.Elem(), path, replace)
		}
	case reflect.Interface:
		if !v.IsNil() {
			fresh := reflect.New(v.Elem().Type()).Elem()
			fresh.Set(v.Elem())
			eachSettable(fresh, path, replace)
			v.Set(fresh)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			eachSettable(v.Field(i), join(path, keyOf(v.Type().Field(i))), replace)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			fresh := reflect.New(v.Type().Elem()).Elem()
			fresh.Set(v.MapIndex(key))
			eachSettable(fresh, join(path, key.String()), replace)
			v.SetMapIndex(key, fresh)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachSettable(v.Index(i), fmt.Sprintf("%s[%d]", path, i), replace)
		}
	}
}

// plain turns a value into what encodes as JSON under the file's keys.
func plain(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case Duration:
		return x.String()
	case time.Time:
		return x
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem())
	case reflect.Struct:
		return plainStruct(v)
	case reflect.Map:
		out := map[string]any{}
		for _, key := range v.MapKeys() {
			out[key.String()] = plain(v.MapIndex(key))
		}
		return out
	case reflect.Slice:
		out := []any{}
		for i := range v.Len() {
			out = append(out, plain(v.Index(i)))
		}
		return out
	}
	return v.Interface()
}

func plainStruct(v reflect.Value) map[string]any {
	out := map[string]any{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		absent := keepsEmpty(v.Type(), field) && v.Field(i).IsNil() // absent means all, empty means none
		if name := keyOf(field); name != "-" && !absent {
			out[name] = plain(v.Field(i))
		}
	}
	return out
}

// shownText is a text as it may be shown. Of a server's environment and headers
// only references are; of any text that looks like an address, not its user.
func shownText(text string, secret bool, path string) string {
	switch {
	case text == "":
		return ""
	case secret:
		return Secret(text).String()
	case strings.Contains(path, ".model_info.") && secretName.MatchString(path[strings.LastIndexByte(path, '.')+1:]):
		return hidden
	}
	return withoutUser(text)
}

// withoutUser takes the user information, and the values of secret-named
// parameters, out of an address; other text it leaves as it is.
func withoutUser(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return hidden // not an address, and not known to be harmless
	}
	changed := false
	if u.User != nil {
		u.User, changed = url.User("secret"), true
	}
	query := u.Query()
	for name := range query {
		if secretName.MatchString(name) && !Secret(query.Get(name)).IsReference() {
			query.Set(name, "secret")
			changed = true
		}
	}
	if !changed {
		return text
	}
	u.RawQuery = query.Encode()
	return u.String()
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
