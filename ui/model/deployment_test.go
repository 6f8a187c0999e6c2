package model_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/models"
	"pointsman/ui/model"
)

func TestDeploymentLines(t *testing.T) {
	at := time.Date(2026, 3, 2, 12, 0, 5, 0, time.Local)
	list := []models.DeploymentHealth{
		{Group: "coding", Deployment: "openai/a", BaseURL: "https://a/v1/", State: models.Cooling, Until: &at, Requests: 4, Failures: 4, Share: 0.75, LastError: &models.Failure{Code: models.UpstreamError, Message: "it is\ndown", Time: at}},
		{Group: "coding", Deployment: "openai/b", BaseURL: "https://b/v1/", State: models.Healthy, Requests: 1, InFlight: 1, Share: 0.25},
		{Group: "fast", Deployment: "groq/c", State: models.Limited, Until: &at, Share: 1},
		{Group: "sol", Deployment: "openai/sol", State: models.KeyRefused, Until: &at, Share: 1},
		{Group: "luna", Deployment: "openai/luna", State: models.Trying, Share: 1},
		{Group: "astra", Deployment: "openai/astra", State: models.Healthy, Share: 1},
	}
	want := []model.DeploymentLine{
		{Group: "coding", Name: "openai/a", Address: "https://a/v1/", Word: "Cools down until 12:00:05", Tone: model.Bad, Count: "4 requests · 4 failed · share 75 %", Error: "12:00:05: it is down"},
		{Group: "coding", Name: "openai/b", Address: "https://b/v1/", Word: "Healthy", Tone: model.Good, Count: "1 request · 1 under way · share 25 %"},
		{Group: "fast", Name: "groq/c", Word: "Rate limit until 12:00:05", Tone: model.Asking, Count: "0 requests"},
		{Group: "sol", Name: "openai/sol", Word: "Key refused until 12:00:05", Tone: model.Bad, Count: "0 requests"},
		{Group: "luna", Name: "openai/luna", Word: "Is tried out", Tone: model.Busy, Count: "0 requests"},
		{Group: "astra", Name: "openai/astra", Word: "Not asked yet", Tone: model.Quiet, Count: "0 requests"},
	}
	if diff := cmp.Diff(want, model.DeploymentLines(list, at.Add(-time.Minute))); diff != "" {
		t.Error(diff)
	}
	for group, words := range map[string]string{"coding": "1 of 2 free", "sol": "Key refused", "none": "–"} {
		if got := model.ModelHealth(list, group); got != words {
			t.Errorf("the health of %s is %q, want %q", group, got, words)
		}
	}
	if got := model.DeploymentSummary(list, at.Add(-time.Second)); got != "3 of 6 deployments left alone for now" {
		t.Errorf("together: %q", got)
	}
	if got := model.DeploymentSummary(list, at); got != "6 deployments, none of them left alone" {
		t.Errorf("together, later: %q", got)
	}
}

func TestCost(t *testing.T) {
	in, out := 0.0000001, 0.0000005
	if got := (model.CatalogueRow{InputCost: &in, OutputCost: &out}).Cost(); got != "$0.1 / $0.5" {
		t.Errorf("got %q", got)
	}
	if got := (model.CatalogueRow{}).Cost(); got != "–" {
		t.Errorf("without prices: %q", got)
	}
}

func TestDeploymentUntilHasTheDateOfAnotherDay(t *testing.T) {
	now := time.Date(2026, 3, 2, 23, 59, 0, 0, time.UTC)
	for until, want := range map[time.Time]string{
		now.Add(30 * time.Second): "23:59:30",
		now.Add(2 * time.Minute):  "3 Mar 00:01:00",
		now.Add(24 * time.Hour):   "3 Mar 23:59:00",
	} {
		if got := model.DeploymentUntil(until, now); got != want {
			t.Errorf("until %v: got %q, want %q", until, got, want)
		}
	}
}
