package ui

import (
	"os"
	"testing"
	"time"

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
