package tools

import (
	"fmt"

	"pointsman/approvals"
)

// builder makes entries by one catalogue's settings.
type builder struct {
	settings   Settings
	classifier *Classifier // nil: every tool is risky, for the reason in broken
	broken     string
	allowed    nameSet
	perServer  map[string]nameSet
}

func newBuilder(s Settings) *builder {
	b := &builder{settings: s, classifier: s.Classifier, perServer: make(map[string]nameSet, len(s.PerServer))}
	if b.classifier == nil {
		var err error
		if b.classifier, err = NewClassifier(nil, nil); err != nil {
			b.broken = err.Error()
		}
	}
	b.allowed = looseNameSet(s.Allowed)
	for server, names := range s.PerServer {
		if names != nil {
			b.perServer[server] = looseNameSet(names)
		}
	}
	return b
}

// looseNameSet leaves out empty entries, which name nothing.
func looseNameSet(names []string) nameSet {
	kept := make([]string, 0, len(names))
	for _, name := range names {
		if name != "" {
			kept = append(kept, name)
		}
	}
	set, err := newNameSet(kept)
	if err != nil {
		return nameSet{} // allows nothing
	}
	return set
}

func (b *builder) entry(def Definition) *Entry {
	prefix, ok := b.settings.Prefix[def.Server]
	if !ok {
		prefix = def.Server
	}
	e := &Entry{Offered: OfferedName(prefix, def.Name), Definition: def, schema: lazySchema(def.InputSchema)}
	b.judge(e)
	if e.Missing = b.refusal(e); e.Missing != "" {
		return e
	}
	e.Allowed = true
	var err error
	if e.Function, err = function(e.Offered, &e.Definition); err != nil {
		e.Missing = err.Error()
	}
	return e
}

func (b *builder) judge(e *Entry) {
	if b.classifier == nil {
		e.profile = profile{fixed: true, verdict: Verdict{approvals.Execute, true, []string{b.broken}}}
	} else {
		e.words = b.classifier.words
		e.profile = b.classifier.profile(&e.Definition, e.Offered)
	}
	e.Verdict = e.profile.verdict
}

// refusal says why a tool may not be called at all, or "".
func (b *builder) refusal(e *Entry) string {
	if hasOwnPrefix(e.Name) {
		return "its name is reserved for the gateway's own tools"
	}
	if b.settings.Self != nil && b.settings.Self(e.Definition) {
		return "it is the gateway's own tool, reached through a server"
	}
	if own, limited := b.perServer[e.Server]; limited {
		if _, _, ok := own.match(e.Offered, e.Name); !ok {
			return fmt.Sprintf("not in the tools of server %q (mcpServers.%s.tools)", e.Server, e.Server)
		}
	}
	if len(b.settings.Allowed) > 0 {
		if _, _, ok := b.allowed.matchTrusting(e.Offered, e.Name); !ok {
			return "not in the allowlist (tools.allowed)"
		}
	}
	return ""
}
