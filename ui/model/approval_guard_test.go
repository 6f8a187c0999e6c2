package model_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pointsman/ui/model"
)

// TestGuard plays what a person may do, by chance or on purpose, and tells when
// it approves. A step is: "press", "release", "click" (both at once), "leave",
// "show", "show held", "hide", "block", "unblock", "first", "second", "wrong" (of
// the two digits), a key's name, or a time to wait. "held" looks at the clock as
// the window does. "!" after a step: this one approves, and no other may.
func TestGuard(t *testing.T) {
	for _, tt := range []struct{ name, steps string }{
		{"nothing shown", "1s press click 1s first second"},
		{"a click", "show 700ms click!"},
		{"a click too early", "show 699ms click"},
		{"the click after it", "show 699ms click 1ms click!"},
		{"pressed too early and let go later", "show 600ms press 1s release"},
		{"only once", "show 1s click! click press release"},
		{"the second of a double click, with another request there", "show 1s click! show 150ms click"},
		{"pressed for one request, let go on another", "show 1s press show 1s release"},
		{"pressed for one request, then pressed again", "show 1s press show 1s release click!"},
		{"answered while pressed", "show 1s press hide release"},
		{"arms anew for another request", "show 10s show click 700ms click!"},
		{"gone", "show 1s hide click first second"},
		{"not in order", "show 1s block click first second held"},
		{"in order again, at once", "show 1s block unblock click!"},
		{"pressed while it became disorderly", "show 1s press block unblock release"},

		{"a click is not held", "show-held 1s click held"},
		{"held", "show-held 700ms press 800ms held!"},
		{"held too shortly", "show-held 1s press 799ms held release held"},
		{"let go and pressed again", "show-held 1s press 500ms release press 500ms held"},
		{"left while held", "show-held 1s press 500ms leave 500ms held"},
		{"held from before it was armed", "show-held 600ms press 2s held"},
		{"held over to another", "show-held 1s press 500ms show-held 2s held release"},
		{"held once", "show-held 1s press 800ms held! 1s held release"},
		{"held while not in order", "show-held 1s press block 1s held"},

		{"digits", "show 700ms first second!"},
		{"digits for what is dangerous", "show-held 700ms first second!"},
		{"within three seconds", "show 1s first 3s second!"},
		{"not within three seconds", "show 1s first 3001ms second"},
		{"too early", "show 699ms first 1ms second"},
		{"too early, then after a pause", "show 600ms first 700ms first second!"},
		{"typing that goes on", "show 300ms a 600ms a 600ms first second"},
		{"typing that comes to an end", "show 300ms a 600ms a 700ms first second!"},
		{"wrong, then right at once", "show 1s wrong first second"},
		{"wrong, then right after a pause", "show 1s wrong 700ms first second!"},
		{"a letter in between", "show 1s first a second 1s second"},
		{"Enter in between", "show 1s first Return second 1s second"},
		{"the other way round", "show 1s second first second"},
		{"the same twice", "show 1s first first 1s second"},
		{"Enter", "show 1s Return 1s Return Return"},
		{"Space", "show 1s Space 1s Space Space"},
		{"digits of what was shown before", "show 1s first show 1s second"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := model.NewGuard(time.Now)
				for i, step := range strings.Fields(tt.steps) {
					name, want := strings.CutSuffix(step, "!")
					if got := play(t, g, name); got != want {
						t.Fatalf("step %d, %s: approves is %v", i+1, step, got)
					}
				}
			})
		})
	}
}

// play does one step and reports whether it approved.
func play(t *testing.T, g *model.Guard, step string) bool {
	t.Helper()
	switch step {
	case "show", "show-held":
		g.Show(step == "show-held")
	case "hide":
		g.Hide()
	case "block", "unblock":
		g.Block(step == "block")
	case "press":
		g.Press()
	case "release":
		g.Release()
		return g.Click()
	case "click":
		g.Press()
		g.Release()
		return g.Click()
	case "leave":
		g.Release()
	case "held":
		return g.Held()
	case "first", "second":
		return typeDigit(g, map[string]int{"first": 0, "second": 1}[step])
	case "wrong":
		return g.Rune(wrongDigit(g.Code()))
	case "a":
		return g.Rune('a')
	case "Return", "Space":
		g.Key()
		if step == "Space" { // the driver tells of it as a character, too
			return g.Rune(' ')
		}
	default:
		d, err := time.ParseDuration(step)
		if err != nil {
			t.Fatalf("no such step: %s", step)
		}
		time.Sleep(d)
	}
	return false
}

func typeDigit(g *model.Guard, i int) bool {
	if g.Code() == "" {
		return g.Rune('4')
	}
	return g.Rune(rune(g.Code()[i]))
}

// wrongDigit is neither of the two.
func wrongDigit(code string) rune {
	for r := '0'; ; r++ {
		if !strings.ContainsRune(code, r) {
			return r
		}
	}
}

// A key counts when nothing was being typed, as Escape must.
func TestGuardKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := model.NewGuard(time.Now)
		if g.Key() {
			t.Error("a key counts with nothing shown")
		}
		g.Show(false)
		time.Sleep(600 * time.Millisecond)
		if g.Key() {
			t.Error("a key counts too early")
		}
		time.Sleep(600 * time.Millisecond)
		if g.Key() {
			t.Error("typing that was under way counts")
		}
		time.Sleep(model.ArmDelay)
		if !g.Key() {
			t.Error("a key after a pause does not count")
		}
	})
}

// The ring fills evenly, and not before the press counts.
func TestGuardHolding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := model.NewGuard(time.Now)
		g.Show(true)
		if g.Press(); g.Holding() != 0 || g.Wait() != model.ArmDelay {
			t.Errorf("too early: holding %v, wait %v", g.Holding(), g.Wait())
		}
		time.Sleep(model.ArmDelay)
		g.Release()
		g.Press()
		time.Sleep(model.HoldTime / 4)
		if got := g.Holding(); got != 0.25 {
			t.Errorf("after a quarter: %v", got)
		}
		time.Sleep(model.HoldTime)
		if got := g.Holding(); got != 1 {
			t.Errorf("after more than enough: %v", got)
		}
	})
}

// The digits differ from each other, and from those of the last requests.
func TestGuardCode(t *testing.T) {
	g := model.NewGuard(time.Now)
	last := map[string]int{}
	for i := range 500 {
		g.Show(false)
		code := g.Code()
		if len(code) != 2 || code[0] == code[1] || strings.Trim(code, "0123456789") != "" {
			t.Fatalf("code %q", code)
		}
		if at, used := last[code]; used && i-at <= 20 {
			t.Fatalf("code %s came again after %d", code, i-at)
		}
		last[code] = i
	}
	if len(last) < 80 {
		t.Errorf("only %d of 90 codes came up", len(last))
	}
}

// Whatever is typed, digits apart, approves nothing.
func FuzzGuardRunes(f *testing.F) {
	f.Add("Dear all,\n  please approve \r yes y")
	f.Fuzz(func(t *testing.T, text string) {
		now := time.Unix(0, 0)
		g := model.NewGuard(func() time.Time { return now })
		g.Show(false)
		for _, r := range text {
			now = now.Add(time.Second)
			if (r < '0' || r > '9') && g.Rune(r) {
				t.Fatalf("%q approves", r)
			}
		}
	})
}
