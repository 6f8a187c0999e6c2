package httpapi

import (
	"cmp"
	"net/http"
	"strings"

	"pointsman/gateway/models"
	"pointsman/gateway/ollama"
)

// ollamaPrefix begins the paths of Ollama's own API.
const ollamaPrefix = "/api/"

// NewOllama returns the handler of the Ollama-compatible door: Ollama's API for
// chat and models, and those of OpenAI's routes that clients of Ollama use. Its
// clients know of no key, so opts.Settings should be Open; the guard against web
// pages is that of every door. Of opts it uses what New does for these routes.
// Door empty means "ollama".
func NewOllama(opts Options) *Handler {
	opts.Door = cmp.Or(opts.Door, "ollama")
	h := newHandler(opts)
	h.handle("/{$}", http.MethodGet, h.ollamaBanner)
	h.handle("/api/version", http.MethodGet, h.ollamaVersion)
	h.handle("/api/tags", http.MethodGet, h.ollamaTags)
	h.handle("/api/ps", http.MethodGet, h.ollamaRunning)
	h.handle("/api/show", http.MethodPost, h.ollamaShow)
	h.handle("/api/chat", http.MethodPost, h.ollamaChat)
	return h
}

// ollamaBanner answers clients that look whether anybody is there.
func (h *Handler) ollamaBanner(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(ollama.Banner)) // a client that has gone cannot be told
}

func (h *Handler) ollamaVersion(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"version": ollama.Version})
}

func (h *Handler) ollamaTags(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, ollama.Tags(h.opts.Models().List(), h.opts.Started))
}

// ollamaRunning lists the models that are being asked: nothing is loaded here.
func (h *Handler) ollamaRunning(w http.ResponseWriter, _ *http.Request) {
	router := h.opts.Models()
	busy := map[string]bool{}
	for _, d := range router.Health() {
		busy[d.Group] = busy[d.Group] || d.InFlight > 0
	}
	writeJSON(w, http.StatusOK, ollama.Running(router.List(), func(id string) bool { return busy[id] }))
}

func (h *Handler) ollamaShow(w http.ResponseWriter, r *http.Request) {
	data, err := h.readBody(w, r)
	if err != nil {
		refuse(w, r, models.AsError(err))
		return
	}
	body, err := models.ParseBody(data)
	if err != nil {
		refuse(w, r, models.Invalid("", "%v", err))
		return
	}
	name := cmp.Or(body.Get("model").String(), body.Get("name").String()) // older clients say name
	info := h.latest(name)
	if info == nil {
		refuse(w, r, h.noModel(name))
		return
	}
	writeJSON(w, http.StatusOK, ollama.Show(*info, h.opts.Started))
}

// latest describes a model as info does. Ollama's clients may add the tag of the
// latest.
func (h *Handler) latest(name string) *models.Info {
	if info := h.info(name); info != nil {
		return info
	}
	return h.info(strings.TrimSuffix(name, ":latest"))
}

// ollamaChat serves POST /api/chat through the same loop as OpenAI's route.
func (h *Handler) ollamaChat(w http.ResponseWriter, r *http.Request) {
	data, err := h.readBody(w, r)
	if err != nil {
		refuse(w, r, models.AsError(err))
		return
	}
	chat, err := ollama.ParseChat(data)
	if err != nil {
		refuse(w, r, models.AsError(err))
		return
	}
	answer := ollama.NewAnswer(chat) // by the name that the client knows
	var efforts []string
	if info := h.latest(chat.Model); info != nil {
		chat.Model, efforts = info.ID, info.Efforts
	}
	req, err := h.request(r, chat.Body(efforts))
	if err != nil {
		refuse(w, r, unknownModel(err))
		return
	}
	if chat.Loading {
		w.Header().Set("Content-Type", answer.ContentType())
		_, _ = w.Write(answer.Loaded(chat.Unload)) // a client that has gone cannot be told
		return
	}
	if chat.Stream {
		h.stream(w, r, req, answer)
		return
	}
	if reply, ok := h.run(w, r, req); ok {
		h.ollamaReply(w, r, answer, reply)
	}
}

// unknownModel gives a request for a model that nobody has Ollama's status.
func unknownModel(err error) *models.Error {
	e := *models.AsError(err)
	if e.Param == "model" {
		e.Status = http.StatusNotFound
	}
	return &e
}

func (h *Handler) ollamaReply(w http.ResponseWriter, r *http.Request, answer *ollama.Answer, reply []byte) {
	out, err := answer.Reply(reply)
	if err != nil {
		refuse(w, r, models.AsError(err))
		return
	}
	writeRaw(w, http.StatusOK, out)
}
