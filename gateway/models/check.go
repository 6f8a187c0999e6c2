package models

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// Checked is how a provider did that was tried out.
type Checked struct {
	Models []string // what it says it has
	Model  string   // which one was asked for a token; "" when none was
	Err    error    // why it does not work; nil when it does
}

// Check asks a provider for its models, then one of them for a single token. A
// provider that lists none is asked for the catalogue's.
func (r *Router) Check(ctx context.Context, provider string) Checked {
	var c Checked
	if c.Models, c.Err = r.ask(ctx, provider); c.Err != nil && !listless(c.Err) {
		return c
	}
	c.Model = r.pick(provider, c.Models)
	switch {
	case c.Model == "" && c.Err == nil:
		c.Err = errNoModels
	case c.Model != "":
		c.Err = r.askOneToken(ctx, provider, c.Model)
	}
	return c
}

var errNoModels = errors.New("it lists no models")

// listless reports whether a provider has answered that it has no list of
// models, as some do.
func listless(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed)
}

// otherUse names models that do not chat.
var otherUse = regexp.MustCompile(`(?i)embed|whisper|tts|dall-e|image|moderation|rerank|audio|realtime|transcribe|babbage|davinci|instruct|speech|video|sora`)

// pick chooses the model to ask: the user's default where the provider has it,
// then one that the catalogue knows, then any that looks as if it could chat.
func (r *Router) pick(provider string, listed []string) string {
	if slices.Contains(listed, r.cfg.DefaultModel) {
		return r.cfg.DefaultModel
	}
	for _, m := range r.catalogue.models {
		if m.Provider == provider && (len(listed) == 0 || slices.Contains(listed, m.ID)) {
			return m.ID
		}
	}
	for _, id := range listed {
		if !otherUse.MatchString(id) {
			return id
		}
	}
	return ""
}

func (r *Router) askOneToken(ctx context.Context, provider, model string) error {
	d, err := r.at(provider, model)
	if err != nil {
		return err
	}
	r.healths.adopt(d)
	data, err := json.Marshal(map[string]any{
		"model": model, "max_tokens": 1, "messages": []map[string]string{{"role": "user", "content": "Say ok."}},
	})
	if err != nil {
		return err
	}
	body, err := ParseBody(data)
	if err != nil {
		return err
	}
	reply, err := r.Do(ctx, r.route(model, newGroup(model, d)), body, false)
	if err == nil {
		reply.Close()
		return nil
	}
	if wantsMoreTokens(err) {
		return nil
	}
	return err
}

// wantsMoreTokens reports whether a model has refused to answer in a single
// token, as those do that think first. The key and the model work.
func wantsMoreTokens(err error) bool {
	e := AsError(err)
	return e.Code == InvalidRequest && (strings.Contains(e.Message, "max_tokens") || strings.Contains(e.Message, "max_completion_tokens")) &&
		(strings.Contains(e.Message, "limit was reached") || strings.Contains(e.Message, "Could not finish"))
}

// Plain says in words for a person why a provider at an address does not work.
func Plain(err error, address string) string {
	if words := plainNetwork(err, address); words != "" {
		return words
	}
	e := AsError(err)
	switch {
	case errors.Is(err, errNoModels):
		return "The address answers, but lists no model that can be asked."
	case e.Code == AuthFailed && e.Err != nil:
		return "There is no key for it yet."
	case e.Code == AuthFailed:
		return "The key is wrong, or has no right to this: the provider refused it."
	case e.Code == RateLimited:
		return "The key works, but the provider takes no more requests now: its limit is reached, or the account has no credit."
	case e.Code == Timeout:
		return "The provider did not answer in time."
	case e.Status == http.StatusNotFound:
		return "Nothing of the kind is at this address. It mostly ends in /v1."
	case e.Code == InvalidRequest:
		return "The provider is reached, but refused the request: " + e.Message
	case e.Code == UpstreamError && foreign(e.Message):
		return "What answers there is not an OpenAI-compatible API. Look at the address: it mostly ends in /v1."
	}
	return "It does not work: " + e.Message
}

// foreign reports whether a failure tells of an answer that is not the API's.
func foreign(message string) bool {
	for _, words := range []string{"HTML page", "not a JSON object", "no choices", "invalid character", "malformed HTTP"} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// plainNetwork is Plain for an address that could not be reached; "" for others.
func plainNetwork(err error, address string) string {
	host := hostOf(address)
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var wrongName x509.HostnameError
	var expired x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var netErr net.Error
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("There is no such address: %s is not known.", host)
	case errors.As(err, &dns):
		return fmt.Sprintf("The address %s cannot be looked up: is this machine connected?", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("Nothing answers at %s: is the server there running?", host)
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Sprintf("%s does not speak https: write http:// in the address.", host)
	case errors.As(err, &unknown), errors.As(err, &wrongName), errors.As(err, &expired):
		return fmt.Sprintf("The certificate of %s is not trusted here.", host)
	case errors.As(err, &netErr) && netErr.Timeout(), errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("%s did not answer in time.", host)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return fmt.Sprintf("%s cannot be reached from here.", host)
	}
	return ""
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return "the provider"
}

// Address is where a provider is: its entry's base_url, or the known one; "" when
// there is none.
func (r *Router) Address(provider string) string {
	d, err := r.at(provider, "")
	if err != nil {
		return ""
	}
	return d.BaseURL
}
