package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// respond answers a request of the Responses API by the same scripts. It thinks
// before each answer, and seals what it thought.
func (p *provider) respond(w http.ResponseWriter, r *http.Request, data []byte) {
	sent := gjson.ParseBytes(data)
	rec := &recorded{header: r.Header, own: sent, body: asChat(sent), gone: make(chan struct{})}
	p.mu.Lock()
	p.requests = append(p.requests, rec)
	p.mu.Unlock()
	a := newReply(w, r, rec)
	if a.status != 0 {
		a.fail()
		return
	}
	if !sent.Get("stream").Bool() {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, a.response("completed", a.items()))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if !a.respondStream() {
		close(rec.gone)
	}
}

// asChat tells of a request what the scripts look at, in the words of chat
// completions.
func asChat(sent gjson.Result) gjson.Result {
	var messages, tools []any
	before := ""
	for _, item := range sent.Get("input").Array() {
		kind := item.Get("type").String()
		calls := strings.HasSuffix(kind, "_call")
		switch {
		case kind == "message":
			messages = append(messages, map[string]any{"role": item.Get("role").String(), "content": textOf(item)})
		case calls && !strings.HasSuffix(before, "_call"): // several make one turn
			messages = append(messages, map[string]any{"role": "assistant"})
		case strings.HasSuffix(kind, "_output"):
			messages = append(messages, map[string]any{"role": "tool", "content": item.Get("output").String()})
		}
		before = kind
	}
	for _, tool := range sent.Get("tools").Array() {
		for _, t := range append(tool.Get("tools").Array(), tool) {
			tools = append(tools, map[string]any{"function": map[string]any{"name": t.Get("name").String()}})
		}
	}
	data, err := json.Marshal(map[string]any{"messages": messages, "tools": tools, "model": sent.Get("model").String()})
	if err != nil {
		panic(err)
	}
	return gjson.ParseBytes(data)
}

// items are what the answer is made of.
func (r *reply) items() []map[string]any {
	list := []map[string]any{{"id": "rs_" + r.answer, "type": "reasoning", "summary": []any{}, "encrypted_content": "sealed-" + r.answer}}
	if r.say != "" {
		list = append(list, map[string]any{
			"id": "msg_" + r.answer, "type": "message", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": r.say, "annotations": []any{}}},
		})
	}
	for i, c := range r.calls {
		item := map[string]any{
			"id": fmt.Sprintf("fc_%s_%d", r.answer, i), "type": "function_call", "status": "completed",
			"call_id": fmt.Sprintf("%s-%d", cmp.Or(r.id, r.answer), i), "name": r.rec.offered(c[0]), "arguments": c[1],
		}
		tool := r.rec.own.Get(`tools.#(name=="` + c[0] + `")`)
		if tool.Get("type").String() == "custom" {
			item["type"], item["input"] = "custom_tool_call", strings.ReplaceAll(c[1], `\n`, "\n")
			delete(item, "arguments")
		}
		for _, space := range r.rec.own.Get(`tools.#(type=="namespace")#`).Array() {
			if strings.Contains(space.Get("tools.#.name").Raw, fmt.Sprintf("%q", item["name"])) {
				item["namespace"] = space.Get("name").String()
			}
		}
		list = append(list, item)
	}
	return list
}

func (r *reply) response(status string, items []map[string]any) string {
	if items == nil {
		items = []map[string]any{}
	}
	data, err := json.Marshal(map[string]any{
		"id": "resp_" + r.answer, "object": "response", "created_at": 1700000000, "status": status, "model": r.rec.body.Get("model").String(), "output": items,
		"usage": json.RawMessage(`{"input_tokens":100,"output_tokens":10,"total_tokens":110}`), "vendor_region": "north",
	})
	if err != nil {
		panic(err)
	}
	return string(data)
}

// respondStream answers item by item, a message word by word.
func (r *reply) respondStream() bool {
	n := 0
	send := func(kind string, members map[string]any) {
		members["type"], members["sequence_number"] = kind, n
		n++
		data, err := json.Marshal(members)
		if err != nil {
			panic(err)
		}
		_, _ = fmt.Fprintf(r.w, "event: %s\ndata: %s\n\n", kind, data)
		_ = http.NewResponseController(r.w).Flush()
	}
	send("response.created", map[string]any{"response": json.RawMessage(r.response("in_progress", nil))})
	for i, item := range r.items() {
		begun := map[string]any{}
		for key, value := range item {
			begun[key] = value
		}
		for key, empty := range map[string]any{"content": []any{}, "arguments": "", "input": "", "encrypted_content": ""} {
			if _, has := begun[key]; has {
				begun[key] = empty
			}
		}
		send("response.output_item.added", map[string]any{"output_index": i, "item": begun})
		if item["type"] == "message" {
			send("response.content_part.added", map[string]any{
				"output_index": i, "item_id": item["id"], "content_index": 0, "part": map[string]any{"type": "output_text", "text": "", "annotations": []any{}},
			})
			for _, token := range tokens(r.say) {
				send("response.output_text.delta", map[string]any{"output_index": i, "item_id": item["id"], "content_index": 0, "delta": token})
				if r.hold {
					<-r.req.Context().Done()
					return false
				}
			}
		}
		for key, event := range map[string]string{"arguments": "response.function_call_arguments", "input": "response.custom_tool_call_input"} {
			if text, has := item[key].(string); has {
				send(event+".delta", map[string]any{"output_index": i, "item_id": item["id"], "delta": text})
				send(event+".done", map[string]any{"output_index": i, "item_id": item["id"], key: text})
			}
		}
		send("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	send("response.completed", map[string]any{"response": json.RawMessage(r.response("completed", r.items()))})
	return r.req.Context().Err() == nil
}
