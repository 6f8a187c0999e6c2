package gateway_test

import (
	"net/http"
	"net/http/httptest"

	"pointsman/gateway/servers/signin/signintest"
)

// startGuarded starts an MCP server that takes one token.
func startGuarded(token string) *httptest.Server {
	next := signintest.MCP()
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "sign in", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	}))
}
