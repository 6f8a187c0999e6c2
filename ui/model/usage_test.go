package model_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/journal"
	"pointsman/ui/model"
)

func usd(n float64) *float64 { return &n }

func someUsage() *journal.Usage {
	day := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, time.UTC) }
	return &journal.Usage{
		Total: journal.Tally{Runs: 3, Calls: 1204, PromptTokens: 1_000_000, CompletionTokens: 234_567, CostUSD: usd(1.5), Unpriced: 1, RunTime: 90 * time.Second},
		Days: []journal.DayTally{
			{Day: day(1), Tally: journal.Tally{}},
			{Day: day(2), Tally: journal.Tally{Runs: 1, Calls: 4, PromptTokens: 90, CompletionTokens: 10, CostUSD: usd(0.5), RunTime: 30 * time.Second}},
			{Day: day(3), Tally: journal.Tally{Runs: 2, Calls: 2, PromptTokens: 40, CompletionTokens: 10, CostUSD: usd(1), Unpriced: 1, RunTime: time.Minute}},
		},
		Models: []journal.NamedTally{
			{Name: "own", Tally: journal.Tally{Runs: 1, Calls: 5, PromptTokens: 1, Unpriced: 1}},
			{Name: "sol", Tally: journal.Tally{Runs: 2, Calls: 1, PromptTokens: 2, CostUSD: usd(1.5), RunTime: 90 * time.Second}},
		},
		Servers: []journal.NamedTally{{Name: "", Tally: journal.Tally{Calls: 1}}, {Name: "fs\u202e", Tally: journal.Tally{Calls: 2, CallTime: 3 * time.Second}}},
	}
}

func TestUsageBars(t *testing.T) {
	u := someUsage()
	for _, tc := range []struct {
		name string
		bars []model.Bar
		want string
	}{
		{"days by calls", model.DayBars(u, model.MeasureCalls), "Sun 1 Mar 0 0% | Mon 2 Mar 4 100% | Tue 3 Mar 2 50%"},
		{"days by tokens", model.DayBars(u, model.MeasureTokens), "Sun 1 Mar 0 0% | Mon 2 Mar 100 100% | Tue 3 Mar 50 50%"},
		{"days by cost: unknown is not 0", model.DayBars(u, model.MeasureCost), "Sun 1 Mar — 0% | Mon 2 Mar $0.50 50% | Tue 3 Mar over $1.00 100%"},
		{"days by time", model.DayBars(u, model.MeasureTime), "Sun 1 Mar 0 ms 0% | Mon 2 Mar 30 s 50% | Tue 3 Mar 1 min 0 s 100%"},
		{"models by calls", model.ModelBars(u, model.MeasureCalls), "own 5 100% | sol 1 20%"},
		{"models by cost, the longest first", model.ModelBars(u, model.MeasureCost), "sol $1.50 100% | own — 0%"},
		{"servers by calls", model.ServerBars(u, model.MeasureCalls), "fs<U+202E> 2 100% | not named 1 50%"},
		{"servers by time", model.ServerBars(u, model.MeasureTime), "fs<U+202E> 3.0 s 100% | not named 0 ms 0%"},
		{"servers by tokens: those are a model's", model.ServerBars(u, model.MeasureTokens), "not named — 0% | fs<U+202E> — 0%"},
		{"answers", model.AnswerBars(journal.Answers{Allowed: 4, Denied: 1, Withdrawn: 2}), "Allowed 4 100% | Denied 1 25% | Not answered in time 0 0% | Withdrawn first 2 50%"},
		{"nothing", model.DayBars(&journal.Usage{}, model.MeasureCalls), ""},
	} {
		got := ""
		for i, b := range tc.bars {
			if i > 0 {
				got += " | "
			}
			got += fmt.Sprintf("%s %s %.0f%%", b.Label, b.Value, b.Share*100)
		}
		if got != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

func TestUsageHints(t *testing.T) {
	u := someUsage()
	day := model.DayBars(u, model.MeasureCalls)[2]
	if want := "Tue 3 Mar: 2 calls · 2 runs · 50 tokens (40 in, 10 out) · over $1.00 · 1 run at no known price · 1 min 0 s"; day.Hint != want {
		t.Errorf("got  %q\nwant %q", day.Hint, want)
	}
	server := model.ServerBars(u, model.MeasureCalls)[0]
	if want := "fs<U+202E>: 2 calls · 3.0 s"; server.Hint != want {
		t.Errorf("got  %q\nwant %q", server.Hint, want)
	}
	if diff := cmp.Diff([]string{"2", "—", "—", "3.0 s"}, server.Cells); diff != "" || len(server.Cells) != len(model.UsageColumns()) {
		t.Error(diff)
	}
}

func TestUsageFigures(t *testing.T) {
	want := [][2]string{{"3", "runs"}, {"1,204", "calls"}, {"1,234,567", "tokens"}, {"over $1.50", "cost"}, {"1 min 30 s", "time"}}
	if diff := cmp.Diff(want, model.UsageFigures(someUsage())); diff != "" {
		t.Error(diff)
	}
	if got := model.UsageFigures(&journal.Usage{})[3][0]; got != "—" {
		t.Errorf("the cost of nothing known is %q", got)
	}
}

func TestDollars(t *testing.T) {
	for n, want := range map[float64]string{0: "$0", 0.00001: "under $0.0001", 0.0123: "$0.0123", 0.5: "$0.50", 1234.567: "$1,234.57", 1e20: "$100000000000000000000.00"} {
		if got := model.Dollars(n); got != want {
			t.Errorf("%v is %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -100: "-100", -1000: "-1,000"} {
		if got := model.Count(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestAnswersLine(t *testing.T) {
	for _, tc := range []struct {
		answers journal.Answers
		want    string
	}{
		{journal.Answers{}, "No call needed an answer."},
		{journal.Answers{Denied: 1}, "You were asked about 1 call."},
		{journal.Answers{Allowed: 1000, Edited: 2, ByRule: 1, BySetting: 3}, "You were asked about 1,000 calls. 2 calls allowed with other arguments. A remembered rule answered for 1 call. The configuration answered for 3 calls."},
	} {
		if got := model.AnswersLine(tc.answers); got != tc.want {
			t.Errorf("got  %q\nwant %q", got, tc.want)
		}
	}
}
