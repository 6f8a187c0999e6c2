package approvals_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pointsman/approvals"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

// rule allows writeFile, changed by edit.
func rule(edit func(*approvals.Rule)) approvals.Rule {
	r := approvals.Rule{ID: "r", Action: approvals.Allow, Server: "fs", Tool: "write_file", Definition: "hash1"}
	if edit != nil {
		edit(&r)
	}
	return r
}

func request(edit func(*approvals.Request)) approvals.Request {
	req := writeFile()
	if edit != nil {
		edit(&req)
	}
	return req
}

func TestRuleMatches(t *testing.T) {
	type R = approvals.Rule
	type Q = approvals.Request
	for _, tc := range []struct {
		name string
		rule approvals.Rule
		req  approvals.Request
		want bool
	}{
		{"any arguments", rule(nil), request(nil), true},
		{"another server", rule(nil), request(func(q *Q) { q.Server = "git" }), false},
		{"another tool", rule(nil), request(func(q *Q) { q.Tool, q.Offered = "x", "fs__x" }), false},
		{"another definition", rule(nil), request(func(q *Q) { q.Definition = "hash2" }), false},
		{"no definition any more", rule(nil), request(func(q *Q) { q.Definition = "" }), false},
		{"a rule without a definition", rule(func(r *R) { r.Definition = "" }), request(nil), false},
		{"the offered name", rule(func(r *R) { r.Tool = "fs__write_file" }), request(nil), true},
		{"the offered name alone", rule(func(r *R) { r.Server, r.Tool = "", "fs__write_file" }), request(nil), true},
		{"the offered name of another server", rule(func(r *R) { r.Server, r.Tool = "git", "fs__write_file" }), request(nil), false},
		{"the bare name of no server", rule(func(r *R) { r.Server = "" }), request(nil), false},
		{"names are no patterns", rule(func(r *R) { r.Tool = "*" }), request(nil), false},
		{"before its end", rule(func(r *R) { r.Until = noon.Add(1) }), request(nil), true},
		{"at its end", rule(func(r *R) { r.Until = noon }), request(nil), false},
		{"its run", rule(func(r *R) { r.Lifetime, r.Run = approvals.ForRun, "run1" }), request(nil), true},
		{"another run", rule(func(r *R) { r.Lifetime, r.Run = approvals.ForRun, "run2" }), request(nil), false},
		{"exact arguments", rule(func(r *R) { r.Arguments = `{"path":"/src/a","text":"x"}` }), request(nil), true},
		{"exact arguments in other words", rule(func(r *R) { r.Arguments = ` {"text": "\u0078", "path":"/src/a"}` }), request(nil), true},
		{"other arguments", rule(func(r *R) { r.Arguments = `{"path":"/src/b","text":"x"}` }), request(nil), false},
		{"more arguments", rule(func(r *R) { r.Arguments = `{"path":"/src/a"}` }), request(nil), false},
		{"numbers are not rounded", rule(func(r *R) { r.Arguments = `{"n":9007199254740992}` }),
			request(func(q *Q) { q.Arguments = json.RawMessage(`{"n":9007199254740993}`) }), false},
		{"a key twice in the call", rule(func(r *R) { r.Arguments = `{"a":2}` }),
			request(func(q *Q) { q.Arguments = json.RawMessage(`{"a":1,"a":2}`) }), false},
		{"text that is no text", rule(func(r *R) { r.Arguments = `{"a":"x"}` }),
			request(func(q *Q) { q.Arguments = json.RawMessage("{\"a\":\"\xff\"}") }), false},
		{"no arguments are an empty object", rule(func(r *R) { r.Arguments = `{}` }), request(func(q *Q) { q.Arguments = nil }), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := approvals.NewRules(atNoon, nil)
			if err := rules.Load([]approvals.Rule{tc.rule}); err != nil {
				t.Fatal(err)
			}
			if got, ok := rules.Match(tc.req); ok != tc.want || ok && got.ID != tc.rule.ID {
				t.Errorf("Match = %+v, %t", got, ok)
			}
		})
	}
	if _, ok := (*approvals.Rules)(nil).Match(writeFile()); ok {
		t.Error("no rules match")
	}
}

func TestDenyBeatsAllow(t *testing.T) {
	rules := approvals.NewRules(atNoon, nil)
	err := rules.Load([]approvals.Rule{
		rule(func(r *approvals.Rule) { r.ID, r.Arguments = "yes", `{"path":"/src/a","text":"x"}` }),
		rule(func(r *approvals.Rule) { r.ID, r.Action = "no", approvals.Deny }),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := rules.Match(writeFile()); got.ID != "no" {
		t.Errorf("matched %q", got.ID)
	}
}

func TestLoadNamesWhatMakesNoSense(t *testing.T) {
	type R = approvals.Rule
	for _, tc := range []struct {
		name string
		edit func(*approvals.Rule)
	}{
		{"no action", func(r *R) { r.Action = "" }},
		{"another action", func(r *R) { r.Action = "ask" }},
		{"no tool", func(r *R) { r.Tool = "" }},
		{"two bounds", func(r *R) { r.Arguments, r.PathPrefix = "{}", "/src" }},
		{"arguments that are no object", func(r *R) { r.Arguments = "[]" }},
		{"a relative folder", func(r *R) { r.PathPrefix = "src" }},
		{"a folder that climbs", func(r *R) { r.PathPrefix = "/src/../etc" }},
		{"until, without a date", func(r *R) { r.Lifetime = approvals.UntilTime }},
		{"a run, without which", func(r *R) { r.Lifetime = approvals.ForRun }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rules := approvals.NewRules(atNoon, nil)
			good := rule(func(r *R) { r.ID, r.Server = "good", "other" })
			if err := rules.Load([]approvals.Rule{rule(tc.edit), good}); err == nil {
				t.Error("no error")
			}
			if list := rules.List(); len(list) != 1 || list[0].ID != "good" {
				t.Errorf("loaded %+v", list)
			}
			if _, ok := rules.Match(writeFile()); ok {
				t.Error("it matches")
			}
		})
	}
}

func TestRemember(t *testing.T) {
	type S = approvals.Scope
	for _, tc := range []struct {
		name     string
		decision approvals.Decision
		want     approvals.Rule
		saved    bool
	}{
		{"always", approvals.Decision{Outcome: approvals.Allowed, Scope: &S{Lifetime: approvals.Always}},
			approvals.Rule{Action: approvals.Allow, Lifetime: approvals.Always}, true},
		{"a denial until a date", approvals.Decision{Outcome: approvals.Denied, Scope: &S{Lifetime: approvals.UntilTime, Until: noon.Add(time.Hour)}},
			approvals.Rule{Action: approvals.Deny, Lifetime: approvals.UntilTime, Until: noon.Add(time.Hour)}, true},
		{"the session", approvals.Decision{Outcome: approvals.Allowed, Scope: &S{Lifetime: approvals.ForSession}},
			approvals.Rule{Action: approvals.Allow, Lifetime: approvals.ForSession}, false},
		{"the run", approvals.Decision{Outcome: approvals.Allowed, Scope: &S{Lifetime: approvals.ForRun}},
			approvals.Rule{Action: approvals.Allow, Lifetime: approvals.ForRun, Run: "run1"}, false},
		{"exact arguments", approvals.Decision{Outcome: approvals.Allowed, Scope: &S{Lifetime: approvals.Always, ExactArguments: true}},
			approvals.Rule{Action: approvals.Allow, Lifetime: approvals.Always, Arguments: `{"path":"/src/a","text":"x"}`}, true},
		{"exact arguments, edited", approvals.Decision{Outcome: approvals.Allowed, Arguments: json.RawMessage(`{"b":1,"a":2}`),
			Scope: &S{Lifetime: approvals.Always, ExactArguments: true}},
			approvals.Rule{Action: approvals.Allow, Lifetime: approvals.Always, Arguments: `{"a":2,"b":1}`}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var saved []approvals.Rule
			rules := approvals.NewRules(atNoon, func(all []approvals.Rule) error { saved = all; return nil })
			got, err := rules.Remember(writeFile(), tc.decision)
			if err != nil || got.ID == "" {
				t.Fatalf("got %+v, %v", got, err)
			}
			want := tc.want
			want.ID, want.Server, want.Tool, want.Definition, want.Created = got.ID, "fs", "write_file", "hash1", noon
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if (len(saved) == 1) != tc.saved {
				t.Errorf("saved: %+v", saved)
			}
			if list := rules.List(); len(list) != 1 || !reflect.DeepEqual(list[0], got) {
				t.Errorf("listed: %+v", list)
			}
		})
	}
	for name, d := range map[string]approvals.Decision{
		"no scope":     {Outcome: approvals.Allowed},
		"not answered": {Outcome: approvals.NotAnswered, Scope: &S{Lifetime: approvals.Always}},
		"zero":         {Scope: &S{Lifetime: approvals.Always}},
	} {
		if r, err := approvals.NewRules(atNoon, nil).Remember(writeFile(), d); err == nil {
			t.Errorf("%s: remembered as %+v", name, r)
		}
	}
}

func always() approvals.Decision {
	return approvals.Decision{Outcome: approvals.Allowed, Scope: &approvals.Scope{Lifetime: approvals.Always}}
}

func TestChangedDefinitionVoids(t *testing.T) {
	var saved []approvals.Rule
	rules := approvals.NewRules(atNoon, func(all []approvals.Rule) error { saved = all; return nil })
	if _, err := rules.Remember(writeFile(), always()); err != nil {
		t.Fatal(err)
	}
	other := request(func(q *approvals.Request) { q.Server = "git" })
	if _, err := rules.Remember(other, always()); err != nil {
		t.Fatal(err)
	}
	if err := rules.Void("fs", "write_file", "hash1"); err != nil {
		t.Fatal(err)
	}
	if _, ok := rules.Match(writeFile()); !ok {
		t.Error("the same definition voided a rule")
	}
	if err := rules.Void("fs", "write_file", "hash2"); err != nil {
		t.Fatal(err)
	}
	if _, ok := rules.Match(writeFile()); ok {
		t.Error("a voided rule matches when the old definition comes back")
	}
	if _, ok := rules.Match(other); !ok {
		t.Error("another server's rule was voided too")
	}
	if len(saved) != 1 || saved[0].Server != "git" {
		t.Errorf("stored: %+v", saved)
	}
	stored := slices.Clone(saved)
	stored = append(stored, rules.List()[0]) // as an old file would bring it back
	stored[1].Voided = false
	if err := rules.Load(stored); err != nil {
		t.Fatal(err)
	}
	list := rules.List()
	if i := slices.IndexFunc(list, func(r approvals.Rule) bool { return r.Voided }); len(list) != 2 || i < 0 || list[i].Server != "fs" {
		t.Errorf("listed: %+v", list)
	}
	if _, ok := rules.Match(writeFile()); ok {
		t.Error("loading brought a voided rule back to life")
	}
}

func TestRulesKeepCount(t *testing.T) {
	rules := approvals.NewRules(atNoon, nil)
	if _, err := rules.Remember(writeFile(), always()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		rules.Match(writeFile())
	}
	if err := rules.Load(rules.List()); err != nil { // a change notice of the file it was saved to
		t.Fatal(err)
	}
	if r := rules.List()[0]; r.Used != 3 || !r.LastUsed.Equal(noon) {
		t.Errorf("used %d times, last %v", r.Used, r.LastUsed)
	}
}

func TestLoadKeepsWhatIsNotStored(t *testing.T) {
	rules := approvals.NewRules(atNoon, nil)
	for _, l := range []approvals.Lifetime{approvals.ForRun, approvals.ForSession, approvals.Always} {
		d := always()
		d.Scope.Lifetime = l
		if _, err := rules.Remember(writeFile(), d); err != nil {
			t.Fatal(err)
		}
	}
	if err := rules.Load(nil); err != nil {
		t.Fatal(err)
	}
	if list := rules.List(); len(list) != 2 {
		t.Errorf("left: %+v", list)
	}
	rules.EndRun("another")
	rules.EndRun("run1")
	if list := rules.List(); len(list) != 1 || list[0].Lifetime != approvals.ForSession {
		t.Errorf("after the run: %+v", list)
	}
}

func TestRememberingTwiceKeepsOne(t *testing.T) {
	rules := approvals.NewRules(atNoon, nil)
	for _, outcome := range []approvals.Outcome{approvals.Allowed, approvals.Denied} {
		d := always()
		d.Outcome = outcome
		if _, err := rules.Remember(writeFile(), d); err != nil {
			t.Fatal(err)
		}
	}
	if list := rules.List(); len(list) != 1 || list[0].Action != approvals.Deny {
		t.Errorf("the later answer must take the earlier one's place: %+v", list)
	}
}

func TestDelete(t *testing.T) {
	fail := false
	rules := approvals.NewRules(atNoon, func([]approvals.Rule) error {
		if fail {
			return errors.New("disk full")
		}
		return nil
	})
	r, err := rules.Remember(writeFile(), always())
	if err != nil {
		t.Fatal(err)
	}
	fail = true
	if ok, err := rules.Delete(r.ID); ok || err == nil || len(rules.List()) != 1 {
		t.Errorf("unsaved: %t, %v", ok, err)
	}
	fail = false
	if ok, err := rules.Delete(r.ID); !ok || err != nil || len(rules.List()) != 0 {
		t.Errorf("got %t, %v", ok, err)
	}
	if ok, err := rules.Delete(r.ID); ok || err != nil {
		t.Errorf("again: %t, %v", ok, err)
	}
}

// TestStoreMayLoadBack: the configuration's store notifies of its own change.
func TestStoreMayLoadBack(t *testing.T) {
	var rules *approvals.Rules
	rules = approvals.NewRules(atNoon, func(all []approvals.Rule) error { return rules.Load(all) })
	var wg sync.WaitGroup
	for _, tool := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			req := request(func(q *approvals.Request) { q.Tool = tool })
			if _, err := rules.Remember(req, always()); err != nil {
				t.Error(err)
			}
			rules.Match(req)
		})
	}
	wg.Wait()
	if list := rules.List(); len(list) != 4 {
		t.Errorf("listed %+v", list)
	}
}

func TestRulesWithoutIDsKeepTheirs(t *testing.T) {
	rules := approvals.NewRules(atNoon, nil)
	load := func() string {
		if err := rules.Load([]approvals.Rule{rule(func(r *approvals.Rule) { r.ID = "" })}); err != nil {
			t.Fatal(err)
		}
		return rules.List()[0].ID
	}
	if a, b := load(), load(); a == "" || a != b || len(rules.List()) != 1 {
		t.Errorf("ids %q and %q, %d rules", a, b, len(rules.List()))
	}
}
