package marathon_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"pointsman/gateway/journal"
	"pointsman/gateway/marathon"
	"pointsman/gateway/models"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openJournal(t *testing.T, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path, journal.Options{Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// scripted is the models of a ladder, which answer as they are told to.
type scripted struct {
	answer func(ctx context.Context, q marathon.Question) (marathon.Answer, error)

	mu    sync.Mutex // guards the field below
	asked []marathon.Question
}

func (m *scripted) ask(ctx context.Context, q marathon.Question) (marathon.Answer, error) {
	m.mu.Lock()
	m.asked = append(m.asked, q)
	m.mu.Unlock()
	return m.answer(ctx, q)
}

// said is who was asked what, in order: MODEL:QUESTION.
func (m *scripted) said() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []string
	for _, q := range m.asked {
		list = append(list, q.Model+":"+q.Messages[1].Content)
	}
	return list
}

// echo answers with the model's name and the question.
func echo(_ context.Context, q marathon.Question) (marathon.Answer, error) {
	cost := 0.25
	return marathon.Answer{
		Run: "run_" + q.Model, Text: q.Model + " on " + q.Messages[1].Content, Model: q.Model + "-2026", FinishReason: "stop",
		PromptTokens: 10, CompletionTokens: 2, CostUSD: &cost,
	}, nil
}

func ladder() []string { return []string{"luna", "sol", "astra"} }

// runner is a Runner, and what it has told.
type runner struct {
	*marathon.Runner
	changed chan struct{} // size 1
}

// start runs a Runner until the test or stop ends it.
func start(t *testing.T, opts marathon.Options) (r runner, stop func()) {
	t.Helper()
	r.changed = make(chan struct{}, 1)
	opts.Ladder = ladder
	opts.Changed = func() {
		select {
		case r.changed <- struct{}{}:
		default:
		}
	}
	r.Runner = marathon.New(opts)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return r, stop
}

// beginOf begins a job of tasks with these questions.
func beginOf(t *testing.T, r runner, questions ...string) *marathon.Job {
	t.Helper()
	return beginWith(t.Context(), t, r, questions...)
}

func beginWith(ctx context.Context, t *testing.T, r runner, questions ...string) *marathon.Job {
	t.Helper()
	var tasks []map[string]string
	for _, q := range questions {
		tasks = append(tasks, map[string]string{"question": q})
	}
	data, err := json.Marshal(map[string]any{"tasks": tasks})
	if err != nil {
		t.Fatal(err)
	}
	req, err := marathon.ParseRequest(data)
	if err != nil {
		t.Fatal(err)
	}
	job, err := r.Begin(ctx, marathon.Party{Door: "http", Client: "curl", Session: "s"}, req)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func read(t *testing.T, r runner, id string) *marathon.Job {
	t.Helper()
	job, err := r.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// await waits until a job is over.
func await(t *testing.T, r runner, id string) *marathon.Job {
	t.Helper()
	late := time.After(30 * time.Second)
	for {
		job := read(t, r, id)
		if job.Finished != nil {
			return job
		}
		select {
		case <-r.changed:
		case <-late:
			t.Fatalf("the job is not over: %+v", job)
		}
	}
}

func TestEachRungSeesTheEarlierAnswers(t *testing.T) {
	m := &scripted{answer: echo}
	r, _ := start(t, marathon.Options{Store: openJournal(t, filepath.Join(t.TempDir(), "j.db")), Ask: m.ask})
	begun := beginOf(t, r, "Why? hunter2")
	if begun.Of != 3 || begun.Tasks[0].QueuePosition != 1 || begun.Tasks[0].PriorityScore != 333 {
		t.Errorf("begun: %+v", begun)
	}
	job := await(t, r, begun.ID)
	if job.Status != marathon.Completed || job.Done != 3 || job.Faults != 0 || job.CostUSD == nil || *job.CostUSD != 0.75 || job.Unpriced != 0 {
		t.Errorf("the job: %+v", job)
	}
	task := job.Tasks[0]
	if task.Status != marathon.Completed || task.Answer == nil || *task.Answer != "astra on Why? ***" || task.ID != begun.Tasks[0].ID {
		t.Errorf("the task: %+v", task)
	}
	for i, rung := range task.Rungs {
		name := ladder()[i]
		if rung.Model != name || rung.Status != marathon.Answered || *rung.Answer != name+" on Why? ***" || rung.Run != "run_"+name || rung.ModelUsed != name+"-2026" ||
			rung.FinishReason != "stop" || rung.Attempts != 1 || rung.Usage.TotalTokens != 12 || rung.Started == nil || rung.Error != nil {
			t.Errorf("rung %d: %+v", i, rung)
		}
	}
	if len(m.asked) != 3 {
		t.Fatalf("%d were asked", len(m.asked))
	}
	var roles []string
	for _, message := range m.asked[2].Messages {
		roles = append(roles, message.Role)
	}
	if got := strings.Join(roles, " "); got != "system user assistant user assistant user" {
		t.Errorf("the last rung was sent %s", got)
	}
	if all := fmt.Sprint(m.asked[2].Messages); !strings.Contains(all, "luna on Why? ***") || !strings.Contains(all, "sol on Why? ***") {
		t.Errorf("the last rung was sent %s", all)
	}
	if strings.Contains(fmt.Sprint(m.asked), "hunter2") {
		t.Error("a model was asked what the record does not hold")
	}
}

func TestJobsAndTasksOneAfterTheOther(t *testing.T) {
	var mu sync.Mutex
	busy, most := 0, 0
	m := &scripted{answer: func(ctx context.Context, q marathon.Question) (marathon.Answer, error) {
		mu.Lock()
		busy++
		most = max(most, busy)
		mu.Unlock()
		defer func() { mu.Lock(); busy--; mu.Unlock() }()
		time.Sleep(time.Millisecond)
		return echo(ctx, q)
	}}
	r, _ := start(t, marathon.Options{Store: openJournal(t, filepath.Join(t.TempDir(), "j.db")), Ask: m.ask})
	one, two := beginOf(t, r, "a", "b"), beginOf(t, r, "c")
	await(t, r, two.ID)
	if job := read(t, r, one.ID); job.Status != marathon.Completed {
		t.Errorf("the first job is %s when the second is over", job.Status)
	}
	want := []string{"luna:a", "sol:a", "astra:a", "luna:b", "sol:b", "astra:b", "luna:c", "sol:c", "astra:c"}
	if got := m.said(); !slices.Equal(got, want) || most != 1 {
		t.Errorf("asked were %v, want %v; %d at once", got, want, most)
	}
	jobs, err := r.Jobs(t.Context())
	if err != nil || len(jobs) != 2 || jobs[0].ID != two.ID || jobs[0].Done != 3 || jobs[0].Tasks[0].Answer != nil || jobs[0].Tasks[0].Rungs[0].Answer != nil {
		t.Errorf("the list is %+v (%v)", jobs, err)
	}
}

// TestJobsWithoutAnEnd: a client that begins job after job is told to wait, and
// there is room again when one has ended.
func TestJobsWithoutAnEnd(t *testing.T) {
	m := &scripted{answer: func(ctx context.Context, _ marathon.Question) (marathon.Answer, error) {
		<-ctx.Done()
		return marathon.Answer{}, context.Cause(ctx)
	}}
	r, _ := start(t, marathon.Options{Store: openJournal(t, filepath.Join(t.TempDir(), "j.db")), Ask: m.ask})
	var last *marathon.Job
	for range 50 {
		last = beginOf(t, r, "a")
	}
	req, err := marathon.ParseRequest([]byte(`{"tasks": [{"question": "one more"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var refused *models.Error
	if job, err := r.Begin(t.Context(), marathon.Party{}, req); !errors.As(err, &refused) || refused.Code != models.RateLimited || refused.Status != 429 {
		t.Fatalf("the 51st job: got %+v, %v; want rate_limited with 429", job, err)
	}
	if _, ended, err := r.Cancel(t.Context(), last.ID); err != nil || !ended {
		t.Fatalf("cancelling: %t, %v", ended, err)
	}
	if _, err := r.Begin(t.Context(), marathon.Party{}, req); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

func TestAFaultIsRecordedAndTheNextGoesOn(t *testing.T) {
	m := &scripted{}
	m.answer = func(ctx context.Context, q marathon.Question) (marathon.Answer, error) {
		switch {
		case q.Messages[1].Content == "hopeless":
			return marathon.Answer{Run: "run_x"}, errors.New("no route to hunter2")
		case q.Model == "luna":
			panic("luna fell")
		case q.Model == "sol":
			return marathon.Answer{Run: "run_sol"}, &models.Error{Code: models.RateLimited, Message: "too fast"}
		}
		return echo(ctx, q)
	}
	r, _ := start(t, marathon.Options{Store: openJournal(t, filepath.Join(t.TempDir(), "j.db")), Ask: m.ask})
	job := await(t, r, beginOf(t, r, "hopeful", "hopeless").ID)
	if job.Status != marathon.Completed || job.Done != 6 || job.Faults != 5 {
		t.Errorf("the job: %+v", job)
	}
	rungs := job.Tasks[0].Rungs
	if e := rungs[0].Error; rungs[0].Status != marathon.Failed || e == nil || e.Code != models.UpstreamError || !strings.Contains(e.Message, "inside Pointsman") {
		t.Errorf("the rung that panicked: %+v", rungs[0])
	}
	if e := rungs[1].Error; e == nil || e.Code != models.RateLimited || e.Message != "too fast" || rungs[1].Run != "run_sol" || rungs[1].Answer != nil {
		t.Errorf("the rung that failed: %+v", rungs[1])
	}
	if rungs[2].Status != marathon.Answered || job.Tasks[0].Status != marathon.Completed {
		t.Errorf("the rung after them: %+v", rungs[2])
	}
	if got := len(m.asked[2].Messages); got != 2 {
		t.Errorf("a rung above faults alone was sent %d messages", got)
	}
	if task := job.Tasks[1]; task.Status != marathon.Failed || task.Answer != nil || task.Rungs[0].Error.Message != "no route to ***" {
		t.Errorf("the task without an answer: %+v", task)
	}
	if job := await(t, r, beginOf(t, r, "hopeless").ID); job.Status != marathon.Failed {
		t.Errorf("a job without any answer is %s", job.Status)
	}
}

// held answers for the rungs before one, and waits there until its context ends.
type held struct {
	scripted
	at      int // the place of the rung that is held; -1 for none
	reached chan struct{}
}

func newHeld(at int) *held {
	h := &held{at: at, reached: make(chan struct{})}
	h.answer = func(ctx context.Context, q marathon.Question) (marathon.Answer, error) {
		h.mu.Lock()
		n := len(h.asked)
		h.mu.Unlock()
		if n == h.at+1 {
			close(h.reached)
			<-ctx.Done()
			return marathon.Answer{}, context.Cause(ctx)
		}
		return echo(ctx, q)
	}
	return h
}

func TestCancel(t *testing.T) {
	h := newHeld(1)
	r, _ := start(t, marathon.Options{Store: openJournal(t, filepath.Join(t.TempDir(), "j.db")), Ask: h.ask})
	running, queued, last := beginOf(t, r, "a", "b"), beginOf(t, r, "c"), beginOf(t, r, "d")
	<-h.reached
	if job := read(t, r, running.ID); job.Status != marathon.Running || job.Done != 1 || job.Tasks[0].Status != marathon.Running || job.Tasks[0].Rungs[1].Status != marathon.Running || job.Tasks[1].Status != marathon.Queued {
		t.Errorf("while it runs: %+v", job)
	}
	for _, id := range []string{queued.ID, running.ID} {
		job, counted, err := r.Cancel(t.Context(), id)
		if err != nil || !counted || job.Status != marathon.Cancelled || job.Finished == nil {
			t.Errorf("cancelling: %+v, %v, %v", job, counted, err)
		}
	}
	await(t, r, last.ID)
	job := read(t, r, running.ID)
	if job.Done != 1 || job.Tasks[0].Rungs[0].Answer == nil || job.Tasks[0].Rungs[1].Status != marathon.Cancelled || job.Tasks[0].Status != marathon.Cancelled || job.Tasks[1].Rungs[0].Status != marathon.Cancelled {
		t.Errorf("the cancelled job: %+v", job)
	}
	if got, want := h.said(), []string{"luna:a", "sol:a", "luna:d", "sol:d", "astra:d"}; !slices.Equal(got, want) {
		t.Errorf("asked were %v, want %v", got, want)
	}
	if _, counted, err := r.Cancel(t.Context(), last.ID); err != nil || counted {
		t.Errorf("a job that was over was cancelled: %v, %v", counted, err)
	}
	if _, _, err := r.Cancel(t.Context(), "job_x"); !errors.Is(err, journal.ErrNoJob) {
		t.Errorf("an unknown job: %v", err)
	}
}

// TestBeginIsTold has the one who begins a job leave at that moment: the job has
// begun, and its id is not lost.
func TestBeginIsTold(t *testing.T) {
	r, _ := start(t, marathon.Options{Store: openJournal(t, filepath.Join(t.TempDir(), "j.db")), Ask: echo})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	await(t, r, beginWith(ctx, t, r, "a").ID)
}

// TestRestart ends the process at each rung of two tasks, and lets another go on.
func TestRestart(t *testing.T) {
	for at := range 6 {
		t.Run(fmt.Sprint("at rung ", at), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "j.db")
			h := newHeld(at)
			store := openJournal(t, path)
			r, stop := start(t, marathon.Options{Store: store, Ask: h.ask})
			id := beginOf(t, r, "a", "b").ID
			<-h.reached
			stop()
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}

			store = openJournal(t, path)
			own := &scripted{answer: echo}
			careful, stopCareful := start(t, marathon.Options{Store: store, Ask: own.ask, OwnOnly: true})
			left := read(t, careful, id)
			if left.Status != marathon.Left || left.Done != at || left.Tasks[at/3].Rungs[at%3].Status != marathon.Left {
				t.Errorf("what was left: %+v", left)
			}
			await(t, careful, beginOf(t, careful, "own").ID)
			stopCareful()
			if slices.ContainsFunc(own.said(), func(s string) bool { return !strings.HasSuffix(s, ":own") }) {
				t.Errorf("who leaves others' jobs alone asked %v", own.said())
			}

			m := &scripted{answer: echo}
			again, _ := start(t, marathon.Options{Store: store, Ask: m.ask})
			job := await(t, again, id)
			all := []string{"luna:a", "sol:a", "astra:a", "luna:b", "sol:b", "astra:b"}
			if got := h.said(); !slices.Equal(got, all[:at+1]) {
				t.Errorf("asked before were %v, want %v", got, all[:at+1])
			}
			if got := m.said(); !slices.Equal(got, all[at:]) {
				t.Errorf("asked after were %v, want %v", got, all[at:])
			}
			if job.Status != marathon.Completed || job.Done != 6 {
				t.Errorf("the job: %+v", job)
			}
			for place := range 6 {
				rung, attempts := job.Tasks[place/3].Rungs[place%3], 1
				if place == at {
					attempts = 2
				}
				if rung.Status != marathon.Answered || rung.Attempts != attempts {
					t.Errorf("rung %d: %+v", place, rung)
				}
			}
		})
	}
}

// faulty is a record that fails now and then.
type faulty struct {
	marathon.Store
	begins, ends int // how often the next such write fails
}

var errFull = errors.New("the disk is full")

func (f *faulty) BeginStep(job string, place int) error {
	if f.begins--; f.begins >= 0 {
		return errFull
	}
	return f.Store.BeginStep(job, place)
}

func (f *faulty) EndStep(job string, place int, fact json.RawMessage, text string) error {
	if f.ends--; f.ends >= 0 {
		return errFull
	}
	return f.Store.EndStep(job, place, fact, text)
}

func TestNothingIsAskedOrLostWhileTheRecordFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	synctest.Test(t, func(t *testing.T) {
		m := &scripted{answer: echo}
		r, _ := start(t, marathon.Options{Store: &faulty{Store: openJournal(t, path), begins: 2, ends: 2}, Ask: m.ask})
		id := beginOf(t, r, "a").ID
		time.Sleep(2 * time.Second) // one second, then two: it is not yet tried again
		if got := m.said(); len(got) != 0 {
			t.Errorf("asked without a record: %v", got)
		}
		time.Sleep(2 * time.Second)
		if got := m.said(); len(got) != 1 {
			t.Errorf("asked while an answer has no record: %v", got)
		}
		time.Sleep(4 * time.Second)
		job := read(t, r, id)
		if job.Status != marathon.Completed || job.Done != 3 || len(m.said()) != 3 || job.Tasks[0].Rungs[0].Attempts != 1 {
			t.Errorf("the job: %+v; asked were %v", job, m.said())
		}
	})
}
