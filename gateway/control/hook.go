package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"pointsman/gateway/hooks"
)

// timeoutHeader tells a hook how many seconds the answer may take.
const timeoutHeader = "X-Pointsman-Timeout"

const (
	// hookStart bounds how long the resident takes to begin its reply to a hook.
	hookStart = 10 * time.Second
	// hookGrace is how much longer a hook waits than the person has to answer.
	hookGrace = 10 * time.Second
	// longestWait is the most that a hook waits, whatever the resident says: when
	// Copilot's own patience is over, it runs the tool.
	longestWait = hooks.HostTimeout - time.Hour
)

var errSlow = errors.New("the running Pointsman did not answer in time")

// hook answers an event of Copilot's. Asking takes no right; it gives none to
// answer either. When the client goes, the request is withdrawn.
func (s *Server) hook(w http.ResponseWriter, r *http.Request) {
	// Read to the end: only then is it noticed that the client goes.
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, hooks.MaxPayload+64<<10))
	var e hooks.Event
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "the event cannot be read: "+err.Error())
		return
	}
	w.Header().Set(timeoutHeader, strconv.Itoa(int(s.opts.Gateway.ApprovalTimeout()/time.Second)))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	_ = json.NewEncoder(w).Encode(s.opts.Gateway.Hook(r.Context(), e)) // half an answer is none, and the client sees it
}

// Hook puts an event of Copilot's to the resident, and waits for the answer: as
// long as a person has to give it and 10 seconds more, and no longer than ctx
// lasts. An error is no permission.
func (c *Client) Hook(ctx context.Context, e hooks.Event) (hooks.Verdict, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := time.AfterFunc(hookStart, func() { cancel(errSlow) })
	defer patience.Stop()
	body, err := json.Marshal(e)
	if err != nil {
		return hooks.Verdict{}, fmt.Errorf("asking the running Pointsman: %w", err)
	}
	response, err := c.Do(ctx, http.MethodPost, "/hook", nil, body)
	if err != nil {
		return hooks.Verdict{}, because(ctx, err)
	}
	defer response.Body.Close()
	seconds, _ := strconv.Atoi(response.Header.Get(timeoutHeader)) // none: no person is waited for
	patience.Reset(min(time.Duration(max(seconds, 0))*time.Second+hookGrace, longestWait))
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return hooks.Verdict{}, because(ctx, fmt.Errorf("reading the running Pointsman's reply: %w", err))
	}
	if response.StatusCode != http.StatusOK {
		return hooks.Verdict{}, asError(response.StatusCode, data)
	}
	var v hooks.Verdict
	if err := json.Unmarshal(data, &v); err != nil {
		return hooks.Verdict{}, fmt.Errorf("reading the running Pointsman's reply: %w", err)
	}
	return v, nil
}

// because returns why ctx ended, or err when it has not.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
