package tools_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"pointsman/gateway/tools"
)

func TestOfferedName(t *testing.T) {
	for _, tt := range []struct {
		name, prefix, tool string
		want               string // a trailing # stands for the hash
	}{
		{"plain", "github", "create_issue", "github__create_issue"},
		{"camelCase and hyphens", "a-b", "getX-y", "a-b__getX-y"},
		{"no prefix", "", "create_issue", "create_issue"},
		{"longest that fits", "s", strings.Repeat("x", 61), "s__" + strings.Repeat("x", 61)},
		{"too long", "s", strings.Repeat("x", 62), "s__" + strings.Repeat("x", 50) + "#"},
		{"cleaned", "my server", "a.b", "my_server__a_b#"},
		{"not ASCII", "s", "é", "s__-#"},
		{"not ASCII at the end of the tool, and no prefix", "", "notes.", "notes-#"},
		{"an underscore where it is cut", strings.Repeat("x", 52) + "_" + strings.Repeat("y", 20), "a", strings.Repeat("x", 52) + "-#"},
		{"not ASCII at the end of the prefix", "sé", "a", "s-__a#"},
		{"separator in the prefix", "a__b", "c", "a_b__c#"},
		{"separator in the tool", "a", "b__c", "a__b_c#"},
		{"separator in the tool, and no prefix", "", "a__b", "a_b#"},
		{"underscore before the separator", "a_", "b", "a-__b#"},
		{"underscore after the separator", "a", "_b", "a___b#"},
		{"own name as prefix", "gpt6_x", "y", "gpt6_x__y#"},
		{"gateway as prefix", "gateway", "y", "gateway__y#"},
		{"own name without prefix", "", "gpt6_chat", "gpt6_chat#"},
		{"our own tool without prefix", "", "find_tools", "find_tools#"},
		{"our own tool of a server", "a", "find_tools", "a__find_tools"},
		{"like a hashed name", "a", "b_0123456789", "a__b_0123456789#"},
		{"nothing", "", "", "#"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tools.OfferedName(tt.prefix, tt.tool)
			want, hashed := strings.CutSuffix(tt.want, "#")
			if hashed {
				if ok, _ := regexp.MatchString("^"+regexp.QuoteMeta(want)+"_[0-9a-f]{10}$", got); !ok {
					t.Errorf("got %q, want %q and a hash", got, want)
				}
			} else if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

var acceptable = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// ordinary are prefixes that stand in a name as they are.
var ordinary = regexp.MustCompile(`^[a-zA-Z0-9-]{1,40}$`)

func FuzzOfferedName(f *testing.F) {
	f.Add("github", "create_issue", "git", "hub__create_issue")
	f.Add("a__b", "c", "a", "b__c")
	f.Add("a_", "b", "a", "_b")
	f.Add("", "a__b", "a", "b")
	f.Fuzz(func(t *testing.T, p1, t1, p2, t2 string) {
		a, b := tools.OfferedName(p1, t1), tools.OfferedName(p2, t2)
		for _, name := range []string{a, b} {
			if !acceptable.MatchString(name) {
				t.Errorf("%q would be refused", name)
			}
		}
		if (p1 != p2 || t1 != t2) && a == b {
			t.Errorf("%q %q and %q %q are both %q", p1, t1, p2, t2, a)
		}
		if before, _, ok := strings.Cut(a, "__"); ok && ordinary.MatchString(p1) && before != p1 || ok && p1 == "" {
			t.Errorf("%q %q is %q, which begins as another server's", p1, t1, a)
		}
	})
}

// Names over a tiny alphabet meet every way two pairs could collide.
func TestOfferedNameNeverCollides(t *testing.T) {
	seen := map[string][2]string{}
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, rng.IntN(7))
		for i := range b {
			b[i] = "a_.b"[rng.IntN(4)]
		}
		return string(b)
	}
	check := func(pair [2]string) string {
		name := tools.OfferedName(pair[0], pair[1])
		if other, ok := seen[name]; ok && other != pair {
			t.Fatalf("%q and %q are both %q", other, pair, name)
		}
		seen[name] = pair
		return name
	}
	for range 200_000 {
		name := check([2]string{word(), word()})
		// A server that names a tool after what another's is offered as.
		check([2]string{"", name})
		if prefix, tool, ok := strings.Cut(name, "__"); ok {
			check([2]string{prefix, tool})
		}
	}
}
