package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"pointsman/gateway/models"
	"pointsman/gateway/peer"
)

// guard answers whoever may not come in, before anything is read: a foreign
// Host (DNS rebinding), a foreign Origin (a web page), a missing or wrong key, and
// where none is asked for another user of this machine.
// It reports whether the request may go on.
func (h *Handler) guard(w http.ResponseWriter, r *http.Request) bool {
	s := h.opts.Settings()
	if !hostAllowed(r.Host, s) {
		shut(w, r, http.StatusForbidden, "the Host of this request is not answered; gateway.allowed_hosts lists further names")
		return false
	}
	if !originAllowed(w, r, s) {
		shut(w, r, http.StatusForbidden, "requests from this web page are not answered; gateway.cors_origins lists the pages that may")
		return false
	}
	if preflight(r) {
		w.Header().Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
		w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Pointsman-Tools, X-Pointsman-Session, "+r.Header.Get("Access-Control-Request-Headers"))
		w.Header().Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
		return false
	}
	if s.Open && foreignUser(r) {
		shut(w, r, http.StatusForbidden, "this address asks for no key, and answers the programs of its own user alone")
		return false
	}
	if r.URL.Path == "/health" || s.Open {
		return true
	}
	if s.Key == nil {
		s.Key = func() (string, error) { return "", nil } // which nobody can show
	}
	key, err := s.Key()
	if err != nil {
		w.Header().Set("Retry-After", "5")
		shut(w, r, http.StatusServiceUnavailable, err.Error())
		return false
	}
	if !authorized(r, key) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		shut(w, r, http.StatusUnauthorized, "this endpoint needs the header \"Authorization: Bearer KEY\" with Pointsman's key; `pointsman keys` tells where it is kept")
		return false
	}
	return true
}

// foreignUser reports whether the system says that the request comes from a
// program of another user's of this machine.
func foreignUser(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Foreign(local, net.TCPAddrFromAddrPort(remote))
}

func shut(w http.ResponseWriter, r *http.Request, status int, message string) {
	w.Header().Set("Connection", "close") // its body stays unread
	refuse(w, r, &models.Error{Code: models.AuthFailed, Status: status, Message: message})
}

// hostAllowed reports whether a Host names this machine's loopback, the address
// listened on, or a name the user has listed.
func hostAllowed(host string, s Settings) bool {
	name := hostName(host)
	if name == "" {
		return false
	}
	if name == "localhost" || strings.EqualFold(name, hostName(s.ListenHost)) {
		return true
	}
	if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(s.AllowedHosts, func(allowed string) bool {
		return strings.EqualFold(allowed, name) || strings.EqualFold(allowed, host)
	})
}

// hostName is a Host without port, brackets and a dot at its end.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// originAllowed reports whether a request comes from no web page, or from one
// that the user has listed; then it says so to the browser. The request's Host
// must have been found to be allowed.
func originAllowed(w http.ResponseWriter, r *http.Request, s Settings) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		// A page's image or script tag sends no Origin; browsers say so here.
		site := r.Header.Get("Sec-Fetch-Site")
		return site != "cross-site" && site != "same-site"
	}
	if len(origins) == 1 && origins[0] == "http://"+r.Host {
		return true // a page of this very address, which was found to be ours: only we could serve it
	}
	if len(origins) > 1 || !slices.Contains(s.CORSOrigins, origins[0]) && !slices.Contains(s.CORSOrigins, "*") {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origins[0])
	w.Header().Set("Access-Control-Expose-Headers", "X-Pointsman-Run")
	w.Header().Add("Vary", "Origin")
	return true
}

func preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// authorized reports whether the request carries the key. The comparison takes
// the same time whatever is wrong with the key.
func authorized(r *http.Request, key string) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(strings.TrimSpace(given))), sha256.Sum256([]byte(key))
	return key != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}
