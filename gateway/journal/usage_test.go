package journal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pointsman/approvals"
	"pointsman/gateway/journal"
)

func dollars(usd float64) *float64 { return &usd }

// fillUsage records runs and calls around the night in which clocks go forward.
func fillUsage(t *testing.T, j *journal.Journal, berlin *time.Location) {
	t.Helper()
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 3, day, hour, minute, 0, 0, berlin) }
	for _, r := range []struct {
		id, model string
		time      time.Time
		end       journal.RunEnd
	}{
		{"before", "sol", at(27, 23, 59), journal.RunEnd{PromptTokens: 7}},
		{"first", "sol", at(28, 0, 0), journal.RunEnd{PromptTokens: 100, CompletionTokens: 10, CostUSD: dollars(0.25), DurationMS: 1500}},
		{"short day", "sol", at(29, 23, 59), journal.RunEnd{PromptTokens: 200, CompletionTokens: 20, CostUSD: dollars(0.5), DurationMS: 500}},
		{"unpriced", "own", at(30, 0, 0), journal.RunEnd{PromptTokens: 1, CompletionTokens: 2}},
		{"after", "sol", at(31, 0, 0), journal.RunEnd{PromptTokens: 7}},
	} {
		j.StartRun(journal.Run{ID: r.id, Model: r.model, Time: r.time})
		j.FinishRun(r.id, r.end)
	}
	yes, no := new(bool), new(bool)
	*yes = true
	for i, c := range []struct {
		server string
		time   time.Time
		end    journal.End
		edited bool
	}{
		{"fs", at(27, 23, 0), journal.End{Outcome: journal.OK, Approved: yes, Approver: approvals.ByDesk}, false},
		{"fs", at(28, 1, 0), journal.End{Outcome: journal.OK, DurationMS: 100}, false},
		{"fs", at(29, 1, 0), journal.End{Outcome: journal.Failed, Approved: yes, Approver: approvals.ByDesk, DurationMS: 30}, true},
		{"fs", at(29, 4, 0), journal.End{Outcome: journal.OK, Approved: yes, Approver: approvals.ByTerminal}, false},
		{"git", at(29, 5, 0), journal.End{Outcome: journal.Denied, Approved: no, Approver: approvals.ByDesk}, false},
		{"git", at(29, 6, 0), journal.End{Outcome: journal.NotAnswered, Approved: no, Approver: approvals.ByNone}, false},
		{"git", at(30, 6, 0), journal.End{Outcome: journal.Withdrawn, Approved: no, Approver: approvals.ByNone}, false},
		{"git", at(30, 7, 0), journal.End{Outcome: journal.OK, Approved: yes, Approver: approvals.ByRule}, false},
		{"git", at(30, 8, 0), journal.End{Outcome: journal.Denied, Approved: no, Approver: approvals.ByDenyAll}, false},
	} {
		id := fmt.Sprint(i)
		begin(t, j, journal.Call{ID: id, Server: c.server, Tool: "x", Model: "sol", Time: c.time, Edited: c.edited})
		finish(t, j, id, c.end)
	}
	begin(t, j, journal.Call{ID: "waits", Server: "git", Tool: "x", Model: "sol", Time: at(30, 9, 0)})
}

func TestUsage(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("this machine has no time zones:", err)
	}
	j := open(t, newPath(t), options())
	fillUsage(t, j, berlin)
	got, err := j.Usage(t.Context(), time.Date(2026, 3, 28, 15, 0, 0, 0, time.UTC), time.Date(2026, 3, 30, 12, 0, 0, 0, berlin))
	if err != nil {
		t.Fatal(err)
	}
	day := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, berlin) }
	want := &journal.Usage{
		Total: journal.Tally{Runs: 3, Calls: 9, PromptTokens: 301, CompletionTokens: 32, CostUSD: dollars(0.75), Unpriced: 1, RunTime: 2 * time.Second, CallTime: 130 * time.Millisecond},
		Days: []journal.DayTally{
			{Day: day(28), Tally: journal.Tally{Runs: 1, Calls: 1, PromptTokens: 100, CompletionTokens: 10, CostUSD: dollars(0.25), RunTime: 1500 * time.Millisecond, CallTime: 100 * time.Millisecond}},
			{Day: day(29), Tally: journal.Tally{Runs: 1, Calls: 4, PromptTokens: 200, CompletionTokens: 20, CostUSD: dollars(0.5), RunTime: 500 * time.Millisecond, CallTime: 30 * time.Millisecond}},
			{Day: day(30), Tally: journal.Tally{Runs: 1, Calls: 4, PromptTokens: 1, CompletionTokens: 2, Unpriced: 1}},
		},
		Models: []journal.NamedTally{
			{Name: "sol", Tally: journal.Tally{Runs: 2, Calls: 9, PromptTokens: 300, CompletionTokens: 30, CostUSD: dollars(0.75), RunTime: 2 * time.Second, CallTime: 130 * time.Millisecond}},
			{Name: "own", Tally: journal.Tally{Runs: 1, PromptTokens: 1, CompletionTokens: 2, Unpriced: 1}},
		},
		Servers: []journal.NamedTally{
			{Name: "git", Tally: journal.Tally{Calls: 6}},
			{Name: "fs", Tally: journal.Tally{Calls: 3, CallTime: 130 * time.Millisecond}},
		},
		Answers: journal.Answers{Allowed: 2, Edited: 1, Denied: 1, NotAnswered: 1, Withdrawn: 1, ByRule: 1, BySetting: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Answers.Asked() != 5 {
		t.Errorf("asked %d times, want 5", got.Answers.Asked())
	}
}

func TestUsageOfNothing(t *testing.T) {
	j := open(t, newPath(t), options())
	got, err := j.Usage(t.Context(), noon.AddDate(0, 0, -6), noon)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Days) != 7 || got.Total != (journal.Tally{}) || got.Models != nil || got.Servers != nil {
		t.Errorf("got %+v", got)
	}
	if got, err := j.Usage(t.Context(), noon.AddDate(0, 0, 1), noon); err != nil || len(got.Days) != 0 {
		t.Errorf("a span that ends before it begins gave %+v, %v", got, err)
	}
}
