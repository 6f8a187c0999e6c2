package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Attempt is one request to one deployment on the way to an answer.
type Attempt struct {
	Group      string `json:"group"`
	Deployment string `json:"deployment"` // provider/model
	Outcome    string `json:"outcome"`    // ok, or a Code
	DurationMS int64  `json:"ms"`
}

// asking is one request on its way through its route. It is used by one
// goroutine.
type asking struct {
	router   *Router
	route    *Route
	ctx      context.Context
	body     *Body
	stream   bool
	deadline time.Time
	pending  []string        // names of groups still to be asked, in order
	visited  map[string]bool // … that were
	attempts []Attempt
	last     *Error // of the last attempt
	closed   *Error // of the first group where nobody could be asked
	kept     *Reply // a filtered answer, for when nobody else answers
	resort   *Group // the fallback section's, until it is asked; may be nil
}

// Do asks the route's deployments, with their retries, and the groups to fall
// back to, until one begins to answer. The body's model is set for each; stream
// says which kind of answer is wanted. It returns an *Error, or the context's
// error when the caller has gone. Once it has returned a reply, nothing is tried
// again: a byte may have reached the caller.
func (r *Router) Do(ctx context.Context, route *Route, body *Body, stream bool) (*Reply, error) {
	a := &asking{
		router: r, route: route, ctx: ctx, body: body, stream: stream, deadline: route.until(route.patience),
		visited: map[string]bool{route.group.Name: true}, resort: r.lastResort(route.First()),
	}
	group := route.group
	for group != nil {
		reply, err := a.askGroup(group)
		switch {
		case ctx.Err() != nil && err != nil:
			return nil, context.Cause(ctx)
		case err == nil && !a.filtered(reply, group):
			reply.Attempts = a.attempts
			return reply, nil
		case err == nil:
			a.keep(reply)
			a.pending = r.after(group.Name, onPolicy)
		default:
			a.detour(group, err)
		}
		group = a.next()
	}
	return a.conclude()
}

// until is when a wait of that length ends, but no later than the deadline.
func (r *Route) until(patience time.Duration) time.Time {
	then := time.Now().Add(patience)
	if !r.Deadline.IsZero() && r.Deadline.Before(then) {
		return r.Deadline
	}
	return then
}

// detour puts the groups first that are asked in the place of one that failed.
func (a *asking) detour(group *Group, e *Error) {
	why := onFailure
	switch {
	case e.Code == ContextExceeded:
		why, a.pending = onLength, nil
	case e.Code == ContentFiltered:
		why, a.pending = onPolicy, nil
	case !e.movesOn() && e.Code != NoDeployment:
		a.pending = nil
		return
	}
	a.pending = append(slices.Clone(a.router.after(group.Name, why)), a.pending...)
}

// next returns the next group to ask, nil when none is left.
func (a *asking) next() *Group {
	for len(a.pending) > 0 {
		name := a.router.unaliased(a.pending[0])
		a.pending = a.pending[1:]
		if a.visited[name] {
			continue
		}
		a.visited[name] = true
		if time.Now().Before(a.deadline) {
			if group, err := a.router.group(name); err == nil {
				return group
			}
		}
	}
	resort := a.resort
	a.resort = nil
	if failed := cmp.Or(a.last, a.closed); resort == nil || failed == nil || !failed.movesOn() && failed.Code != NoDeployment {
		return nil
	}
	// It has a time of its own, as LLM_FALLBACK_TIMEOUT_SECONDS says.
	a.deadline = a.route.until(resort.Deployments[0].Timeout)
	return resort
}

// conclude returns what there is when nobody is left to ask.
func (a *asking) conclude() (*Reply, error) {
	if a.kept != nil {
		a.kept.Attempts = a.attempts
		return a.kept, nil
	}
	e := cmp.Or(a.last, a.closed)
	e.Attempts = a.attempts
	return nil, e
}

// filtered reports whether a plain answer was withheld by a content filter, and
// the group has others to ask then.
func (a *asking) filtered(reply *Reply, group *Group) bool {
	return reply.Body != nil && len(a.router.after(group.Name, onPolicy)) > 0 &&
		gjson.GetBytes(reply.Body.Raw("choices"), "0.finish_reason").String() == "content_filter"
}

// keep holds on to an answer for when no better one comes; it is read whole.
func (a *asking) keep(reply *Reply) {
	if a.kept == nil {
		a.kept = reply
	}
	reply.Close()
}

// askGroup asks the deployments of a group, until one answers or no more may be
// asked. Another one is asked at once, the same again after a while.
func (a *asking) askGroup(g *Group) (*Reply, *Error) {
	small, e := a.tooSmall(g)
	if e != nil {
		a.last = e
		return nil, e
	}
	skip := maps.Clone(small)
	for retries := 0; ; {
		d, visit := g.pick(time.Now(), skip)
		switch {
		case d == nil && e == nil:
			e = g.shut(time.Now())
			a.closed = cmp.Or(a.closed, e)
			return nil, e
		case d == nil:
			return nil, e
		}
		skip[d.health] = true
		var reply *Reply
		if reply, e = a.attempt(d, visit, a.share(d, g, skip)); e == nil {
			return reply, nil
		}
		a.last = e
		switch {
		case a.ctx.Err() != nil, !e.movesOn():
			return nil, e
		case e.Code == AuthFailed: // not that one again, but another key may do
			continue
		case retries >= a.router.cfg.RouterSettings.NumRetries:
			return nil, e
		}
		again, ok := a.again(g, skip, retries, e)
		if !ok {
			return nil, e
		}
		if again {
			skip = maps.Clone(small)
		}
		retries++
	}
}

// again prepares the next try in a group. It reports whether there is one, and
// whether those that were asked may be asked again: when no other is left, after
// a wait.
func (a *asking) again(g *Group, skip map[*health]bool, retries int, e *Error) (again, ok bool) {
	now := time.Now()
	switch {
	case !now.Before(a.deadline):
		return false, false
	case g.open(now, skip):
		return false, true
	case e.RetryAfter > 0 && (a.elsewhere(g) || a.resort != nil && a.resort.open(now, nil)):
		return false, false
	}
	wait := max(backoff(retries, e.RetryAfter), seconds(a.router.cfg.RouterSettings.RetryAfter))
	if then := now.Add(wait); then.After(a.deadline) || !g.open(then, nil) {
		return false, false
	}
	return true, sleep(a.ctx, wait) == nil
}

// elsewhere reports whether somebody of another group could be asked in g's place
// now. The last resort does not count: it has a time of its own.
func (a *asking) elsewhere(g *Group) bool {
	now := time.Now()
	return slices.ContainsFunc(append(slices.Clone(a.router.after(g.Name, onFailure)), a.pending...), func(name string) bool {
		if name = a.router.unaliased(name); a.visited[name] {
			return false
		}
		group, err := a.router.group(name)
		return err == nil && group.open(now, nil)
	})
}

// othersShare is what is kept of the time for those who can still be asked, when
// nobody has set how long one request may take.
const othersShare = 4

// share is how long a request to d may take: its own time, or else what is left,
// but for a part of it while there are others.
func (a *asking) share(d *Deployment, g *Group, skip map[*health]bool) time.Duration {
	left := time.Until(a.deadline)
	if own := d.patience(a.stream); own > 0 {
		return min(own, left)
	}
	if a.router.cfg.RouterSettings.NumRetries > 0 && g.open(time.Now(), skip) || a.elsewhere(g) {
		left -= left / othersShare
	}
	return left
}

// attempt asks one deployment once.
func (a *asking) attempt(d *Deployment, v *visit, limit time.Duration) (*Reply, *Error) {
	begun := time.Now()
	reply, err := a.request(d, v, limit)
	outcome := "ok"
	var e *Error
	if err != nil {
		e = AsError(err)
		outcome = string(e.Code)
		if a.ctx.Err() == nil {
			a.router.changed(v.fail(e, a.router.policy, time.Now()))
		}
		v.leave()
	} else {
		a.router.changed(v.answer(time.Now()))
	}
	a.attempts = append(a.attempts, Attempt{Group: d.Group, Deployment: d.Name(), Outcome: outcome, DurationMS: time.Since(begun).Milliseconds()})
	return reply, e
}

// request sends the body to a deployment: to the one of its APIs that has a place
// for all of it, if it is there.
func (a *asking) request(d *Deployment, v *visit, limit time.Duration) (*Reply, error) {
	at, err := a.router.located(a.ctx, d)
	if err != nil {
		return nil, err
	}
	reply, notices, err := a.viaResponses(at, &limit)
	if reply == nil && err == nil {
		reply, err = a.send(at, false, limit)
	}
	if err != nil {
		return nil, err
	}
	reply.Notices = append(notices, reply.Notices...)
	reply.visit, reply.router = v, a.router
	return reply, nil
}

// send fits the body to one of a deployment's APIs and sends it there.
func (a *asking) send(d *Deployment, responses bool, limit time.Duration) (*Reply, error) {
	body := a.body.Clone()
	if a.route.Fit != nil {
		a.route.Fit(d, body)
	}
	exchange := exchange{deployment: d, stream: a.stream, limit: limit}
	var notices []string
	switch {
	case responses:
		d.addDefaults(body, a.router.cfg.ReasoningEffort)
		body.SetString("model", d.Model)
		notices = a.router.opts.Responses.Request(body)
		exchange.dialect, exchange.keep = a.router.opts.Responses, a.route.Responses
	case a.route.Responses:
		notices = a.router.opts.Responses.Chat(d, body)
	default:
		withoutItems(body)
	}
	if !responses {
		notices = append(notices, d.fit(body, a.router.cfg.ReasoningEffort)...)
	}
	exchange.body = body
	reply, err := a.router.doOnce(a.ctx, exchange)
	if err != nil {
		return nil, err
	}
	reply.Notices = notices
	return reply, nil
}

// tooSmall returns the deployments of a group whose context window the prompt
// does not fit, or an error when that is all of them.
func (a *asking) tooSmall(g *Group) (map[*health]bool, *Error) {
	small := map[*health]bool{}
	if !a.router.cfg.RouterSettings.EnablePreCallChecks {
		return small, nil
	}
	tokens, widest := int64(0), int64(0)
	for _, d := range g.Deployments {
		if d.window == 0 {
			continue
		}
		if tokens == 0 {
			tokens = estimate(a.body)
		}
		if tokens > d.window {
			small[d.health], widest = true, max(widest, d.window)
		}
	}
	if len(small) < len(g.Deployments) {
		return small, nil
	}
	return nil, &Error{
		Code: ContextExceeded, Status: http.StatusBadRequest,
		Message: fmt.Sprintf("the prompt is about %d tokens long, and the largest context window of %q holds %d", tokens, g.Name, widest),
	}
}

// bytesPerToken is how much text a token is, roughly and on the safe side for
// English.
const bytesPerToken = 4

// estimate is about how many tokens a request's messages hold: their text, but
// no pictures.
func estimate(b *Body) int64 {
	bytes := int64(len(b.Get("instructions").Raw)) // of the Responses API
	for _, message := range b.Elements("messages") {
		content := Lookup(message, "content")
		if content.Type == gjson.String {
			bytes += int64(len(content.Raw))
		}
		content.ForEach(func(_, part gjson.Result) bool {
			bytes += int64(len(part.Get("text").Raw))
			return true
		})
	}
	return bytes / bytesPerToken
}

// shut says why nobody of the group can be asked now, and until when.
func (g *Group) shut(now time.Time) *Error {
	e := &Error{Code: NoDeployment, Status: http.StatusServiceUnavailable}
	var why []string
	refused := 0
	for _, d := range g.Deployments {
		state, until, last := d.health.standing(now, d.limits)
		if wait := until.Sub(now); !until.IsZero() && (e.RetryAfter == 0 || wait < e.RetryAfter) {
			e.RetryAfter = wait
		}
		if state == KeyRefused {
			refused++
		}
		why = append(why, d.standing(state, until, last))
	}
	if refused == len(g.Deployments) {
		e.Code, e.Status = AuthFailed, http.StatusForbidden
	}
	e.Message = fmt.Sprintf("no deployment of %q can be asked now: %s", g.Name, strings.Join(why, "; "))
	return e
}

// standing says in words how a deployment is doing that cannot be asked.
func (d *Deployment) standing(state State, until time.Time, last *Failure) string {
	words := map[State]string{Cooling: "cools down", Limited: "takes no more requests", KeyRefused: "refused our key, and is left alone", Trying: "is being tried out"}[state]
	text := fmt.Sprintf("%s %s", d.Name(), words)
	if state != Trying {
		text += " until " + until.Format(time.RFC3339)
	}
	if last != nil && state != Trying {
		text += " (" + last.Message + ")"
	}
	return text
}

// backoff says how long to wait before trying again: what the provider asked
// for, else 250 ms doubling with each try, with up to a quarter of jitter.
func backoff(try int, asked time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	base := 250 * time.Millisecond << min(try, 6)
	return base + time.Duration(rand.Int64N(int64(base)/4))
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// exchange is one request to one of a deployment's APIs.
type exchange struct {
	deployment *Deployment
	body       *Body
	stream     bool
	limit      time.Duration
	dialect    Dialect // nil: chat completions
	keep       bool    // of a dialect: see Dialect.Plain
}

// url is where the request goes.
func (x exchange) url() string {
	if x.dialect != nil {
		return x.deployment.responsesURL()
	}
	return x.deployment.chatURL()
}

// doOnce makes one request and waits for its first byte, or for all of a plain
// answer, no longer than its limit. Once a stream has begun, each wait for its
// next bytes may take as long as the deployment's time-out; while nobody waits,
// no time runs.
func (r *Router) doOnce(ctx context.Context, x exchange) (*Reply, error) {
	callers, d := ctx, x.deployment
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(callers))
	detach := context.AfterFunc(callers, func() { cancel(context.Cause(callers)) })
	timer := time.AfterFunc(x.limit, func() { cancel(errTimeout) })
	stop := func() { detach(); timer.Stop(); cancel(nil) }

	response, err := r.post(ctx, x)
	if err != nil {
		stop()
		return nil, late(err, d, x.limit)
	}
	patience := cmp.Or(d.patience(x.stream), d.Timeout)
	reply := &Reply{
		Deployment: d, Header: response.Header, pool: &r.events, body: response.Body, cancel: stop, detach: detach, ctx: ctx, patience: patience,
		dialect: x.dialect, keep: x.keep,
	}
	if x.stream {
		err = reply.begin(&patientReader{r: response.Body, timer: timer, patience: patience}, response)
	} else {
		err = reply.readPlain(response)
	}
	if err != nil {
		reply.Close()
		return nil, late(err, d, x.limit)
	}
	return reply, nil
}

// late has the error of a request that took too long say how long it could take.
func late(err error, d *Deployment, limit time.Duration) *Error {
	e := AsError(err)
	if errors.Is(e.Err, errTimeout) {
		e.Message = fmt.Sprintf("provider %s did not answer within %s", d.Provider, limit.Round(time.Millisecond))
	}
	return e
}
