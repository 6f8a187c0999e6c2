package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pointsman/approvals"
	"pointsman/ui/model"
)

func TestViewOf(t *testing.T) {
	long := strings.Repeat("长", 300)
	for _, tt := range []struct {
		name string
		req  approvals.Request
		want model.ApprovalView
	}{
		{
			"everything known",
			approvals.Request{
				Door: "http", Client: "Copilot 1.99", Model: "gpt-5.2", Run: "r1", CWD: "/src", Server: "filesystem", Tool: "write_file",
				Class: approvals.Write, Evidence: []string{"the name says write", "not trusted"}, Reason: "no rule allows it", PlanStep: "2. Write",
			},
			model.ApprovalView{
				Heading: "write_file of filesystem wants to run", For: "For Copilot 1.99 over HTTP · model gpt-5.2 · run r1 · in /src",
				Why: "the name says write; not trusted · no rule allows it", PlanStep: "2. Write",
				Class: model.ClassWords{Word: "Write", Meaning: "creates or changes data"},
			},
		},
		{
			"nothing known is the worst",
			approvals.Request{},
			model.ApprovalView{
				Heading: "(no name) of (no name) wants to run", For: "For an unnamed client",
				Class: model.ClassWords{Word: "Unknown", Meaning: "nothing is known of what it can do"}, Held: true,
			},
		},
		{
			"names that hide, and that are long",
			approvals.Request{Tool: "read\u202Eetirw", Server: long, Client: "a\nb", Class: approvals.Execute},
			model.ApprovalView{
				Heading: "read<U+202E>etirw of " + strings.Repeat("长", 9) + "…" + strings.Repeat("长", 4) + " wants to run",
				For:     "For a<U+000A>b",
				Class:   model.ClassWords{Word: "Execute", Meaning: "runs commands or code on this computer"}, Held: true,
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := model.ViewOf(tt.req); got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestTimeLeft(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		left time.Duration
		want string
		soon bool
	}{
		{5 * time.Minute, "5:00 left", false},
		{299*time.Second + 600*time.Millisecond, "5:00 left", false},
		{31 * time.Second, "0:31 left", false},
		{30 * time.Second, "0:30 left", true},
		{-time.Second, "0:00 left", true},
		{90 * time.Minute, "90:00 left", false},
	} {
		if words, soon := model.TimeLeft(now.Add(tt.left), now); words != tt.want || soon != tt.soon {
			t.Errorf("%v: %q, %v; want %q, %v", tt.left, words, soon, tt.want, tt.soon)
		}
	}
	if words, soon := model.TimeLeft(time.Time{}, now); words != "" || soon {
		t.Errorf("no deadline: %q, %v", words, soon)
	}
}

// What a server or a client says hides nothing in a line either.
func TestApprovalLines(t *testing.T) {
	req := approvals.Request{Tool: "a\u200bb"}
	for _, line := range []string{
		model.GoneLine(req, "nobody \u202Eanswered."), model.UncountedLine(req), model.UnansweredLine(req, errors.New("no\x1b[2J")),
	} {
		if !strings.Contains(line, "a<U+200B>b ") || strings.ContainsAny(line, "\u200b\u202e\x1b") {
			t.Errorf("line %q", line)
		}
	}
	if got, want := model.GoneLine(approvals.Request{Tool: "t"}, ""), "t did not run: it does not wait any more."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestApprovalQueue(t *testing.T) {
	call := func(id, run string, round int) approvals.Request {
		return approvals.Request{ID: id, Run: run, Round: round}
	}
	a1, a2, a3 := call("a1", "a", 1), call("a2", "a", 1), call("a3", "a", 1)
	b1, later, alone := call("b1", "b", 1), call("later", "a", 2), call("alone", "", 1)

	type step struct {
		pending  []approvals.Request
		by       int // steps after it
		shown    string
		gone     string
		position string
	}
	for _, tt := range []struct {
		name  string
		steps []step
	}{
		{"nothing", []step{{nil, 1, "", "", ""}}},
		{"one", []step{{[]approvals.Request{a1}, 0, "a1", "", ""}}},
		{"a round counts on while it is answered", []step{
			{[]approvals.Request{a1, a2, a3}, 0, "a1", "", "1 of 3"},
			{[]approvals.Request{a2, a3}, 0, "a2", "a1", "2 of 3"},
			{[]approvals.Request{a3}, 0, "a3", "a2", "3 of 3"},
			{nil, 0, "", "a3", ""},
			{[]approvals.Request{a1}, 0, "a1", "", ""},
		}},
		{"a round stays together, others after it", []step{
			{[]approvals.Request{a1, b1, a2, alone}, 0, "a1", "", "1 of 2 · 2 more"},
			{[]approvals.Request{b1, a2, alone}, 0, "a2", "a1", "2 of 2 · 2 more"},
			{[]approvals.Request{b1, alone}, 0, "b1", "a2", "1 more"},
		}},
		{"another round of the run is another", []step{
			{[]approvals.Request{a1, later}, 0, "a1", "", "1 more"},
		}},
		{"an arrival changes nothing that is shown", []step{
			{[]approvals.Request{b1}, 0, "b1", "", ""},
			{[]approvals.Request{a1, b1, a2}, 0, "b1", "", "2 more"},
		}},
		{"going round", []step{
			{[]approvals.Request{a1, a2, b1}, 1, "a2", "", "2 of 2 · 1 more"},
			{[]approvals.Request{a1, a2, b1}, 2, "a1", "", "1 of 2 · 1 more"},
			{[]approvals.Request{a1, a2, b1}, -1, "b1", "", "2 more"},
		}},
		{"another one leaves", []step{
			{[]approvals.Request{a1, a2}, 0, "a1", "", "1 of 2"},
			{[]approvals.Request{a1}, 0, "a1", "", "1 of 2"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var q model.ApprovalQueue
			for i, s := range tt.steps {
				gone, left := q.Set(s.pending)
				q.Step(s.by)
				shown, ok := q.Shown()
				if shown.ID != s.shown || ok != (s.shown != "") {
					t.Errorf("step %d: shown %q, want %q", i+1, shown.ID, s.shown)
				}
				if gone.ID != s.gone || left != (s.gone != "") {
					t.Errorf("step %d: gone %q, %v, want %q", i+1, gone.ID, left, s.gone)
				}
				if got := q.Position(); got != s.position {
					t.Errorf("step %d: position %q, want %q", i+1, got, s.position)
				}
			}
		})
	}
}

func titles(groups []model.ScopeGroup) []string {
	var all []string
	for _, g := range groups {
		for _, c := range g.Choices {
			all = append(all, g.Title+": "+c.Title)
		}
	}
	return all
}

// TestApprovalQueueOrder: the calls of a round stand as the model made them,
// however they arrive, and keep their places when some are answered.
func TestApprovalQueueOrder(t *testing.T) {
	call := func(n int) approvals.Request {
		return approvals.Request{ID: strconv.Itoa(n), Run: "r", Round: 1, Call: n}
	}
	var q model.ApprovalQueue
	q.Set([]approvals.Request{call(3)})
	q.Set([]approvals.Request{call(3), call(1), {ID: "other"}, call(2)})
	var order []string
	for _, req := range q.Waiting() {
		order = append(order, req.ID)
	}
	if got := strings.Join(order, " "); got != "1 2 3 other" {
		t.Errorf("the order is %s", got)
	}
	if got := q.Position(); got != "3 of 3 · 1 more" {
		t.Errorf("the one shown first is at %q", got)
	}
	q.Set([]approvals.Request{call(1), {ID: "other"}, call(2)})
	if shown, _ := q.Shown(); shown.ID != "1" || q.Position() != "1 of 3 · 1 more" {
		t.Errorf("then %s is shown, at %q", shown.ID, q.Position())
	}
}

func TestScopeGroups(t *testing.T) {
	now := time.Now()
	req := approvals.Request{ID: "a", Run: "r", Server: "s", Tool: "write_file", Class: approvals.Write, Arguments: json.RawMessage(`{"path":"/home/me/a"}`)}
	each := func(breadths ...string) []string {
		var all []string
		for _, span := range []string{"For this run", "For this session", "For 1 hour", "Until tonight", "For 7 days", "Always"} {
			for _, breadth := range breadths {
				all = append(all, span+": "+breadth)
			}
		}
		return all
	}
	noRun := req
	noRun.Run = ""
	broken := req
	broken.Arguments = json.RawMessage(`{"a":1,"a":2}`)
	command := approvals.Request{
		ID: "a", Run: "r", Server: "copilot", Tool: "bash", Class: approvals.Execute, CWD: "/src", Shell: true,
		Arguments: json.RawMessage(`{"command":"npm run build -- --watch"}`), Command: []string{"npm", "run", "build", "--", "--watch"},
	}
	oneWord := command
	oneWord.Command = []string{"make"}
	destructive := command
	destructive.Warnings = []string{"it deletes"}
	several := command
	several.Command = nil
	for _, tt := range []struct {
		name    string
		req     approvals.Request
		edited  json.RawMessage
		folders []string
		want    []string
	}{
		{"a file", req, nil, []string{"/home/me"}, each("These exact arguments", "Only under /home/me", "Any arguments")},
		{"no folder", req, nil, nil, each("These exact arguments", "Any arguments")},
		{"no run", noRun, nil, nil, each("These exact arguments", "Any arguments")[2:]},
		{"arguments that cannot be remembered", broken, nil, nil, each("Any arguments")},
		{"but the edited ones can", broken, json.RawMessage(`{}`), nil, each("These exact arguments", "Any arguments")},
		{"a command", command, nil, nil, each("These exact arguments", "Commands that begin with npm run build", "Commands that begin with npm run")},
		{"an edited command", command, json.RawMessage(`{"command":"ls"}`), nil, each("These exact arguments")},
		{"a command of one word", oneWord, nil, nil, each("These exact arguments")},
		{"a destructive command", destructive, nil, nil, each("These exact arguments")},
		{"several commands", several, nil, nil, each("These exact arguments")},
		{"no tool", approvals.Request{}, nil, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			groups := model.ScopeGroups(tt.req, tt.edited, tt.folders, now)
			if got := titles(groups); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// What a choice says is what it does: how long, how wide, and in which words.
func TestScopeChoices(t *testing.T) {
	now := time.Now()
	req := approvals.Request{ID: "a", Run: "r", Tool: "write_file", Arguments: json.RawMessage(`{}`)}
	find := func(group, title string) model.ScopeChoice {
		for _, g := range model.ScopeGroups(req, nil, []string{"/home/\u200bme"}, now) {
			for _, c := range g.Choices {
				if g.Title == group && strings.HasPrefix(c.Title, title) {
					return c
				}
			}
		}
		t.Fatalf("no choice %q of %q", title, group)
		return model.ScopeChoice{}
	}
	tonight := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location())
	for _, tt := range []struct {
		group, title string
		scope        approvals.Scope
		wide         bool
		approve      string
		sentence     string
	}{
		{"For this run", "These", approvals.Scope{Lifetime: approvals.ForRun, ExactArguments: true}, false, "Approve for this run",
			"Your answer is also given to every call of write_file with exactly these arguments, until this run ends."},
		{"For this session", "Only", approvals.Scope{Lifetime: approvals.ForSession, PathPrefix: "/home/\u200bme"}, false, "Approve for this session",
			"Your answer is also given to every call of write_file whose paths all lie under /home/<U+200B>me, until Pointsman stops."},
		{"Until tonight", "Any", approvals.Scope{Lifetime: approvals.UntilTime, Until: tonight}, true, "Approve until tonight",
			"Your answer is also given to every call of write_file whatever its arguments, until midnight."},
		{"Always", "Any", approvals.Scope{Lifetime: approvals.Always}, true, "Approve always",
			"Your answer is also given to every call of write_file whatever its arguments, for ever, until you remove the rule."},
	} {
		c := find(tt.group, tt.title)
		if !reflect.DeepEqual(*c.Scope, tt.scope) || c.Wide != tt.wide || c.Sentence != tt.sentence {
			t.Errorf("%s, %s: %+v %+v", tt.group, tt.title, c, *c.Scope)
		}
		if got := model.ApproveLabel(false, c); got != tt.approve {
			t.Errorf("label %q, want %q", got, tt.approve)
		}
	}
	if hour := find("For 1 hour", "Any"); !hour.Scope.Until.Equal(now.Add(time.Hour)) {
		t.Errorf("1 hour is until %v", hour.Scope.Until)
	}
	if got := model.ApproveLabel(true, model.ScopeChoice{}) + ", " + model.DenyLabel(model.ScopeChoice{}); got != "Hold to approve once, Deny" {
		t.Errorf("labels %q", got)
	}
	always := req
	always.AlwaysAsk = true
	if !model.OnlyDenies(always, find("Always", "Any")) || model.OnlyDenies(always, model.ScopeChoice{}) || model.OnlyDenies(req, find("Always", "Any")) {
		t.Error("a permission of what is always asked about would never hold")
	}
}

func ExampleApprovalTitle() {
	fmt.Println(model.ApprovalTitle(1))
	fmt.Println(model.ApprovalTitle(3))
	// Output:
	// Pointsman approval: 1 call waits
	// Pointsman approval: 3 calls wait
}
