// Package signintest is an authorization server on loopback, together with the
// MCP server that it guards, for tests of signing in. It really does what it
// says: it registers clients, checks redirect addresses, PKCE, resources and
// secrets, rotates refresh tokens, and revokes.
//
// Its person consents at once: to open an address of Authorize is to sign in.
package signintest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Rules are how a Server behaves. The zero value registers everybody, and
// consents.
type Rules struct {
	Life       time.Duration     // of access tokens; zero: an hour
	CodeLife   time.Duration     // of codes; zero: a minute
	Static     map[string]string // clients that are registered by hand: id to secret, "" for a public one
	StaticAt   string            // the redirect address of those; "": any
	Documents  bool              // client ID metadata documents will do
	Closed     bool              // no client can register itself
	Secrets    bool              // registered clients get a secret, and must show it
	NamesIss   bool              // it says that it sends iss along
	Iss        string            // what it sends as iss; "": its own, if NamesIss
	State      string            // what it sends as state; "": what it got
	Deny       bool              // the person does not consent
	NoPKCE     bool              // it does not do S256
	NoRevoke   bool              // it has no revocation endpoint
	NoRefresh  bool              // it gives no refresh token
	NoMetadata bool              // the MCP server says nothing of itself (before RFC 9728)
	Resource   string            // what the MCP server calls itself; "": by its address
	Issuer     string            // the authorization server that it names; "": this one
	Challenge  []string          // the scopes that its 401 names
	Scopes     []string          // the scopes in its metadata
	Offline    bool              // offline_access is one of the authorization server's scopes
	Wants      []string          // the scopes that a tools/call needs
	Fail       map[string]int    // by path: a status that is answered instead
	// Hold, if not nil, is waited for by the token endpoint.
	Hold <-chan struct{}
}

// Server is an authorization server and the MCP server behind it, at URL.
type Server struct {
	URL string // of the MCP server

	web *httptest.Server
	mcp http.Handler

	mu      sync.Mutex // guards the fields below
	rules   Rules
	clients map[string]registration
	codes   map[string]consent
	access  map[string]issued
	refresh map[string]issued
	all     []string // every token and secret that was ever given
	counts  map[string]int
	asked   []url.Values // the queries at /authorize
	given   []url.Values // the forms at /token
}

type registration struct {
	secret    string
	redirects []string
}

type consent struct {
	client, redirect, challenge string
	scopes                      []string
	until                       time.Time
}

type issued struct {
	client string
	scopes []string
	until  time.Time
}

// New starts a server that ends with the test. mcp is what tokens are for; if
// nil, every request is answered with 200.
func New(t testing.TB, mcp http.Handler, rules Rules) *Server {
	t.Helper()
	if mcp == nil {
		mcp = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	}
	s := &Server{
		mcp: mcp, rules: rules, clients: map[string]registration{}, codes: map[string]consent{},
		access: map[string]issued{}, refresh: map[string]issued{}, counts: map[string]int{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", s.resource)
	mux.HandleFunc("/.well-known/oauth-authorization-server", s.metadata)
	mux.HandleFunc("/register", s.register)
	mux.HandleFunc("/authorize", s.authorize)
	mux.HandleFunc("/token", s.token)
	mux.HandleFunc("/revoke", s.revoke)
	mux.HandleFunc("/mcp", s.serve)
	s.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.counts[r.URL.Path]++
		status := s.rules.Fail[r.URL.Path]
		s.mu.Unlock()
		if status != 0 {
			http.Error(w, "as it was told", status)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.web.Close)
	s.URL = s.web.URL + "/mcp"
	return s
}

// Origin is the authorization server's issuer.
func (s *Server) Origin() string { return s.web.URL }

// Close ends the server before the test does: nobody answers any more.
func (s *Server) Close() { s.web.Close() }

// Change changes the rules.
func (s *Server) Change(change func(*Rules)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.rules)
}

// Count is how often a path was asked for.
func (s *Server) Count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[path]
}

// Secrets are the tokens, codes and client secrets that were ever given.
func (s *Server) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// Asked are the queries that came to the page where one signs in.
func (s *Server) Asked() []url.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Forms are what came to the token endpoint.
func (s *Server) Forms() []url.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.given)
}

// Live is how many tokens would be taken now, of both kinds.
func (s *Server) Live() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.access) + len(s.refresh)
}

// ExpireAccess has no access token be taken any more.
func (s *Server) ExpireAccess() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Expired reports whether every access token has expired by now.
func (s *Server) Expired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, token := range s.access {
		if time.Now().Before(token.until) {
			return false
		}
	}
	return true
}

// ExpireRefresh has no refresh token be taken any more.
func (s *Server) ExpireRefresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.refresh)
}

// Trust has the MCP server take a token of somebody else's.
func (s *Server) Trust(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.access[token] = issued{until: time.Now().Add(time.Hour)}
}

func (s *Server) rule() Rules {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rules
}

// freshLocked makes a token, or another secret.
func (s *Server) freshLocked(kind string) string {
	token := kind + "-" + rand.Text()
	s.all = append(s.all, token)
	return token
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who has gone is not told
}

func refuse(w http.ResponseWriter, status int, code string) {
	reply(w, status, map[string]string{"error": code, "error_description": "the test's server refuses"})
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func (s *Server) resource(w http.ResponseWriter, r *http.Request) {
	rules := s.rule()
	if rules.NoMetadata {
		http.NotFound(w, r)
		return
	}
	reply(w, http.StatusOK, map[string]any{
		"resource": or(rules.Resource, s.URL), "authorization_servers": []string{or(rules.Issuer, s.Origin())}, "scopes_supported": rules.Scopes,
	})
}

func (s *Server) metadata(w http.ResponseWriter, r *http.Request) {
	rules := s.rule()
	if rules.NoMetadata {
		http.NotFound(w, r)
		return
	}
	meta := map[string]any{
		"issuer": s.Origin(), "authorization_endpoint": s.Origin() + "/authorize", "token_endpoint": s.Origin() + "/token",
		"response_types_supported": []string{"code"}, "token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic"},
		"client_id_metadata_document_supported": rules.Documents, "authorization_response_iss_parameter_supported": rules.NamesIss,
		"code_challenge_methods_supported": []string{"S256"},
	}
	if rules.Secrets {
		meta["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
	}
	if rules.NoPKCE {
		meta["code_challenge_methods_supported"] = []string{"plain"}
	}
	if !rules.NoRevoke {
		meta["revocation_endpoint"] = s.Origin() + "/revoke"
	}
	if !rules.Closed {
		meta["registration_endpoint"] = s.Origin() + "/register"
	}
	if rules.Offline {
		meta["scopes_supported"] = []string{"offline_access"}
	}
	reply(w, http.StatusOK, meta)
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
		Grants    []string `json:"grant_types"`
	}
	if json.NewDecoder(r.Body).Decode(&asked) != nil || len(asked.Redirects) == 0 || !slices.Contains(asked.Grants, "refresh_token") {
		refuse(w, http.StatusBadRequest, "invalid_client_metadata")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, c := "client-"+rand.Text(), registration{redirects: asked.Redirects}
	answer := map[string]any{"client_id": id, "redirect_uris": asked.Redirects, "token_endpoint_auth_method": asked.Method}
	if s.rules.Secrets {
		c.secret = s.freshLocked("secret")
		answer["client_secret"] = c.secret
	}
	s.clients[id] = c
	reply(w, http.StatusCreated, answer)
}

// clientLocked returns a client.
func (s *Server) clientLocked(id string) (registration, bool) {
	if secret, ok := s.rules.Static[id]; ok {
		c := registration{secret: secret}
		if s.rules.StaticAt != "" {
			c.redirects = []string{s.rules.StaticAt}
		}
		return c, true
	}
	if s.rules.Documents && strings.HasPrefix(id, "https://") {
		return registration{}, true // it stands for what the document would say
	}
	c, ok := s.clients[id]
	return c, ok
}

func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, q)
	c, ok := s.clientLocked(q.Get("client_id"))
	back := q.Get("redirect_uri")
	switch {
	case !ok, c.redirects != nil && !slices.Contains(c.redirects, back):
		http.Error(w, "no such client, or not its redirect address", http.StatusBadRequest)
		return
	case q.Get("response_type") != "code", q.Get("code_challenge_method") != "S256", q.Get("code_challenge") == "", q.Get("state") == "", !s.isForLocked(q):
		http.Error(w, "not a request that MCP knows", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {or(s.rules.State, q.Get("state"))}}
	if iss := s.rules.Iss; iss != "" || s.rules.NamesIss {
		answer.Set("iss", or(iss, s.Origin()))
	}
	if s.rules.Deny {
		answer.Set("error", "access_denied")
	} else {
		code := s.freshLocked("code")
		life := s.rules.CodeLife
		if life == 0 {
			life = time.Minute
		}
		s.codes[code] = consent{q.Get("client_id"), back, q.Get("code_challenge"), strings.Fields(q.Get("scope")), time.Now().Add(life)}
		answer.Set("code", code)
	}
	http.Redirect(w, r, back+"?"+answer.Encode(), http.StatusFound)
}

// isForLocked reports whether a request is for the MCP server (RFC 8707).
func (s *Server) isForLocked(q url.Values) bool {
	return slices.Equal(q["resource"], []string{or(s.rules.Resource, s.URL)})
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if hold := s.rule().Hold; hold != nil {
		<-hold
	}
	_ = r.ParseForm() // what is not there is refused below
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = append(s.given, r.PostForm)
	id, ok := s.authenticateLocked(r)
	switch {
	case !ok:
		refuse(w, http.StatusUnauthorized, "invalid_client")
	case !s.isForLocked(r.PostForm):
		refuse(w, http.StatusBadRequest, "invalid_target")
	default:
		scopes, ok := s.grantLocked(id, r.PostForm)
		if !ok {
			refuse(w, http.StatusBadRequest, "invalid_grant")
			return
		}
		reply(w, http.StatusOK, s.issueLocked(id, scopes, r.PostForm.Get("grant_type") != "client_credentials"))
	}
}

// authenticateLocked returns the client that a request comes from.
func (s *Server) authenticateLocked(r *http.Request) (string, bool) {
	id, secret, basic := r.BasicAuth()
	if basic {
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	c, ok := s.clientLocked(id)
	return id, ok && c.secret == secret
}

// grantLocked checks what a token is asked for with, and uses it up.
func (s *Server) grantLocked(id string, form url.Values) ([]string, bool) {
	switch form.Get("grant_type") {
	case "authorization_code":
		c, ok := s.codes[form.Get("code")]
		delete(s.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		fits := c.challenge == base64.RawURLEncoding.EncodeToString(sum[:]) && c.redirect == form.Get("redirect_uri")
		return c.scopes, ok && fits && c.client == id && time.Now().Before(c.until)
	case "refresh_token":
		token, ok := s.refresh[form.Get("refresh_token")]
		delete(s.refresh, form.Get("refresh_token"))
		return token.scopes, ok && token.client == id
	case "client_credentials":
		return strings.Fields(form.Get("scope")), s.rules.Static[id] != ""
	}
	return nil, false
}

func (s *Server) issueLocked(id string, scopes []string, refresh bool) map[string]any {
	life := s.rules.Life
	if life == 0 {
		life = time.Hour
	}
	token := issued{client: id, scopes: scopes, until: time.Now().Add(life)}
	access := s.freshLocked("access")
	s.access[access] = token
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": max(int(life/time.Second), 1), "scope": strings.Join(scopes, " ")}
	if refresh && !s.rules.NoRefresh {
		next := s.freshLocked("refresh")
		s.refresh[next] = token
		answer["refresh_token"] = next
	}
	return answer
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm() // what is not there is refused below
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.authenticateLocked(r); !ok {
		refuse(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	delete(s.access, r.PostForm.Get("token"))
	delete(s.refresh, r.PostForm.Get("token"))
}

// serve is the MCP server's door.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	have, ok := s.access[token]
	rules := s.rules
	s.mu.Unlock()
	challenge := "Bearer"
	if !rules.NoMetadata {
		challenge += ` resource_metadata="` + s.Origin() + `/.well-known/oauth-protected-resource/mcp"`
	}
	if !ok || !time.Now().Before(have.until) {
		if len(rules.Challenge) > 0 {
			challenge += `, scope="` + strings.Join(rules.Challenge, " ") + `"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
		http.Error(w, "sign in", http.StatusUnauthorized)
		return
	}
	for _, scope := range rules.Wants {
		if strings.Contains(r.Header.Get("Mcp-Method"), "tools/call") && !slices.Contains(have.scopes, scope) {
			w.Header().Set("WWW-Authenticate", challenge+`, error="insufficient_scope", scope="`+strings.Join(rules.Wants, " ")+`"`)
			http.Error(w, "more is needed", http.StatusForbidden)
			return
		}
	}
	s.mcp.ServeHTTP(w, r)
}
