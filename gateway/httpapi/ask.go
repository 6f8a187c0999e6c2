package httpapi

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"pointsman/gateway/models"
)

// Client is who asks, for the record.
type Client struct {
	Door    string
	Name    string
	Session string
}

// Answer is what goes back to who has asked a typed question.
type Answer struct {
	Body       any // an envelope, whatever has become of the question
	Status     int
	RetryAfter time.Duration // zero: not said
}

// ask serves POST /v1/ask.
func (h *Handler) ask(w http.ResponseWriter, r *http.Request) {
	data, err := h.readBody(w, r)
	if err != nil {
		writeError(w, models.AsError(err))
		return
	}
	from := Client{Door: cmp.Or(h.door(r), h.opts.Door), Name: client(r), Session: named(r.Header.Get("X-Pointsman-Session"))}
	answer := h.opts.Ask(r.Context(), from, data)
	setRetryAfter(w.Header(), answer.RetryAfter)
	writeJSON(w, answer.Status, answer.Body)
}

// capabilities serves GET /v1/capabilities.
func (h *Handler) capabilities(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"capabilities": h.opts.Capabilities()})
}

// setRetryAfter tells when to ask again, in whole seconds.
func setRetryAfter(header http.Header, wait time.Duration) {
	if wait > 0 {
		header.Set("Retry-After", fmt.Sprint(int64((wait+time.Second-1)/time.Second)))
	}
}
