// Package loop runs the model → tool → model loop: it asks a model, takes the
// calls that are ours through the gates, gives their results back, and asks
// again until the model answers.
//
// Each Run owns all its state (history, plan, guard), so any number of them run
// at once. The calls of one round run side by side in goroutines that end
// before the round does; a Run leaves nothing behind it but the hidden turns in
// the Loop's memory and its journal rows.
package loop

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"pointsman/gateway/calls"
	"pointsman/gateway/journal"
	"pointsman/gateway/models"
	"pointsman/gateway/tools"
)

// Models is what the loop needs of package models.
type Models interface {
	Do(ctx context.Context, route *models.Route, body *models.Body, stream bool) (*models.Reply, error)
}

// Caller takes one tool call through the gates and runs it.
type Caller interface {
	Call(ctx context.Context, call calls.Call) calls.Result
}

// Recorder keeps a record of runs. Its methods do not wait for a disk.
type Recorder interface {
	StartRun(run journal.Run)
	FinishRun(id string, end journal.RunEnd)
}

// Settings are how runs behave; they are read when a run begins.
type Settings struct {
	MaxRounds int  // rounds with calls of ours; then the model must answer
	Parallel  int  // calls of one round that run at once
	PlanMode  bool // offer update_plan beside another tool of ours
	LoopSoft  int  // equal repetitions of a call after which the model is warned; zero: never
	LoopHard  int  // … after which the run is stopped; zero: never
}

// Options are what a Loop is made of.
type Options struct {
	Caller    Caller
	Catalogue func() *tools.Catalogue
	Settings  func() Settings
	Recorder  Recorder // nil: runs are not recorded
	Events    *Bus     // nil: nobody listens
}

// Loop runs requests. It is safe for concurrent use.
type Loop struct {
	opts   Options
	common atomic.Pointer[commonOffer]
	memory *memory
	board  board
}

// New returns a loop.
func New(opts Options) *Loop {
	if opts.Events == nil {
		opts.Events = NewBus()
	}
	return &Loop{opts: opts, memory: newMemory(0, 0)}
}

// Request is one request to run.
type Request struct {
	Run       string // id; made when empty
	Models    Models
	Route     *models.Route
	Body      *models.Body // as the caller sent it; the run works on a clone
	Stream    Sink         // where a streamed answer goes; nil: a plain one is wanted
	Door      string       // http, chat, go, demo …
	Client    string
	Session   string
	CWD       string
	ToolsOff  bool // offer no tool of ours
	MaxRounds int  // zero: the settings' own
	// Theirs are names of tools of the caller's that the body's tools do not have.
	Theirs []string
}

// Sink takes a streamed answer. Its methods are called by one goroutine at a
// time. An error ends the run: the caller has gone.
type Sink interface {
	// Begin is called once, with the provider's headers, before the first Data.
	Begin(header http.Header)
	// Data takes the data of one event; payload is valid during the call only.
	Data(payload []byte) error
	// Flush sends what Data has taken.
	Flush() error
}

// Result is how a run ended.
type Result struct {
	Report
	Run     string
	Model   string          // as the provider names it
	Content string          // the answer's text; of a stream the last round's, "" when no tool of ours was offered
	Finish  string          // the last finish_reason
	Usage   json.RawMessage // summed over all rounds; nil when no provider said
	Reply   []byte          // a plain answer in OpenAI's shape, with x_gateway; nil when streamed
	Header  http.Header     // the last provider's headers
	CostUSD *float64        // of all rounds; nil when no price is known
}

// Report is what `x_gateway` tells of a run.
type Report struct {
	Rounds       int            `json:"rounds"` // provider requests
	UsedTools    []string       `json:"used_tools"`
	Invocations  []Invocation   `json:"invocations"`
	Plan         []Step         `json:"plan"`
	PlanProgress map[string]int `json:"plan_progress"` // steps per status
	LoopStopped  bool           `json:"loop_stopped"`
	Stopped      string         `json:"stopped,omitempty"` // rounds | loop
	Notices      []string       `json:"notices,omitempty"`
	Unanswered   bool           `json:"unanswered,omitempty"`   // the last round brought neither text nor calls for the caller
	EarlierText  []string       `json:"earlier_text,omitempty"` // what a plain answer's model said before its last round
}

// Invocation is one call of ours in a run.
type Invocation struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Allowed   bool            `json:"allowed"`
	Approved  *bool           `json:"approved"` // null: nobody had to be asked
	Executed  bool            `json:"executed"`
	IsError   bool            `json:"is_error"`
	Result    string          `json:"result"`
	Reason    string          `json:"reason"`
}

// Run runs one request to its end and returns the answer. A failure is a
// *models.Error, or the context's cause when the caller has gone.
func (l *Loop) Run(ctx context.Context, req Request) (*Result, error) {
	r, err := l.newRun(req)
	if err != nil {
		return nil, err
	}
	r.started = time.Now()
	r.announce()
	err = errPanicked
	defer func() { r.finish(ctx, err) }()
	var result *Result
	result, err = r.rounds(ctx)
	return result, err
}

// errPanicked is how a run ends that a panic ended; whoever recovers reports it.
var errPanicked = errors.New("an error inside Pointsman")
