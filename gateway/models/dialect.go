package models

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// Members of our own. By them messages, chunks and answers of chat completions,
// in which everything here is held, carry what the Responses API has beyond
// them. None reaches a provider or a caller.
const (
	// ItemsMember of a message holds the items of the Responses API that it
	// stands for, as they came; of a tool, that tool.
	ItemsMember = "x_pointsman_items"
	// EventMember of a chunk, or of a call in one, holds the provider's own event.
	EventMember = "x_pointsman_event"
	// ResponseMember of a plain answer holds the provider's own response object.
	ResponseMember = "x_pointsman_response"
	// TheirsMember of a call says that it is the caller's, whatever its name.
	TheirsMember = "x_pointsman_theirs"
)

// Dialect translates between chat completions and the Responses API. It is safe
// for concurrent use.
type Dialect interface {
	// Expressible reports whether the Responses API has a place for everything
	// that a chat completion's request asks for.
	Expressible(b *Body) bool
	// Request makes a chat completion's request, or what a caller of the
	// Responses API has sent, one that a provider of the Responses API takes. It
	// returns what had to be left out, in sentences.
	Request(b *Body) (notices []string)
	// Chat makes what a caller of the Responses API has sent a request that the
	// deployment takes for a chat completion. It returns what had to be left
	// out, in sentences.
	Chat(d *Deployment, b *Body) (notices []string)
	// Plain makes a response object a chat completion. keep has that carry the
	// object, for a caller of the Responses API. items are what the answer is
	// made of. An error is an *Error.
	Plain(data []byte, keep bool) (reply []byte, items [][]byte, err error)
	// Translation returns what translates one stream.
	Translation(keep bool) Translation
}

// Translation makes the events of one stream of the Responses API chunks of a
// chat completion. It is used by one goroutine.
type Translation interface {
	// Event takes an event's data and returns the chunks it makes; after the
	// last event those end with [DONE]. An error is an *Error.
	Event(data []byte) (chunks [][]byte, err error)
	// Items returns what the answer is made of, once its last event has come.
	Items() [][]byte
}

// withoutItems takes from the messages what only a provider of the Responses API
// has a use for: a turn that is put back into its place may carry it.
func withoutItems(b *Body) {
	if !bytes.Contains(b.Raw("messages"), []byte(ItemsMember)) {
		return
	}
	messages := b.Elements("messages")
	for i, message := range messages {
		if gjson.GetBytes(message, ItemsMember).Exists() {
			messages[i] = WithMember(WithMember(message, ItemsMember, nil), "reasoning_content", nil)
		}
	}
	b.Set("messages", Append(nil, messages...))
}
