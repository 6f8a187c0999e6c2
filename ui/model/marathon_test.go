package model_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/ask"
	"pointsman/gateway/marathon"
	"pointsman/ui/model"
)

func TestCurrentMarathon(t *testing.T) {
	over := time.Now()
	job := func(id string, finished bool) marathon.Job {
		j := marathon.Job{ID: id}
		if finished {
			j.Finished = &over
		}
		return j
	}
	for _, tc := range []struct {
		name string
		jobs []marathon.Job // the newest first
		want string
	}{
		{"none", nil, ""},
		{"all over", []marathon.Job{job("new", true), job("old", true)}, "new"},
		{"the oldest that goes on is being done", []marathon.Job{job("queued", false), job("running", false), job("over", true)}, "running"},
		{"an older one goes on", []marathon.Job{job("over", true), job("running", false)}, "running"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			if current := model.CurrentMarathon(tc.jobs); current != nil {
				got = current.ID
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestMarathonWords(t *testing.T) {
	cost, answer, began := 0.5, "see\u202Ethis\n", time.Date(2026, 3, 2, 9, 8, 7, 0, time.UTC)
	job := &marathon.Job{
		Status: marathon.Running, Done: 2, Of: 3, Faults: 1, DurationMS: 65_000, CostUSD: &cost, Unpriced: 1,
		Tasks: []marathon.Task{{
			Asked: marathon.Asked{Title: "T", Question: "Q", Priority: 5, Difficulty: 4, Complexity: 3}, QueuePosition: 1, PriorityScore: 543, Status: marathon.Running, Answer: &answer,
			Rungs: []marathon.Rung{
				{Model: "a", Status: marathon.Answered, Started: &began, Attempts: 2, Answer: &answer, Result: marathon.Result{ModelUsed: "a-1", FinishReason: "length", DurationMS: 1500, Usage: ask.Usage{TotalTokens: 1200, CostUSD: &cost}}},
				{Model: "b", Status: marathon.Failed, Started: &began, Attempts: 1, Result: marathon.Result{DurationMS: 20, Error: &ask.Failure{Code: "timeout", Message: "too late"}}},
				{Model: "c", Status: marathon.Running, Started: &began, Attempts: 1},
			},
		}, {Asked: marathon.Asked{Question: "Second"}, QueuePosition: 2}},
	}
	got := []string{model.MarathonTitle(job), model.MarathonLine(job), model.MarathonNow(job), model.MarathonChoice(&marathon.Job{Created: began, Status: marathon.Left, Tasks: job.Tasks[:1]}, began)}
	for _, row := range model.MarathonRows(job)[:4] {
		got = append(got, row.Title()+" | "+row.Facts(began)+" | "+row.Side())
		for _, text := range row.Texts() {
			got = append(got, text.Name+": "+text.Body)
		}
	}
	want := []string{
		"T and 1 more", "Running · 2 of 3 rungs · 1 min 5 s · over $0.50 · 1 fault", "c is asked: T", "2 Mar 09:08:07 · T · Goes on when Pointsman next starts",
		"1. T | Running · score 543 · priority 5 · difficulty 4 · complexity 3 | ", "Answer of the highest rung that has one: see<U+202E>this", "Question: Q",
		"a | Answered · 1.5 s · $0.50 · 1,200 tokens · by a-1 · cut off · asked at 09:08:07 · 2 times | 1.5 s · $0.50", "Answer: see<U+202E>this", "Question: Q",
		"b | Failed · 20 ms · cost — · asked at 09:08:07 | 20 ms · cost —", "Fault: timeout: too late", "Question: Q",
		"c | Running · asked at 09:08:07 | ", "Question: Q",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	before := model.MarathonMark(job)
	job.Tasks[0].Rungs[2].Attempts++
	if model.MarathonMark(job) == before {
		t.Error("a rung that is asked again is nothing new")
	}
}
