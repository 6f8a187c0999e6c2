package ui

import (
	"os"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"pointsman/ui/theme"
)

func newUsageBench(t testing.TB, choice theme.Choice, runs int) (*screenBench, *usageScreen) {
	b := newScreenBench(t, choice, runs)
	s := newUsage(b.ui, func() time.Time { return noon })
	b.show(s)
	b.until("the usage was summed up", func() bool { return s.usage != nil })
	return b, s
}

func TestUsageShots(t *testing.T) {
	if os.Getenv("SHOTS") == "" {
		t.Skip("SHOTS names no folder for the pictures")
	}
	for _, choice := range []theme.Choice{theme.Light, theme.Dark} {
		b, s := newUsageBench(t, choice, 500)
		b.shot("usage-7-" + string(choice))
		b.window.Canvas().Capture()
		s.usage = nil
		s.spans.buttons[1].OnTapped()
		b.until("the usage was summed up", func() bool { return s.usage != nil })
		s.measures.buttons[2].OnTapped()
		b.shot("usage-30-cost-" + string(choice))
		s.scroll.ScrollToBottom()
		b.shot("usage-30-below-" + string(choice))
		b, _ = newUsageBench(t, choice, 0)
		b.shot("usage-empty-" + string(choice))
	}
}

func TestUsageShowsNumbers(t *testing.T) {
	b, s := newUsageBench(t, theme.Light, 20) // all of them today
	shown := text(b.window.Content())
	want(t, shown, "20\nruns", "200\ncalls", "256,000\ntokens", "over $0.12\ncost", "Calls by day", "Calls by model", "filesystem", "You were asked about 200 calls.")
	test.Tap(s.measures.buttons[2])
	shown = text(b.window.Content())
	want(t, shown, "Cost by day", "Cost by model", "Tokens and cost are a model's", "own/模型", "—")
	test.Tap(s.tables.buttons[1])
	s.scroll.ScrollToBottom()
	want(t, text(b.window.Content()), "Models", "$0.12")
}

// TestUsagePointing: the numbers of a day are said where the pointer is.
func TestUsagePointing(t *testing.T) {
	b, s := newUsageBench(t, theme.Light, 20)
	width := s.chart.Size().Width
	for _, tc := range []struct {
		name string
		x    float32
		want string
	}{
		{"the last day", width - 2, "Mon 2 Mar: 200 calls · 20 runs"},
		{"the first day", 2, "Tue 24 Feb: 0 calls"},
	} {
		s.chart.MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(tc.x, 5)}})
		want(t, text(b.window.Content()), tc.want)
	}
	s.chart.MouseOut()
	want(t, text(b.window.Content()), pointHint)
	row := s.models.Objects[1].(*barRow)
	row.MouseIn(nil)
	want(t, text(b.window.Content()), "gpt-6-sol: 100 calls · 10 runs")
	row.MouseOut()
}

func TestUsageOverOtherDays(t *testing.T) {
	b, s := newUsageBench(t, theme.Light, 500)
	for i, days := range []int{7, 30, 90} {
		s.usage = nil
		test.Tap(s.spans.buttons[i])
		b.until("it was summed up", func() bool { return s.usage != nil })
		if got := len(s.chart.bars); got != days {
			t.Errorf("%d bars for %d days", got, days)
		}
	}
	if s.usage.Total.Runs != 500 {
		t.Errorf("%d runs in 90 days", s.usage.Total.Runs)
	}
}

func TestUsageOfNothing(t *testing.T) {
	b, _ := newUsageBench(t, theme.Light, -1)
	want(t, text(b.window.Content()), "Nothing was used in these 7 days", "[Connect a program]")
}

// BenchmarkUsageOpens is what it takes to show a journal of 10,000 calls.
func BenchmarkUsageOpens(b *testing.B) {
	bench := newScreenBench(b, theme.Light, 1000)
	for b.Loop() {
		s := newUsage(bench.ui, func() time.Time { return noon })
		s.days = 90
		bench.show(s)
		bench.until("all is there", func() bool { return s.usage != nil })
	}
}
