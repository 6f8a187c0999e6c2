package model

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"pointsman/approvals"
)

// SessionTitle names a session: who asked.
func SessionTitle(s *Session) string {
	return OneLine(cmp.Or(s.Client, s.Door, "a program without a name"))
}

// SessionLine says the rest of a session in one line: when something began in it
// last, how it is, by which model, or how much there is of it.
func SessionLine(s *Session, state string, now time.Time) string {
	counts := s.Counts()
	at := s.last.In(now.Location()).Format("15:04")
	if counts.Turns == 1 && s.ID == "" || counts.Calls == 0 && counts.Turns == 1 {
		return join(at, state, OneLine(s.model()), step(s.Planned()))
	}
	return join(at, state, turns(counts), calls(counts), step(s.Planned()))
}

// SessionDetail says in one line how a session is, how much there is of it, and for
// how long it has lasted since when.
func SessionDetail(s *Session, state string, now time.Time) string {
	counts := s.Counts()
	parts := []string{state, turns(counts), calls(counts)}
	if counts.Waiting > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting", counts.Waiting))
	}
	if counts.Denied > 0 {
		parts = append(parts, fmt.Sprintf("%d denied", counts.Denied))
	}
	return join(append(parts, Elapsed(s.Elapsed(now)), s.began.In(now.Location()).Format("2 Jan 15:04"))...)
}

// SessionPlace says in one line where a session's program works, what its turns
// took, and what the session is called. It may be "".
func SessionPlace(s *Session) string {
	parts := []string{OneLine(s.CWD)}
	counts := s.Counts()
	if counts.Turns == 1 {
		parts = append(parts, OneLine(s.model()))
	}
	if counts.Tokens > 0 {
		parts = append(parts, CountOf(counts.Tokens, "token"), cost(counts.CostUSD))
	}
	if s.ID != "" {
		parts = append(parts, "session "+OneLine(s.ID))
	}
	return join(parts...)
}

// SessionReason says why the last turn of a session did not end well; "" when it
// did, or something goes on.
func SessionReason(s *Session) string {
	run := s.latest()
	if run == nil || s.Active() {
		return ""
	}
	return RunReason(run)
}

// model is the model of the latest turn.
func (s *Session) model() string {
	if run := s.latest(); run != nil {
		return run.Model
	}
	return s.brief.Model
}

func turns(c Counts) string {
	if c.Turns == 0 {
		return ""
	}
	return CountOf(c.Turns, "turn")
}

func calls(c Counts) string {
	if c.Calls == 0 {
		return ""
	}
	return CountOf(c.Calls, "call")
}

func step(r *Run) string {
	if _, done, of := r.Progress(); of > 0 {
		return fmt.Sprintf("step %d of %d", min(done+1, of), of)
	}
	return ""
}

func cost(usd *float64) string {
	if usd == nil {
		return "cost " + unknown
	}
	return Dollars(*usd)
}

// RunReason says why a run did not end well; "" when it did, goes on, or its
// state says so already.
func RunReason(r *Run) string {
	if _, tone := r.State(); r.Active || tone == Good || r.stopped() {
		return ""
	}
	return clip(r.Reason, 4*longestName)
}

// CurrentStep is the step in progress, to be put behind the count of steps.
func CurrentStep(r *Run) string {
	for _, step := range r.Plan {
		if step.Status == "in_progress" {
			return " · " + OneLine(step.Description)
		}
	}
	return ""
}

// TurnTitle names a turn: which model was asked.
func TurnTitle(r *Run) string { return OneLine(cmp.Or(r.Model, "a model")) }

// TurnLine says what a turn was, and what it took.
func TurnLine(r *Run) string {
	parts := []string{"Model turn"}
	if r.Rounds > 0 {
		parts = append(parts, CountOf(r.Rounds, "round"))
	}
	if r.Tokens > 0 {
		parts = append(parts, CountOf(r.Tokens, "token"), cost(r.CostUSD))
	}
	return join(append(parts, RunReason(r))...)
}

// TurnState says how a turn is, or what it took.
func TurnState(r *Run, now time.Time) (string, Tone) {
	word, tone := r.State()
	return join(word, Elapsed(r.Elapsed(now))), tone
}

// TurnText is all that is known of a turn.
func TurnText(r *Run) string {
	var b strings.Builder
	for _, fact := range [][2]string{
		{"Model", r.Model}, {"Client", r.Client}, {"Door", r.Door}, {"Run", r.ID}, {"Began", r.Began.Local().Format(time.DateTime)},
		{"Outcome", string(r.Outcome)}, {"Error", r.Reason},
	} {
		if fact[1] != "" {
			b.WriteString(fact[0] + ": " + approvals.VisibleText(fact[1]) + "\n")
		}
	}
	return b.String()
}

// CallLine says how a call is, or what it took.
func CallLine(c Call) string {
	took := ""
	if c.State.Ended() && c.Duration > 0 {
		took = Elapsed(c.Duration)
	}
	return join(c.State.Word(), took)
}

// CallFacts says what kind of call it was, how risky, what was decided, and with
// what it was made.
func CallFacts(c Call) string {
	return join(doorWord(c.Door), string(c.Class), c.decided(), c.Brief)
}

// doorWord says by which door a call came.
func doorWord(door string) string {
	switch door {
	case "hook":
		return "Built-in tool"
	case "mcp":
		return "MCP"
	default:
		return "Tool"
	}
}

// decided says who allowed a call, or did not; "" when nobody had to be asked, or
// nobody did.
func (c Call) decided() string {
	switch {
	case c.Approver == "" || c.State == CallWaiting || c.State == CallNotAnswered || c.State == CallWithdrawn:
		return ""
	case c.State == CallDenied:
		return "denied " + by(c.Approver, "")
	default:
		return "allowed " + by(c.Approver, "")
	}
}
