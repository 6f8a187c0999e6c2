// Package ask puts one typed question to a capability, and answers it in an
// envelope that has the same shape whatever happens.
//
// The package starts no goroutine. A question is bound by the time of
// limits.request_timeout_s, its repairs included.
package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"pointsman/gateway/config"
	"pointsman/gateway/cut"
	"pointsman/gateway/models"
)

// Asker asks. It is safe for concurrent use, and never changes.
type Asker struct {
	cfg    *config.Config
	router *models.Router
}

// New returns an asker for a configuration and its router.
func New(cfg *config.Config, router *models.Router) *Asker { return &Asker{cfg: cfg, router: router} }

// Envelope is what comes of a question. Content is the answer of a question
// without a schema, Data that of one with a schema; both are null when OK is
// false, and when the context did not hold the answer.
type Envelope struct {
	OK                  bool            `json:"ok"`
	Content             *string         `json:"content"`
	Data                json.RawMessage `json:"data"`
	InsufficientContext bool            `json:"insufficient_context"`
	CapabilityRequested string          `json:"capability_requested"`
	// ModelUsed, FallbackUsed and FinishReason are null when no model answered.
	ModelUsed    *string          `json:"model_used"`
	FallbackUsed *bool            `json:"fallback_used"`
	FinishReason *string          `json:"finish_reason"`
	Usage        Usage            `json:"usage"` // of all the question's requests together
	LatencyMS    int64            `json:"latency_ms"`
	Error        *Failure         `json:"error"`
	Route        []models.Attempt `json:"route"` // who was asked, in order

	// Status is the HTTP status that goes with it.
	Status int `json:"-"`
	// RetryAfter is when to ask again; zero: not said.
	RetryAfter time.Duration `json:"-"`
}

// Usage is what a question has cost.
type Usage struct {
	PromptTokens     int64    `json:"prompt_tokens"`
	CompletionTokens int64    `json:"completion_tokens"`
	TotalTokens      int64    `json:"total_tokens"`
	CostUSD          *float64 `json:"cost_usd"` // null when a price is not known
}

// Failure is why there is no answer.
type Failure struct {
	Code    models.Code `json:"code"`
	Message string      `json:"message"` // at most 500 characters; never quotes a rejected answer
}

// grace is how much later than its deadline a question is cut off that the
// deadline of its requests has not ended.
const grace = time.Second

// errTimeout is the cause of a question that took longer than it may.
var errTimeout = errors.New("the question took longer than limits.request_timeout_s")

// Ask puts a question. What went wrong is in the envelope.
func (a *Asker) Ask(ctx context.Context, req Request) *Envelope {
	begun := time.Now()
	patience := time.Duration(a.cfg.Limits.RequestTimeoutS * float64(time.Second))
	ctx, cancel := context.WithTimeoutCause(ctx, patience+grace, errTimeout)
	defer cancel()
	q := &question{asker: a, req: req, deadline: begun.Add(patience), envelope: &Envelope{CapabilityRequested: req.Capability, Status: http.StatusOK, Route: []models.Attempt{}}}
	if err := q.answer(ctx); err != nil {
		q.envelope.fail(err)
	}
	q.envelope.LatencyMS = time.Since(begun).Milliseconds()
	return q.envelope
}

// Refused is the envelope of a question that could not be read.
func Refused(err error) *Envelope {
	e := &Envelope{Route: []models.Attempt{}}
	e.fail(err)
	return e
}

const (
	// maxMessage is how long a failure's message may be, in characters.
	maxMessage = 500
	// maxName is how much of a name of the caller's a message repeats.
	maxName = 60
)

// fail makes the envelope that of a failure.
func (e *Envelope) fail(err error) {
	failed := models.AsError(err)
	if errors.Is(err, errTimeout) {
		failed = &models.Error{Code: models.Timeout, Message: err.Error()}
	}
	e.OK, e.Content, e.Data, e.InsufficientContext = false, nil, nil, false
	e.Error = NewFailure(failed)
	e.Status, e.RetryAfter = statusOf(failed), failed.RetryAfter
}

// NewFailure is an error as an envelope tells it.
func NewFailure(err error) *Failure {
	failed := models.AsError(err)
	return &Failure{Code: failed.Code, Message: cut.To(failed.Message, maxMessage)}
}

// statusOf is the HTTP status of a failure. A provider's own 4xx keeps its own.
func statusOf(e *models.Error) int {
	switch e.Code {
	case models.InvalidRequest:
		return cmp.Or(e.Status, http.StatusBadRequest)
	case models.ContextExceeded:
		return http.StatusBadRequest
	case models.AuthFailed:
		return http.StatusForbidden
	case models.RateLimited:
		return http.StatusTooManyRequests
	case models.NoDeployment:
		return http.StatusServiceUnavailable
	case models.Timeout:
		return http.StatusGatewayTimeout
	default:
		return http.StatusBadGateway
	}
}

// Capability is one thing that can be asked for.
type Capability struct {
	Name        string                    `json:"name"`
	Description string                    `json:"description"` // what it is for
	Deployments []models.DeploymentHealth `json:"deployments"`
	Fallbacks   []string                  `json:"fallbacks"` // names of those asked when all of them fail, in order
}

// Names returns what a question can be put to: the declared capabilities, or
// else the names of model_list.
func (a *Asker) Names() []string {
	if len(a.cfg.Capabilities) > 0 {
		return slices.Sorted(maps.Keys(a.cfg.Capabilities))
	}
	names := []string{}
	for _, d := range a.cfg.ModelList {
		if !strings.Contains(d.ModelName, "*") && !slices.Contains(names, d.ModelName) {
			names = append(names, d.ModelName)
		}
	}
	return names
}

// Capabilities tells of each of Names.
func (a *Asker) Capabilities() []Capability {
	list, health := []Capability{}, a.router.Health()
	for _, name := range a.Names() {
		c := Capability{Name: name, Description: a.cfg.Capabilities[name], Deployments: []models.DeploymentHealth{}, Fallbacks: a.router.Fallbacks(name)}
		group := a.router.GroupName(name)
		for _, d := range health {
			if d.Group == group {
				c.Deployments = append(c.Deployments, d)
			}
		}
		list = append(list, c)
	}
	return list
}

// resolve returns who answers for a capability.
func (a *Asker) resolve(name string) (*models.Route, error) {
	names := a.Names()
	switch {
	case slices.Contains(names, name):
	case len(names) == 0:
		return nil, models.Invalid("capability", "no capability is configured; declare some under capabilities, and their deployments in model_list")
	case name == "":
		return nil, models.Invalid("capability", "a capability is needed: %s", strings.Join(names, ", "))
	default:
		return nil, models.Invalid("capability", "the capability %q is unknown; known are %s", cut.To(name, maxName), strings.Join(names, ", "))
	}
	route, err := a.router.Resolve(name)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", name, err)
	}
	return route, nil
}
