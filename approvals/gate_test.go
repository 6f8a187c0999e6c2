package approvals_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pointsman/approvals"
)

func TestGateIsClearWhateverTheApproverDoes(t *testing.T) {
	nilApprover := (*approvals.Desk)(nil)
	for _, tc := range []struct {
		name     string
		approver approvals.Approver
		outcome  approvals.Outcome
		by       string
	}{
		{"allows", says(yes()), approvals.Allowed, approvals.ByDesk},
		{"denies", says(approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByTerminal}), approvals.Denied, approvals.ByTerminal},
		{"says nobody answered", says(approvals.Decision{Outcome: approvals.NotAnswered, Approver: approvals.ByElicitation}), approvals.NotAnswered, approvals.ByElicitation},
		{"nobody there", nil, approvals.Denied, approvals.ByNone},
		{"nil pointer", nilApprover, approvals.Denied, approvals.ByNone},
		{"fails", approver(func(context.Context, approvals.Request) (approvals.Decision, error) {
			return yes(), errors.New("broken")
		}), approvals.Denied, approvals.ByError},
		{"panics", approver(func(context.Context, approvals.Request) (approvals.Decision, error) { panic("boom") }), approvals.Denied, approvals.ByError},
		{"zero decision", says(approvals.Decision{}), approvals.Denied, approvals.ByInvalid},
		{"unknown outcome", says(approvals.Decision{Outcome: "ok", Approver: approvals.ByDesk}), approvals.Denied, approvals.ByInvalid},
		{"outcome in capitals", says(approvals.Decision{Outcome: "ALLOWED", Approver: approvals.ByDesk}), approvals.Denied, approvals.ByInvalid},
		{"another request's id", says(approvals.Decision{ID: "other", Outcome: approvals.Allowed, Approver: approvals.ByDesk}), approvals.Denied, approvals.ByInvalid},
		{"nobody signs", says(approvals.Decision{Outcome: approvals.Allowed}), approvals.Denied, approvals.ByInvalid},
		{"a stranger signs", says(approvals.Decision{Outcome: approvals.Allowed, Approver: "root"}), approvals.Denied, approvals.ByInvalid},
		{"who cannot allow signs", says(approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByNone}), approvals.Denied, approvals.ByInvalid},
		{"allow all", approvals.AllowAll{}, approvals.Allowed, approvals.ByAllowAll},
		{"deny all", approvals.DenyAll{}, approvals.Denied, approvals.ByDenyAll},
		{"an unattended desk", approvals.NewDesk(approvals.DeskOptions{}), approvals.Denied, approvals.ByNone},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := approvals.NewGate(approvals.GateOptions{Require: true, Approver: tc.approver})
			d := g.Ask(t.Context(), writeFile())
			if d.Outcome != tc.outcome || d.Approver != tc.by {
				t.Errorf("got %s by %s (%s), want %s by %s", d.Outcome, d.Approver, d.Reason, tc.outcome, tc.by)
			}
			if d.Allows() != (d.Reason == "") {
				t.Errorf("allows: %t with reason %q", d.Allows(), d.Reason)
			}
			if d.ID == "" {
				t.Error("the decision does not name its request")
			}
		})
	}
}

func TestGateRefusesNonsenseArguments(t *testing.T) {
	for _, tc := range []struct {
		name, args string
		ok         bool
	}{
		{"object", `{"path":"/b"}`, true},
		{"empty object", `{}`, true},
		{"empty", ``, false},
		{"null", `null`, false},
		{"array", `[1]`, false},
		{"text", `"x"`, false},
		{"cut", `{"path":`, false},
		{"two objects", `{} {}`, false},
		{"a key twice", `{"path":"/a","path":"/b"}`, false},
		{"a key twice, deep", `{"a":[{"k":1,"k":2}]}`, false},
		{"comma at the end", `{"a":1,}`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := yes()
			d.Arguments = json.RawMessage(tc.args)
			got := approvals.NewGate(approvals.GateOptions{Require: true, Approver: says(d)}).Ask(t.Context(), writeFile())
			if got.Allows() != tc.ok || !tc.ok && got.Approver != approvals.ByInvalid {
				t.Errorf("got %s by %s: %s", got.Outcome, got.Approver, got.Reason)
			}
			if tc.ok && string(got.Arguments) != tc.args {
				t.Errorf("the edited arguments came out as %s", got.Arguments)
			}
		})
	}
}

func TestGateRefusesNonsenseScope(t *testing.T) {
	dir := t.TempDir()
	inside := writeFile()
	inside.Arguments = fmt.Appendf(nil, `{"path":%q}`, dir+"/a")
	command := inside
	command.Class = approvals.Execute
	noRun := writeFile()
	noRun.Run = ""
	for _, tc := range []struct {
		name  string
		req   approvals.Request
		scope approvals.Scope
		ok    bool
	}{
		{"for the session", writeFile(), approvals.Scope{Lifetime: approvals.ForSession}, true},
		{"for the run", writeFile(), approvals.Scope{Lifetime: approvals.ForRun}, true},
		{"until tomorrow", writeFile(), approvals.Scope{Lifetime: approvals.UntilTime, Until: time.Now().Add(time.Hour)}, true},
		{"exact arguments", writeFile(), approvals.Scope{Lifetime: approvals.Always, ExactArguments: true}, true},
		{"below a folder", inside, approvals.Scope{Lifetime: approvals.Always, PathPrefix: dir}, true},
		{"no lifetime", writeFile(), approvals.Scope{}, false},
		{"unknown lifetime", writeFile(), approvals.Scope{Lifetime: "forever"}, false},
		{"for a run, without one", noRun, approvals.Scope{Lifetime: approvals.ForRun}, false},
		{"until no time", writeFile(), approvals.Scope{Lifetime: approvals.UntilTime}, false},
		{"until yesterday", writeFile(), approvals.Scope{Lifetime: approvals.UntilTime, Until: time.Now().Add(-time.Hour)}, false},
		{"both bounds", inside, approvals.Scope{Lifetime: approvals.Always, ExactArguments: true, PathPrefix: dir}, false},
		{"relative folder", inside, approvals.Scope{Lifetime: approvals.Always, PathPrefix: "src"}, false},
		{"a folder that does not hold the call", writeFile(), approvals.Scope{Lifetime: approvals.Always, PathPrefix: dir}, false},
		{"a folder for a command", command, approvals.Scope{Lifetime: approvals.Always, PathPrefix: dir}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := approvals.NewRules(nil, nil)
			d := yes()
			d.Scope = &tc.scope
			got := approvals.NewGate(approvals.GateOptions{Require: true, Approver: says(d), Rules: rules}).Ask(t.Context(), tc.req)
			if got.Allows() != tc.ok || !tc.ok && got.Approver != approvals.ByInvalid {
				t.Errorf("got %s by %s: %s", got.Outcome, got.Approver, got.Reason)
			}
			if n := len(rules.List()); (n == 1) != tc.ok {
				t.Errorf("%d rules remembered", n)
			}
			if _, matches := rules.Match(tc.req); matches != tc.ok {
				t.Errorf("the remembered rule matches its own call: %t", matches)
			}
		})
	}
}

func TestZeroGateDenies(t *testing.T) {
	for name, g := range map[string]*approvals.Gate{"nil": nil, "zero": {}} {
		if d := g.Ask(t.Context(), writeFile()); d.Outcome != approvals.Denied || d.Approver != approvals.ByNone {
			t.Errorf("%s gate: %s by %s", name, d.Outcome, d.Approver)
		}
	}
}

func TestApprovalsNotRequired(t *testing.T) {
	rules := approvals.NewRules(nil, nil)
	g := approvals.NewGate(approvals.GateOptions{Rules: rules})
	if d := g.Ask(t.Context(), writeFile()); !d.Allows() || d.Approver != approvals.ByAllowAll {
		t.Errorf("got %s by %s", d.Outcome, d.Approver)
	}
	if err := rules.Load([]approvals.Rule{{ID: "r", Action: approvals.Deny, Server: "fs", Tool: "write_file", Definition: "hash1"}}); err != nil {
		t.Fatal(err)
	}
	if d := g.Ask(t.Context(), writeFile()); d.Allows() || d.Rule != "r" || d.Approver != approvals.ByRule {
		t.Errorf("against a rule: %s by %s", d.Outcome, d.Approver)
	}
}

func TestAlwaysAskReachesAPerson(t *testing.T) {
	req := request(func(q *approvals.Request) { q.AlwaysAsk = true })
	person := says(approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk})
	for _, tc := range []struct {
		name string
		opts approvals.GateOptions
		rule approvals.Action
		want approvals.Outcome
		by   string
	}{
		{"though everything is allowed", approvals.GateOptions{Require: true, Approver: approvals.AllowAll{}, Person: person}, "", approvals.Allowed, approvals.ByDesk},
		{"though nothing is required", approvals.GateOptions{Person: person}, "", approvals.Allowed, approvals.ByDesk},
		{"though a rule allows it", approvals.GateOptions{Require: true, Person: person}, approvals.Allow, approvals.Allowed, approvals.ByDesk},
		{"unless a rule denies it", approvals.GateOptions{Require: true, Person: person}, approvals.Deny, approvals.Denied, approvals.ByRule},
		{"or is denied without one", approvals.GateOptions{Require: true, Approver: approvals.AllowAll{}}, approvals.Allow, approvals.Denied, approvals.ByNone},
		{"or is denied without one, though nothing is required", approvals.GateOptions{}, "", approvals.Denied, approvals.ByNone},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.opts.Rules = approvals.NewRules(nil, nil)
			if tc.rule != "" {
				if err := tc.opts.Rules.Load([]approvals.Rule{rule(func(r *approvals.Rule) { r.Action = tc.rule })}); err != nil {
					t.Fatal(err)
				}
			}
			if d := approvals.NewGate(tc.opts).Ask(t.Context(), req); d.Outcome != tc.want || d.Approver != tc.by {
				t.Errorf("got %s by %s", d.Outcome, d.Approver)
			}
		})
	}
}

func TestNewDenialReachesWhatAlwaysAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk := attendedDesk()
		rules := approvals.NewRules(nil, nil)
		g := approvals.NewGate(approvals.GateOptions{Require: true, Person: desk, Rules: rules})
		done := make(chan approvals.Decision)
		go func() { done <- g.Ask(t.Context(), request(func(q *approvals.Request) { q.AlwaysAsk = true })) }()
		synctest.Wait()
		for _, action := range []approvals.Action{approvals.Allow, approvals.Deny} {
			if len(desk.Pending()) != 1 {
				t.Fatal("it does not wait for a person")
			}
			if err := rules.Load([]approvals.Rule{rule(func(r *approvals.Rule) { r.Action = action })}); err != nil {
				t.Fatal(err)
			}
			if action == approvals.Allow {
				synctest.Wait()
			}
		}
		if d := <-done; d.Outcome != approvals.Denied || d.Approver != approvals.ByRule {
			t.Errorf("got %s by %s", d.Outcome, d.Approver)
		}
	})
}

func TestGateTimesOut(t *testing.T) {
	for _, tc := range []struct {
		name     string
		timeout  time.Duration
		deadline time.Duration // the request's own; zero: none
		want     time.Duration
	}{
		{"after 5 minutes by default", 0, 0, 5 * time.Minute},
		{"after the time set", time.Minute, 0, time.Minute},
		{"at the request's deadline when that is sooner", time.Minute, time.Second, time.Second},
		{"never later than the time set", time.Minute, time.Hour, time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				desk := attendedDesk()
				g := approvals.NewGate(approvals.GateOptions{Require: true, Approver: desk, Timeout: tc.timeout})
				start := time.Now()
				req := writeFile()
				if tc.deadline > 0 {
					req.Deadline = start.Add(tc.deadline)
				}
				done := make(chan approvals.Decision)
				go func() { done <- g.Ask(t.Context(), req) }()
				synctest.Wait()
				shown := desk.Pending()[0]
				if shown.Deadline != start.Add(tc.want) || shown.Created != start || shown.ID == "" {
					t.Errorf("shown as created %v, deadline %v, id %q", shown.Created, shown.Deadline, shown.ID)
				}
				d := <-done
				if d.Outcome != approvals.NotAnswered || d.Reason == "" {
					t.Errorf("got %s (%s)", d.Outcome, d.Reason)
				}
				if took := time.Since(start); took != tc.want {
					t.Errorf("after %v, want %v", took, tc.want)
				}
				if desk.Resolve(shown.ID, yes()) || len(desk.Pending()) != 0 {
					t.Error("it still waits at the desk")
				}
			})
		})
	}
}

func TestLateAnswerNeverCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := approver(func(context.Context, approvals.Request) (approvals.Decision, error) {
			time.Sleep(2 * time.Minute) // deaf to its context
			return yes(), nil
		})
		g := approvals.NewGate(approvals.GateOptions{Require: true, Approver: slow, Timeout: time.Minute})
		start := time.Now()
		d := g.Ask(t.Context(), writeFile())
		if d.Outcome != approvals.NotAnswered {
			t.Errorf("got %s", d.Outcome)
		}
		if took := time.Since(start); took > time.Minute+time.Second {
			t.Errorf("Ask waited %v for an approver that is deaf", took)
		}
		time.Sleep(2 * time.Minute) // let it end
	})
	synctest.Test(t, func(t *testing.T) {
		eager := approver(func(ctx context.Context, _ approvals.Request) (approvals.Decision, error) {
			<-ctx.Done()
			return yes(), nil // as soon as it is too late
		})
		g := approvals.NewGate(approvals.GateOptions{Require: true, Approver: eager})
		if d := g.Ask(t.Context(), writeFile()); d.Outcome != approvals.NotAnswered {
			t.Errorf("got %s", d.Outcome)
		}
	})
}

func TestCallerGoesAway(t *testing.T) {
	for _, tc := range []struct {
		name   string
		cause  error
		before bool
		reason string
	}{
		{"while it waits", nil, false, "the caller went away"},
		{"before it asks", nil, true, "the caller went away"},
		{"because we stop", approvals.ErrShuttingDown, false, "shutting down"},
		{"because we stop, in other words", fmt.Errorf("quit: %w", approvals.ErrShuttingDown), true, "shutting down"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				desk := attendedDesk()
				g := approvals.NewGate(approvals.GateOptions{Require: true, Approver: desk})
				ctx, cancel := context.WithCancelCause(t.Context())
				if tc.before {
					cancel(tc.cause)
				}
				done := make(chan approvals.Decision)
				go func() { done <- g.Ask(ctx, writeFile()) }()
				synctest.Wait()
				if !tc.before && len(desk.Pending()) != 1 {
					t.Fatal("it does not wait")
				}
				cancel(tc.cause)
				d := <-done
				if d.Outcome != approvals.Withdrawn || d.Reason != tc.reason {
					t.Errorf("got %s (%s)", d.Outcome, d.Reason)
				}
				if len(desk.Pending()) != 0 {
					t.Error("it is still shown")
				}
			})
		})
	}
}

func TestSettingsReachWhatWaits(t *testing.T) {
	for _, tc := range []struct {
		name string
		next approvals.Settings
		want approvals.Outcome
		by   string
	}{
		{"deny", approvals.Settings{Require: true, Approver: approvals.DenyAll{}}, approvals.Denied, approvals.ByDenyAll},
		{"allow", approvals.Settings{Require: true, Approver: approvals.AllowAll{}}, approvals.Allowed, approvals.ByAllowAll},
		{"static", approvals.Settings{Require: true, Approver: approvals.Static{Allow: []string{"write_file"}}}, approvals.Allowed, approvals.ByStatic},
		{"not required", approvals.Settings{}, approvals.Allowed, approvals.ByAllowAll},
		{"nobody", approvals.Settings{Require: true}, approvals.Denied, approvals.ByNone},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				desk := attendedDesk()
				g := approvals.NewGate(approvals.GateOptions{Require: true, Approver: desk})
				done := make(chan approvals.Decision)
				go func() { done <- g.Ask(t.Context(), writeFile()) }()
				synctest.Wait()
				g.Configure(approvals.Settings{Require: true, Approver: desk, Timeout: time.Second}) // the same desk: it stays
				synctest.Wait()
				if len(desk.Pending()) != 1 {
					t.Fatal("it left the desk though only the time-out changed")
				}
				g.Configure(tc.next)
				if d := <-done; d.Outcome != tc.want || d.Approver != tc.by {
					t.Errorf("got %s by %s", d.Outcome, d.Approver)
				}
				if len(desk.Pending()) != 0 {
					t.Error("it is still shown")
				}
			})
		})
	}
}

func TestNewRuleReachesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk := attendedDesk()
		rules := approvals.NewRules(nil, nil)
		g := approvals.NewGate(approvals.GateOptions{Require: true, Approver: desk, Rules: rules})
		var wg sync.WaitGroup
		var byRule, byDesk atomic.Int32
		other := writeFile()
		other.Tool, other.Offered = "delete_file", "fs__delete_file"
		for _, req := range []approvals.Request{writeFile(), writeFile(), writeFile(), other} {
			wg.Go(func() {
				switch d := g.Ask(t.Context(), req); {
				case d.Allows() && d.Approver == approvals.ByRule:
					byRule.Add(1)
				case d.Allows() && d.Approver == approvals.ByDesk:
					byDesk.Add(1)
				}
			})
			synctest.Wait()
		}
		d := yes()
		d.Scope = &approvals.Scope{Lifetime: approvals.ForSession}
		if !desk.Resolve(desk.Pending()[1].ID, d) {
			t.Fatal("the answer did not count")
		}
		synctest.Wait()
		left := desk.Pending()
		if byRule.Load() != 2 || byDesk.Load() != 1 || len(left) != 1 || left[0].Tool != "delete_file" {
			t.Errorf("%d by the rule, %d by the desk, %d left", byRule.Load(), byDesk.Load(), len(left))
		}
		desk.Close()
		wg.Wait()
	})
}

func TestDeniedReasonReachesTheCaller(t *testing.T) {
	d := approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByDesk, Reason: "use the other folder", Arguments: json.RawMessage(`{}`)}
	got := approvals.NewGate(approvals.GateOptions{Require: true, Approver: says(d)}).Ask(t.Context(), writeFile())
	if got.Reason != d.Reason || got.Arguments != nil {
		t.Errorf("got %+v", got)
	}
}

func TestUnsavedRuleStillAnswersItsCall(t *testing.T) {
	rules := approvals.NewRules(nil, func([]approvals.Rule) error { return errors.New("disk full") })
	d := yes()
	d.Scope = &approvals.Scope{Lifetime: approvals.Always}
	g := approvals.NewGate(approvals.GateOptions{Require: true, Approver: says(d), Rules: rules})
	if got := g.Ask(t.Context(), writeFile()); !got.Allows() || got.Rule != "" {
		t.Errorf("got %+v", got)
	}
	if len(rules.List()) != 0 {
		t.Error("the rule is remembered though it could not be saved")
	}
}

// TestCompetingResolvers: 50 askers, several who answer each, callers that go
// away. Exactly one answer counts for each, and Resolve tells the truth.
func TestCompetingResolvers(t *testing.T) {
	desk := attendedDesk()
	g := approvals.NewGate(approvals.GateOptions{Require: true, Approver: desk, Timeout: time.Minute})
	var won sync.Map // request id → outcome of the answer that was told it won
	stop := make(chan struct{})
	var resolvers sync.WaitGroup
	for i := range 4 {
		resolvers.Go(func() {
			changed, unsubscribe := desk.Subscribe()
			defer unsubscribe()
			answer := approvals.Decision{Outcome: []approvals.Outcome{approvals.Allowed, approvals.Denied}[i%2]}
			for {
				for _, req := range desk.Pending() {
					if desk.Resolve(req.ID, answer) {
						if _, twice := won.LoadOrStore(req.ID, answer.Outcome); twice {
							t.Errorf("request %s was won twice", req.ID)
						}
					}
				}
				select {
				case <-changed:
				case <-stop:
					return
				}
			}
		})
	}
	var askers sync.WaitGroup
	for i := range 50 {
		askers.Go(func() {
			for range 20 {
				ctx, cancel := context.WithCancel(context.Background())
				if i%5 == 0 {
					go cancel()
				}
				d := g.Ask(ctx, writeFile())
				cancel()
				promised, resolved := won.Load(d.ID)
				for d.Outcome != approvals.Withdrawn && !resolved { // the resolver is about to note it
					promised, resolved = won.Load(d.ID)
				}
				if resolved && promised != d.Outcome {
					t.Errorf("Resolve promised %v, Ask returned %s", promised, d.Outcome)
				}
			}
		})
	}
	askers.Wait()
	close(stop)
	resolvers.Wait()
	if n := len(desk.Pending()); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

// TestWhoIsWaitedFor: only what is up to a person is said to wait.
func TestWhoIsWaitedFor(t *testing.T) {
	attended := approvals.NewDesk(approvals.DeskOptions{Attended: func() bool { return true }})
	for name, tc := range map[string]struct {
		options approvals.GateOptions
		always  bool
		want    int
	}{
		"a person":              {options: approvals.GateOptions{Require: true, Approver: says(yes())}, want: 1},
		"the desk":              {options: approvals.GateOptions{Require: true, Approver: attended, Timeout: time.Millisecond}, want: 1},
		"an unattended desk":    {options: approvals.GateOptions{Require: true, Approver: approvals.NewDesk(approvals.DeskOptions{})}},
		"nobody":                {options: approvals.GateOptions{Require: true}},
		"allow":                 {options: approvals.GateOptions{Require: true, Approver: approvals.AllowAll{}}},
		"deny":                  {options: approvals.GateOptions{Require: true, Approver: approvals.DenyAll{}}},
		"static":                {options: approvals.GateOptions{Require: true, Approver: approvals.Static{}}},
		"nothing required":      {options: approvals.GateOptions{Approver: says(yes())}},
		"nothing but own files": {options: approvals.GateOptions{Approver: approvals.AllowAll{}, Person: says(yes())}, always: true, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			req := writeFile()
			req.AlwaysAsk = tc.always
			told := 0
			approvals.NewGate(tc.options).AskTelling(t.Context(), req, func(got approvals.Request) {
				if told++; got.ID == "" || got.Deadline.IsZero() {
					t.Errorf("told of %+v", got)
				}
			})
			if told != tc.want {
				t.Errorf("told %d times, want %d", told, tc.want)
			}
		})
	}
}
