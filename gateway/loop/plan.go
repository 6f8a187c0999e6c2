package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// planFunction is tools.UpdatePlan as it is offered to the model.
var planFunction = []byte(`{"type":"function","function":{"name":"update_plan","description":"Publish the plan for this task, and publish it again whenever a step's status changes, so that the user can follow. The plan is advisory. Send all steps each time.","parameters":{"type":"object","properties":{"steps":{"type":"array","items":{"type":"object","properties":{"description":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed","skipped"]}},"required":["description","status"]}}},"required":["steps"]}}}`)

// Step is one step of a plan.
type Step struct {
	Description string `json:"description"`
	Status      string `json:"status"` // pending | in_progress | completed | skipped
}

var stepStatuses = []string{"pending", "in_progress", "completed", "skipped"}

// maxSteps bounds a plan; a longer one is a model gone astray.
const maxSteps = 100

// parsePlan reads the arguments of update_plan.
func parsePlan(arguments json.RawMessage) ([]Step, error) {
	var args struct {
		Steps []Step `json:"steps"`
	}
	if err := json.Unmarshal(arguments, &args); err != nil {
		return nil, errors.New("steps must be a list of {description, status}")
	}
	if len(args.Steps) > maxSteps {
		return nil, fmt.Errorf("a plan has at most %d steps", maxSteps)
	}
	for i, step := range args.Steps {
		if strings.TrimSpace(step.Description) == "" {
			return nil, fmt.Errorf("steps[%d].description is empty", i)
		}
		if !slices.Contains(stepStatuses, step.Status) {
			return nil, fmt.Errorf("steps[%d].status is %q; allowed are %s", i, step.Status, strings.Join(stepStatuses, ", "))
		}
	}
	return args.Steps, nil
}

// Progress counts the steps of a plan, by status and in total.
func Progress(plan []Step) map[string]int {
	if plan == nil {
		return nil
	}
	counts := map[string]int{"total": len(plan)}
	for _, status := range stepStatuses {
		counts[status] = 0
	}
	for _, step := range plan {
		counts[step.Status]++
	}
	return counts
}

// currentStep is the description of the step in progress, or "".
func currentStep(plan []Step) string {
	for _, step := range plan {
		if step.Status == "in_progress" {
			return step.Description
		}
	}
	return ""
}

// planReminder repeats the plan to the model.
func planReminder(plan []Step) string {
	var b strings.Builder
	b.WriteString("Current plan:")
	for i, step := range plan {
		fmt.Fprintf(&b, "\n%d. [%s] %s", i+1, step.Status, step.Description)
	}
	return b.String()
}
