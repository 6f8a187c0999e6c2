package control

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"pointsman/gateway/elicit"
)

// maxAnswer bounds the answer to a question, in bytes.
const maxAnswer = 1 << 20

func (s *Server) questionRoutes() {
	s.mux.HandleFunc("GET /questions", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, s.opts.Gateway.Questions().Open())
	})
	s.mux.HandleFunc("GET /questions/watch", s.watchQuestions)
	s.mux.HandleFunc("POST /questions/{id}", s.answerQuestion)
}

// watchQuestions sends the open questions, as a line of JSON, now and after every
// change.
func (s *Server) watchQuestions(w http.ResponseWriter, r *http.Request) {
	changed, unsubscribe := s.opts.Gateway.Questions().Subscribe()
	defer unsubscribe()
	lines := newLines(w)
	for {
		if lines.write(s.opts.Gateway.Questions().Open()) != nil {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// answerQuestion takes the answer of a person. Only the window has the right to
// bring it: approvals.control is for calls, whose arguments anybody may see, and a
// form may ask for what is nobody else's business.
func (s *Server) answerQuestion(w http.ResponseWriter, r *http.Request) {
	if !s.holdsSecret(r) {
		fail(w, http.StatusForbidden, "what a server asks is answered in Pointsman's window")
		return
	}
	var a elicit.Answer
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAnswer))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil {
		fail(w, http.StatusBadRequest, "the answer cannot be read: "+err.Error())
		return
	}
	counted, err := s.opts.Gateway.Questions().Answer(r.PathValue("id"), a)
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, "the answer does not fit the question, which is still open: "+err.Error())
		return
	}
	write(w, http.StatusOK, answered{Counted: counted})
}

// Questions returns what servers ask a person, in the order of arrival.
func (c *Client) Questions(ctx context.Context) ([]elicit.Question, error) {
	return ask[[]elicit.Question](ctx, c, http.MethodGet, "/questions", nil)
}

// WatchQuestions calls report with what servers ask a person, now and after every
// change, until ctx ends or the resident goes.
func (c *Client) WatchQuestions(ctx context.Context, report func([]elicit.Question)) error {
	return follow(ctx, c, "/questions/watch", report)
}

// AnswerQuestion answers a question. It reports whether this answer counted; it
// did not when the question was not open any more. It takes the secret.
func (c *Client) AnswerQuestion(ctx context.Context, id string, a elicit.Answer) (bool, error) {
	reply, err := ask[answered](ctx, c, http.MethodPost, "/questions/"+url.PathEscape(id), a)
	return reply.Counted, err
}
