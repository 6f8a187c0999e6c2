package gateway

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestIdleIsToldOnceNothingRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		g := &Gateway{opts: Options{OnIdle: func() { told++ }}, stopping: t.Context()}
		g.idle = stoppedTimer(g.tellIdle)
		expect := func(when string, after time.Duration, want int) {
			time.Sleep(after)
			synctest.Wait()
			if told != want {
				t.Errorf("%s: told %d times, want %d", when, told, want)
			}
		}
		expect("before the first run", 2*time.Hour, 0)
		g.active.Add(2)
		g.ended()
		expect("while one of two runs", 2*idleAfter, 0)
		g.ended()
		expect("just after the last run", idleAfter-time.Second, 0)
		g.active.Add(1)
		expect("while another runs", 2*idleAfter, 0)
		g.ended()
		expect("after it", idleAfter, 1)
		expect("long after it", time.Hour, 1)
	})
}
