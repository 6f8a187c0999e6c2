package tools

import (
	"fmt"

	"pointsman/approvals"
	"pointsman/gateway/tools/schema"
)

// builder makes entries by one catalogue's settings.
type builder struct {
	settings   Settings
	classifier *Classifier // nil: every tool is risky, for the reason in broken
	broken     string
	allowed    nameSet
	perServer  map[string]nameSet
	before     map[toolKey]*Entry // what was worked out of a definition before
}

// toolKey names a tool apart from what it is offered as.
type toolKey struct{ server, tool string }

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
	if s.Previous != nil {
		b.before = make(map[toolKey]*Entry, len(s.Previous.entries))
		for _, e := range s.Previous.entries {
			b.before[toolKey{e.Server, e.Name}] = e
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
	e := &Entry{Offered: OfferedName(prefix, def.Name), Definition: def}
	if b.settings.Own {
		e.Offered = def.Name
	}
	before := b.before[toolKey{def.Server, def.Name}]
	if before != nil && before.Hash == def.Hash && def.Hash != "" {
		e.schema, e.fitted, e.terms = before.schema, before.fitted, before.terms
	} else {
		e.schema, e.terms = lazySchema(def.InputSchema), lazyTerms(&e.Definition)
	}
	b.judge(e)
	if e.Missing, e.Cause = b.refusal(e); e.Missing != "" {
		return e
	}
	e.Allowed = true
	if err := e.fit(); err != nil {
		e.Missing, e.Cause = "set aside: "+err.Error(), SetAside
	}
	return e
}

// fit makes what a model is offered of the tool.
func (e *Entry) fit() (err error) {
	if e.fitted == nil {
		if e.fitted, err = schema.Fit(e.InputSchema); err != nil {
			return err
		}
	}
	e.Function, err = function(e.Offered, &e.Definition, e.fitted)
	return err
}

func (b *builder) judge(e *Entry) {
	if b.classifier == nil {
		e.profile = profile{fixed: true, verdict: Verdict{approvals.Execute, true, []string{b.broken}}}
	} else {
		e.words = b.classifier.words
		e.profile = b.classifier.profile(&e.Definition, e.Offered)
	}
	e.unvouched = e.profile
	if e.profile.fixed && !e.profile.verdict.Risky {
		e.unvouched = b.classifier.unvouched(&e.Definition, e.Offered)
	}
	e.Verdict = e.profile.verdict
}

// refusal says why a tool may not be called at all, or "".
func (b *builder) refusal(e *Entry) (string, Cause) {
	if e.Fault != "" {
		return "set aside: " + e.Fault, SetAside
	}
	if hasOwnPrefix(e.Name) && !b.settings.Own {
		return "its name is reserved for the gateway's own tools", Reserved
	}
	if b.settings.Self != nil && b.settings.Self(e.Definition) {
		return "it is the gateway's own tool, reached through a server", SelfLoop
	}
	if own, limited := b.perServer[e.Server]; limited {
		if _, _, ok := own.match(e.Offered, e.Name); !ok {
			return fmt.Sprintf("not in the tools of server %q (mcpServers.%s.tools)", e.Server, e.Server), NotInTools
		}
	}
	if len(b.settings.Allowed) > 0 {
		if _, _, ok := b.allowed.matchTrusting(e.Offered, e.Name); !ok {
			return "not in the allowlist (tools.allowed)", NotAllowed
		}
	}
	return "", ""
}
