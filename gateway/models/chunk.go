package models

import "github.com/tidwall/gjson"

// Chunk is one event of a streamed answer, looked at once, as far as it has to be
// understood. Its fields are parts of the event's data as they are written, nil
// when they are not there, and valid as long as the data is.
type Chunk struct {
	ID, Model []byte
	Usage     []byte
	Error     []byte
	Choices   [][]byte
	Delta     []byte // of the first choice
	Finish    []byte // finish_reason of the first choice
	Calls     []byte // tool_calls in Delta

	data []byte
}

// ParseChunk looks at the data of one event. It reports whether that is JSON.
func ParseChunk(data []byte) (Chunk, bool) {
	c := Chunk{data: data}
	begin := skipSpace(data, 0)
	if begin == len(data) || data[begin] != '{' {
		end := skipValue(data, begin, 0)
		return c, end >= 0 && skipSpace(data, end) == len(data)
	}
	end := skipObject(data, begin, 0, func(name, value []byte, elements [][]byte) {
		switch string(name) {
		case `"id"`:
			c.ID = value
		case `"model"`:
			c.Model = value
		case `"usage"`:
			c.Usage = value
		case `"error"`:
			c.Error = value
		case `"choices"`:
			c.Choices = elements
		}
	})
	if end < 0 || skipSpace(data, end) != len(data) {
		return c, false
	}
	if len(c.Choices) > 0 && c.Choices[0][0] == '{' {
		c.lookAt(c.Choices[0])
	}
	return c, true
}

// lookAt takes what counts from the first choice.
func (c *Chunk) lookAt(choice []byte) {
	skipObject(choice, 0, 0, func(name, value []byte, _ [][]byte) {
		switch string(name) {
		case `"delta"`:
			c.Delta = value
		case `"finish_reason"`:
			c.Finish = value
		}
	})
	if len(c.Delta) == 0 || c.Delta[0] != '{' {
		return
	}
	skipObject(c.Delta, 0, 0, func(name, value []byte, _ [][]byte) {
		if string(name) == `"tool_calls"` {
			c.Calls = value
		}
	})
}

// Failure returns the message of an error sent as an event, or "".
func (c *Chunk) Failure() string {
	if c.Error == nil || string(c.Error) == "null" || len(c.Choices) > 0 {
		return ""
	}
	return saidBy(c.data)
}

// Thought returns what a message, or a delta of one, tells of the model's reasoning,
// by whichever of the names that providers have for it; "" for nothing.
func Thought(message gjson.Result) string {
	for _, name := range []string{"reasoning_content", "reasoning", "reasoning_text"} {
		if thought := message.Get(name); thought.Type == gjson.String && thought.String() != "" {
			return thought.String()
		}
	}
	return ""
}

// Text returns what a string of the chunk says; "" for what is no string.
func Text(raw []byte) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	return gjson.ParseBytes(raw).String()
}
