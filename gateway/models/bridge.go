package models

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// offer is whether a deployment has the Responses API, as far as it is known.
type offer int

const (
	offerUnknown offer = iota
	offered            // it has answered there, or is known to
	offeredAlone       // … and is not to be asked for chat completions
	notOffered         // there is nothing there
)

// ErrNoResponses is the cause of an *Error of a provider that has no Responses
// API: it says so, or answers there with something else.
var ErrNoResponses = errors.New("there is no Responses API")

// viaResponses asks a deployment at its Responses API, where the request is to go
// there. Where there is none, the reply is nil, limit what is left of the time, and
// notices say so to the one request that has found out.
func (a *asking) viaResponses(d *Deployment, limit *time.Duration) (reply *Reply, notices []string, err error) {
	if !a.wantsResponses(d) {
		return nil, nil, nil
	}
	begun, tried := time.Now(), !a.route.Responses && d.offersResponses() == offerUnknown
	reply, err = a.send(d, true, *limit)
	absent := errors.Is(err, ErrNoResponses)
	switch {
	case err == nil:
		d.health.learn(offered)
		return reply, nil, nil
	case !absent && !(tried && trialOver(err)):
		return nil, nil, err
	}
	*limit -= time.Since(begun)
	if absent && d.health.learn(notOffered) {
		a.router.opts.Logger.Info("a provider has no Responses API; it is asked for chat completions from now on", "deployment", d.Name())
		notices = []string{fmt.Sprintf("%s has no Responses API (%s): it is asked for chat completions from now on", d.Name(), d.responsesURL())}
	}
	return nil, notices, nil
}

// trialOver reports whether an API that was tried without being known is at fault
// for an error, so that the request goes where it would have gone.
func trialOver(err error) bool {
	code := AsError(err).Code
	return code == InvalidRequest || code == UpstreamError
}

// wantsResponses reports whether a request is to go to a deployment's Responses
// API. A caller who speaks it is served by it wherever it may be. Another caller's
// turn goes there when a model is to reason and to call tools, where the API is
// known to be; elsewhere it is tried when the effort asked for would be lost.
func (a *asking) wantsResponses(d *Deployment) bool {
	known := d.offersResponses()
	switch {
	case a.router.opts.Responses == nil, known == notOffered:
		return false
	case a.route.Responses, known == offeredAlone:
		return true
	case a.router.cfg.Quirks.ResponsesBridge != "auto", !hasTools(a.body), known != offered && !gpt6(d.Model):
		return false
	}
	body := a.body.Clone()
	d.addDefaults(body, a.router.cfg.ReasoningEffort)
	effort := body.Get("reasoning_effort").String()
	wanted := effort != "" && effort != "none"
	if known == offered && effort == "" {
		wanted = gpt6(d.Model)
	}
	return wanted && a.router.opts.Responses.Expressible(body)
}

// offersResponses returns what is known of the deployment's Responses API.
func (d *Deployment) offersResponses() offer {
	switch learned := d.health.learned(); {
	case d.azure, d.Provider == DemoProvider, d.isDeepSeek():
		return notOffered
	case learned == notOffered, d.offers == offerUnknown:
		return learned
	default:
		return d.offers
	}
}

// learn notes whether the deployment has the Responses API, and reports whether
// that is news.
func (h *health) learn(now offer) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	news := h.responses != now
	h.responses = now
	return news
}

func (h *health) learned() offer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.responses
}

// absent reports whether a reply of that status says that nothing is at the
// address; a model that is unknown there is something else.
func absent(status int, code string) bool {
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return code != "model_not_found"
	default:
		return false
	}
}
