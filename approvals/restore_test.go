package approvals_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pointsman/approvals"
)

func TestRestore(t *testing.T) {
	for _, test := range []struct {
		name     string
		lifetime approvals.Lifetime
		between  func(*approvals.Rules)
		change   func(*approvals.Rule)
		restored bool
		matches  bool
	}{
		{"as it was", approvals.Always, nil, nil, true, true},
		{"as it was shown after use", approvals.Always, nil, func(r *approvals.Rule) { r.Used, r.LastUsed = 9, noon }, true, true},
		{"for the session", approvals.ForSession, nil, nil, true, true},
		{"until a time, in another zone", approvals.UntilTime, nil, func(r *approvals.Rule) { r.Until = r.Until.In(time.FixedZone("x", 3600)) }, true, true},
		{"of a run that has ended", approvals.ForRun, func(r *approvals.Rules) { r.EndRun("run1") }, nil, false, false},
		{"of a definition that has changed", approvals.Always, func(r *approvals.Rules) { _ = r.Void("fs", "write_file", "hash2") }, nil, true, false},
		{"with another tool", approvals.Always, nil, func(r *approvals.Rule) { r.Tool = "delete" }, false, false},
		{"with more arguments", approvals.Always, nil, func(r *approvals.Rule) { r.PathPrefix = "/" }, false, false},
		{"turned around", approvals.Always, nil, func(r *approvals.Rule) { r.Action = approvals.Deny }, false, false},
		{"for longer", approvals.ForSession, nil, func(r *approvals.Rule) { r.Lifetime = approvals.Always }, false, false},
		{"with another id", approvals.Always, nil, func(r *approvals.Rule) { r.ID = "other" }, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			rules := approvals.NewRules(atNoon, nil)
			d := always()
			d.Scope.Lifetime = test.lifetime
			if test.lifetime == approvals.UntilTime {
				d.Scope.Until = noon.Add(time.Hour)
			}
			rule, err := rules.Remember(writeFile(), d)
			if err != nil {
				t.Fatal(err)
			}
			if ok, err := rules.Delete(rule.ID); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if test.between != nil {
				test.between(rules)
			}
			if test.change != nil {
				test.change(&rule)
			}
			err = rules.Restore(rule)
			if test.restored != (err == nil) || err != nil && !errors.Is(err, approvals.ErrNotRemoved) {
				t.Errorf("got %v", err)
			}
			if _, ok := rules.Match(writeFile()); ok != test.matches {
				t.Errorf("it matches: %t", ok)
			}
			if err := rules.Restore(rule); !errors.Is(err, approvals.ErrNotRemoved) {
				t.Errorf("restored twice: %v", err)
			}
		})
	}
}

func TestRestoreThatCannotBeSaved(t *testing.T) {
	var fail error
	rules := approvals.NewRules(atNoon, func([]approvals.Rule) error { return fail })
	rule, err := rules.Remember(writeFile(), always())
	if err != nil {
		t.Fatal(err)
	}
	fail = errors.New("disk full")
	if ok, err := rules.Delete(rule.ID); ok || err == nil {
		t.Fatal("deleted without being saved")
	}
	if err := rules.Restore(rule); !errors.Is(err, approvals.ErrNotRemoved) {
		t.Errorf("a rule that was not removed: %v", err)
	}
	fail = nil
	if ok, err := rules.Delete(rule.ID); !ok || err != nil {
		t.Fatal(ok, err)
	}
	fail = errors.New("disk full")
	if err := rules.Restore(rule); err == nil || len(rules.List()) != 0 {
		t.Errorf("got %v", err)
	}
	fail = nil
	if err := rules.Restore(rule); err != nil {
		t.Errorf("once the disk has room: %v", err)
	}
}

// TestRestoreForgetsTheOldest: undo is for a mistake, not an archive.
func TestRestoreForgetsTheOldest(t *testing.T) {
	rules := approvals.NewRules(atNoon, nil)
	var removed []approvals.Rule
	for i := range 101 {
		rule, err := rules.Remember(request(func(q *approvals.Request) { q.Tool = fmt.Sprint("tool", i) }), always())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rules.Delete(rule.ID); err != nil {
			t.Fatal(err)
		}
		removed = append(removed, rule)
	}
	if err := rules.Restore(removed[0]); !errors.Is(err, approvals.ErrNotRemoved) {
		t.Errorf("the oldest: %v", err)
	}
	if err := rules.Restore(removed[1]); err != nil {
		t.Errorf("the next: %v", err)
	}
}
