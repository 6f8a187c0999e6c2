package responses

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// chatTools returns a list of tools as chat completions have it, each with what it
// came as. Kinds that they do not have are left as they are.
func chatTools(tools [][]byte) []byte {
	list := make([][]byte, len(tools))
	for i, raw := range tools {
		list[i] = chatTool(gjson.ParseBytes(raw))
	}
	return models.Append(nil, list...)
}

func chatTool(tool gjson.Result) []byte {
	kind := tool.Get("type").String()
	if kind != "function" && kind != "custom" || tool.Get(kind).IsObject() {
		return []byte(tool.Raw)
	}
	inner := models.WithMember([]byte(tool.Raw), "type", nil)
	if format := tool.Get("format"); kind == "custom" && format.Get("type").String() == "grammar" {
		inner = models.WithMember(inner, "format", object(text("type", "grammar"), member{"grammar", models.WithMember([]byte(format.Raw), "type", nil)}))
	}
	return object(text("type", kind), member{kind, inner}, member{models.ItemsMember, []byte(tool.Raw)})
}

// itemTool returns a tool of chat completions as the Responses API has it: as it
// came, when it came from there.
func itemTool(tool gjson.Result) []byte {
	if own := tool.Get(models.ItemsMember); own.IsObject() {
		return []byte(own.Raw)
	}
	kind := tool.Get("type").String()
	inner := tool.Get(kind)
	if kind != "function" && kind != "custom" || !inner.IsObject() {
		return []byte(tool.Raw)
	}
	out := []byte(inner.Raw)
	if grammar := inner.Get("format.grammar"); kind == "custom" && grammar.IsObject() {
		out = models.WithMember(out, "format", models.WithMember([]byte(grammar.Raw), "type", []byte(`"grammar"`)))
	}
	if kind == "function" && !inner.Get("strict").Exists() {
		out = models.AddMember(out, "strict", []byte("false")) // the API's own default is true, and refuses what chat completions take
	}
	return models.WithMember(out, "type", models.Quote(kind))
}

// chatChoice returns a tool_choice as chat completions have it.
func chatChoice(choice gjson.Result) []byte {
	switch kind := choice.Get("type").String(); {
	case (kind == "function" || kind == "custom") && choice.Get("name").Exists():
		return object(text("type", kind), member{kind, object(raw("name", choice.Get("name")))})
	case kind == "allowed_tools" && choice.Get("tools").Exists():
		var tools [][]byte
		for _, tool := range choice.Get("tools").Array() {
			tools = append(tools, chatChoice(tool))
		}
		return object(text("type", kind), member{kind, object(raw("mode", choice.Get("mode")), member{"tools", models.Append(nil, tools...)})})
	default:
		return []byte(choice.Raw)
	}
}

// itemChoice returns a tool_choice of chat completions as the Responses API has it.
func itemChoice(choice gjson.Result) []byte {
	kind := choice.Get("type").String()
	inner := choice.Get(kind)
	switch {
	case !inner.IsObject():
		return []byte(choice.Raw)
	case kind == "allowed_tools":
		var tools [][]byte
		for _, tool := range inner.Get("tools").Array() {
			tools = append(tools, itemChoice(tool))
		}
		return object(text("type", kind), raw("mode", inner.Get("mode")), member{"tools", models.Append(nil, tools...)})
	default:
		return object(text("type", kind), raw("name", inner.Get("name")))
	}
}

// within returns the tools that a tool holds: those of a namespace, or itself.
func within(tool gjson.Result) []gjson.Result {
	if tool.Get("type").String() == "namespace" {
		return tool.Get("tools").Array()
	}
	return []gjson.Result{tool}
}

// namespaced is a tool of a namespace.
type namespaced struct{ namespace, name string }

// flattened returns the names by which the tools of namespaces are offered where
// there are no namespaces: their own, unless another tool has it.
func flattened(tools [][]byte) map[namespaced]string {
	names := map[namespaced]string{}
	taken := map[string]bool{}
	for _, raw := range tools {
		if tool := gjson.ParseBytes(raw); tool.Get("type").String() != "namespace" {
			taken[tool.Get("name").String()] = true
			taken[tool.Get("function.name").String()] = true
			taken[tool.Get("custom.name").String()] = true
		}
	}
	for _, raw := range tools {
		space := gjson.ParseBytes(raw)
		if space.Get("type").String() != "namespace" {
			continue
		}
		for _, tool := range space.Get("tools").Array() {
			name := tool.Get("name").String()
			flat := name
			if taken[flat] {
				flat = space.Get("name").String() + "__" + name
			}
			taken[flat] = true
			names[namespaced{space.Get("name").String(), name}] = flat
		}
	}
	return names
}

// flatten returns the tools with those of namespaces among them, and without the
// kinds that chat completions do not have. It says which those are.
func flatten(tools [][]byte) (list [][]byte, notices []string) {
	flat := flattened(tools)
	for _, raw := range tools {
		tool := gjson.ParseBytes(raw)
		switch kind := tool.Get("type").String(); {
		case kind == "namespace":
			space := tool.Get("name").String()
			for _, inner := range tool.Get("tools").Array() {
				list = append(list, renamed(inner, flat[namespaced{space, inner.Get("name").String()}]))
			}
		case kind == "tool_search": // everything is offered, so that nothing need be searched for
		case tool.Get(kind).IsObject():
			list = append(list, models.WithMember(raw, models.ItemsMember, nil))
		default:
			notices = append(notices, fmt.Sprintf("the tool %q was not offered: it is not one of chat completions, which this provider has", strings.TrimSpace(kind)))
		}
	}
	return list, notices
}

// renamed returns a tool of a namespace as one of chat completions, under that
// name.
func renamed(tool gjson.Result, name string) []byte {
	out := models.WithMember([]byte(tool.Raw), "defer_loading", nil)
	out = chatTool(gjson.ParseBytes(models.WithMember(out, "name", models.Quote(name))))
	return models.WithMember(out, models.ItemsMember, nil)
}
