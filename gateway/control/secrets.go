package control

import (
	"context"
	"net/http"
	"net/url"
)

// keptSecret is the body of PUT /secrets/NAME.
type keptSecret struct {
	Value string `json:"value"`
}

// accessKey is the reply to GET and POST /key.
type accessKey struct {
	Key string `json:"key"`
}

func (s *Server) secretRoutes() {
	s.managed("PUT /secrets/{name}", func(m Manager, r *http.Request) (any, error) {
		body, err := readBody[keptSecret](r)
		if err == nil {
			err = m.SetSecret(r.Context(), r.PathValue("name"), body.Value)
		}
		return done{Done: true}, err
	})
	s.managed("DELETE /secrets/{name}", func(m Manager, r *http.Request) (any, error) {
		return done{Done: true}, m.DeleteSecret(r.Context(), r.PathValue("name"))
	})
	s.managed("POST /secrets", func(m Manager, r *http.Request) (any, error) {
		names, err := readBody[[]string](r)
		if err != nil {
			return nil, err
		}
		return m.HasSecret(r.Context(), names)
	})
	s.managed("GET /key", func(m Manager, r *http.Request) (any, error) {
		key, err := m.Key(r.Context())
		return accessKey{key}, err
	})
	s.managed("POST /key", func(m Manager, r *http.Request) (any, error) {
		key, err := m.NewKey(r.Context())
		return accessKey{key}, err
	})
}

// SetSecret keeps a value in the keychain, under a name that the configuration
// refers to as keychain:NAME. Providers use it from the next request on; servers
// that refer to it are started anew.
func (c *Client) SetSecret(ctx context.Context, name, value string) error {
	return c.send(ctx, http.MethodPut, "/secrets/"+url.PathEscape(name), keptSecret{value}, &done{})
}

// DeleteSecret removes a name from the keychain. One that is not there is a
// *RefusedError.
func (c *Client) DeleteSecret(ctx context.Context, name string) error {
	return c.exchange(ctx, http.MethodDelete, "/secrets/"+url.PathEscape(name), nil, &done{})
}

// HasSecret reports for each name whether the keychain has a value for it. A
// keychain that is locked, or not there, is a *RefusedError.
func (c *Client) HasSecret(ctx context.Context, names []string) (map[string]bool, error) {
	return ask[map[string]bool](ctx, c, http.MethodPost, "/secrets", names)
}

// Key returns the key that HTTP clients must show; "" when none is asked for
// (gateway.auth: none).
func (c *Client) Key(ctx context.Context) (string, error) {
	reply, err := ask[accessKey](ctx, c, http.MethodGet, "/key", nil)
	return reply.Key, err
}

// NewKey makes a new key for HTTP clients and returns it. The old one is refused
// from then on. A key that is not the keychain's cannot be made anew: that is a
// *RefusedError which says where it is set.
func (c *Client) NewKey(ctx context.Context) (string, error) {
	reply, err := ask[accessKey](ctx, c, http.MethodPost, "/key", nil)
	return reply.Key, err
}
