package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pointsman/gateway/models"
)

// DeploymentLine is how a deployment of a model is doing, as a line of a list.
type DeploymentLine struct {
	Group   string
	Name    string // its provider's model
	Address string
	Word    string // the state
	Tone    Tone
	Count   string // of its requests
	Error   string // the last one and when, or ""
}

// longestDeployment is how much of a model's name is shown, so that what follows
// has room.
const longestDeployment = 40

// DeploymentUntil is when a deployment is asked again, with the date when that is
// not today.
func DeploymentUntil(until, now time.Time) string {
	until = until.In(now.Location())
	if until.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return until.Format(time.TimeOnly)
	}
	return until.Format("2 Jan 15:04:05")
}

// DeploymentLines makes lines of how the deployments are doing at that time, in
// their order.
func DeploymentLines(list []models.DeploymentHealth, now time.Time) []DeploymentLine {
	lines := []DeploymentLine{}
	for _, d := range list {
		line := DeploymentLine{Group: d.Group, Name: clip(d.Deployment, longestDeployment), Address: d.BaseURL, Count: deploymentCount(d)}
		line.Word, line.Tone = deploymentState(d)
		if d.Until != nil {
			line.Word += " until " + DeploymentUntil(*d.Until, now)
		}
		if d.LastError != nil {
			line.Error = d.LastError.Time.Local().Format("15:04:05") + ": " + clip(OneLine(d.LastError.Message), longestText)
		}
		lines = append(lines, line)
	}
	return lines
}

// deploymentState words the state of a deployment.
func deploymentState(d models.DeploymentHealth) (string, Tone) {
	switch d.State {
	case models.Cooling:
		return "Cools down", Bad
	case models.Limited:
		return "Rate limit", Asking
	case models.KeyRefused:
		return "Key refused", Bad
	case models.Trying:
		return "Is tried out", Busy
	}
	if d.Requests == 0 {
		return "Not asked yet", Quiet
	}
	return "Healthy", Good
}

func deploymentCount(d models.DeploymentHealth) string {
	parts := []string{CountOf(d.Requests, "request")}
	if d.InFlight > 0 {
		parts = append(parts, fmt.Sprintf("%d under way", d.InFlight))
	}
	if d.Failures > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", d.Failures))
	}
	if d.Share > 0 && d.Share < 1 {
		parts = append(parts, fmt.Sprintf("share %.0f %%", 100*d.Share))
	}
	return strings.Join(parts, " · ")
}

// ModelHealth words how the deployments of a model or capability are doing
// together.
func ModelHealth(list []models.DeploymentHealth, group string) string {
	var own []models.DeploymentHealth
	for _, d := range list {
		if d.Group == group {
			own = append(own, d)
		}
	}
	switch len(own) {
	case 0:
		return "–"
	case 1:
		word, _ := deploymentState(own[0])
		return word
	}
	free := len(slices.DeleteFunc(slices.Clone(own), func(d models.DeploymentHealth) bool { return d.Until != nil || d.State == models.Trying }))
	return fmt.Sprintf("%d of %d free", free, len(own))
}

// Cost words a model's prices, in US dollars for a million tokens in and out.
func (r CatalogueRow) Cost() string {
	if r.InputCost == nil || r.OutputCost == nil {
		return "–"
	}
	return "$" + perMillion(*r.InputCost) + " / $" + perMillion(*r.OutputCost)
}

func perMillion(perToken float64) string {
	return strconv.FormatFloat(perToken*1e6, 'f', -1, 32)
}

// DeploymentSummary says in a sentence how all of them are doing.
func DeploymentSummary(list []models.DeploymentHealth, now time.Time) string {
	resting := 0
	for _, d := range list {
		if d.Until != nil && d.Until.After(now) {
			resting++
		}
	}
	if resting == 0 {
		return CountOf(int64(len(list)), "deployment") + ", none of them left alone"
	}
	return fmt.Sprintf("%d of %s left alone for now", resting, CountOf(int64(len(list)), "deployment"))
}
