package approvals_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pointsman/approvals"
)

// The hash of `{"key":"hunter22","path":"/src/a"}`, as sha256sum gives it.
const hunterDigest = "sha256:6190d6ad56e5935efd6595ddbf612b655e24e79b06f6cf068e0ceb540e71dc14"

func withSecret(arguments string) approvals.Request {
	return request(func(q *approvals.Request) { q.Arguments = json.RawMessage(arguments) })
}

func concealing(persist func([]approvals.Rule) error) *approvals.Rules {
	rules := approvals.NewRules(atNoon, persist)
	rules.Conceal(func(arguments string) bool { return strings.Contains(arguments, "hunter22") })
	return rules
}

func exactly(l approvals.Lifetime) approvals.Decision {
	return approvals.Decision{Outcome: approvals.Allowed, Scope: &approvals.Scope{Lifetime: l, ExactArguments: true}}
}

// TestSecretArgumentsAreKeptAsAHash in what is stored and what is shown, and the
// rule decides the same calls.
func TestSecretArgumentsAreKeptAsAHash(t *testing.T) {
	for _, lifetime := range []approvals.Lifetime{approvals.Always, approvals.ForSession} {
		t.Run(string(lifetime), func(t *testing.T) {
			var saved []approvals.Rule
			rules := concealing(func(all []approvals.Rule) error { saved = all; return nil })
			rule, err := rules.Remember(withSecret(`{"path":"/src/a","key":"hunter22"}`), exactly(lifetime))
			if err != nil || rule.Arguments != hunterDigest || !rule.Concealed() {
				t.Fatalf("remembered %+v, %v", rule, err)
			}
			if list := rules.List(); len(list) != 1 || !reflect.DeepEqual(list[0], rule) || lifetime == approvals.Always && (len(saved) != 1 || !reflect.DeepEqual(saved[0], rule)) {
				t.Errorf("listed %+v, saved %+v", list, saved)
			}
			for arguments, want := range map[string]bool{
				` {"key": "hunter22", "path": "/src/\u0061"}`: true,
				`{"path":"/src/a","key":"hunter23"}`:          false,
				`{"path":"/src/a"}`:                           false,
				`{}`:                                          false,
			} {
				if _, ok := rules.Match(withSecret(arguments)); ok != want {
					t.Errorf("%s: %t", arguments, ok)
				}
			}
			if again, err := rules.Remember(withSecret(`{"key":"hunter22","path":"/src/a"}`), exactly(lifetime)); err != nil || len(rules.List()) != 1 {
				t.Errorf("once more is another rule: %+v, %v", again, err)
			} else {
				rule = again
			}
			if ok, err := rules.Delete(rule.ID); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if err := rules.Restore(rule); err != nil {
				t.Fatal(err)
			}
			if _, ok := rules.Match(withSecret(`{"path":"/src/a","key":"hunter22"}`)); !ok {
				t.Error("restored, it does not match")
			}
		})
	}
}

func TestHashedArgumentsAreLoaded(t *testing.T) {
	for _, test := range []struct {
		name, arguments, kept string
		matches               bool
	}{
		{"a hash", hunterDigest, hunterDigest, true},
		{"a secret in clear", `{"path":"/src/a","key":"hunter22"}`, hunterDigest, true},
		{"no secret", `{"path":"/src/a"}`, `{"path":"/src/a"}`, false},
		{"another hash", "sha256:" + strings.Repeat("0", 64), "sha256:" + strings.Repeat("0", 64), false},
		{"a hash cut off", hunterDigest[:40], "", false},
		{"a hash in capitals", "sha256:" + strings.ToUpper(hunterDigest[7:]), "", false},
		{"no hash", "sha256:" + strings.Repeat("x", 64), "", false},
		{"another scheme", "sha1:" + hunterDigest[7:], "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			rules := concealing(nil)
			err := rules.Load([]approvals.Rule{rule(func(r *approvals.Rule) { r.Arguments = test.arguments })})
			list := rules.List()
			if (err == nil) != (test.kept != "") || len(list) > 0 && list[0].Arguments != test.kept || (len(list) > 0) != (test.kept != "") {
				t.Errorf("loaded %+v, %v", list, err)
			}
			if _, ok := rules.Match(withSecret(`{"key":"hunter22","path":"/src/a"}`)); ok != test.matches {
				t.Errorf("it matches: %t", ok)
			}
		})
	}
}

// TestAHashIsNoArgument: a call whose arguments are the hash is another call.
func TestAHashIsNoArgument(t *testing.T) {
	rules := concealing(nil)
	if _, err := rules.Remember(withSecret(`{"key":"hunter22"}`), exactly(approvals.Always)); err != nil {
		t.Fatal(err)
	}
	if _, ok := rules.Match(withSecret(rules.List()[0].Arguments)); ok {
		t.Error("it matches")
	}
}
