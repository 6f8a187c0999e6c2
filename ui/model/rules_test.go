package model_test

import (
	"strings"
	"testing"
	"time"

	"pointsman/approvals"
	"pointsman/ui/model"
)

func TestRuleSentences(t *testing.T) {
	now := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name        string
		rule        approvals.Rule
		want, facts string
	}{
		{"always, in a folder", approvals.Rule{Action: approvals.Allow, Server: "filesystem", Tool: "write_file", PathPrefix: "/home/me/src", Lifetime: approvals.Always, Created: now.Add(-time.Hour)},
			"Always allow write_file of filesystem under /home/me/src", "Made today at 14:00 · not used since Pointsman started"},
		{"of a file, without a lifetime", approvals.Rule{Action: approvals.Deny, Server: "shell", Tool: "run"},
			"Always deny run of shell", "not used since Pointsman started"},
		{"used", approvals.Rule{Action: approvals.Allow, Tool: "shell__run", Created: now.AddDate(0, 0, -1), Used: 3, LastUsed: now},
			"Always allow shell__run", "Made yesterday at 15:00 · last used today at 15:00 · used 3 times since Pointsman started"},
		{"exact arguments", approvals.Rule{Action: approvals.Allow, Server: "s", Tool: "t", Arguments: `{"a":"b"}`},
			`Always allow t of s with exactly {"a":"b"}`, "not used since Pointsman started"},
		{"arguments kept as a hash", approvals.Rule{Action: approvals.Allow, Server: "s", Tool: "t", Arguments: "sha256:" + strings.Repeat("0a", 32)},
			"Always allow t of s with the same arguments (kept as a hash, for a secret is among them)", "not used since Pointsman started"},
		{"a command", approvals.Rule{Action: approvals.Allow, Server: "copilot", Tool: "bash", CommandPrefix: []string{"git", "log", "it's"}, Folder: "/src"},
			`Always allow bash of copilot for commands that begin with git log 'it'\''s' in /src`, "not used since Pointsman started"},
		{"until tomorrow", approvals.Rule{Action: approvals.Allow, Server: "s", Tool: "t", Until: now.AddDate(0, 0, 1)},
			"Until tomorrow at 15:00, allow t of s", "not used since Pointsman started"},
		{"until next year", approvals.Rule{Action: approvals.Deny, Server: "s", Tool: "t", Lifetime: approvals.UntilTime, Until: now.AddDate(1, 0, 0)},
			"Until 2 March 2027, deny t of s", "not used since Pointsman started"},
		{"session", approvals.Rule{Action: approvals.Allow, Server: "s", Tool: "t", Lifetime: approvals.ForSession},
			"Until Pointsman stops, allow t of s", "not used since Pointsman started"},
		{"run", approvals.Rule{Action: approvals.Allow, Server: "s", Tool: "t", Lifetime: approvals.ForRun},
			"For one run, allow t of s", "not used since Pointsman started"},
		{"an action that is not known", approvals.Rule{Server: "s", Tool: "t"}, "Always deny t of s", "not used since Pointsman started"},
		{"what hides", approvals.Rule{Action: approvals.Allow, Server: "safe\u202eexe", Tool: "t\n"}, "Always allow t<U+000A> of safe<U+202E>exe", "not used since Pointsman started"},
	} {
		t.Run(test.name, func(t *testing.T) {
			line := model.RuleGroups([]approvals.Rule{test.rule}, now)[0].Lines[0]
			if line.Text() != test.want || line.Facts != test.facts {
				t.Errorf("it says %q, %q; want %q, %q", line.Text(), line.Facts, test.want, test.facts)
			}
		})
	}
}

func TestRuleArgumentsAreBounded(t *testing.T) {
	rule := approvals.Rule{Action: approvals.Allow, Tool: "t", Arguments: strings.Repeat("数", 5000)}
	text := model.RuleGroups([]approvals.Rule{rule}, time.Now())[0].Lines[0].Text()
	if len([]rune(text)) > 500 || !strings.HasSuffix(text, "… (5000 characters)") {
		t.Errorf("it has %d characters and ends in %q", len([]rune(text)), text[len(text)-30:])
	}
}

func TestRuleGroups(t *testing.T) {
	now := time.Now()
	var said []string
	for _, group := range model.RuleGroups([]approvals.Rule{
		{ID: "old", Created: now.Add(-time.Hour)}, {ID: "void", Voided: true}, {ID: "session", Lifetime: approvals.ForSession}, {ID: "new", Created: now},
		{ID: "void session", Lifetime: approvals.ForSession, Voided: true},
	}, now) {
		said = append(said, group.Title+":")
		for _, line := range group.Lines {
			said = append(said, line.Rule.ID)
			if (line.Voided != "") != line.Rule.Voided {
				t.Errorf("%s is void: %q", line.Rule.ID, line.Voided)
			}
		}
	}
	const want = "Remembered: new old For now: session Not in use any more: void void session"
	if got := strings.Join(said, " "); got != want {
		t.Errorf("groups %q, want %q", got, want)
	}
	if groups := model.RuleGroups(nil, now); len(groups) != 0 {
		t.Errorf("without rules there are %v", groups)
	}
}
