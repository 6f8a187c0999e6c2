package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pointsman/gateway/journal"
)

func addJob(t testing.TB, j *journal.Journal, id string) {
	t.Helper()
	job := journal.Job{ID: id, Door: "http", Client: "curl", Session: "s", Body: json.RawMessage(`{"tasks":["hunter2"]}`)}
	if err := j.AddJob(job); err != nil {
		t.Fatal(err)
	}
}

func takeJob(t testing.TB, j *journal.Journal, left bool) *journal.Job {
	t.Helper()
	job, err := j.TakeJob(t.Context(), left)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func readJob(t testing.TB, j *journal.Journal, id string) *journal.Job {
	t.Helper()
	job, err := j.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func TestJobIsRecordedStepByStep(t *testing.T) {
	path := newPath(t)
	j := open(t, path, options())
	addJob(t, j, "one")
	addJob(t, j, "two")
	if job := takeJob(t, j, false); job == nil || job.ID != "one" || string(job.Body) != `{"tasks":["***"]}` || job.Outcome != "" {
		t.Fatalf("the first job is %+v", job)
	}
	if err := j.EndStep("one", 0, json.RawMessage(`{}`), ""); !errors.Is(err, journal.ErrJobOver) {
		t.Errorf("a step ended that had not begun: %v", err)
	}
	for _, err := range []error{j.BeginStep("one", 0), j.BeginStep("one", 0), j.EndStep("one", 0, json.RawMessage(`{"ok":true}`), "it was hunter2")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for what, err := range map[string]error{
		"ended twice":             j.EndStep("one", 0, json.RawMessage(`{"ok":false}`), "again"),
		"begun after its end":     j.BeginStep("one", 0),
		"begun of an unknown job": j.BeginStep("three", 0),
	} {
		if !errors.Is(err, journal.ErrJobOver) {
			t.Errorf("a step was %s: %v", what, err)
		}
	}
	job := readJob(t, j, "one")
	if len(job.Steps) != 1 || job.Steps[0].Times != 2 || string(job.Steps[0].Fact) != `{"ok":true}` || job.Steps[0].Text != "it was ***" || job.Steps[0].Started.IsZero() {
		t.Errorf("its steps are %+v", job.Steps)
	}
	jobs, err := j.Jobs(t.Context(), 10)
	if err != nil || len(jobs) != 2 || jobs[0].ID != "two" || len(jobs[1].Steps) != 1 || jobs[1].Steps[0].Text != "" {
		t.Errorf("the list is %+v (%v)", jobs, err)
	}
	for i, want := range []bool{true, false} {
		if ended, err := j.EndJob("one", journal.OK); err != nil || ended != want {
			t.Errorf("end %d: %v, %v", i, ended, err)
		}
	}
	if err := j.BeginStep("one", 1); !errors.Is(err, journal.ErrJobOver) {
		t.Errorf("a step of a job that was over has begun: %v", err)
	}
	if job := readJob(t, j, "one"); job.Outcome != journal.OK || job.Ended.IsZero() {
		t.Errorf("the ended job is %+v", job)
	}
	if job := takeJob(t, j, false); job == nil || job.ID != "two" {
		t.Errorf("the next job is %+v", job)
	}
	if _, err := j.Job(t.Context(), "three"); !errors.Is(err, journal.ErrNoJob) {
		t.Errorf("an unknown job: %v", err)
	}
}

func TestJobOutlivesItsProcess(t *testing.T) {
	path := newPath(t)
	first := open(t, path, options())
	addJob(t, first, "left")
	if err := first.BeginStep("left", 0); err != nil {
		t.Fatal(err)
	}
	second := open(t, path, options())
	if job := takeJob(t, second, true); job != nil {
		t.Fatalf("a job was taken from a process that lives: %+v", job)
	}
	if err := second.BeginStep("left", 0); !errors.Is(err, journal.ErrJobOver) {
		t.Errorf("a step of another process's job has begun: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if job := readJob(t, second, "left"); !job.Left || job.Outcome != "" {
		t.Errorf("the job whose process is gone is %+v", job)
	}
	if job := takeJob(t, second, false); job != nil {
		t.Errorf("who wants its own jobs alone got %+v", job)
	}
	job := takeJob(t, second, true)
	if job == nil || job.ID != "left" || job.Left || len(job.Steps) != 1 || job.Steps[0].Fact != nil {
		t.Fatalf("the job that was left is %+v", job)
	}
	if err := second.BeginStep("left", 0); err != nil {
		t.Fatal(err)
	}
	if err := second.EndStep("left", 0, json.RawMessage(`{}`), "answer"); err != nil {
		t.Fatal(err)
	}
	if job := readJob(t, second, "left"); job.Left || job.Steps[0].Times != 2 || job.Steps[0].Text != "answer" {
		t.Errorf("after it was taken: %+v", job)
	}
	if ended, err := open(t, path, options()).EndJob("left", journal.Cancelled); err != nil || !ended {
		t.Errorf("another process could not cancel it: %v, %v", ended, err)
	}
	if err := second.BeginStep("left", 1); !errors.Is(err, journal.ErrJobOver) {
		t.Errorf("its process does not learn that it was cancelled: %v", err)
	}
}

func TestOldJobsGo(t *testing.T) {
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		opts := options()
		opts.KeepDays = 90
		j := open(t, path, opts)
		for i := range 25 { // more than one step deletes
			endedJob(t, j, fmt.Sprint("old", i), "answer")
		}
		addJob(t, j, "goes on")
		time.Sleep(91 * 24 * time.Hour)
		synctest.Wait()
		jobs, err := j.Jobs(t.Context(), 100)
		if err != nil || len(jobs) != 1 || jobs[0].ID != "goes on" {
			t.Errorf("%d jobs are left (%v), want the one that goes on", len(jobs), err)
		}
	})
	if n := count(t, path, "steps"); n != 0 {
		t.Errorf("%d steps are left of deleted jobs", n)
	}
}

func TestJobsGoWhenTheRecordIsLarge(t *testing.T) {
	path := newPath(t)
	synctest.Test(t, func(t *testing.T) {
		opts := options()
		opts.MaxMB = 2
		j := open(t, path, opts)
		text := strings.Repeat("x", 60<<10)
		for i := range 60 {
			endedJob(t, j, fmt.Sprint(i), text)
			time.Sleep(time.Millisecond)
		}
		begin(t, j, journal.Call{ID: "newer"})
		finish(t, j, "newer", journal.End{Outcome: journal.OK})
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		jobs, err := j.Jobs(t.Context(), 100)
		if err != nil || len(jobs) == 0 || len(jobs) == 60 || jobs[0].ID != "59" {
			t.Errorf("%d jobs are left (%v); the newest must be among them", len(jobs), err)
		}
		if n := len(collect(t, j.Calls(t.Context(), journal.Filter{}))); n != 1 {
			t.Error("the call went before the jobs, which are older")
		}
	})
	if info, err := os.Stat(path); err != nil || info.Size() > 2<<20 {
		t.Errorf("the file has %d bytes (%v)", info.Size(), err)
	}
}

// endedJob records a job of one step that is over.
func endedJob(t testing.TB, j *journal.Journal, id, text string) {
	t.Helper()
	addJob(t, j, id)
	begun, told := j.BeginStep(id, 0), j.EndStep(id, 0, json.RawMessage(`{}`), text)
	if _, err := j.EndJob(id, journal.OK); err != nil || begun != nil || told != nil {
		t.Fatal(begun, told, err)
	}
}
