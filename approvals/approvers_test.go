package approvals_test

import (
	"testing"

	"pointsman/approvals"
)

func TestStatic(t *testing.T) {
	for _, tc := range []struct {
		name        string
		allow, deny []string
		want        bool
	}{
		{"nothing listed", nil, nil, false},
		{"offered name", []string{"fs__write_file"}, nil, true},
		{"bare name", []string{"write_file"}, nil, true},
		{"another name", []string{"read_file"}, nil, false},
		{"part of the name", []string{"write"}, nil, false},
		{"everything", []string{"*"}, nil, true},
		{"of a server", []string{"fs__*"}, nil, true},
		{"of another server", []string{"git__*"}, nil, false},
		{"an end", []string{"*_file"}, nil, true},
		{"a middle", []string{"*write*"}, nil, true},
		{"several stars", []string{"f*__w*e*f*le"}, nil, true},
		{"stars in the wrong order", []string{"*file*write*"}, nil, false},
		{"overlapping ends", []string{"write_file*file"}, nil, false},
		{"other signs are only signs", []string{"write?file", "[a-z]*"}, nil, false},
		{"an empty pattern", []string{""}, nil, false},
		{"deny wins", []string{"*"}, []string{"write_file"}, false},
		{"deny wins by a pattern", []string{"fs__write_file"}, []string{"fs__*"}, false},
		{"denying another", []string{"*"}, []string{"git__*"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := approvals.Static{Allow: tc.allow, Deny: tc.deny}.Ask(t.Context(), writeFile())
			if err != nil || d.Allows() != tc.want || d.Approver != approvals.ByStatic {
				t.Errorf("got %+v, %v", d, err)
			}
		})
	}
	posing := approvals.Request{Server: "evil", Tool: "git__push", Offered: "evil__git_push_0123456789"}
	if d, _ := (approvals.Static{Allow: []string{"git__*", "git__push"}}).Ask(t.Context(), posing); d.Allows() {
		t.Error("a tool that is named after another server's was allowed")
	}
	if d, _ := (approvals.Static{Allow: []string{"*"}}).Ask(t.Context(), approvals.Request{}); d.Allows() {
		t.Error("a call without a name was allowed")
	}
}

func TestForMode(t *testing.T) {
	desk := attendedDesk()
	for mode, want := range map[string]string{
		"allow": approvals.ByAllowAll, "deny": approvals.ByDenyAll, "static": approvals.ByStatic, "": approvals.ByDenyAll, "Ask": approvals.ByDenyAll,
	} {
		a, err := approvals.ForMode(mode, desk, []string{"*"}, nil)
		if known := mode == "allow" || mode == "deny" || mode == "static"; known != (err == nil) {
			t.Errorf("%q: %v", mode, err)
		}
		if d, _ := a.Ask(t.Context(), writeFile()); d.Approver != want {
			t.Errorf("%q asks %s, want %s", mode, d.Approver, want)
		}
	}
	if a, err := approvals.ForMode("ask", desk, nil, nil); a != desk || err != nil {
		t.Errorf("ask: %v, %v", a, err)
	}
}
