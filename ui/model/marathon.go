package model

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/marathon"
)

// CurrentMarathon is the marathon to tell of among some, the newest first: the
// oldest that goes on, for that is being done, or else the newest. It is nil when
// there is none.
func CurrentMarathon(jobs []marathon.Job) *marathon.Job {
	var current *marathon.Job
	for i := range jobs {
		if current == nil || jobs[i].Finished == nil {
			current = &jobs[i]
		}
	}
	return current
}

// MarathonTitle names a marathon by its first task.
func MarathonTitle(j *marathon.Job) string {
	if len(j.Tasks) == 0 {
		return j.ID
	}
	title := TaskTitle(&j.Tasks[0])
	if more := len(j.Tasks) - 1; more > 0 {
		title += fmt.Sprintf(" and %d more", more)
	}
	return title
}

// TaskTitle names a task.
func TaskTitle(t *marathon.Task) string { return OneLine(cmp.Or(t.Title, t.Question)) }

// MarathonChoice is a marathon among others.
func MarathonChoice(j *marathon.Job, now time.Time) string {
	word, _ := MarathonState(j.Status)
	return join(j.Created.In(now.Location()).Format("2 Jan 15:04:05"), MarathonTitle(j), word)
}

// MarathonState words how it stands with a marathon, one of its tasks or a rung.
func MarathonState(status marathon.Status) (string, Tone) {
	switch status {
	case marathon.Running:
		return "Running", Busy
	case marathon.Queued:
		return "Waiting its turn", Quiet
	case marathon.Left:
		return "Goes on when Pointsman next starts", Quiet
	case marathon.Completed:
		return "Done", Good
	case marathon.Answered:
		return "Answered", Good
	case marathon.Cancelled:
		return "Cancelled", Quiet
	default:
		return "Failed", Bad
	}
}

// MarathonLine says in one line how it stands with a marathon.
func MarathonLine(j *marathon.Job) string {
	word, _ := MarathonState(j.Status)
	spent := ""
	if j.Done > 0 {
		spent = join(Elapsed(time.Duration(j.DurationMS)*time.Millisecond), marathonCost(j))
	}
	faults := ""
	if j.Faults > 0 {
		faults = CountOf(j.Faults, "fault")
	}
	return join(word, fmt.Sprintf("%d of %s", j.Done, CountOf(j.Of, "rung")), spent, faults)
}

// marathonCost says what is known of a marathon's cost.
func marathonCost(j *marathon.Job) string {
	if j.CostUSD != nil && j.Unpriced > 0 {
		return "over " + Dollars(*j.CostUSD)
	}
	return cost(j.CostUSD)
}

// MarathonShare is how much of a marathon is done, from 0 to 1.
func MarathonShare(j *marathon.Job) float64 { return float64(j.Done) / float64(max(j.Of, 1)) }

// MarathonNow says which model is being asked what; "" when none is.
func MarathonNow(j *marathon.Job) string {
	for i := range j.Tasks {
		for _, rung := range j.Tasks[i].Rungs {
			if rung.Status == marathon.Running {
				return OneLine(rung.Model) + " is asked: " + TaskTitle(&j.Tasks[i])
			}
		}
	}
	return ""
}

// MarathonMark is another when there is something new to see of a marathon.
func MarathonMark(j *marathon.Job) string {
	attempts := 0
	for _, task := range j.Tasks {
		for _, rung := range task.Rungs {
			attempts += rung.Attempts
		}
	}
	return fmt.Sprint(j.ID, j.Status, j.Done, attempts)
}

// MarathonRow is one row of a marathon's list: a task, or a rung of it.
type MarathonRow struct {
	Task *marathon.Task
	Rung *marathon.Rung // nil: the row is the task's
}

// MarathonRows are the rows of a marathon: each task, with its rungs behind it.
func MarathonRows(j *marathon.Job) []MarathonRow {
	var rows []MarathonRow
	for i := range j.Tasks {
		task := &j.Tasks[i]
		rows = append(rows, MarathonRow{Task: task})
		for k := range task.Rungs {
			rows = append(rows, MarathonRow{task, &task.Rungs[k]})
		}
	}
	return rows
}

// Title names the row.
func (r MarathonRow) Title() string {
	if r.Rung != nil {
		return OneLine(r.Rung.Model)
	}
	return fmt.Sprintf("%d. %s", r.Task.QueuePosition, TaskTitle(r.Task))
}

// Status is how it stands with the row.
func (r MarathonRow) Status() marathon.Status {
	if r.Rung != nil {
		return r.Rung.Status
	}
	return r.Task.Status
}

// Side is what a rung took; "" for a task.
func (r MarathonRow) Side() string {
	if r.Rung == nil || !rungOver(r.Rung) {
		return ""
	}
	return join(Elapsed(time.Duration(r.Rung.DurationMS)*time.Millisecond), Shorten(cost(r.Rung.Usage.CostUSD), 20))
}

func rungOver(r *marathon.Rung) bool { return r.Answer != nil || r.Error != nil }

// Facts says in one line what there is to know of the row beside its texts.
func (r MarathonRow) Facts(now time.Time) string {
	word, _ := MarathonState(r.Status())
	if r.Rung == nil {
		t := r.Task
		return join(word, fmt.Sprintf("score %d", t.PriorityScore), fmt.Sprintf("priority %d", t.Priority), fmt.Sprintf("difficulty %d", t.Difficulty), fmt.Sprintf("complexity %d", t.Complexity))
	}
	parts := []string{word, r.Side()}
	if r.Rung.Usage.TotalTokens > 0 {
		parts = append(parts, CountOf(r.Rung.Usage.TotalTokens, "token"))
	}
	if used := r.Rung.ModelUsed; used != "" && used != r.Rung.Model {
		parts = append(parts, "by "+OneLine(used))
	}
	if r.Rung.FinishReason == "length" {
		parts = append(parts, "cut off")
	}
	if r.Rung.Started != nil {
		parts = append(parts, "asked at "+r.Rung.Started.In(now.Location()).Format("15:04:05"))
	}
	if r.Rung.Attempts > 1 {
		parts = append(parts, fmt.Sprintf("%d times", r.Rung.Attempts))
	}
	return join(parts...)
}

// Text is one of a row's texts under its name.
type Text struct{ Name, Body string }

// Texts are the row's texts, with nothing hidden in them.
func (r MarathonRow) Texts() []Text {
	question := Text{"Question", approvals.VisibleText(r.Task.Question)}
	switch {
	case r.Rung == nil && r.Task.Answer == nil:
		return []Text{question}
	case r.Rung == nil:
		return []Text{{"Answer of the highest rung that has one", visible(*r.Task.Answer)}, question}
	case r.Rung.Error != nil:
		return []Text{{"Fault", approvals.VisibleText(string(r.Rung.Error.Code) + ": " + r.Rung.Error.Message)}, question}
	case r.Rung.Answer != nil:
		return []Text{{"Answer", visible(*r.Rung.Answer)}, question}
	default:
		return []Text{question}
	}
}

func visible(text string) string { return approvals.VisibleText(strings.TrimRight(text, "\n")) }
