package servers

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"
)

// A Client answers what servers ask of their client while they work. It may be
// asked several things at a time. The parameters are a JSON object as the server
// sent it; the answer is the result of the protocol's revision 2025-11-25. An
// error that is a *jsonrpc.Error goes to the server as it is, any other one as an
// internal error.
//
// ctx ends when nobody waits for the answer any more: the server took its
// question back, the connection was lost, or the calls it belongs to have ended.
//
// Clients are compared with ==, so they must be comparable: use pointers.
type Client interface {
	// Abilities says what can be answered now. Servers are told so when they are
	// connected, and those that speak 2026-07-28 with each call; they are to ask
	// for nothing else.
	Abilities() Abilities
	// Sample answers sampling/createMessage.
	Sample(ctx context.Context, from Origin, params json.RawMessage) (json.RawMessage, error)
	// Elicit answers elicitation/create.
	Elicit(ctx context.Context, from Origin, params json.RawMessage) (json.RawMessage, error)
	// Elicited is told that what an elicitation in URL mode was for has been done
	// (notifications/elicitation/complete). It must not block.
	Elicited(server, elicitationID string)
}

// Abilities are what can be asked of a Client. The zero value is nothing.
type Abilities struct {
	Sampling      bool // sampling/createMessage
	SamplingTools bool // … with tools of the server's
	Form          bool // elicitation/create in form mode
	URL           bool // … in URL mode
}

// Origin says where a question comes from.
type Origin struct {
	Server string
	// Calls are those of ours that were in flight there when it was asked, the
	// oldest first. It is the one call that caused the question when the protocol
	// tells (2026-07-28, and streamable HTTP); over stdio it tells nothing, so it
	// is all of them. It is empty when the server asks of its own accord.
	Calls []Call
	// Key is the server's own name of the question, of the Together that it asks at
	// a time and waits for (2026-07-28); "" and 0 of a question by itself.
	Key      string
	Together int
}

// A Rooted is a Client with roots of its own. It is asked for them when the
// protocol tells that its call is why; else the host's count.
type Rooted interface {
	Client
	// HasRoots reports whether it has.
	HasRoots() bool
	// Roots answers roots/list.
	Roots(ctx context.Context, from Origin) (json.RawMessage, error)
}

// question is what a server asks.
type question struct {
	flight   int64 // that caused it; zero when the protocol does not tell
	method   string
	params   json.RawMessage
	key      string // see Origin
	together int
}

// and returns what a or b can.
func (a Abilities) and(b Abilities) Abilities {
	return Abilities{a.Sampling || b.Sampling, a.SamplingTools || b.SamplingTools, a.Form || b.Form, a.URL || b.URL}
}

// The methods that servers send to their client.
const (
	methodSample = "sampling/createMessage"
	methodElicit = "elicitation/create"
	methodRoots  = "roots/list"
	methodLog    = "notifications/message"
)

// maxQuestions is how many questions of one server's may be open at a time: more
// would bury the person who answers.
const maxQuestions = 32

// answer answers a question of the server's.
func (s *server) answer(ctx context.Context, sess *session, q question) (json.RawMessage, error) {
	method, params := q.method, q.params
	flights := sess.inFlight(q.flight)
	calls := callsOf(flights)
	if method == methodRoots {
		return s.answerRoots(ctx, flights, q)
	}
	defer sess.questions.Add(-1)
	if sess.questions.Add(1) > maxQuestions {
		return nil, errTooMany(maxQuestions)
	}
	client := s.host.answerer(calls, wanted(method, params))
	if client == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "nobody is there to answer " + method}
	}
	ctx, done := hold(ctx, flights)
	defer done()
	from := Origin{Server: s.name, Calls: calls, Key: q.key, Together: q.together}
	if method == methodSample {
		return asObject(client.Sample(ctx, from, params))
	}
	if byURL(params) {
		sess.noteElicited(gjson.GetBytes(params, "elicitationId").Str, client)
	}
	return asObject(client.Elicit(ctx, from, params))
}

// answerRoots answers roots/list: with what the client has whose call certainly is
// why it is asked, else with the host's.
func (s *server) answerRoots(ctx context.Context, flights []*flight, q question) (json.RawMessage, error) {
	calls := callsOf(flights)
	if q.flight != 0 && sameParty(calls) {
		if rooted, ok := calls[0].Client.(Rooted); ok && rooted.HasRoots() {
			ctx, done := hold(ctx, flights)
			defer done()
			return asObject(rooted.Roots(ctx, Origin{Server: s.name, Calls: calls, Key: q.key, Together: q.together}))
		}
	}
	return json.Marshal(map[string]any{"roots": rootsOf(s.host.roots())})
}

// wanted returns what tells whether a client can answer a question.
func wanted(method string, params json.RawMessage) func(Abilities) bool {
	return func(able Abilities) bool {
		switch {
		case method == methodSample:
			return able.Sampling
		case method == methodElicit && byURL(params):
			return able.URL
		}
		return method == methodElicit && able.Form
	}
}

// asObject refuses an answer that is no JSON object: the protocol has no other.
func asObject(result json.RawMessage, err error) (json.RawMessage, error) {
	if err == nil && (!gjson.ValidBytes(result) || !gjson.ParseBytes(result).IsObject()) {
		return nil, fmt.Errorf("answering a server: the answer is no JSON object")
	}
	return result, err
}

// byURL reports whether an elicitation is in URL mode. Servers may leave out the
// mode, which then is form.
func byURL(params json.RawMessage) bool { return gjson.GetBytes(params, "mode").Str == "url" }

// sameParty reports whether all calls are one party's, so that what a server asks
// because of any of them is that party's business.
func sameParty(calls []Call) bool {
	for _, c := range calls {
		if len(calls) > 1 && (c.Party == "" || c.Party != calls[0].Party || c.Client != calls[0].Client) {
			return false
		}
	}
	return len(calls) > 0
}

// answerer returns who answers a question that calls may have caused: their own
// client when it is certain that they are one party's, and it can; else the
// host's, which is a person; never the client of a party that may have nothing
// to do with it. It is nil when nobody can.
func (h *Host) answerer(calls []Call, can func(Abilities) bool) Client {
	if sameParty(calls) && can(abilities(calls[0].Client)) {
		return calls[0].Client
	}
	if can(abilities(h.opts.Client)) {
		return h.opts.Client
	}
	return nil
}

// abilities are what c can answer; nothing when there is no client.
func abilities(c Client) Abilities {
	if c == nil {
		return Abilities{}
	}
	return c.Abilities()
}

// announced is what a server is told when it is connected. It is not told again
// when that changes.
func (h *Host) announced() Abilities {
	if h.opts.Announce != nil {
		return h.opts.Announce()
	}
	return abilities(h.opts.Client)
}

// maxElicited bounds what is remembered of elicitations that a server has not
// said are complete: it need never say so.
const maxElicited = 256

// elicited is who wants to know that an elicitation in URL mode is complete.
type elicited struct {
	client Client
	done   chan struct{} // closed then
}

// noteElicited remembers that client was asked, and returns what is closed when
// the server says that the elicitation is complete.
func (sess *session) noteElicited(id string, client Client) <-chan struct{} {
	sess.mu.Lock()
	defer sess.mu.Unlock()
	if e, ok := sess.elicited[id]; ok {
		return e.done
	}
	done := make(chan struct{})
	if id != "" && len(sess.elicited) < maxElicited {
		sess.elicited[id] = elicited{client, done}
	}
	return done
}

// onElicited passes on that an elicitation is complete.
func (s *server) onElicited(sess *session, id string) {
	sess.mu.Lock()
	e, ok := sess.elicited[id]
	delete(sess.elicited, id)
	sess.mu.Unlock()
	if ok {
		close(e.done)
		e.client.Elicited(s.name, id)
	}
}
