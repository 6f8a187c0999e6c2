package loop

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// errGone is returned when the sink takes no more: the caller has gone.
var errGone = errors.New("the caller stopped reading")

// readStream reads a stream and passes it on as it comes, all but the calls
// that are ours. What is read at once is flushed at once.
func (r *run) readStream(reply *models.Reply) (*turn, error) {
	t := &turn{header: reply.Header}
	for {
		data, err := reply.Next()
		if errors.Is(err, io.EOF) || string(data) == "[DONE]" {
			break
		}
		if err != nil {
			return nil, err
		}
		c, ok := models.ParseChunk(data)
		if !ok {
			return nil, reply.Broken("its stream holds an event that is not JSON")
		}
		if why := c.Failure(); why != "" {
			return nil, reply.Broken(why)
		}
		r.begin(reply.Header)
		if err := r.chunk(t, data, &c); err != nil {
			return nil, err
		}
		if !reply.Buffered() {
			if err := r.req.Stream.Flush(); err != nil {
				return nil, errGone
			}
		}
	}
	if t.finish == "" {
		return nil, reply.Broken("its stream ended in the middle: no finish_reason came")
	}
	if ours, _ := t.split(); len(ours) > 0 { // what was said must not wait for the calls
		if err := r.req.Stream.Flush(); err != nil {
			return nil, errGone
		}
	}
	return t, nil
}

// chunk takes one chunk of the stream. Most are text, and go on as they came.
func (r *run) chunk(t *turn, data []byte, c *models.Chunk) error {
	finish := models.Text(c.Finish)
	hasUsage := len(c.Usage) > 0 && c.Usage[0] == '{'
	hasCalls := c.Calls != nil
	r.first(c)
	if len(r.ours) > 0 {
		r.collect(t, c.Delta)
	}
	if finish == "" && !hasUsage && !hasCalls && r.report.Rounds == 1 {
		return r.send(data)
	}
	b, err := models.ParseBody(bytes.Clone(data))
	if err != nil {
		return r.send(data) // odd, yet JSON: the client may know better
	}
	if r.report.Rounds > 1 && r.firstID != "" && b.Has("id") {
		b.SetString("id", r.firstID)
	}
	if hasUsage && r.holdUsage(t, b) {
		return nil
	}
	send := true
	if hasCalls {
		send = r.streamCalls(t, b)
	}
	if finish != "" {
		return r.streamFinish(t, b, finish)
	}
	if !send {
		return nil
	}
	if err := r.separate(b); err != nil {
		return err
	}
	return r.send(b.Bytes())
}

// first notes what all chunks of the stream have to share.
func (r *run) first(c *models.Chunk) {
	if r.model == "" {
		r.model = models.Text(c.Model)
	}
	if r.firstID == "" {
		r.firstID = models.Text(c.ID)
	}
}

func (r *run) send(data []byte) error {
	if err := r.req.Stream.Data(data); err != nil {
		return errGone
	}
	return nil
}

// collect joins the texts of the deltas: they are the message that the next
// round's history needs.
func (r *run) collect(t *turn, delta []byte) {
	gjson.ParseBytes(delta).ForEach(func(key, value gjson.Result) bool {
		if value.Type == gjson.String && key.String() != "role" {
			t.fields.add(key.String(), value.String())
			if key.String() == "content" && value.String() != "" {
				r.publish(Event{Kind: Text, Text: value.String()})
			}
		}
		return true
	})
}

// separate puts an empty line between the texts of two rounds, unless the
// caller wants JSON.
func (r *run) separate(b *models.Body) error {
	if !r.said || gjson.GetBytes(b.Raw("choices"), "0.delta.content").String() == "" {
		return nil
	}
	r.said = false
	if kind := r.body.Get("response_format").Get("type").String(); strings.HasPrefix(kind, "json") {
		return nil
	}
	return r.sendText(b, "\n\n")
}

// sendText sends a text of ours in a chunk like b.
func (r *run) sendText(like *models.Body, text string) error {
	b := like.Clone()
	b.Set("choices", fmt.Appendf(nil, `[{"index":0,"delta":{"content":%s},"finish_reason":null}]`, quoted(text)))
	b.Delete("usage")
	return r.send(b.Bytes())
}

// holdUsage keeps a chunk that tells the tokens until the end, where the sum of
// all rounds is known. It reports whether the chunk told nothing else.
func (r *run) holdUsage(t *turn, b *models.Body) bool {
	t.usage = bytes.Clone(b.Raw("usage"))
	if len(b.Elements("choices")) == 0 {
		t.usageChunk = b.Bytes()
		return true
	}
	if !r.usageAsked() {
		b.Delete("usage")
	}
	return false
}

func (r *run) usageAsked() bool {
	return r.req.Body.Get("stream_options").Get("include_usage").Bool()
}

// streamCalls takes a chunk's call deltas apart: ours are kept, the caller's
// stay in the chunk. It reports whether anything is left to send.
func (r *run) streamCalls(t *turn, b *models.Body) bool {
	choices := b.Elements("choices")
	if len(choices) == 0 {
		return true
	}
	delta := gjson.GetBytes(choices[0], "delta")
	var theirs [][]byte
	for _, raw := range delta.Get("tool_calls").Array() {
		c, begins := r.deltaCall(t, raw)
		if !c.ours {
			theirs = append(theirs, c.delta(raw, begins))
		}
	}
	rest := setMember([]byte(delta.Raw), "tool_calls", nil)
	if len(theirs) > 0 {
		rest = setMember([]byte(delta.Raw), "tool_calls", models.Append(nil, theirs...))
	}
	choices[0] = setMember(choices[0], "delta", rest)
	b.Set("choices", models.Append(nil, choices...))
	return len(theirs) > 0 || says(rest)
}

// says reports whether a delta without our calls has anything for the caller.
func says(delta []byte) bool {
	something := false
	gjson.ParseBytes(delta).ForEach(func(key, value gjson.Result) bool {
		something = key.String() != "role" && value.Type != gjson.Null && value.String() != ""
		return !something
	})
	return something
}

// deltaCall finds or begins the call that a delta belongs to. Providers leave
// out the index or the id, repeat ids, or reuse an index for another call.
func (r *run) deltaCall(t *turn, raw gjson.Result) (c *call, begins bool) {
	id, index := raw.Get("id").String(), raw.Get("index")
	kind := "function"
	if raw.Get("custom").IsObject() {
		kind = "custom"
	}
	name := raw.Get(kind + ".name").String()
	c = t.find(id, index)
	if c == nil {
		c = &call{id: t.uniqueID(id), kind: kind, name: name, index: t.sent}
		c.ours = r.isOurs(name)
		if !c.ours {
			t.sent++
		}
		t.calls = append(t.calls, c)
		t.keys = append(t.keys, callKey{id: id, index: indexOf(index)})
		begins = true
	}
	c.args.WriteString(argumentsText(raw, c.kind))
	return c, begins
}

// callKey is how a provider names a call within a stream.
type callKey struct {
	id    string
	index int // -1: the provider gives none
}

func indexOf(index gjson.Result) int {
	if !index.Exists() {
		return -1
	}
	return int(index.Int())
}

// find returns the call that a delta goes on with, or nil when it begins one.
func (t *turn) find(id string, index gjson.Result) *call {
	if len(t.calls) == 0 {
		return nil
	}
	if !index.Exists() && id == "" {
		return t.calls[len(t.calls)-1]
	}
	for i := len(t.keys) - 1; i >= 0; i-- {
		key := t.keys[i]
		sameIndex := index.Exists() && key.index == int(index.Int())
		switch {
		case index.Exists() && sameIndex && (id == "" || key.id == "" || id == key.id):
			return t.calls[i]
		case !index.Exists() && id == key.id:
			return t.calls[i]
		}
	}
	return nil
}

// delta returns a call's delta as the caller gets it: its index among the
// caller's calls, an id that is unique, and a type.
func (c *call) delta(raw gjson.Result, begins bool) []byte {
	out := setMember([]byte(raw.Raw), "index", strconv.AppendInt(nil, int64(c.index), 10))
	if begins {
		out = setMember(out, "id", quoted(c.id))
		return setMember(out, "type", quoted(c.kind))
	}
	if raw.Get("id").Exists() && raw.Get("id").String() != "" {
		return setMember(out, "id", quoted(c.id))
	}
	return out
}

// streamFinish takes the chunk that ends the answer. It goes on at once when
// the turn ends the run, and is held back while calls of ours have to run.
func (r *run) streamFinish(t *turn, b *models.Body, finish string) error {
	t.finish = finish
	ours, theirs := t.split()
	if len(ours) == 0 {
		if len(theirs) > 0 && len(r.ours) > 0 && finish == "stop" {
			setFinish(b, "tool_calls")
		}
		if err := r.separate(b); err != nil {
			return err
		}
		b.Set("x_gateway", r.reportJSON())
		return r.send(b.Bytes())
	}
	if delta := gjson.GetBytes(b.Raw("choices"), "0.delta"); says([]byte(delta.Raw)) {
		rest := b.Clone()
		setFinish(rest, "")
		if err := r.send(rest.Bytes()); err != nil {
			return err
		}
	}
	choices := b.Elements("choices")
	choices[0] = setMember(choices[0], "delta", []byte("{}"))
	b.Set("choices", models.Append(nil, choices...))
	b.Delete("usage")
	t.finishChunk = b.Bytes()
	return nil
}

// setFinish sets the first choice's finish_reason; an empty one is null.
func setFinish(b *models.Body, finish string) {
	value := []byte("null")
	if finish != "" {
		value = quoted(finish)
	}
	choices := b.Elements("choices")
	choices[0] = setMember(choices[0], "finish_reason", value)
	b.Set("choices", models.Append(nil, choices...))
}

// endStream sends what was held back of the last turn.
func (r *run) endStream(t *turn) error {
	if t.finishChunk != nil {
		if err := r.sendHeldFinish(t); err != nil {
			return err
		}
	}
	if t.usageChunk != nil && r.usageAsked() {
		if err := r.send(setMember(t.usageChunk, "usage", r.usage)); err != nil {
			return err
		}
	}
	if err := r.req.Stream.Flush(); err != nil {
		return errGone
	}
	return nil
}

func (r *run) sendHeldFinish(t *turn) error {
	b, err := models.ParseBody(t.finishChunk)
	if err != nil {
		return fmt.Errorf("reading back the end of the stream: %w", err)
	}
	finish := "tool_calls"
	if _, theirs := t.split(); len(theirs) == 0 {
		finish = "stop"
		if t.text() == "" {
			if err := r.sendText(b, emptyAnswer); err != nil {
				return err
			}
		}
	}
	setFinish(b, finish)
	b.Set("x_gateway", r.reportJSON())
	return r.send(b.Bytes())
}
