package control

import (
	"context"
	"net/http"
	"net/url"

	"pointsman/approvals"
)

func (s *Server) ruleRoutes() {
	s.managed("GET /rules", func(m Manager, r *http.Request) (any, error) { return m.Rules(r.Context()) })
	s.managed("DELETE /rules/{id}", func(m Manager, r *http.Request) (any, error) {
		removed, err := m.RemoveRule(r.Context(), r.PathValue("id"))
		return done{Done: removed}, err
	})
	s.managed("POST /rules/restore", func(m Manager, r *http.Request) (any, error) {
		rule, err := readBody[approvals.Rule](r)
		if err == nil {
			err = m.RestoreRule(r.Context(), rule)
		}
		return done{Done: true}, err
	})
}

// Rules returns the remembered decisions that have not expired, oldest first:
// also those for a run or for this session, and those that a changed definition
// has voided.
func (c *Client) Rules(ctx context.Context) ([]approvals.Rule, error) {
	return ask[[]approvals.Rule](ctx, c, http.MethodGet, "/rules", nil)
}

// RemoveRule forgets a rule. It reports whether there was one of that id.
func (c *Client) RemoveRule(ctx context.Context, id string) (bool, error) {
	reply, err := ask[done](ctx, c, http.MethodDelete, "/rules/"+url.PathEscape(id), nil)
	return reply.Done, err
}

// RestoreRule brings back a rule that RemoveRule has forgotten since the
// resident started, exactly as it was. Any other rule is a *RefusedError.
func (c *Client) RestoreRule(ctx context.Context, rule approvals.Rule) error {
	return c.send(ctx, http.MethodPost, "/rules/restore", rule, &done{})
}
