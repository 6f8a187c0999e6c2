// Package owntools has the gateway's own tools, which the MCP door serves beside
// those of the MCP servers: one file each. Their calls take the same gates as
// everybody's: a Set is a catalogue of their definitions, and what runs a call
// that has passed.
//
// The package starts no goroutine; the programs that a tool runs end with its
// call.
package owntools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

// Server is the name under which the record, rules and windows know whose tools
// these are.
const Server = "pointsman"

// Party is whose call it is.
type Party struct {
	Client  string // the program's name and version
	Session string
	CWD     string
}

type partyKey struct{}

// WithParty returns a context for calls of a party's.
func WithParty(ctx context.Context, p Party) context.Context {
	return context.WithValue(ctx, partyKey{}, p)
}

func partyOf(ctx context.Context) Party {
	p, _ := ctx.Value(partyKey{}).(Party)
	return p
}

// tool is one of the gateway's own tools.
type tool struct {
	name, title, description string
	input                    string          // JSON schema of its arguments
	class                    approvals.Class // of its gravest call
	reads                    string          // of a call without this argument being true, the class is read; "" when there is none such
	openWorld                bool            // it reaches beyond this machine
	run                      func(ctx context.Context, arguments json.RawMessage, progress func(string)) (any, error)
}

// Options are what the tools work with.
type Options struct {
	Gateway Gateway
	// Client reaches the application that hubspot_track posts to.
	Client *http.Client
	// Version is ours.
	Version string
	// Capabilities are what can be asked for.
	Capabilities []string
}

// Set is the own tools that a configuration comes to. It never changes.
type Set struct {
	tools     map[string]*tool
	catalogue *tools.Catalogue
}

// New returns the tools. The user's lists of risky and safe tools in classifier
// hold for these, too.
func New(cfg config.Integrations, classifier *tools.Classifier, opts Options) (*Set, error) {
	asks, err := askTool(opts.Gateway, opts.Capabilities)
	if err != nil {
		return nil, err
	}
	marathons, err := marathonTool(opts.Gateway)
	if err != nil {
		return nil, err
	}
	list := []*tool{
		chatTool(opts.Gateway), modelsTool(opts.Gateway), statusTool(opts.Gateway), toolsTool(opts.Gateway), planTool(opts.Gateway),
		installTool(), asks, capabilitiesTool(opts.Gateway), marathons, marathonStatusTool(opts.Gateway),
	}
	if cfg.HubSpot.BaseURL != "" {
		list = append(list, hubspotTool(cfg.HubSpot.BaseURL, opts.Client, opts.Version))
	}
	if cfg.Vihokai.Repo != "" {
		list = append(list, deployTool(cfg.Vihokai.Repo))
	}
	set := &Set{tools: map[string]*tool{}}
	var definitions []tools.Definition
	for _, t := range list {
		set.tools[t.name] = t
		raw, err := json.Marshal(t.definition())
		if err != nil {
			return nil, fmt.Errorf("describing the tool %s: %w", t.name, err)
		}
		def, err := tools.Parse(Server, raw, true)
		if err != nil {
			return nil, fmt.Errorf("describing the tool %s: %w", t.name, err)
		}
		definitions = append(definitions, def)
	}
	set.catalogue = tools.NewCatalogue(definitions, tools.Settings{Classifier: classifier, Own: true})
	return set, nil
}

// definition is a tool as clients are told of it. The hints say what our own
// judgement says.
func (t *tool) definition() map[string]any {
	return map[string]any{
		"name": t.name, "title": t.title, "description": t.description, "inputSchema": json.RawMessage(t.input),
		"annotations": map[string]any{
			"title": t.title, "readOnlyHint": t.class == approvals.Read, "destructiveHint": t.class == approvals.Destructive,
			"idempotentHint": t.class == approvals.Read, "openWorldHint": t.openWorld,
		},
	}
}

// Catalogue returns the tools' definitions.
func (s *Set) Catalogue() *tools.Catalogue { return s.catalogue }

// Judge judges a call: of a tool that reads unless it is told to do more, by
// whether it is.
func (s *Set) Judge(entry *tools.Entry, arguments json.RawMessage) tools.Verdict {
	t := s.tools[entry.Name]
	if t == nil {
		return entry.Judge(arguments)
	}
	class, evidence := t.class, "it is one of Pointsman's own tools"
	if t.reads != "" {
		if gjson.GetBytes(arguments, t.reads).Bool() {
			evidence = fmt.Sprintf("%s is true", t.reads)
		} else {
			class, evidence = approvals.Read, fmt.Sprintf("it only reports unless %s is true", t.reads)
		}
	}
	return tools.Verdict{Class: class, Risky: class != approvals.Read, Evidence: []string{evidence}}
}

// Call runs a call that has passed the gates. Its result has what the tool says
// as structured content, and the same as text.
func (s *Set) Call(ctx context.Context, call servers.Call) (*servers.Result, error) {
	t := s.tools[call.Tool]
	if t == nil {
		return nil, &servers.UnavailableError{Server: Server, Status: servers.NotConfigured, Reason: fmt.Sprintf("there is no tool %q any more", call.Tool)}
	}
	steps := 0.0
	progress := func(message string) {
		if steps++; call.OnProgress != nil {
			call.OnProgress(servers.Progress{Progress: steps, Message: message})
		}
	}
	said, err := t.run(ctx, call.Arguments, progress)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	structured, err := json.Marshal(said)
	if err != nil {
		return nil, fmt.Errorf("%s: writing the result: %w", t.name, err)
	}
	raw, err := json.Marshal(result{Content: []text{{"text", string(structured)}}, StructuredContent: structured})
	if err != nil {
		return nil, fmt.Errorf("%s: writing the result: %w", t.name, err)
	}
	return &servers.Result{Raw: raw}, nil
}

// result is a CallToolResult of ours.
type result struct {
	Content           []text          `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
}

type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Names returns the names of the tools, sorted.
func (s *Set) Names() []string {
	names := make([]string, 0, len(s.tools))
	for name := range s.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// noArguments is the schema of a tool that takes none.
const noArguments = `{"type":"object","properties":{},"additionalProperties":false}`
