package responses

import (
	"cmp"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// Plain makes a response object a chat completion; see models.Dialect.
func (Dialect) Plain(data []byte, keep bool) (reply []byte, items [][]byte, err error) {
	response := gjson.ParseBytes(data)
	switch {
	case response.Get("error").IsObject():
		return nil, nil, failure(gjson.ParseBytes(object(member{"response", data})))
	case !models.Valid(data) || !response.Get("output").IsArray():
		return nil, nil, noResponse("its reply is no response object")
	}
	items = models.Elements([]byte(response.Get("output").Raw))
	said, thoughts := "", ""
	var calls [][]byte
	for _, element := range items {
		switch item := gjson.ParseBytes(element); {
		case kindOf(item) == messageItem:
			said = joinTexts(said, joined(item.Get("content")))
		case kindOf(item) == reasoningItem:
			thoughts = joinTexts(thoughts, joined(item.Get("summary")))
		case isCall(item):
			var more []member
			if keep && theirs(item) {
				more = append(more, member{models.TheirsMember, []byte("true")})
			}
			calls = append(calls, chatCall(item, more...))
		}
	}
	content := models.Quote(said)
	if said == "" {
		content = []byte("null")
	}
	message := []member{text("role", "assistant"), {"content", content}}
	if !keep {
		message = append(message, textIf("reasoning_content", thoughts))
	}
	if calls != nil {
		message = append(message, member{"tool_calls", models.Append(nil, calls...)})
	}
	choice := object(member{"index", []byte("0")}, member{"message", object(message...)},
		text("finish_reason", finishOf(response, calls != nil)))
	members := []member{
		raw("id", response.Get("id")), text("object", "chat.completion"), {"created", []byte(cmp.Or(response.Get("created_at").Raw, "0"))},
		raw("model", response.Get("model")), {"choices", models.Append(nil, choice)},
	}
	if usage := response.Get("usage"); usage.IsObject() {
		members = append(members, member{"usage", chatUsage(usage)})
	}
	if keep {
		members = append(members, member{models.ResponseMember, data})
	}
	return object(members...), items, nil
}

func joinTexts(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
