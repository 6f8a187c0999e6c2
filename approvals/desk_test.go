package approvals_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pointsman/approvals"
)

// ask puts requests on the desk, one after the other, and returns their answers.
func ask(t *testing.T, desk *approvals.Desk, ids ...string) []chan approvals.Decision {
	t.Helper()
	answers := make([]chan approvals.Decision, len(ids))
	for i, id := range ids {
		answers[i] = make(chan approvals.Decision, 1)
		go func() {
			d, err := desk.Ask(t.Context(), approvals.Request{ID: id})
			if err != nil {
				t.Error(err)
			}
			answers[i] <- d
		}()
		synctest.Wait()
	}
	return answers
}

func TestDeskIsAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk := attendedDesk()
		changed, unsubscribe := desk.Subscribe()
		defer unsubscribe()
		answers := ask(t, desk, "a", "b", "c")
		<-changed // three arrivals may be told as one
		if got := pendingIDs(desk); got != "abc" {
			t.Errorf("pending %q", got)
		}
		if !desk.Resolve("b", yes()) || desk.Resolve("b", yes()) || desk.Resolve("nobody", yes()) {
			t.Error("the first answer alone must win")
		}
		if d := <-answers[1]; !d.Allows() || d.Approver != approvals.ByDesk {
			t.Errorf("b got %+v", d)
		}
		<-changed
		if got := pendingIDs(desk); got != "ac" {
			t.Errorf("pending %q after b was answered", got)
		}
		desk.Close()
		desk.Close()
		for _, i := range []int{0, 2} {
			if d := <-answers[i]; d.Outcome != approvals.Withdrawn || d.Reason != "shutting down" {
				t.Errorf("at the close: %+v", d)
			}
		}
		if d := <-ask(t, desk, "late")[0]; d.Outcome != approvals.Withdrawn {
			t.Errorf("after the close: %+v", d)
		}
	})
}

func pendingIDs(desk *approvals.Desk) string {
	ids := ""
	for _, req := range desk.Pending() {
		ids += req.ID
	}
	return ids
}

func TestDeskCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk := attendedDesk()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := desk.Ask(ctx, approvals.Request{ID: "a"})
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if desk.Resolve("a", yes()) {
			t.Error("a request that is gone could be answered")
		}
	})
}

func TestDeskUnattended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attended := true
		desk := approvals.NewDesk(approvals.DeskOptions{Attended: func() bool { return attended }})
		first := ask(t, desk, "first")[0]
		attended = false
		if d := <-ask(t, desk, "second")[0]; d.Outcome != approvals.Denied || d.Approver != approvals.ByNone || d.Reason != "nobody to ask" {
			t.Errorf("with nobody there: %+v", d)
		}
		if got := pendingIDs(desk); got != "first" {
			t.Errorf("what waited does not wait any more: %q", got)
		}
		desk.Resolve("first", yes())
		if d := <-first; !d.Allows() {
			t.Errorf("first got %+v", d)
		}
	})
}

func TestDeskNeedsIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		desk := attendedDesk()
		if _, err := desk.Ask(t.Context(), approvals.Request{}); err == nil {
			t.Error("a request without an id was taken")
		}
		first := ask(t, desk, "a")[0]
		if _, err := desk.Ask(t.Context(), approvals.Request{ID: "a"}); err == nil {
			t.Error("an id was taken twice")
		}
		desk.Close()
		<-first
	})
}

func TestDeskKeepsHowItEnded(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(desk *approvals.Desk, leave context.CancelFunc)
		want string
	}{
		{"it waits", func(*approvals.Desk, context.CancelFunc) {}, ""},
		{"answered", func(desk *approvals.Desk, _ context.CancelFunc) { desk.Resolve("a", approvals.Decision{}) }, "it was decided elsewhere"},
		{"the client went away", func(_ *approvals.Desk, leave context.CancelFunc) { leave() }, "withdrawn: the caller went away"},
		{"nobody answered", func(*approvals.Desk, context.CancelFunc) { time.Sleep(2 * time.Minute) }, "nobody answered in time"},
		{"we stop", func(desk *approvals.Desk, _ context.CancelFunc) { desk.Close() }, "withdrawn: Pointsman is shutting down"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				desk := approvals.NewDesk(approvals.DeskOptions{Attended: func() bool { return true }})
				gate := approvals.NewGate(approvals.GateOptions{Require: true, Approver: desk, Timeout: time.Minute})
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				req := writeFile()
				req.ID = "a"
				go gate.Ask(ctx, req)
				synctest.Wait()
				test.end(desk, leave)
				synctest.Wait()
				if got := desk.Ending("a"); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
				if got := desk.Ending("b"); got != "" {
					t.Errorf("one that never waited ended with %q", got)
				}
			})
		})
	}
}
