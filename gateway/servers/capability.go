package servers

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// announced are the capabilities that a server is told of, at the handshake or with
// each request. That there are roots is always said, as the list may be filled later.
func announced(able Abilities) *mcp.ClientCapabilities {
	caps := &mcp.ClientCapabilities{}
	announceRoots(caps)
	if able.Sampling {
		announceSampling(caps, able.SamplingTools)
	}
	if able.Form || able.URL {
		caps.Elicitation = &mcp.ElicitationCapabilities{}
		if able.Form {
			caps.Elicitation.Form = &mcp.FormElicitationCapabilities{}
		}
		if able.URL {
			caps.Elicitation.URL = &mcp.URLElicitationCapabilities{}
		}
	}
	return caps
}

// statelessMeta is what _meta must hold in each request of a stateless session.
type statelessMeta struct {
	able     Abilities
	logLevel string // the least grave messages that are wanted; "" for none
}

// fields returns the members of _meta, by name.
func (m statelessMeta) fields(info *mcp.Implementation, version string) map[string]any {
	fields := map[string]any{
		mcp.MetaKeyProtocolVersion:    version,
		mcp.MetaKeyClientInfo:         info,
		mcp.MetaKeyClientCapabilities: announced(m.able),
	}
	if m.logLevel != "" {
		fields[metaKeyLogLevel] = m.logLevel
	}
	return fields
}

// members returns fields as JSON without the braces.
func members(fields map[string]any) ([]byte, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	object, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(bytes.TrimPrefix(object, []byte("{")), []byte("}")), nil
}
