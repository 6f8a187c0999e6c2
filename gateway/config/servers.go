package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

var serverTypes = []string{"local", "stdio", "http", "sse", "streamable-http"}

func (v *validator) servers(c *Config) {
	for name, s := range c.MCPServers {
		path := join("mcpServers", name)
		local := s.Type == "local" || s.Type == "stdio"
		switch {
		case name == "":
			v.faultAt(path, "mcpServers", "a server needs a name")
		case s.Command != "" && s.URL != "":
			v.fault(path, "has both command and url; a server is started by one or reached by the other")
		case s.Type == "builtin":
			v.builtin(path, name, s)
		case s.Command == "" && s.URL == "":
			v.faultAt(path, "mcpServers", "has neither command nor url")
		case local && s.Command == "":
			v.fault(path, "type %s needs a command", s.Type)
		case !local && s.Type != "" && s.URL == "" && slices.Contains(serverTypes, s.Type):
			v.fault(path, "type %s needs a url", s.Type)
		}
		v.enum(path+".type", s.Type, append([]string{"", "builtin"}, serverTypes...)...)
		v.url(path+".url", s.URL)
		if s.Cwd != "" && s.WorkingDirectory != "" && s.Cwd != s.WorkingDirectory {
			v.fault(path+".workingDirectory", "differs from cwd, which is another name of the same setting; keep one of them")
		}
		v.signIn(path, s)
		v.sandbox(path+".sandbox", s, c.Sandbox)
	}
	v.disabledServers(c)
}

// sandbox warns of an entry's own sandbox that does not say whether it is one: it
// takes the place of the one for all, and confines nothing.
func (v *validator) sandbox(path string, s MCPServer, all Sandbox) {
	if s.Sandbox == nil || s.Sandbox.Enabled || !all.Enabled || v.decoded == nil || v.decoded.places[path+".enabled"] != nil {
		return
	}
	v.fault(path, "takes the place of the sandbox for all servers, and is not enabled: this server is not confined; add enabled: true or false").Warning = true
}

// scopeToken is a scope as RFC 6749 (section 3.3) has it.
var scopeToken = regexp.MustCompile(`^[\x21\x23-\x5B\x5D-\x7E]+$`)

// signIn checks how a remote server is signed in to.
func (v *validator) signIn(path string, s MCPServer) {
	if s.OAuthCallbackPort < 0 || s.OAuthCallbackPort > 65535 {
		v.fault(path+".oauthCallbackPort", "must be a port: 1 to 65535, or 0 for the usual one")
	}
	v.enum(path+".oauthGrantType", s.OAuthGrantType, "", "authorization_code", "client_credentials")
	for i, scope := range s.OAuthScopes {
		if !scopeToken.MatchString(scope) {
			v.fault(fmt.Sprintf("%s.oauthScopes[%d]", path, i), "%q is no scope: one is printable ASCII without spaces, quotes and backslashes; write each as an element of its own", scope)
		}
	}
	switch {
	case len(s.OAuthScopes) > 0 && s.OAuthClientID == "":
		v.fault(path+".oauthScopes", "scopes need an oauthClientId: only a client that is known there has some to ask for")
	case s.OAuthClientSecret != "" && s.OAuthClientID == "":
		v.fault(path+".oauthClientSecret", "a secret needs the oauthClientId that it belongs to")
	case s.OAuthClientSecret != "" && s.OAuthPublicClient:
		v.fault(path+".oauthPublicClient", "a public client has no secret; remove oauthClientSecret, or this")
	case s.OAuthGrantType == "client_credentials" && s.OAuthClientID == "":
		v.fault(path+".oauthGrantType", "client_credentials needs an oauthClientId")
	case s.OAuthGrantType == "client_credentials" && s.OAuthPublicClient:
		v.fault(path+".oauthPublicClient", "a public client has no secret, which client_credentials needs")
	}
}

// disabledServers warns of names that keep no server from starting: one that is
// mistyped would be taken for disabled.
func (v *validator) disabledServers(c *Config) {
	known := slices.Sorted(maps.Keys(c.MCPServers))
	for i, name := range c.DisabledMCPServers {
		if _, ok := c.MCPServers[name]; !ok {
			fault := v.fault(fmt.Sprintf("disabledMcpServers[%d]", i), "no server is named %q, exactly so: this keeps none from starting", name)
			fault.Nearest, fault.Warning = Nearest(name, known), true
		}
	}
}

// builtinServers are the names of the servers that come with the program.
var builtinServers = []string{"scratch"}

func (v *validator) builtin(path, name string, s MCPServer) {
	if s.Command != "" || s.URL != "" {
		v.fault(path+".type", "a builtin server has neither command nor url")
	}
	if !slices.Contains(builtinServers, name) {
		fault := v.fault(path+".type", "there is no builtin server %q", name)
		fault.Allowed, fault.Nearest = builtinServers, Nearest(name, builtinServers)
	}
}
