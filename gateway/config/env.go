package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/shlex"
)

// environment reads the variables of the original package. An empty variable
// counts as unset. Values read from a .env file fill in for LLM_* names alone.
type environment struct {
	lookup  func(string) (string, bool)
	dotenv  dotEnv
	goos    string
	secrets map[string]string // literal values taken from here, and the variable each came from
	errs    []error
}

// newEnvironment reads the .env file at path, if a path is given and the file exists.
func newEnvironment(lookup func(string) (string, bool), path string) (*environment, error) {
	dotenv, err := readDotEnv(path)
	if err != nil {
		return nil, err
	}
	return &environment{lookup: lookup, dotenv: dotenv, goos: runtime.GOOS, secrets: map[string]string{}}, nil
}

// real reads a variable of the real environment.
func (e *environment) real(name string) (string, bool) {
	value, ok := e.lookup(name)
	return value, ok && value != ""
}

// isReal reports whether the real environment sets one of the names.
func (e *environment) isReal(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := e.real(name); return ok })
}

// borrows reports whether a variable's value is that of the .env file.
func (e *environment) borrows(name string) bool {
	_, ok := e.dotenv.usable[name]
	return ok && !e.isReal(name)
}

// value reads a variable: of the real environment, then of the .env file.
func (e *environment) value(name string) (string, bool) {
	if value, ok := e.real(name); ok {
		return value, true
	}
	value, ok := e.dotenv.usable[name]
	return value, ok
}

// fail records a bad value. The value itself is not shown where it may be secret.
func (e *environment) fail(name, format string, args ...any) {
	e.errs = append(e.errs, fmt.Errorf("environment variable %s: %w", name, fmt.Errorf(format, args...)))
}

func (e *environment) text(name string, set func(string)) {
	if value, ok := e.value(name); ok {
		set(strings.TrimSpace(value))
	}
}

// secret hands over a reference to a variable of the real environment, so that
// the value is kept in one place; one from .env must be carried as it is.
func (e *environment) secret(name string, set func(Secret)) {
	value, ok := e.value(name)
	if !ok {
		return
	}
	switch {
	case e.borrows(name):
		value = strings.TrimSpace(value)
		e.secrets[value] = name
		set(Secret(value))
	case Secret(value).IsReference():
		set(Secret(value))
	default:
		set(Secret("os.environ/" + name))
	}
}

func (e *environment) boolean(name string, set func(bool)) {
	e.text(name, func(value string) {
		switch strings.ToLower(value) {
		case "1", "true", "yes", "on":
			set(true)
		case "0", "false", "no", "off":
			set(false)
		default:
			e.fail(name, "%q is neither true nor false; allowed: 1, true, yes, on, 0, false, no, off", value)
		}
	})
}

func (e *environment) integer(name string, least int, set func(int)) {
	e.text(name, func(value string) {
		n, err := strconv.Atoi(value)
		if err != nil || n < least {
			e.fail(name, "%q is not a whole number of at least %d", value, least)
			return
		}
		set(n)
	})
}

// longest is the largest number of seconds that a time.Duration holds.
const longest = float64(math.MaxInt64 / int64(time.Second))

func (e *environment) seconds(name string, set func(float64)) {
	e.text(name, func(value string) {
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || !(n > 0) || n > longest {
			e.fail(name, "%q is not a number of seconds above zero", value)
			return
		}
		set(n)
	})
}

func (e *environment) list(name string, set func([]string)) {
	e.text(name, func(value string) {
		parts := []string{}
		for part := range strings.SplitSeq(value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				parts = append(parts, part)
			}
		}
		set(parts)
	})
}

// apply lays the environment over config, whose maps must be its own.
func (e *environment) apply(c *Config) error {
	e.errs = nil
	e.dotenv.begin()
	e.applyProvider(c)
	e.applyModel(c)
	e.applyFallback(c)
	e.applyServers(c)
	e.applyTools(c)
	e.secret("GATEWAY_API_KEY", func(s Secret) { c.Gateway.APIKey = s })
	e.list("GATEWAY_CORS_ORIGINS", func(l []string) { c.Gateway.CORSOrigins = l })
	e.announceBorrowed()
	return errors.Join(e.errs...)
}

// announceBorrowed tells which settings the .env file made.
func (e *environment) announceBorrowed() {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(e.dotenv.usable)) {
		if e.borrows(name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		e.dotenv.notice("%s taken from %s", strings.Join(names, ", "), e.dotenv.path)
	}
}

// applyProvider takes who answers from LLM_PROVIDER, LLM_BASE_URL and LLM_API_KEY.
func (e *environment) applyProvider(c *Config) {
	// A key of the .env file may go to the address that the environment gives,
	// but the environment's key to no address of the file's.
	switch {
	case e.isReal("LLM_API_KEY"):
		e.dotenv.setAside("the environment has a key of its own, which goes to no address from there", endpointNames...)
	case e.isReal("LLM_BASE_URL"):
		e.dotenv.setAside("the environment has an address of its own", "LLM_PROVIDER", "LLM_BASE_URL")
	}
	name, base := "", ""
	e.text("LLM_PROVIDER", func(v string) { name = strings.ToLower(v) })
	e.text("LLM_BASE_URL", func(v string) { base = v })
	if _, hasKey := e.value("LLM_API_KEY"); name == "" && (hasKey || base != "") {
		name = "openai"
	}
	if name == "" {
		return
	}
	provider, configured := c.Providers[name]
	if base == "" && !configured && !slices.Contains(knownProviders, name) {
		e.fail("LLM_PROVIDER", "unknown provider %q; known: %s; any other needs LLM_BASE_URL", name, strings.Join(knownProviders, ", "))
		return
	}
	switch {
	case e.borrows("LLM_BASE_URL"): // key and headers are meant for another address
		provider = Provider{Timeout: provider.Timeout, Models: provider.Models}
	case provider.BaseURL != "" && base == "":
		e.dotenv.setAside(fmt.Sprintf("it would go to the address of the configuration file's provider %q", name), "LLM_API_KEY")
	}
	e.secret("LLM_API_KEY", func(s Secret) { provider.APIKey = s })
	if base != "" {
		provider.BaseURL = base
	}
	if c.Providers == nil {
		c.Providers = map[string]Provider{}
	}
	c.Providers[name], c.DefaultProvider = provider, name
	e.withholdKeys(c, name)
}

// withholdKeys takes the file's key and headers from each deployment that the
// .env file has moved to the address of provider.
func (e *environment) withholdKeys(c *Config, provider string) {
	moved := e.borrows("LLM_BASE_URL")
	if !moved && !e.borrows("LLM_PROVIDER") {
		return
	}
	for i := range c.ModelList {
		p := &c.ModelList[i].LiteLLMParams
		prefix, _, named := strings.Cut(p.Model, "/")
		_, configured := c.Providers[prefix]
		named = named && (configured || slices.Contains(knownProviders, prefix))
		stays := p.APIBase+p.BaseURL != "" || named && (prefix != provider || !moved)
		if !stays && (p.APIKey != "" || len(p.ExtraHeaders) > 0) {
			p.APIKey, p.ExtraHeaders = "", nil
			e.dotenv.notice("model_list[%d] (%s) is used without its key and headers: %s gives it another address", i, c.ModelList[i].ModelName, e.dotenv.path)
		}
	}
}

// applyModel takes what is asked for, wherever that is.
func (e *environment) applyModel(c *Config) {
	e.text("LLM_MODEL_ID", func(v string) { c.DefaultModel = v })
	e.seconds("LLM_TIMEOUT_SECONDS", func(n float64) { c.Limits.RequestTimeoutS = n })
	e.text("LLM_REASONING_EFFORT", func(v string) {
		if v = strings.ToLower(v); !slices.Contains(efforts, v) {
			e.fail("LLM_REASONING_EFFORT", "%q is not an effort; allowed: %s", v, strings.Join(efforts, ", "))
			return
		}
		c.ReasoningEffort = v
	})
}

func (e *environment) applyFallback(c *Config) {
	switch {
	case c.Fallback != Fallback{}:
		e.dotenv.setAside("the configuration file has a fallback of its own", fallbackNames...)
	case e.isReal("LLM_FALLBACK_BASE_URL", "LLM_FALLBACK_API_KEY"):
		e.dotenv.setAside("the environment has a fallback of its own", fallbackNames...)
	case !e.borrows("LLM_FALLBACK_BASE_URL") || !e.borrows("LLM_FALLBACK_API_KEY"):
		e.dotenv.setAside("a fallback needs both LLM_FALLBACK_BASE_URL and LLM_FALLBACK_API_KEY there", fallbackNames...)
	}
	e.boolean("LLM_FALLBACK_ENABLED", func(b bool) { c.Fallback.Enabled = b })
	e.secret("LLM_FALLBACK_API_KEY", func(s Secret) { c.Fallback.APIKey = s })
	e.text("LLM_FALLBACK_BASE_URL", func(v string) { c.Fallback.BaseURL = v })
	e.text("LLM_FALLBACK_MODEL_ID", func(v string) { c.Fallback.Model = v })
	e.seconds("LLM_FALLBACK_TIMEOUT_SECONDS", func(n float64) {
		c.Fallback.Timeout = Duration(n * float64(time.Second))
	})
}

func (e *environment) applyTools(c *Config) {
	e.list("MCP_ALLOWED_TOOLS", func(l []string) { c.Tools.Allowed = l })
	e.boolean("MCP_REQUIRE_APPROVAL", func(b bool) { c.Approvals.Require = b })
	e.integer("MCP_MAX_TOOL_ROUNDS", 1, func(n int) { c.Tools.MaxRounds = n })
	e.boolean("MCP_PLAN_MODE", func(b bool) { c.Tools.PlanMode = b })
	e.boolean("MCP_LOOP_DETECTION", func(b bool) { c.Tools.LoopDetection.Enabled = b })
	e.integer("MCP_LOOP_SOFT_THRESHOLD", 1, func(n int) { c.Tools.LoopDetection.Soft = n })
	e.integer("MCP_LOOP_HARD_THRESHOLD", 1, func(n int) { c.Tools.LoopDetection.Hard = n })
}

func (e *environment) applyServers(c *Config) {
	if _, ok := e.value("MCP_SERVERS"); ok {
		e.serversFromArray(c)
	} else if _, ok := e.value("MCP_SERVER_URL"); ok {
		e.serverFromURL(c)
	}
	e.seconds("MCP_TIMEOUT_SECONDS", func(n float64) {
		c.MCPTimeout = int64(math.Ceil(n * 1000))
		for name, server := range c.MCPServers {
			if server.Timeout == 0 {
				server.Timeout = c.MCPTimeout
				c.MCPServers[name] = server
			}
		}
	})
}

// envServer is one element of MCP_SERVERS.
type envServer struct {
	Name      string   `json:"name"`
	Transport string   `json:"transport"`
	URL       string   `json:"url"`
	Command   string   `json:"command"` // a command line
	Args      []string `json:"args"`    // further arguments, taken as they are
	AuthToken string   `json:"auth_token"`
}

func (e *environment) serversFromArray(c *Config) {
	const name = "MCP_SERVERS"
	value, _ := e.value(name)
	var entries []envServer
	decoder := json.NewDecoder(bytes.NewReader([]byte(value)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&entries); err != nil {
		e.fail(name, "not a JSON array of objects with name, transport, url or command, auth_token: %v", err)
		return
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		e.fail(name, "text follows the JSON array")
		return
	}
	servers := map[string]MCPServer{}
	for i, entry := range entries {
		_, twice := servers[entry.Name]
		server, err := e.entry(entry)
		switch {
		case entry.Name == "":
			e.fail(name, "entry %d has no name", i+1)
		case twice:
			e.fail(name, "two entries are named %q", entry.Name)
		case err != nil:
			e.fail(name, "entry %q: %w", entry.Name, err)
		default:
			servers[entry.Name] = server
		}
	}
	c.MCPServers = servers
}

func (e *environment) entry(entry envServer) (MCPServer, error) {
	if entry.URL != "" && entry.Command != "" {
		return MCPServer{}, errors.New("has both url and command")
	}
	server, err := e.server(entry.Transport, entry.URL+entry.Command, Secret(entry.AuthToken))
	server.Args = append(server.Args, entry.Args...)
	if entry.AuthToken != "" && !Secret(entry.AuthToken).IsReference() {
		e.secrets[entry.AuthToken] = "MCP_SERVERS"
	}
	return server, err
}

func (e *environment) serverFromURL(c *Config) {
	target, transport := "", ""
	e.text("MCP_SERVER_URL", func(v string) { target = v })
	e.text("MCP_TRANSPORT", func(v string) { transport = v })
	var token Secret
	e.secret("MCP_AUTH_TOKEN", func(s Secret) { token = s })
	server, err := e.server(transport, target, token)
	if err != nil {
		e.fail("MCP_SERVER_URL", "%w", err)
		return
	}
	c.MCPServers = map[string]MCPServer{"default": server}
}

// server makes an entry from a url or a command line.
func (e *environment) server(transport, target string, token Secret) (MCPServer, error) {
	kind, err := transportType(transport, target)
	if err != nil {
		return MCPServer{}, err
	}
	server := MCPServer{Type: kind}
	if kind != "stdio" {
		server.URL = target
		if token != "" {
			server.Headers = map[string]Secret{"Authorization": bearer(token)}
		}
		return server, nil
	}
	words, err := splitCommand(e.goos, target)
	if err != nil || len(words) == 0 {
		return MCPServer{}, errors.New("needs a url, or a command line with its quotes closed")
	}
	server.Command, server.Args = words[0], words[1:]
	return server, nil
}

func transportType(transport, target string) (string, error) {
	remote := strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://")
	switch strings.ToLower(strings.ReplaceAll(transport, "_", "-")) {
	case "":
		if remote {
			return "http", nil
		}
		return "stdio", nil
	case "stdio", "local":
		return "stdio", nil
	case "http", "streamable-http", "streamable", "streamablehttp":
		if !remote {
			return "", errors.New("this transport needs an http:// or https:// url")
		}
		return "http", nil
	case "sse":
		if !remote {
			return "", errors.New("this transport needs an http:// or https:// url")
		}
		return "sse", nil
	}
	return "", fmt.Errorf("unknown transport %q; allowed: stdio, http, streamable-http, sse", transport)
}

// bearer makes the Authorization header of a token, which may be a reference.
func bearer(token Secret) Secret {
	text := string(token)
	switch {
	case strings.HasPrefix(text, "keychain:"):
		text = "${" + text + "}"
	case strings.HasPrefix(text, "os.environ/"):
		text = "${env:" + strings.TrimPrefix(text, "os.environ/") + "}"
	}
	return Secret("Bearer " + text)
}

// splitCommand splits a command line as a shell would. On Windows a backslash
// separates folders and escapes nothing.
func splitCommand(goos, line string) ([]string, error) {
	if goos != "windows" {
		return shlex.Split(line)
	}
	var b strings.Builder
	single, double := false, false
	for _, r := range line {
		switch {
		case r == '\'' && !double:
			single = !single
		case r == '"' && !single:
			double = !double
		case r == '\\' && !single: // escapes nothing between single quotes as it is
			b.WriteRune('\\')
		}
		b.WriteRune(r)
	}
	return shlex.Split(b.String())
}
