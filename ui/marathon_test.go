package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"pointsman/gateway/ask"
	"pointsman/gateway/loop"
	"pointsman/gateway/marathon"
	"pointsman/gateway/models"
	"pointsman/ui/theme"
)

// fakeMarathons is the resident's side of the marathons.
type fakeMarathons struct {
	changed chan struct{}

	mu        sync.Mutex // guards the fields below
	jobs      []*marathon.Job
	err       error
	cancelled []string
}

func (f *fakeMarathons) source() marathonSource {
	return marathonSource{
		changes: func(ctx context.Context, changed func()) error {
			for {
				changed()
				select {
				case <-f.changed:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
		},
		list: func(context.Context) ([]marathon.Job, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			var jobs []marathon.Job
			for _, job := range f.jobs {
				jobs = append(jobs, *job)
			}
			return jobs, f.err
		},
		job: func(_ context.Context, id string) (*marathon.Job, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, job := range f.jobs {
				if job.ID == id && f.err == nil {
					return job, nil
				}
			}
			return nil, errors.New("the record cannot be read: the disk is on fire")
		},
		cancel: func(_ context.Context, id string) (*marathon.Job, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.cancelled = append(f.cancelled, id)
			return nil, errors.New("it does not want to")
		},
	}
}

// set replaces what there is, and says so.
func (f *fakeMarathons) set(err error, jobs ...*marathon.Job) {
	f.mu.Lock()
	f.jobs, f.err = jobs, err
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

func newMarathonBench(t testing.TB, choice theme.Choice, jobs ...*marathon.Job) (*screenBench, *activityScreen, *fakeMarathons) {
	b := newScreenBench(t, choice, 10)
	f := &fakeMarathons{changed: make(chan struct{}, 1), jobs: jobs}
	r := &fakeResident{events: make(chan loop.Event)}
	source := r.source()
	source.marathons = f.source()
	s := newActivity(b.ui, source, func() time.Time { return noon })
	b.show(s)
	b.until("the marathons are listed", func() bool { return len(s.marathons.jobs) == len(jobs) && !s.list.loading })
	return b, s, f
}

// aMarathon is a job of questions whose first rungs are done, and the next is asked.
func aMarathon(id string, done int, questions ...string) *marathon.Job {
	cost := 0.0321
	job := &marathon.Job{ID: id, Status: marathon.Running, Created: noon.Add(-3 * time.Minute), Ladder: []string{"gpt-6-luna", "gpt-6-sol", "gpt-6-astra"}, Of: 3 * len(questions), Done: done, CostUSD: &cost, DurationMS: 83_000}
	for i, question := range questions {
		task := marathon.Task{Asked: marathon.Asked{ID: fmt.Sprint("task", i), Question: question, Priority: 5, Difficulty: 3, Complexity: 2}, QueuePosition: i + 1, PriorityScore: 532, Status: marathon.Queued}
		for k, model := range job.Ladder {
			rung := marathon.Rung{Model: model, Status: marathon.Queued}
			began := noon.Add(time.Duration(10*(3*i+k)-170) * time.Second)
			switch place := 3*i + k; {
			case place < done:
				answer := fmt.Sprintf("The time-out is set twice: once by the caller, once by %s.\n\nfunc wait(ctx context.Context) error {\n\t<-ctx.Done()\n\treturn context.Cause(ctx)\n}\n\nThe second one wins. Answer %d.", model, place)
				rung.Status, rung.Started, rung.Attempts, rung.Answer = marathon.Answered, &began, 1, &answer
				rung.DurationMS, rung.ModelUsed = int64(4_200+3_000*place), model+"-2026-08-01"
				rung.Usage = ask.Usage{TotalTokens: 12_345, CostUSD: &cost}
				task.Status, task.Answer = marathon.Running, &answer
				if k == 2 {
					task.Status = marathon.Completed
				}
			case place == done:
				rung.Status, rung.Started, rung.Attempts = marathon.Running, &began, 2
				task.Status = marathon.Running
			}
			task.Rungs = append(task.Rungs, rung)
		}
		job.Tasks = append(job.Tasks, task)
	}
	return job
}

// failedAt makes a rung of a marathon a fault.
func failedAt(job *marathon.Job, task, rung int, message string) *marathon.Job {
	r := &job.Tasks[task].Rungs[rung]
	r.Status, r.Answer, r.Usage.CostUSD, r.Error = marathon.Failed, nil, nil, &ask.Failure{Code: models.AuthFailed, Message: message}
	job.Faults++
	return job
}

func over(job *marathon.Job, status marathon.Status) *marathon.Job {
	at := noon
	job.Status, job.Finished = status, &at
	return job
}

func TestMarathonShots(t *testing.T) {
	if os.Getenv("SHOTS") == "" {
		t.Skip("SHOTS names no folder for the pictures")
	}
	long := strings.Repeat("名前が長い🙂 مرحبا ", 40)
	for _, choice := range []theme.Choice{theme.Light, theme.Dark} {
		face := "-" + string(choice)
		running := failedAt(aMarathon("job_a", 4, "Why does the second request hang?", "What frees the lock?", "Which test would have found it?"), 0, 1, "provider openai refused our key (401): no such key; set another with `pointsman keys set openai`")
		b, s, f := newMarathonBench(t, choice, running, over(aMarathon("job_b", 3, "An older one"), marathon.Completed))
		b.arranged("marathon-strip" + face)
		s.marathons.open()
		b.until("the marathon is read", func() bool { return s.marathons.page.job != nil })
		b.arranged("marathon-page" + face)
		s.marathons.page.list.Select(2)
		b.arranged("marathon-fault" + face)
		s.marathons.page.list.Select(0)
		b.arranged("marathon-task" + face)
		f.set(errors.New("the running Pointsman went away: EOF"), running)
		b.until("it is told", func() bool { return s.marathons.page.note.Visible() })
		b.arranged("marathon-unread" + face)
		b, s, _ = newMarathonBench(t, choice, over(failedAt(aMarathon("job_c", 3, long), 0, 1, long), marathon.Cancelled))
		b.arranged("marathon-strip-long" + face)
		s.marathons.open()
		b.until("the marathon is read", func() bool { return s.marathons.page.job != nil })
		s.marathons.page.list.Select(2)
		b.arranged("marathon-page-long" + face)
		b, s, _ = newMarathonBench(t, choice, aMarathon("job_d", 0, "Only begun"))
		s.marathons.open()
		b.until("the marathon is read", func() bool { return s.marathons.page.job != nil })
		b.arranged("marathon-begun" + face)
	}
}

func TestNoMarathonTakesNoRoom(t *testing.T) {
	_, s, _ := newMarathonBench(t, theme.Light)
	if s.marathons.strip.Visible() {
		t.Error("there is a line, and no marathon")
	}
}

func TestMarathonIsFollowed(t *testing.T) {
	b, s, f := newMarathonBench(t, theme.Light, aMarathon("job_a", 1, "Why?"), over(aMarathon("job_b", 3, "Older"), marathon.Completed))
	want(t, text(s.marathons.whole), "Marathon: Why?", "1 of 3 rungs", "gpt-6-sol is asked: Why?", "[Open]")
	s.marathons.open()
	p := s.marathons.page
	b.until("the marathon is read", func() bool { return p.job != nil })
	want(t, text(s.marathons.whole), "[Activity]", "[Cancel]", "1. Why?", "gpt-6-luna", "4.2 s · $0.0321", "12,345 tokens", "by gpt-6-luna-2026-08-01")
	want(t, p.detail.text, "Answer\nThe time-out is set twice", "Answer 0.", "Question\nWhy?")

	f.set(nil, aMarathon("job_a", 2, "Why?"))
	b.until("the next answer is shown", func() bool { return strings.Contains(p.detail.text, "Answer 1.") })
	p.list.Select(1)
	want(t, p.detail.text, "Answer 0.")
	f.set(nil, over(failedAt(aMarathon("job_a", 3, "Why?"), 0, 2, "no key"), marathon.Completed))
	b.until("the end is shown", func() bool { return strings.Contains(text(s.marathons.whole), "1 fault") })
	b.until("all of it is read", func() bool { return p.job.Finished != nil })
	want(t, p.detail.text, "Answer 0.") // a person has chosen that
	if p.cancel.Visible() {
		t.Error("what is over can be cancelled")
	}
	p.list.Select(3)
	want(t, p.detail.text, "Fault\nauth_failed: no key")
	p.list.Select(0)
	want(t, text(p.detail.root), "score 532", "priority 5")
	test.Tap(p.detail.copy)
	if got := b.ui.app.Clipboard().Content(); got != p.detail.text {
		t.Errorf("copied %q", got)
	}
	s.marathons.close()
	want(t, text(s.marathons.whole), "Marathon: Why?", "[Open]")
}

func TestMarathonIsChosen(t *testing.T) {
	b, s, _ := newMarathonBench(t, theme.Light, aMarathon("job_a", 1, "Newer"), over(aMarathon("job_b", 3, "Older"), marathon.Completed))
	s.marathons.open()
	p := s.marathons.page
	b.until("the marathon is read", func() bool { return p.job != nil && p.job.ID == "job_a" })
	p.choice.SetSelectedIndex(1)
	b.until("the other is read", func() bool { return p.job != nil && p.job.ID == "job_b" })
	want(t, text(s.marathons.whole), "1. Older", "Done · 3 of 3 rungs")
	if p.id != "job_b" || p.choice.SelectedIndex() != 1 {
		t.Errorf("shown is %s, chosen %d", p.id, p.choice.SelectedIndex())
	}
}

func TestMarathonFaultsAreTold(t *testing.T) {
	b, s, f := newMarathonBench(t, theme.Light, aMarathon("job_a", 1, "Why?"))
	s.marathons.open()
	p := s.marathons.page
	b.until("the marathon is read", func() bool { return p.job != nil })
	test.Tap(p.cancel)
	b.until("it is told that it cannot be cancelled", func() bool { return strings.Contains(p.note.Text, "it does not want to") && p.note.Visible() })
	if len(f.cancelled) != 1 || f.cancelled[0] != "job_a" || p.cancel.Disabled() {
		t.Errorf("cancelled were %v", f.cancelled)
	}
	f.set(nil)
	b.until("the marathon has gone", func() bool { return !s.marathons.strip.Visible() })
	want(t, p.note.Text, "does not have it any more")
	s.marathons.close()
	f.set(errors.New("the disk is on fire"))
	b.until("it is told", func() bool { return strings.Contains(p.note.Text, "on fire") })
	want(t, text(s.marathons.whole), "The marathons cannot be listed", "The disk is on fire")
	f.set(nil, aMarathon("job_a", 2, "Why?"))
	b.until("it is there again", func() bool { return !p.note.Visible() && p.job.Done == 2 })
	want(t, text(s.marathons.whole), "Marathon: Why?", "2 of 3 rungs")
}
