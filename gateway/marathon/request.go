package marathon

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pointsman/gateway/journal"
	"pointsman/gateway/models"
)

// The bounds of a marathon. Lengths are in characters.
const (
	MaxTasks    = 10
	MaxQuestion = 10_000
	MaxTitle    = 200
	// A task's priority, difficulty and complexity are from 1 to MaxGrade, and
	// DefaultGrade when they are not given.
	MaxGrade     = 5
	DefaultGrade = 3
)

// Request is the tasks of a marathon, in the order in which they will be done.
type Request struct{ Tasks []Asked }

// Asked is a task as it was given.
type Asked struct {
	ID         string `json:"task_id"`
	Title      string `json:"title"` // "" when none was given
	Question   string `json:"question"`
	Priority   int    `json:"priority"`
	Difficulty int    `json:"difficulty"`
	Complexity int    `json:"complexity"`
}

// Score is what tasks are put in order by: the priority counts most, then the
// difficulty, then the complexity.
func (a Asked) Score() int { return 100*a.Priority + 10*a.Difficulty + a.Complexity }

// ParseRequest reads {"tasks": […]} and puts the tasks in order: highest scores
// first, and equal ones as they were given. Its error is a *models.Error whose
// Param names the task and the field at fault, as in tasks[0].priority.
func ParseRequest(data []byte) (Request, error) {
	fields, err := object("", data, "tasks")
	if err != nil {
		return Request{}, err
	}
	raw := fields["tasks"]
	if !isArray(raw) {
		return Request{}, models.Invalid("tasks", `tasks must be a list of 1 to %d tasks, such as {"tasks": [{"question": "Why is it slow?"}]}`, MaxTasks)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return Request{}, models.Invalid("tasks", "tasks cannot be read: %v", err)
	}
	if len(list) < 1 || len(list) > MaxTasks {
		return Request{}, models.Invalid("tasks", "there are %d tasks; a marathon has 1 to %d", len(list), MaxTasks)
	}
	var req Request
	for i, raw := range list {
		task, err := parseTask(fmt.Sprintf("tasks[%d]", i), raw)
		if err != nil {
			return Request{}, err
		}
		req.Tasks = append(req.Tasks, task)
	}
	slices.SortStableFunc(req.Tasks, func(a, b Asked) int { return cmp.Compare(b.Score(), a.Score()) })
	return req, nil
}

// parseTask reads the task at a path.
func parseTask(path string, data []byte) (Asked, error) {
	task := Asked{ID: journal.NewID("task_"), Priority: DefaultGrade, Difficulty: DefaultGrade, Complexity: DefaultGrade}
	fields, err := object(path, data, "question", "title", "priority", "difficulty", "complexity")
	if err != nil {
		return task, err
	}
	if task.Question, err = text(path+".question", fields["question"], MaxQuestion); err != nil {
		return task, err
	}
	if strings.TrimSpace(task.Question) == "" {
		return task, models.Invalid(path+".question", "%s.question is empty; a task needs a question of 1 to %d characters", path, MaxQuestion)
	}
	if task.Title, err = text(path+".title", fields["title"], MaxTitle); err != nil {
		return task, err
	}
	for _, grade := range []struct {
		name string
		to   *int
	}{{"priority", &task.Priority}, {"difficulty", &task.Difficulty}, {"complexity", &task.Complexity}} {
		if err := setGrade(path+"."+grade.name, fields[grade.name], grade.to); err != nil {
			return task, err
		}
	}
	return task, nil
}

// object reads the JSON object at a path ("" is the whole) and refuses keys that
// are not known, or there twice. What is null counts as not given.
func object(path string, data []byte, known ...string) (map[string]json.RawMessage, error) {
	what := cmp.Or(path, "the marathon")
	if _, err := models.ParseBody(data); err != nil {
		return nil, models.Invalid(path, "%s cannot be read: %v", what, err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, models.Invalid(path, "%s cannot be read: %v", what, err)
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, key) {
			return nil, models.Invalid(path, "%s has a field %.60q, which is not known; known are %s", what, key, strings.Join(known, ", "))
		}
		if bytes.Equal(fields[key], []byte("null")) {
			delete(fields, key)
		}
	}
	return fields, nil
}

func isArray(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '[' }

// text reads a string of at most that many characters; "" when it is not given.
func text(path string, raw json.RawMessage, most int) (string, error) {
	if len(raw) == 0 {
		return "", nil
	}
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", models.Invalid(path, "%s must be a string", path)
	}
	if n := utf8.RuneCountInString(s); n > most {
		return "", models.Invalid(path, "%s is %d characters long; at most %d are taken", path, n, most)
	}
	return s, nil
}

// setGrade reads a whole number from 1 to MaxGrade, written as one: neither true
// nor 3.0 nor "3". What is not given stays as it is.
func setGrade(path string, raw json.RawMessage, grade *int) error {
	if len(raw) == 0 {
		return nil
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 1 || n > MaxGrade {
		return models.Invalid(path, "%s must be a whole number from 1 to %d, not %.40s", path, MaxGrade, raw)
	}
	*grade = n
	return nil
}
