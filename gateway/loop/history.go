package loop

import (
	"crypto/sha256"
	"encoding/json"
	"hash"
	"slices"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// history is the messages of a request, each as raw JSON.
type history struct {
	caller [][]byte // as the caller sent them
	memory *memory

	sum    hash.Hash // of the first summed messages
	summed int
}

// lostResult stands for a result that the history lacks.
const lostResult = "(no result: the call was cancelled or its result was lost)"

// newHistory checks that the body's messages are a list of objects with
// something in it.
func newHistory(body *models.Body, memory *memory) (*history, error) {
	messages := body.Get("messages")
	switch {
	case !messages.Exists():
		return nil, models.Invalid("messages", "messages is missing: send a list of at least one message")
	case !messages.IsArray():
		return nil, models.Invalid("messages", "messages must be a list of objects")
	}
	h := &history{memory: memory, caller: body.Elements("messages")}
	if len(h.caller) == 0 {
		return nil, models.Invalid("messages", "messages is empty: send at least one message")
	}
	for i, m := range h.caller {
		if m[0] != '{' {
			return nil, models.Invalid("messages", "messages[%d] must be an object such as {\"role\": \"user\", \"content\": \"…\"}", i)
		}
	}
	return h, nil
}

// restored returns the messages to send: hidden turns put back, and calls
// without a result given one, since providers reject a history that lacks them.
// It reports whether anything differs from what the caller sent.
func (h *history) restored() (messages [][]byte, changed bool) {
	if !slices.ContainsFunc(h.caller, func(m []byte) bool { return len(callIDs(m)) > 0 }) {
		return h.caller, false
	}
	var all [][]byte
	for i, message := range h.caller {
		if turn, ok := h.hidden(i); ok {
			all = append(all, turn.messages...)
			changed = true
		} else {
			all = append(all, message)
		}
	}
	for i, message := range all {
		messages = append(messages, message)
		for _, id := range unanswered(message, all[i+1:]) {
			messages = append(messages, toolMessage(id, lostResult))
			changed = true
		}
	}
	return messages, changed
}

// hidden returns what the memory holds for the assistant message at i.
func (h *history) hidden(i int) (hiddenTurn, bool) {
	ids := callIDs(h.caller[i])
	if len(ids) == 0 || !h.memory.knows(ids[0]) {
		return hiddenTurn{}, false
	}
	return h.memory.get(memoryKey{call: ids[0], before: h.hashBefore(i)})
}

// hashBefore identifies the first n messages by what they say. n never falls from
// one call to the next, so that each message is read once.
func (h *history) hashBefore(n int) [sha256.Size]byte {
	if h.sum == nil {
		h.sum = sha256.New()
	}
	for _, m := range h.caller[h.summed:n] {
		h.sum.Write(canonical(m))
		h.sum.Write([]byte{0})
	}
	h.summed = n
	return [sha256.Size]byte(h.sum.Sum(nil))
}

// unanswered returns the ids of a message's calls that no tool message answers
// among those that follow it, before one of another role.
func unanswered(message []byte, following [][]byte) []string {
	ids := callIDs(message)
	if len(ids) == 0 {
		return nil
	}
	answered := map[string]bool{}
	for _, m := range following {
		if gjson.GetBytes(m, "role").String() != "tool" {
			break
		}
		answered[gjson.GetBytes(m, "tool_call_id").String()] = true
	}
	return slices.DeleteFunc(ids, func(id string) bool { return answered[id] })
}

// callIDs returns the ids of an assistant message's calls.
func callIDs(message []byte) []string {
	if gjson.GetBytes(message, "role").String() != "assistant" {
		return nil
	}
	var ids []string
	for _, id := range gjson.GetBytes(message, "tool_calls.#.id").Array() {
		ids = append(ids, id.String())
	}
	return ids
}

// toolMessage returns the result of a call as a message.
func toolMessage(id, content string) []byte {
	out, err := json.Marshal(struct {
		Role    string `json:"role"`
		ID      string `json:"tool_call_id"`
		Content string `json:"content"`
	}{"tool", id, content})
	if err != nil { // strings cannot fail to encode
		panic(err)
	}
	return out
}
