package responses

import (
	"cmp"

	"github.com/tidwall/gjson"
)

// chatCall returns a call item as it stands in a message of chat completions. A
// call that is neither a function's nor a custom tool's stands there as one of a
// function that has its kind for a name.
func chatCall(item gjson.Result, more ...member) []byte {
	members := append([]member{text("id", item.Get("call_id").String())}, callBody(item)...)
	return object(append(members, more...)...)
}

// callBody returns the members by which chat completions tell what is called.
func callBody(item gjson.Result) []member {
	switch kindOf(item) {
	case customCall:
		return []member{text("type", "custom"), {"custom", object(raw("name", item.Get("name")), text("input", item.Get("input").String()))}}
	case functionCall:
		return []member{text("type", "function"), {"function", object(raw("name", item.Get("name")), text("arguments", item.Get("arguments").String()))}}
	default:
		arguments := cmp.Or(item.Get("arguments").Raw, item.Get("action").Raw, item.Get("operation").Raw, "{}")
		return []member{text("type", "function"), {"function", object(text("name", kindOf(item)), text("arguments", arguments))}}
	}
}

// callItem returns a call of chat completions as an item, complete.
func callItem(call gjson.Result, id, namespace string) []byte {
	if custom := call.Get("custom"); custom.IsObject() {
		return object(textIf("id", id), text("type", customCall), text("status", "completed"), raw("call_id", call.Get("id")),
			raw("name", custom.Get("name")), text("input", custom.Get("input").String()))
	}
	function := call.Get("function")
	return object(textIf("id", id), text("type", functionCall), text("status", "completed"), raw("call_id", call.Get("id")),
		raw("name", function.Get("name")), text("arguments", function.Get("arguments").String()), textIf("namespace", namespace))
}
