package gateway

import (
	"testing"
	"time"
)

func TestClocksTellASleep(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name      string
		wall, own time.Duration // since the last look
		slept     bool
	}{
		{"nothing passed", 0, 0, false},
		{"an hour at work", time.Hour, time.Hour, false},
		{"a clock that was corrected", time.Hour + 5*time.Second, time.Hour, false},
		{"a clock that was set back", -time.Hour, time.Minute, false},
		{"an hour asleep", time.Hour, 2 * time.Second, true},
		{"a clock that goes on in sleep", time.Hour, time.Hour, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c clocks
			if c.slept(noon, time.Minute) {
				t.Error("the first look tells of a sleep")
			}
			if got := c.slept(noon.Add(test.wall), time.Minute+test.own); got != test.slept {
				t.Errorf("slept: %t", got)
			}
			if c.slept(noon.Add(test.wall+time.Second), time.Minute+test.own+time.Second) {
				t.Error("it is told twice")
			}
		})
	}
}
