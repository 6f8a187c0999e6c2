package responses_test

import (
	"fmt"
	"strings"
)

// What providers say, in both of their ways. A turn is a list of these; answer
// writes it for a kind of provider, plainly or as a stream.
type said struct {
	thought, text   string
	call, arguments string // a function's name
	id              string // of the call
	custom          bool
	raw             string // an item of another kind; chat completions have none
}

func thinks(text string) said { return said{thought: text} }
func says(text string) said   { return said{text: text} }
func calling(id, name, arguments string) said {
	return said{call: name, id: id, arguments: arguments}
}

// answer writes a turn.
func answer(path string, stream bool, turn ...said) string {
	switch {
	case path == chatPath && stream:
		return chatStream(turn)
	case path == chatPath:
		return chatReply(turn)
	case stream:
		return responseStream(turn)
	default:
		return responseObject(turn, "completed")
	}
}

const (
	chatPath      = "/chat/completions"
	responsesPath = "/responses"
)

const chatUsage = `{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":3},"completion_tokens_details":{"reasoning_tokens":1}}`

func (s said) chatCall(index string) string {
	if s.custom {
		return fmt.Sprintf(`{%s"id":%q,"type":"custom","custom":{"name":%q,"input":%q}}`, index, s.id, s.call, s.arguments)
	}
	return fmt.Sprintf(`{%s"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, index, s.id, s.call, s.arguments)
}

func chatFinish(turn []said) string {
	for _, s := range turn {
		if s.call != "" {
			return "tool_calls"
		}
	}
	return "stop"
}

func chatReply(turn []said) string {
	message, calls := `"role":"assistant"`, []string{}
	text := "null"
	for _, s := range turn {
		switch {
		case s.thought != "":
			message += fmt.Sprintf(`,"reasoning_content":%q`, s.thought)
		case s.text != "":
			text = fmt.Sprintf("%q", s.text)
		case s.call != "":
			calls = append(calls, s.chatCall(""))
		}
	}
	message += `,"content":` + text
	if len(calls) > 0 {
		message += `,"tool_calls":[` + strings.Join(calls, ",") + `]`
	}
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m-2026","choices":[{"index":0,"message":{%s},"finish_reason":%q}],"usage":%s}`, message, chatFinish(turn), chatUsage)
}

func chunk(delta, finish string) string {
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m-2026","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, finish)
}

func chatStream(turn []said) string {
	lines := []string{chunk(`{"role":"assistant","content":""}`, "null")}
	calls := 0
	for _, s := range turn {
		switch {
		case s.thought != "":
			lines = append(lines, chunk(fmt.Sprintf(`{"reasoning_content":%q}`, s.thought), "null"))
		case s.text != "":
			half := len(s.text) / 2
			lines = append(lines, chunk(fmt.Sprintf(`{"content":%q}`, s.text[:half]), "null"), chunk(fmt.Sprintf(`{"content":%q}`, s.text[half:]), "null"))
		case s.call != "":
			lines = append(lines, chunk(`{"tool_calls":[`+s.chatCall(fmt.Sprintf(`"index":%d,`, calls))+`]}`, "null"))
			calls++
		}
	}
	lines = append(lines, chunk(`{}`, fmt.Sprintf("%q", chatFinish(turn))), `{"id":"chatcmpl-1","choices":[],"usage":`+chatUsage+`}`, "[DONE]")
	return strings.Join(lines, "\n")
}

// item writes an item; begun is how it looks when it begins.
func (s said) item(n int) (begun, whole string) {
	switch {
	case s.thought != "":
		return fmt.Sprintf(`{"id":"rs_%d","type":"reasoning","summary":[]}`, n),
			fmt.Sprintf(`{"id":"rs_%d","type":"reasoning","summary":[{"type":"summary_text","text":%q}],"encrypted_content":"sealed-%s"}`, n, s.thought, s.thought)
	case s.text != "":
		return fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","status":"in_progress","content":[]}`, n),
			fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","status":"completed","phase":"final_answer","content":[{"type":"output_text","text":%q,"annotations":[]}]}`, n, s.text)
	case s.custom:
		f := `{"id":"ctc_%d","type":"custom_tool_call","status":"completed","call_id":%q,"name":%q,"input":%q}`
		return fmt.Sprintf(f, n, s.id, s.call, ""), fmt.Sprintf(f, n, s.id, s.call, s.arguments)
	case s.call != "":
		f := `{"id":"fc_%d","type":"function_call","status":"completed","call_id":%q,"name":%q,"arguments":%q}`
		return fmt.Sprintf(f, n, s.id, s.call, ""), fmt.Sprintf(f, n, s.id, s.call, s.arguments)
	default:
		return s.raw, s.raw
	}
}

func responseObject(turn []said, status string) string {
	var items []string
	for i, s := range turn {
		_, whole := s.item(i)
		items = append(items, whole)
	}
	return fmt.Sprintf(`{"id":"resp_1","object":"response","created_at":1,"status":%q,"model":"m-2026","output":[%s],"error":null,"incomplete_details":null,"instructions":"theirs","tools":[{"type":"function","name":"time__now"}],"tool_choice":"auto","store":true,"vendor":{"x":1},"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":3},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":1},"total_tokens":12}}`,
		status, strings.Join(items, ","))
}

func responseStream(turn []said) string {
	var lines []string
	add := func(kind, members string) {
		lines = append(lines, fmt.Sprintf(`{"type":%q,"sequence_number":%d,%s}`, kind, len(lines), members))
	}
	add("response.created", `"response":`+responseObject(nil, "in_progress"))
	add("response.in_progress", `"response":`+responseObject(nil, "in_progress"))
	for i, s := range turn {
		begun, whole := s.item(i)
		add("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, i, begun))
		where := func(prefix string) string { return fmt.Sprintf(`"item_id":"%s_%d","output_index":%d`, prefix, i, i) }
		switch {
		case s.thought != "":
			add("response.reasoning_summary_text.delta", where("rs")+fmt.Sprintf(`,"summary_index":0,"delta":%q`, s.thought))
		case s.text != "":
			add("response.content_part.added", where("msg")+`,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`)
			half := len(s.text) / 2
			add("response.output_text.delta", where("msg")+fmt.Sprintf(`,"content_index":0,"delta":%q`, s.text[:half]))
			add("response.output_text.delta", where("msg")+fmt.Sprintf(`,"content_index":0,"delta":%q`, s.text[half:]))
			add("response.output_text.done", where("msg")+fmt.Sprintf(`,"content_index":0,"text":%q`, s.text))
		case s.custom:
			add("response.custom_tool_call_input.delta", where("ctc")+fmt.Sprintf(`,"delta":%q`, s.arguments))
			add("response.custom_tool_call_input.done", where("ctc")+fmt.Sprintf(`,"input":%q`, s.arguments))
		case s.call != "":
			add("response.function_call_arguments.delta", where("fc")+fmt.Sprintf(`,"delta":%q`, s.arguments))
			add("response.function_call_arguments.done", where("fc")+fmt.Sprintf(`,"arguments":%q`, s.arguments))
		default:
			add("response.vendor_thing.happened", where("v")+`,"what":"unknown"`)
		}
		add("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, i, whole))
	}
	add("response.completed", `"response":`+responseObject(turn, "completed"))
	return strings.Join(lines, "\n")
}
