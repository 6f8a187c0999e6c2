package marathon_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pointsman/gateway/marathon"
	"pointsman/gateway/models"
)

func TestWhatIsRefused(t *testing.T) {
	task := func(fields string) string { return `{"tasks":[{"question":"a"},{` + fields + `}]}` }
	many := strings.TrimSuffix(strings.Repeat(`{"question":"q"},`, 11), ",")
	for _, tc := range []struct {
		name, request string
		param, want   string // a part of the message
	}{
		{"no JSON", `{"tasks":`, "", "not valid JSON"},
		{"no object", `[{"question":"q"}]`, "", "must be a JSON object"},
		{"nothing", `{}`, "tasks", "a list of 1 to 10"},
		{"unknown field", `{"tasks":[{"question":"q"}],"model":"m"}`, "", `"model"`},
		{"tasks twice", `{"tasks":[{"question":"q"}],"tasks":[]}`, "", "twice"},
		{"tasks null", `{"tasks":null}`, "tasks", "a list"},
		{"tasks no list", `{"tasks":{"question":"q"}}`, "tasks", "a list"},
		{"no task", `{"tasks":[]}`, "tasks", "0 tasks"},
		{"11 tasks", `{"tasks":[` + many + `]}`, "tasks", "11 tasks"},
		{"task no object", `{"tasks":[{"question":"a"},"b"]}`, "tasks[1]", "must be a JSON object"},
		{"task null", `{"tasks":[null]}`, "tasks[0]", "must be a JSON object"},
		{"field twice", task(`"question":"a","question":"b"`), "tasks[1]", "twice"},
		{"unknown field of a task", task(`"question":"a","prio":5`), "tasks[1]", `"prio"`},
		{"no question", task(`"title":"t"`), "tasks[1].question", "empty"},
		{"empty question", task(`"question":""`), "tasks[1].question", "empty"},
		{"blank question", task(`"question":" \n\t"`), "tasks[1].question", "empty"},
		{"question null", task(`"question":null`), "tasks[1].question", "empty"},
		{"question a number", task(`"question":7`), "tasks[1].question", "must be a string"},
		{"question of 10,001 characters", task(`"question":"` + strings.Repeat("ä", 10_001) + `"`), "tasks[1].question", "10001 characters"},
		{"title of 201 characters", task(`"question":"q","title":"` + strings.Repeat("ä", 201) + `"`), "tasks[1].title", "201 characters"},
		{"title a list", task(`"question":"q","title":["t"]`), "tasks[1].title", "must be a string"},
		{"priority true", task(`"question":"q","priority":true`), "tasks[1].priority", "not true"},
		{"priority false", task(`"question":"q","priority":false`), "tasks[1].priority", "not false"},
		{"priority 0", task(`"question":"q","priority":0`), "tasks[1].priority", "from 1 to 5, not 0"},
		{"priority 6", task(`"question":"q","priority":6`), "tasks[1].priority", "from 1 to 5, not 6"},
		{"priority -1", task(`"question":"q","priority":-1`), "tasks[1].priority", "not -1"},
		{"priority 3.5", task(`"question":"q","priority":3.5`), "tasks[1].priority", "not 3.5"},
		{"priority 3.0", task(`"question":"q","priority":3.0`), "tasks[1].priority", "not 3.0"},
		{"priority 3e0", task(`"question":"q","priority":3e0`), "tasks[1].priority", "not 3e0"},
		{"priority a string", task(`"question":"q","priority":"3"`), "tasks[1].priority", `not "3"`},
		{"priority beyond 64 bits", task(`"question":"q","priority":18446744073709551619`), "tasks[1].priority", "not 1844"},
		{"difficulty 6", task(`"question":"q","difficulty":6`), "tasks[1].difficulty", "not 6"},
		{"complexity true", task(`"question":"q","complexity":true`), "tasks[1].complexity", "not true"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := marathon.ParseRequest([]byte(tc.request))
			var refused *models.Error
			if !errors.As(err, &refused) || refused.Code != models.InvalidRequest || refused.Status != 400 {
				t.Fatalf("got %v, want a *models.Error of the caller's fault", err)
			}
			if refused.Param != tc.param || !strings.Contains(refused.Message, tc.want) || tc.param != "" && !strings.Contains(refused.Message, tc.param) {
				t.Errorf("got param %q and %q; want %q, and %q in the message", refused.Param, refused.Message, tc.param, tc.want)
			}
			if len(refused.Message) > 300 {
				t.Errorf("the message is %d bytes long", len(refused.Message))
			}
		})
	}
}

func TestWhatIsTaken(t *testing.T) {
	for _, tc := range []struct {
		name, task string
		want       marathon.Asked
	}{
		{"the least", `{"question":"q"}`, marathon.Asked{Question: "q", Priority: 3, Difficulty: 3, Complexity: 3}},
		{"null as if not given", `{"question":"q","title":null,"priority":null,"difficulty":null,"complexity":null}`, marathon.Asked{Question: "q", Priority: 3, Difficulty: 3, Complexity: 3}},
		{"all", `{"question":"q","title":"t","priority":1,"difficulty":5,"complexity":2}`, marathon.Asked{Question: "q", Title: "t", Priority: 1, Difficulty: 5, Complexity: 2}},
		{"the longest", `{"question":"` + strings.Repeat("ä", 10_000) + `","title":"` + strings.Repeat("界", 200) + `"}`,
			marathon.Asked{Question: strings.Repeat("ä", 10_000), Title: strings.Repeat("界", 200), Priority: 3, Difficulty: 3, Complexity: 3}},
		{"characters beyond 16 bits", `{"question":"` + strings.Repeat(`\ud83d\ude00`, 10_000) + `"}`,
			marathon.Asked{Question: strings.Repeat("😀", 10_000), Priority: 3, Difficulty: 3, Complexity: 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req, err := marathon.ParseRequest([]byte(`{"tasks":[` + tc.task + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			got := req.Tasks[0]
			if got.ID == "" {
				t.Error("it has no id")
			}
			if got.ID = ""; got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	tasks := []string{}
	for i, grades := range [][3]int{{3, 3, 3}, {1, 5, 5}, {3, 3, 3}, {5, 1, 1}, {3, 4, 1}, {3, 3, 4}, {5, 1, 1}} {
		tasks = append(tasks, fmt.Sprintf(`{"question":"%d","priority":%d,"difficulty":%d,"complexity":%d}`, i, grades[0], grades[1], grades[2]))
	}
	req, err := marathon.ParseRequest([]byte(`{"tasks":[` + strings.Join(tasks, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	var scores []int
	for _, task := range req.Tasks {
		order, scores = append(order, task.Question), append(scores, task.Score())
	}
	if want := []string{"3", "6", "4", "5", "0", "2", "1"}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
	if want := []int{511, 511, 341, 334, 333, 333, 155}; !slices.Equal(scores, want) {
		t.Errorf("the scores are %v, want %v", scores, want)
	}
}

// FuzzParseRequest checks that what is taken is within the bounds.
func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(`{"tasks":[{"question":"q","title":"t","priority":5,"difficulty":1,"complexity":3}]}`))
	f.Add([]byte(`{"tasks":[{"question":"q","priority":true}]}`))
	f.Add([]byte(`{"tasks":[{"question":"\ud800","priority":1e0}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := marathon.ParseRequest(data)
		if err != nil {
			return
		}
		if len(req.Tasks) < 1 || len(req.Tasks) > marathon.MaxTasks {
			t.Errorf("%d tasks were taken", len(req.Tasks))
		}
		for i, task := range req.Tasks {
			if task.Question == "" || len([]rune(task.Question)) > marathon.MaxQuestion || task.Score() < 111 || task.Score() > 555 {
				t.Errorf("taken: %+v", task)
			}
			if i > 0 && task.Score() > req.Tasks[i-1].Score() {
				t.Error("the tasks are out of order")
			}
		}
	})
}
