package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"pointsman/gateway/journal"
	"pointsman/gateway/marathon"
	"pointsman/gateway/models"
)

// Marathons keeps the debug marathons. Of an id that is not known, its errors are
// journal.ErrNoJob.
type Marathons interface {
	// Begin reads a marathon from JSON and begins it. A *models.Error is the
	// caller's fault.
	Begin(ctx context.Context, from Client, request []byte) (*marathon.Job, error)
	Job(ctx context.Context, id string) (*marathon.Job, error)
	Jobs(ctx context.Context) ([]marathon.Job, error)
	// Cancel reports whether the job went on until then.
	Cancel(ctx context.Context, id string) (*marathon.Job, bool, error)
}

// marathonPath is where they are.
const marathonPath = "/v1/debug/marathon"

func (h *Handler) marathonRoutes() {
	h.mux.HandleFunc("POST "+marathonPath, h.beginMarathon)
	h.mux.HandleFunc("GET "+marathonPath, func(w http.ResponseWriter, r *http.Request) {
		jobs, err := h.opts.Marathons.Jobs(r.Context())
		writeMarathon(w, http.StatusOK, map[string]any{"jobs": jobs}, err)
	})
	h.mux.HandleFunc(marathonPath, func(w http.ResponseWriter, r *http.Request) { refuseMethod(w, r, marathonPath, "GET, POST") })
	h.handle(marathonPath+"/{id}", http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
		job, err := h.opts.Marathons.Job(r.Context(), r.PathValue("id"))
		writeMarathon(w, http.StatusOK, job, err)
	})
	h.handle(marathonPath+"/{id}/cancel", http.MethodPost, func(w http.ResponseWriter, r *http.Request) {
		job, _, err := h.opts.Marathons.Cancel(r.Context(), r.PathValue("id")) // of one that is over, the status tells
		writeMarathon(w, http.StatusOK, job, err)
	})
}

// beginMarathon serves POST /v1/debug/marathon.
func (h *Handler) beginMarathon(w http.ResponseWriter, r *http.Request) {
	data, err := h.readBody(w, r)
	if err != nil {
		writeError(w, models.AsError(err))
		return
	}
	from := Client{Door: cmp.Or(h.door(r), h.opts.Door), Name: client(r), Session: named(r.Header.Get("X-Pointsman-Session"))}
	job, err := h.opts.Marathons.Begin(r.Context(), from, data)
	if err == nil {
		w.Header().Set("Location", marathonPath+"/"+job.ID)
	}
	writeMarathon(w, http.StatusAccepted, job, err)
}

// writeMarathon writes what came of a request.
func writeMarathon(w http.ResponseWriter, status int, v any, err error) {
	var refused *models.Error
	switch {
	case err == nil:
		writeJSON(w, status, v)
	case errors.As(err, &refused):
		writeError(w, refused)
	case errors.Is(err, journal.ErrNoJob):
		writeError(w, &models.Error{Code: models.InvalidRequest, Status: http.StatusNotFound, Param: "id", Message: err.Error()})
	default:
		writeError(w, &models.Error{Code: models.UpstreamError, Status: http.StatusInternalServerError, Message: err.Error()})
	}
}
