package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"
	"golang.org/x/sync/errgroup"
)

const (
	// maxInputRounds is how often a server may answer one call by asking for
	// something, as in the SDK: a server that never has enough is broken.
	maxInputRounds = 10
	// maxBusyRounds is how often it may do so without asking for anything, which
	// says that it is busy, and busyPause how long it is then left in peace.
	maxBusyRounds = 3
	busyPause     = time.Second
	// maxInputRequests is how much it may ask at a time: a person has to answer.
	maxInputRequests = 16
	// elicitPatience is how long a person may take in the browser until the server
	// says that what it sent them there for is done.
	elicitPatience = 10 * time.Minute
)

// repetition is what is added to a call when it is repeated.
type repetition struct {
	Responses json.RawMessage // what the server asked for, an object by its keys
	State     string          // the server's own, as it came
}

// write writes the members that are added.
func (r repetition) write(b *bytes.Buffer) {
	if r.Responses != nil {
		writeComma(b)
		b.WriteString(`"inputResponses":`)
		b.Write(r.Responses)
	}
	if r.State != "" {
		writeMember(b, "requestState", r.State)
	}
}

// inputRounds counts how often a server has asked for something before it went on
// with one call. The zero value is a call that was not answered yet.
type inputRounds struct{ asked, busy, urls int }

// explain returns the error of a call that could not be sent. One whose first
// rounds were answered is not sent once more from its beginning: a person would
// be asked the same again without knowing why.
func (n inputRounds) explain(a asking, err error) error {
	if n != (inputRounds{}) && errors.Is(err, errNotSent) {
		return &LostError{Server: a.call.Server, Tool: a.call.Tool, Method: a.method, Reason: "the connection was closed before it was told what it had asked for"}
	}
	return err
}

// input answers what a reply asks for before the server goes on with the call
// (an input_required result of 2026-07-28, or the error URLElicitationRequired of
// 2025-11-25), and returns what to repeat the call with; nil when the reply is
// the call's own.
func (s *server) input(ctx context.Context, sess *session, f *flight, r reply, n *inputRounds) (*repetition, error) {
	var rpc *jsonrpc.Error
	if errors.As(r.err, &rpc) && rpc.Code == mcp.CodeURLElicitationRequired && n.urls == 0 {
		n.urls++
		return s.visit(ctx, sess, f, rpc.Data)
	}
	if r.err != nil || !sess.stateless() || gjson.GetBytes(r.result, "resultType").Str != "input_required" {
		return nil, nil
	}
	requests := gjson.GetBytes(r.result, "inputRequests").Map()
	again := &repetition{State: gjson.GetBytes(r.result, "requestState").Str}
	n.asked++
	switch {
	case n.asked >= maxInputRounds:
		return nil, fmt.Errorf("the server has asked for something %d times instead of answering", n.asked)
	case len(requests) > maxInputRequests:
		return nil, fmt.Errorf("the server asks for %d things at a time; at most %d are answered", len(requests), maxInputRequests)
	case len(requests) == 0:
		if n.busy++; n.busy >= maxBusyRounds {
			return nil, errors.New("the server is busy; try again later")
		}
		return again, pause(ctx, busyPause)
	}
	var err error
	again.Responses, err = s.respond(ctx, sess, f, requests)
	return again, err
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// respond answers all requests of one result, side by side.
func (s *server) respond(ctx context.Context, sess *session, f *flight, requests map[string]gjson.Result) (json.RawMessage, error) {
	type keyed struct {
		key    string
		answer json.RawMessage
	}
	answers := make(chan keyed, len(requests))
	group, ctx := errgroup.WithContext(ctx)
	for key, request := range requests {
		group.Go(func() error {
			method, params := request.Get("method").Str, request.Get("params").Raw
			if params == "" {
				params = "{}"
			}
			answer, err := s.answer(ctx, sess, question{flight: f.id, method: method, params: json.RawMessage(params), key: key, together: len(requests)})
			if err != nil {
				return fmt.Errorf("the server asked for %s before it went on: %w", method, err)
			}
			answers <- keyed{key, answer} // has room for all
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	close(answers)
	responses := map[string]json.RawMessage{}
	for a := range answers {
		responses[a.key] = a.answer
	}
	return json.Marshal(responses)
}

// visit has a person visit the pages without which the server does not go on, and
// waits until the server says that what they are for is done.
func (s *server) visit(ctx context.Context, sess *session, f *flight, data json.RawMessage) (*repetition, error) {
	pages := gjson.GetBytes(data, "elicitations").Array()
	client := s.host.answerer([]Call{f.call}, func(able Abilities) bool { return able.URL })
	if len(pages) == 0 || len(pages) > maxInputRequests || client == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, elicitPatience, errors.New("the server did not say in time that the page it asked to visit has done its work"))
	defer cancel()
	for _, page := range pages {
		if !byURL(json.RawMessage(page.Raw)) {
			return nil, nil
		}
		done := sess.noteElicited(page.Get("elicitationId").Str, client)
		answer, err := s.answer(ctx, sess, question{flight: f.id, method: methodElicit, params: json.RawMessage(page.Raw)})
		if err != nil {
			return nil, err
		}
		if gjson.GetBytes(answer, "action").Str != "accept" {
			return nil, nil // the server's error says what for
		}
		select {
		case <-done:
		case <-sess.lost:
			return nil, sess.cause()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return &repetition{}, nil
}
