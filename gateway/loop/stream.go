package loop

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
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
		if err := r.chunk(t, data, &c, reply.Translated()); err != nil {
			return nil, err
		}
		if len(t.calls) > maxCalls {
			return nil, reply.Broken(tooManyCalls)
		}
		if !reply.Buffered() {
			if err := r.req.Stream.Flush(); err != nil {
				return nil, errGone
			}
		}
	}
	t.items = reply.Items()
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

// chunk takes one chunk of the stream. Most are text, and go on as they came. A
// translated one's turn may have to be remembered.
func (r *run) chunk(t *turn, data []byte, c *models.Chunk, translated bool) error {
	finish := models.Text(c.Finish)
	hasUsage := len(c.Usage) > 0 && c.Usage[0] == '{'
	hasCalls := c.Calls != nil
	r.first(c)
	if r.offering || translated || r.loop.opts.Events.Listening() {
		r.collect(t, c.Delta)
	}
	if finish == "" && !hasUsage && !hasCalls && r.report.Rounds == 1 {
		return r.send(data)
	}
	b, err := models.ParseObject(bytes.Clone(data))
	if err != nil {
		return r.send(data) // odd, yet JSON: the client may know better
	}
	if r.report.Rounds > 1 && r.firstID != "" && b.Has("id") {
		b.SetString("id", r.firstID)
	}
	if hasUsage && r.holdUsage(t, b) {
		return nil
	}
	choices := b.Elements("choices")
	if len(choices) == 0 {
		return r.send(b.Bytes())
	}
	if gjson.GetBytes(choices[0], "index").Int() != 0 { // another choice: nothing of ours is in it
		t.finish = cmp.Or(t.finish, finish)
		return r.send(b.Bytes())
	}
	if hasCalls && !r.streamCalls(t, b, choices) && finish == "" {
		return nil
	}
	if finish != "" {
		return r.streamFinish(t, b, finish)
	}
	return r.sendSeparate(b)
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

// collect puts the deltas together: they are the message that the next round's
// history needs.
func (r *run) collect(t *turn, raw []byte) {
	delta := gjson.ParseBytes(raw)
	t.fields.addExcept(delta, "role", "tool_calls", "function_call")
	if content := delta.Get("content"); content.Type == gjson.String {
		r.heard(content.String())
	}
}

// sendSeparate sends a chunk, and an empty line before it when it begins the text
// of another round, unless the caller wants JSON.
func (r *run) sendSeparate(b *models.Body) error {
	if r.said && gjson.GetBytes(b.Raw("choices"), "0.delta.content").String() != "" && !b.Has(models.EventMember) {
		r.said = false
		if kind := r.body.Get("response_format").Get("type").String(); !strings.HasPrefix(kind, "json") {
			if err := r.sendText(b, "\n\n"); err != nil {
				return err
			}
		}
	}
	return r.send(b.Bytes())
}

// sendText sends a text of ours in a chunk like b.
func (r *run) sendText(like *models.Body, text string) error {
	b := like.Clone()
	b.Set("choices", fmt.Appendf(nil, `[{"index":0,"delta":{"content":%s},"finish_reason":null}]`, models.Quote(text)))
	b.Delete("usage")
	b.Delete(models.EventMember)
	return r.send(b.Bytes())
}

// holdUsage keeps a chunk that tells the tokens until the end, where the sum of
// all rounds is known. It reports whether the chunk told nothing else; one that
// did is to tell what was used up to it.
func (r *run) holdUsage(t *turn, b *models.Body) bool {
	t.usage = b.Raw("usage")
	switch {
	case len(b.Elements("choices")) == 0:
		t.usageChunk = b.Bytes()
		return true
	case !r.usageAsked():
		b.Delete("usage")
	case r.usage != nil:
		b.Set("usage", sumUsage(r.usage, t.usage))
	}
	return false
}

func (r *run) usageAsked() bool {
	return r.req.Body.Get("stream_options").Get("include_usage").Bool()
}

// streamCalls takes a chunk's call deltas apart: ours are kept, the caller's
// stay in the chunk. It reports whether anything is left to send.
func (r *run) streamCalls(t *turn, b *models.Body, choices [][]byte) bool {
	delta := gjson.GetBytes(choices[0], "delta")
	var theirs [][]byte
	hidden := false
	for _, raw := range delta.Get("tool_calls").Array() {
		part := []byte(raw.Raw)
		if raw.IsObject() {
			part = r.deltaCall(t, raw)
		}
		if part != nil {
			theirs = append(theirs, part)
		}
		hidden = hidden || part == nil
		if len(t.calls) > maxCalls {
			break
		}
	}
	if !hidden && len(theirs) == 0 {
		return true // no calls after all
	}
	var list []byte
	if len(theirs) > 0 {
		list = models.Append(nil, theirs...)
	}
	rest := models.WithMember([]byte(delta.Raw), "tool_calls", list)
	choices[0] = models.WithMember(choices[0], "delta", rest)
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

// deltaCall takes a delta of a call and returns what of it the caller gets, or
// nil. Providers leave out the index or the id, repeat ids, reuse an index for
// another call, or tell the name late.
func (r *run) deltaCall(t *turn, raw gjson.Result) []byte {
	key, kind := keyOf(raw), kindOf(raw)
	name := raw.Get(kind + ".name").String()
	c := t.find(key)
	if c != nil && key.id == "" && name != "" && c.whole() && argumentsText(raw, kind) != "" {
		c = nil // a provider that gives neither id nor index of its own begins the next call
	}
	begins := c == nil
	if begins {
		c = &call{id: t.uniqueID(key.id), kind: kind, key: key, ours: r.offering}
		t.calls = append(t.calls, c)
	}
	if !c.named && (name != "" || !c.ours) {
		begins, c.named = true, true
		c.name, c.kind, c.ours, c.index = name, kind, r.isOurs(name, raw), t.sent
		if !c.ours {
			t.sent++
		}
	}
	late := c.args.Len() > 0 && begins
	text := argumentsText(raw, c.kind)
	c.args.WriteString(text)
	c.extra.addExcept(raw, "index", "id", "type", "function", "custom", models.EventMember, models.TheirsMember)
	switch {
	case c.ours:
		return nil
	case late:
		return c.delta(raw, true, models.Quote(c.args.String()))
	case raw.Get(c.kind+"."+textKeys[c.kind]).Type == gjson.JSON:
		return c.delta(raw, begins, models.Quote(text))
	default:
		return c.delta(raw, begins, nil)
	}
}

// whole reports whether the call has a name and its arguments are complete.
func (c *call) whole() bool {
	return c.named && c.args.Len() > 0 && models.Valid([]byte(c.args.String()))
}

// callKey is how a provider names a call within a stream.
type callKey struct {
	id      string
	index   int64
	indexed bool
}

func keyOf(raw gjson.Result) callKey {
	index := raw.Get("index")
	return callKey{id: raw.Get("id").String(), index: index.Int(), indexed: index.Exists()}
}

// find returns the call that a delta goes on with, or nil when it begins one.
func (t *turn) find(key callKey) *call {
	for _, c := range slices.Backward(t.calls) {
		sameID := key.id == c.key.id
		switch {
		case !key.indexed && key.id == "":
			return c
		case key.indexed && c.key.indexed:
			if key.index == c.key.index && (sameID || key.id == "" || c.key.id == "") {
				return c
			}
		case sameID && key.id != "":
			return c
		}
	}
	return nil
}

// delta returns a call's delta as the caller gets it: its index among the
// caller's calls, an id that is unique, a type, and text in the place of its
// arguments unless that is nil.
func (c *call) delta(raw gjson.Result, begins bool, text []byte) []byte {
	out := models.WithMember([]byte(raw.Raw), "index", strconv.AppendInt(nil, int64(c.index), 10))
	if text != nil {
		out = models.WithMember(out, c.kind, models.WithMember([]byte(raw.Get(c.kind).Raw), textKeys[c.kind], text))
	}
	if begins || raw.Get("id").String() != "" {
		out = models.WithMember(out, "id", models.Quote(c.id))
	}
	if begins {
		out = models.WithMember(out, "type", models.Quote(c.kind))
	}
	return out
}

// streamFinish takes the chunk that ends the answer. It goes on at once when
// the turn ends the run, and is held back while calls of ours have to run.
func (r *run) streamFinish(t *turn, b *models.Body, finish string) error {
	t.finish = finish
	ours, theirs := t.split()
	if len(ours) == 0 {
		if len(theirs) > 0 && r.offering {
			setFinish(b, t.finishFor(theirs))
		}
		b.Set("x_gateway", r.reportJSON(t))
		return r.sendSeparate(b)
	}
	usage := b.Raw("usage")
	b.Delete("usage")
	if delta := gjson.GetBytes(b.Raw("choices"), "0.delta"); says([]byte(delta.Raw)) {
		rest := b.Clone()
		setFinish(rest, "")
		if err := r.sendSeparate(rest); err != nil {
			return err
		}
	}
	choices := b.Elements("choices")
	choices[0] = models.WithMember(choices[0], "delta", []byte("{}"))
	b.Set("choices", models.Append(nil, choices...))
	if usage != nil { // the sum takes its place
		b.Set("usage", usage)
	}
	t.finishChunk = b.Bytes()
	return nil
}

// setFinish sets the first choice's finish_reason; an empty one is null.
func setFinish(b *models.Body, finish string) {
	value := []byte("null")
	if finish != "" {
		value = models.Quote(finish)
	}
	choices := b.Elements("choices")
	choices[0] = models.WithMember(choices[0], "finish_reason", value)
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
		if err := r.send(models.WithMember(t.usageChunk, "usage", r.usage)); err != nil {
			return err
		}
	}
	if err := r.req.Stream.Flush(); err != nil {
		return errGone
	}
	return nil
}

func (r *run) sendHeldFinish(t *turn) error {
	b, err := models.ParseObject(t.finishChunk)
	if err != nil {
		return fmt.Errorf("reading back the end of the stream: %w", err)
	}
	if b.Get("usage").IsObject() {
		b.Set("usage", r.usage)
	}
	_, theirs := t.split()
	if len(theirs) == 0 && t.text() == "" {
		if err := r.sendText(b, emptyAnswer); err != nil {
			return err
		}
	}
	setFinish(b, t.finishFor(theirs))
	b.Set("x_gateway", r.reportJSON(t))
	return r.send(b.Bytes())
}
