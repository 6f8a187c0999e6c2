package cli

import (
	"fmt"
	"strings"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/loop"
	"pointsman/gateway/tools"
)

// shownArguments is how many columns of a call's arguments are shown.
const shownArguments = 60

// barColumns is the length of a progress bar.
const barColumns = 10

// progress shows what happens in runs: one live line on a terminal, plain lines
// otherwise. It is used by one goroutine.
type progress struct {
	screen *screen
	where  string // where a waiting call is answered
	plan   []loop.Step
	doing  string
}

// show shows one event.
func (p *progress) show(e loop.Event) {
	name := oneLine(e.Tool, 64)
	if e.Lost > 0 {
		p.screen.Line("(%s of the progress could not be shown)", counted(e.Lost, "event"))
	}
	switch e.Kind {
	case loop.PlanChanged:
		p.plan = e.Plan
		p.line("plan     %s", p.planText())
	case loop.CallRequested:
		if e.Tool != tools.UpdatePlan {
			p.doing = name
			p.line("call     %s %s", name, oneLine(string(e.Arguments), shownArguments))
		}
	case loop.CallWaiting:
		p.screen.Line("waiting  %s%s needs your approval: %s", name, classOf(e.Request), p.where)
	case loop.CallFinished:
		if e.Tool != tools.UpdatePlan {
			p.finished(name, e)
		}
	case loop.RunFinished:
		p.plan, p.doing = nil, ""
	}
	p.screen.Status(p.statusText())
}

func classOf(req *approvals.Request) string {
	if req == nil {
		return ""
	}
	return fmt.Sprintf(" (%s)", req.Class)
}

// line writes a line where there is no live one.
func (p *progress) line(format string, args ...any) {
	if !p.screen.live {
		p.screen.Line(format, args...)
	}
}

func (p *progress) finished(name string, e loop.Event) {
	p.doing = ""
	took := e.Duration.Round(time.Millisecond)
	if e.Outcome == "ok" {
		p.line("done     %s in %s", name, took)
		return
	}
	reason := ""
	if e.Reason != "" {
		reason = ": " + oneLine(e.Reason, 200)
	}
	p.screen.Line("%s %s%s", p.screen.paint(red, pad(e.Outcome, 8)), name, reason)
}

func (p *progress) statusText() string {
	text := p.planText()
	if p.doing != "" && text != "" {
		text += " · "
	}
	return text + p.doing
}

// planText is a bar, the number of finished steps, and the step in progress.
func (p *progress) planText() string {
	if len(p.plan) == 0 {
		return ""
	}
	done, now := 0, ""
	for _, step := range p.plan {
		switch step.Status {
		case "completed", "skipped":
			done++
		case "in_progress":
			now = " " + oneLine(step.Description, 120)
		}
	}
	return progressBar(done, len(p.plan)) + now
}

// progressBar is a bar and its numbers.
func progressBar(done, of int) string {
	full := barColumns * done / of
	return fmt.Sprintf("[%s%s] %d/%d", strings.Repeat("#", full), strings.Repeat("-", barColumns-full), done, of)
}

// follow shows the events that next returns, of one session, until its run is
// over or there are no more.
func (p *progress) follow(session string, next func() (loop.Event, error)) {
	for {
		e, err := next()
		if err != nil {
			return // the request itself tells why it failed
		}
		if e.Session != session {
			continue
		}
		p.show(e)
		if e.Kind == loop.RunFinished {
			return
		}
	}
}
