package marathon

import (
	"encoding/json"
	"fmt"
	"time"

	"pointsman/gateway/ask"
	"pointsman/gateway/cut"
	"pointsman/gateway/journal"
)

// Status is how it stands with a job, a task or a rung.
type Status string

// The statuses.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Left      Status = "left"      // its process is gone; it goes on when Pointsman next starts
	Completed Status = "completed" // of a job or a task: there is an answer
	Answered  Status = "answered"  // of a rung
	Failed    Status = "failed"    // of a job or a task: no rung brought an answer
	Cancelled Status = "cancelled"
)

// Job is a marathon as it stands.
type Job struct {
	ID       string     `json:"job_id"`
	Status   Status     `json:"status"`
	Created  time.Time  `json:"created"`
	Finished *time.Time `json:"finished"` // null while it goes on
	Door     string     `json:"door"`
	Client   string     `json:"client"`
	Session  string     `json:"session"`
	Ladder   []string   `json:"ladder"` // the models, in the order in which each task is put to them
	Done     int        `json:"rungs_done"`
	Of       int        `json:"rungs_total"`
	Faults   int        `json:"rungs_failed"` // of those done
	// CostUSD is null while nothing is known of it. Unpriced counts the answers at
	// no known price, which it leaves out.
	CostUSD    *float64 `json:"cost_usd"`
	Unpriced   int      `json:"rungs_unpriced"`
	DurationMS int64    `json:"duration_ms"` // of all rungs together
	Tasks      []Task   `json:"tasks"`       // in the order of the queue
}

// Task is one question of a job.
type Task struct {
	Asked
	QueuePosition int     `json:"queue_position"` // from 1
	PriorityScore int     `json:"priority_score"`
	Status        Status  `json:"status"`
	Answer        *string `json:"answer"` // of the highest rung that has one
	Rungs         []Rung  `json:"rungs"`
}

// Rung is one model's turn at a task.
type Rung struct {
	Model   string     `json:"model"`
	Status  Status     `json:"status"`
	Started *time.Time `json:"started"`
	// Attempts is how often its model was asked: more than once when the program
	// ended before it was known what came of it.
	Attempts int     `json:"attempts"`
	Answer   *string `json:"answer"`
	Result
}

// Result is what is recorded of a rung's end beside the answer.
type Result struct {
	Run          string       `json:"run"` // its row in the record of runs
	ModelUsed    string       `json:"model_used"`
	FinishReason string       `json:"finish_reason"`
	Error        *ask.Failure `json:"error"`
	Usage        ask.Usage    `json:"usage"`
	DurationMS   int64        `json:"duration_ms"`
}

// into puts an end into its rung.
func (f Result) into(r *Rung, answer string) {
	r.Result, r.Status = f, Failed
	if f.Error == nil {
		r.Status, r.Answer = Answered, &answer
	}
}

// open reports whether the rung is still to be climbed.
func (r *Rung) open() bool { return r.Status != Answered && r.Status != Failed }

// jobOf reads a job as it is recorded.
func jobOf(row *journal.Job) (*Job, error) {
	var b body
	if err := json.Unmarshal(row.Body, &b); err != nil {
		return nil, fmt.Errorf("reading what marathon %s is to do: %w", row.ID, err)
	}
	job := &Job{
		ID: row.ID, Status: statusOf(row), Created: row.Time, Door: row.Door, Client: row.Client, Session: row.Session,
		Ladder: b.Ladder, Of: len(b.Tasks) * len(b.Ladder), Tasks: []Task{},
	}
	if !row.Ended.IsZero() {
		job.Finished = &row.Ended
	}
	for i, asked := range b.Tasks {
		task := Task{Asked: asked, QueuePosition: i + 1, PriorityScore: asked.Score(), Rungs: []Rung{}}
		for _, model := range b.Ladder {
			task.Rungs = append(task.Rungs, Rung{Model: model, Status: Queued})
		}
		job.Tasks = append(job.Tasks, task)
	}
	for _, step := range row.Steps {
		if step.Place >= job.Of {
			return nil, fmt.Errorf("reading marathon %s: it has %d rungs, and a record of rung %d", row.ID, job.Of, step.Place+1)
		}
		rung := &job.Tasks[step.Place/len(b.Ladder)].Rungs[step.Place%len(b.Ladder)]
		if err := rung.read(step); err != nil {
			return nil, fmt.Errorf("reading marathon %s: %w", row.ID, err)
		}
	}
	job.sumUp()
	return job, nil
}

// statusOf is a job's status.
func statusOf(row *journal.Job) Status {
	switch {
	case row.Outcome == journal.OK:
		return Completed
	case row.Outcome == journal.Cancelled:
		return Cancelled
	case row.Outcome != "":
		return Failed
	case row.Left:
		return Left
	case len(row.Steps) > 0:
		return Running
	default:
		return Queued
	}
}

// read takes in what is recorded of the rung.
func (r *Rung) read(step journal.Step) error {
	r.Started, r.Attempts, r.Status = &step.Started, step.Times, Running
	if step.Fact == nil {
		return nil
	}
	var f Result
	if err := json.Unmarshal(step.Fact, &f); err != nil {
		return fmt.Errorf("what came of rung %d: %w", step.Place+1, err)
	}
	f.into(r, step.Text)
	return nil
}

// sumUp derives what follows from the rungs.
func (j *Job) sumUp() {
	for i := range j.Tasks {
		task := &j.Tasks[i]
		open := 0
		for k := range task.Rungs {
			rung := &task.Rungs[k]
			if rung.open() {
				open++
				j.settle(rung)
			} else {
				j.count(rung)
			}
			if rung.Answer != nil {
				task.Answer = rung.Answer
			}
		}
		task.Status = j.statusOf(task, open)
	}
}

// settle says how it stands with a rung that has no end: nobody asks it once the
// job is over, or was left.
func (j *Job) settle(r *Rung) {
	switch {
	case j.Finished != nil:
		r.Status = Cancelled
	case j.Status == Left && r.Status == Running:
		r.Status = Left
	}
}

// statusOf is the status of a task with that many rungs without an end.
func (j *Job) statusOf(task *Task, open int) Status {
	switch {
	case open > 0 && j.Finished != nil:
		return Cancelled
	case open > 0 && task.Rungs[0].Attempts == 0:
		return Queued
	case open > 0 && j.Status == Left:
		return Left
	case open > 0:
		return Running
	case task.Answer != nil:
		return Completed
	default:
		return Failed
	}
}

// count adds a rung that is done.
func (j *Job) count(r *Rung) {
	j.Done++
	j.DurationMS += r.DurationMS
	switch cost := r.Usage.CostUSD; {
	case r.Error != nil:
		j.Faults++
	case cost == nil:
		j.Unpriced++
	case j.CostUSD == nil:
		sum := *cost
		j.CostUSD = &sum
	default:
		*j.CostUSD += *cost
	}
}

// brief is the job without its answers, and with no more of its questions than
// tells them apart.
func (j *Job) brief() Job {
	for i := range j.Tasks {
		task := &j.Tasks[i]
		task.Answer = nil
		task.Question = cut.To(task.Question, MaxTitle)
		for k := range task.Rungs {
			task.Rungs[k].Answer = nil
		}
	}
	return *j
}
