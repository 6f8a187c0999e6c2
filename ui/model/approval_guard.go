package model

import (
	"crypto/rand"
	"slices"
	"time"
)

// How long things take before they count.
const (
	// ArmDelay is how long a call is shown before it can be approved, and how long
	// no key must have been typed before keys count: what a person does for
	// something else must not approve.
	ArmDelay = 700 * time.Millisecond
	// HoldTime is how long a press has to last for what is dangerous.
	HoldTime = 800 * time.Millisecond
	// DigitsTime is the longest time between the first and the second digit.
	DigitsTime = 3 * time.Second
)

// press is what is known of the button under the pointer.
type press int

const (
	noPress   press = iota
	goodPress       // it began when it could count
	voidPress       // it began too early, or for something else
)

// Guard decides when what a person does approves the call that is shown. It
// keeps accidents from counting: a press or a key too early, a click meant for
// what was shown before, Enter and Space, letters of a sentence that was meant
// for another window. One that shows nothing approves nothing. It has no timer: who shows it asks again when time has passed. It is
// made by NewGuard, and for one goroutine.
type Guard struct {
	now     func() time.Time
	showing bool
	blocked bool // what would run is not in order
	hold    bool // approving takes a held press

	armed time.Time // when a press begins to count
	keys  time.Time // when keys begin to count
	press press
	began time.Time // of a good press

	code  string // the two digits that approve
	used  []string
	first time.Time // when the first of them was typed; zero: it was not
}

// rememberedCodes is how many codes must pass before one comes again.
const rememberedCodes = 20

// NewGuard returns a guard that shows nothing. now is the clock.
func NewGuard(now func() time.Time) *Guard { return &Guard{now: now} }

// Show tells that a call is shown that was not before. Its two digits are new.
// hold says that approving it takes a held press.
func (g *Guard) Show(hold bool) {
	now := g.now()
	g.showing, g.blocked, g.hold = true, false, hold
	g.armed = now.Add(ArmDelay)
	g.keys = g.armed
	if g.press != noPress {
		g.press = voidPress // it goes on, and was meant for something else
	}
	g.first = time.Time{}
	g.code = freshCode(g.used)
	g.used = append(g.used, g.code)
	if len(g.used) > rememberedCodes {
		g.used = slices.Delete(g.used, 0, 1)
	}
}

// Hide tells that nothing is shown any more, or that it is answered.
func (g *Guard) Hide() { g.showing, g.first = false, time.Time{} }

// Block tells whether the call may not be approved as it stands: its arguments
// are being edited and are not valid. It does not arm anew.
func (g *Guard) Block(blocked bool) {
	g.blocked = blocked
	if blocked && g.press == goodPress {
		g.press = voidPress
	}
}

// Code returns the two digits that approve what is shown.
func (g *Guard) Code() string { return g.code }

// Typed returns how many of the two digits have been typed.
func (g *Guard) Typed() int {
	if g.begun() {
		return 1
	}
	return 0
}

// Wait returns how long it takes until the call is armed; zero when it is.
func (g *Guard) Wait() time.Duration { return max(0, g.armed.Sub(g.now())) }

// Ready reports whether something that begins now may approve.
func (g *Guard) Ready() bool {
	return g.showing && !g.blocked && !g.now().Before(g.armed)
}

// Press tells that the button went down on Approve.
func (g *Guard) Press() {
	g.press, g.began = voidPress, g.now()
	if g.Ready() {
		g.press = goodPress
	}
}

// Release tells that the button went up, or that the pointer left: a held press
// ends there.
func (g *Guard) Release() {
	if g.hold {
		g.press = noPress
	}
}

// Click tells that a press ended on Approve, and reports whether it approves. A
// click that no press was told of is taken for a whole one.
func (g *Guard) Click() bool {
	if g.press == noPress {
		g.Press()
	}
	good := g.press == goodPress && g.Ready() && !g.hold
	g.press = noPress
	return good && g.spend()
}

// Holding returns how much of a held press is done, from 0 to 1.
func (g *Guard) Holding() float32 {
	if !g.hold || g.press != goodPress || !g.Ready() {
		return 0
	}
	return min(1, float32(g.now().Sub(g.began))/float32(HoldTime))
}

// Held reports whether the press has been held long enough, and so approves. It
// does so once.
func (g *Guard) Held() bool {
	if g.Holding() < 1 {
		return false
	}
	g.press = voidPress // the button is still down
	return g.spend()
}

// Key tells that a key was typed that is no digit, and reports whether such a
// key counts at all: typing that was under way when the call appeared does not.
// It never approves, and forgets a digit typed before.
func (g *Guard) Key() (counts bool) {
	counts = g.listen()
	g.stray()
	return counts
}

// Rune tells that a character was typed, and reports whether it approves.
func (g *Guard) Rune(r rune) bool {
	if !g.listen() {
		return false
	}
	now := g.now()
	typed := 0
	if g.begun() {
		typed = 1
	}
	if rune(g.code[typed]) != r || g.blocked {
		g.stray()
		return false
	}
	if typed == 0 {
		g.first = now
		return false
	}
	return g.spend()
}

// listen reports whether keys count. One that comes too early puts off those
// after it.
func (g *Guard) listen() bool {
	if !g.showing {
		return false
	}
	if now := g.now(); now.Before(g.keys) {
		g.keys = now.Add(ArmDelay)
		return false
	}
	return true
}

// stray is a key that does not approve: whoever typed it was not reading the
// digits, so those that follow at once do not count either.
func (g *Guard) stray() {
	g.first = time.Time{}
	g.keys = g.now().Add(ArmDelay)
}

// begun reports whether the first digit stands.
func (g *Guard) begun() bool {
	return !g.first.IsZero() && g.now().Sub(g.first) <= DigitsTime
}

// spend approves, once.
func (g *Guard) spend() bool {
	g.Hide()
	return true
}

// freshCode returns two different digits that none of used are.
func freshCode(used []string) string {
	var b [2]byte
	for {
		_, _ = rand.Read(b[:]) // never fails
		code := string([]byte{digit(b[0]), digit(b[1])})
		if max(b[0], b[1]) < evenBytes && code[0] != code[1] && !slices.Contains(used, code) {
			return code
		}
	}
}

// evenBytes is how many values of a byte give each digit equally often.
const evenBytes = 250

func digit(b byte) byte { return '0' + b%10 }
