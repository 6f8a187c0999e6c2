package loop

import (
	"cmp"
	"maps"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
	"pointsman/gateway/tools"
)

// commonOffer is what is added to a request that brings no tools of its own, as
// most do: the same bytes for every one, until the catalogue changes.
type commonOffer struct {
	catalogue *tools.Catalogue
	plan      bool
	tools     []byte // a JSON list, or nil when there is nothing to offer
}

func (l *Loop) commonOffer(plan bool) []byte {
	catalogue := l.opts.Catalogue()
	if o := l.common.Load(); o != nil && o.catalogue == catalogue && o.plan == plan {
		return o.tools
	}
	o := &commonOffer{catalogue: catalogue, plan: plan}
	var functions [][]byte
	for _, entry := range catalogue.Offered() {
		functions = append(functions, entry.Function)
	}
	if len(functions) > 0 {
		if plan {
			functions = append(functions, planFunction)
		}
		o.tools = models.Append(nil, functions...)
	}
	l.common.Store(o)
	return o.tools
}

// offer adds our tools to the request, unless the caller or the request's kind
// forbids it.
func (r *run) offer() error {
	r.theirs = toolNames(r.body)
	for _, name := range r.req.Theirs {
		r.theirs[name] = true
	}
	if r.req.ToolsOff || r.body.Has("functions") || r.toolsForced() {
		return nil
	}
	list, err := r.toolList()
	if err != nil || list == nil {
		return err
	}
	if n := r.body.Get("n"); n.Int() > 1 {
		return models.Invalid("n", "n is %d: with Pointsman's tools on, one choice at a time can be asked for; send n: 1 or the header X-Pointsman-Tools: off", n.Int())
	}
	r.offering = true
	r.body.Set("tools", list)
	return nil
}

// toolList returns the caller's tools and ours, or nil when we have none to add.
func (r *run) toolList() ([]byte, error) {
	theirs := r.body.Get("tools")
	if theirs.Type != gjson.Null && !theirs.IsArray() { // null is as good as absent
		if r.loop.commonOffer(r.settings.PlanMode) == nil {
			return nil, nil // nothing of ours: what they send is between them and the provider
		}
		return nil, models.Invalid("tools", "tools must be a list")
	}
	if choice := r.body.Get("tool_choice"); choice.IsObject() {
		r.wanted[toolName(choice)] = true
	}
	limited := r.loop.opts.Catalogue().Limited()
	if len(r.body.Elements("tools")) > 0 {
		r.caller = r.body.Raw("tools")
	} else if !limited {
		return r.loop.commonOffer(r.settings.PlanMode), nil
	}
	return r.listFor(r.loop.opts.Catalogue()), nil
}

// listFor returns the caller's tools and ours of a catalogue, as far as this run
// has use for them; nil when there are none of ours.
func (r *run) listFor(catalogue *tools.Catalogue) []byte {
	conversation := tools.Conversation{Skip: r.callerHas, Keep: func(e *tools.Entry) bool { return r.wanted[e.Offered] }}
	if catalogue.Limited() {
		maps.Copy(r.wanted, r.called())
		conversation.Said = r.saidByPerson()
	}
	var functions [][]byte
	for _, entry := range catalogue.OfferFor(conversation) {
		functions = append(functions, entry.Function)
	}
	if len(functions) == 0 {
		return nil
	}
	if catalogue.Limited() && !r.theirs[tools.FindTools] {
		functions = append(functions, findFunction(catalogue))
	}
	if r.settings.PlanMode && !r.theirs[tools.UpdatePlan] {
		functions = append(functions, planFunction)
	}
	return models.Append(r.caller, functions...)
}

// callerHas reports whether the caller's own tools have the place of one of ours.
func (r *run) callerHas(entry *tools.Entry) bool {
	return r.theirs[entry.Offered] || r.carried(entry.Offered)
}

// called returns the names of the tools that the history has calls of: they stay
// on offer, or the model would not know them again.
func (r *run) called() map[string]bool {
	names := map[string]bool{}
	for _, message := range r.messages {
		for _, name := range gjson.GetBytes(message, "tool_calls.#.function.name").Array() {
			names[name.String()] = true
		}
	}
	return names
}

// saidByPerson returns the texts of the messages that the caller's user wrote.
func (r *run) saidByPerson() []string {
	var said []string
	for _, message := range r.messages {
		if gjson.GetBytes(message, "role").String() != "user" {
			continue
		}
		content := gjson.GetBytes(message, "content")
		text := content.String()
		if content.IsArray() {
			var parts []string
			for _, part := range content.Get("#.text").Array() {
				parts = append(parts, part.String())
			}
			text = strings.Join(parts, "\n")
		}
		said = append(said, text)
	}
	return said
}

// toolsForced reports whether tool_choice leaves no room for tools of ours.
func (r *run) toolsForced() bool {
	choice := r.body.Get("tool_choice")
	if choice.IsObject() {
		return r.theirs[toolName(choice)] || choice.Get("type").String() == "allowed_tools"
	}
	return choice.String() == "none"
}

// carried reports whether the caller already has this tool from our own MCP
// door, under the name its client made of it: a prefix, a separator, our name.
func (r *run) carried(offered string) bool {
	for name := range r.theirs {
		prefix, ok := strings.CutSuffix(name, offered)
		if ok && prefix != "" && strings.Contains(strings.ToLower(prefix), "pointsman") {
			return true
		}
	}
	return false
}

// toolNames returns the function names in a request's tools. Those of a namespace
// are offered by their own name, or one with the namespace before it.
func toolNames(body *models.Body) map[string]bool {
	names := map[string]bool{}
	for _, tool := range body.Get("tools").Array() {
		name := toolName(tool)
		if name != "" {
			names[name] = true
		}
		for _, inner := range tool.Get("tools.#.name").Array() {
			names[inner.String()], names[name+"__"+inner.String()] = true, true
		}
	}
	return names
}

// toolName returns the name in an element of tools, or in a tool_choice.
func toolName(tool gjson.Result) string {
	return cmp.Or(tool.Get("function.name").String(), tool.Get("custom.name").String(), tool.Get("name").String())
}
