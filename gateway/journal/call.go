package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"pointsman/approvals"
)

// Outcome is how a call or a run ended. It is empty while it goes on.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"
	Failed      Outcome = "failed"
	Denied      Outcome = "denied"
	NotAnswered Outcome = "not_answered" // nobody answered the request for approval in time
	Withdrawn   Outcome = "withdrawn"    // it was withdrawn before there was an answer
	Invalid     Outcome = "invalid"      // the arguments, or the tool's name, were not valid
	Timeout     Outcome = "timeout"
	Cancelled   Outcome = "cancelled"
	Unknown     Outcome = "unknown" // the program ended before it was known
)

// Call is one tool call. Begin takes the first part; the part from Outcome on
// comes from Decide and Finish.
type Call struct {
	ID         string          `json:"id"`   // unique in the record; the caller's choice
	Time       time.Time       `json:"time"` // zero in Begin: now
	Door       string          `json:"door"`
	Client     string          `json:"client"`
	Session    string          `json:"session"`
	CWD        string          `json:"cwd"` // where the client works; "" when that is not known
	Run        string          `json:"run"`
	Round      int             `json:"round"`
	Model      string          `json:"model"`
	Server     string          `json:"server"`
	Tool       string          `json:"tool"`    // the server's own name of it
	Offered    string          `json:"offered"` // the name the model sees
	Definition string          `json:"definition"`
	Arguments  json.RawMessage `json:"arguments"` // redacted when stored; what is no JSON becomes a JSON string
	Edited     bool            `json:"edited"`    // a person changed the arguments
	Class      approvals.Class `json:"class"`
	Risky      bool            `json:"risky"`
	Evidence   []string        `json:"evidence"`

	Outcome     Outcome `json:"outcome"`
	Approved    *bool   `json:"approved"` // nil: nobody was asked
	Approver    string  `json:"approver"`
	Rule        string  `json:"rule"`
	Reason      string  `json:"reason"`
	DurationMS  int64   `json:"duration_ms"`
	ResultBytes int64   `json:"result_bytes"`
	Error       string  `json:"error"`
}

// End is how a call ended. What Decide recorded stays where End is silent.
type End struct {
	Outcome     Outcome // must be set
	Approved    *bool
	Approver    string
	Rule        string
	Reason      string
	DurationMS  int64
	ResultBytes int64  // zero: the length of Result
	Result      string // kept redacted, up to 4 MiB, unless Options.Results is none
	Error       string
}

// Begin records that a call is about to run. When it returns nil the row is on
// disk; when it returns an error the call must not run.
func (j *Journal) Begin(ctx context.Context, c Call) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("recording call %q: %w", c.ID, err)
	}
	if c.ID == "" {
		return errors.New("recording a call: it has no id")
	}
	if c.Time.IsZero() {
		c.Time = j.opts.Now()
	}
	evidence, err := json.Marshal(append([]string{}, c.Evidence...)) // never null
	if err != nil {
		return fmt.Errorf("recording call %q: evidence: %w", c.ID, err)
	}
	args := []any{
		c.ID, c.Time.UnixNano(), j.presence.id, c.Door, c.Client, c.Session, c.CWD, c.Run, c.Round, c.Model,
		c.Server, c.Tool, c.Offered, c.Definition, j.arguments(c.Arguments), c.Edited,
		string(c.Class), c.Risky, j.opts.Redact(string(evidence)),
	}
	err = j.commit(func(ctx context.Context, s *statements) error {
		_, err := s.beginCall.ExecContext(ctx, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("recording call %q: %w", c.ID, err)
	}
	return nil
}

// arguments returns what is stored of a call's arguments: always JSON.
func (j *Journal) arguments(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	if json.Valid(raw) {
		if raw = j.opts.RedactJSON(raw); json.Valid(raw) {
			return string(raw)
		}
	}
	quoted, err := json.Marshal(j.opts.Redact(string(raw)))
	if err != nil { // a string always encodes
		return "null"
	}
	return string(quoted)
}

// Decide records what was decided about a call that was begun, before it runs:
// who answered, why, and the arguments when a person edited them.
func (j *Journal) Decide(_ context.Context, id string, d approvals.Decision) error {
	var edited any
	if d.Arguments != nil {
		edited = j.arguments(d.Arguments)
	}
	reason := j.opts.Redact(d.Reason)
	err := j.commit(func(ctx context.Context, s *statements) error {
		return one(s.decideCall.ExecContext(ctx, d.Allows(), d.Approver, d.Rule, reason, edited, edited != nil, id))
	})
	if err != nil {
		return fmt.Errorf("recording the decision on call %q: %w", id, err)
	}
	return nil
}

// Finish records how a call that was begun ended. When it returns nil that is
// on disk.
func (j *Journal) Finish(_ context.Context, id string, end End) error {
	exec, err := j.finishing(id, end)
	if err == nil {
		err = j.commit(exec)
	}
	if err != nil {
		return fmt.Errorf("recording the end of call %q: %w", id, err)
	}
	return nil
}

// FinishSoon is Finish for whoever does not wait: whoever made the call gets its
// answer while the row is written, some 2 ms later, or together with the next one
// that somebody waits for. Being killed before leaves the call "unknown". What
// fails is logged.
func (j *Journal) FinishSoon(id string, end End) {
	exec, err := j.finishing(id, end)
	if err != nil {
		j.complain(id, err)
		return
	}
	o := op{exec: func(ctx context.Context, s *statements) error {
		err := exec(ctx, s)
		if err != nil {
			j.complain(id, err)
		}
		return err
	}}
	j.mu.Lock()
	ok := j.enqueueLocked(o)
	j.mu.Unlock()
	if !ok {
		j.complain(id, ErrClosed)
	}
	nudge(j.soon)
}

func (j *Journal) complain(id string, err error) {
	j.opts.Logger.Error("recording the end of a call", "call", id, "error", err)
}

// finishing returns what closes a call's row.
func (j *Journal) finishing(id string, end End) (func(context.Context, *statements) error, error) {
	if end.Outcome == "" {
		return nil, errors.New("it has no outcome")
	}
	if end.ResultBytes == 0 {
		end.ResultBytes = int64(len(end.Result))
	}
	var approved any
	if end.Approved != nil {
		approved = *end.Approved
	}
	args := []any{
		string(end.Outcome), approved, end.Approver, end.Rule, j.opts.Redact(end.Reason),
		end.DurationMS, end.ResultBytes, j.opts.Redact(end.Error), id,
	}
	result := j.result(end.Result)
	return func(ctx context.Context, s *statements) error {
		if err := one(s.finishCall.ExecContext(ctx, args...)); err != nil || result == "" {
			return err
		}
		_, err := s.keepResult.ExecContext(ctx, result, id)
		return err
	}, nil
}

// result returns what is kept of a result.
func (j *Journal) result(s string) string {
	if s == "" || j.opts.Results == "none" {
		return ""
	}
	s = j.opts.Redact(s) // before cutting: half a credential is not recognised
	if len(s) <= maxResult {
		return s
	}
	cut := maxResult
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// one returns an error unless exactly one row was changed.
func one(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n != 1 {
		err = errors.New("no call with that id goes on")
	}
	return err
}
