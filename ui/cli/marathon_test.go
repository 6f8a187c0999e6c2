package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// ladderConfig is a ladder of two models of a scripted provider.
func ladderConfig(address string) string {
	return fmt.Sprintf(`marathon: {ladder: [low, high]}
model_list:
- {model_name: low, litellm_params: {model: openai/low, api_base: "%[1]s/v1", api_key: k}}
- {model_name: high, litellm_params: {model: openai/high, api_base: "%[1]s/v1", api_key: k, input_cost_per_token: 0.01, output_cost_per_token: 0.01}}
router_settings: {num_retries: 0, allowed_fails: 100}
`, address)
}

const twoTasks = `{"tasks":[{"question":"Why is it slow?"},{"question":"What is it?","title":"First","priority":5}]}`

// TestMarathonCommands runs marathons in the command's own process and through a
// resident: both do the same.
func TestMarathonCommands(t *testing.T) {
	for _, resident := range []bool{false, true} {
		t.Run(fmt.Sprint("resident ", resident), func(t *testing.T) {
			r := newRig(t, ladderConfig(scripted(t, map[string]string{"low": "one, !500, three", "high": "two, four, six, !500, !500, !500, !500"})))
			if resident {
				r.serve("--ask", "none")
			}
			file := filepath.Join(t.TempDir(), "marathon.json")
			if err := os.WriteFile(file, []byte(twoTasks), 0o600); err != nil {
				t.Fatal(err)
			}
			e := r.run("", "marathon", "run", file)
			if e.code != 0 || !strings.HasPrefix(e.out, "# 1. First\n\n## low (answered in ") || !strings.Contains(e.out, "one\n\n## high (answered in ") ||
				!strings.Contains(e.out, "$0.0500)\n\ntwo\n\n# 2. Why is it slow?\n\n## low (failed in ") || !strings.HasSuffix(e.out, "four\n") {
				t.Errorf("run ended with %d and printed %s", e.code, e.out)
			}
			for _, part := range []string{"2 tasks, 4 rungs\n", "answered 1/2 low in ", "failed   2/2 low: upstream_error: ", "4 of 4 rungs", "$0.1000 and 1 answer at no known price, 1 fault"} {
				if !strings.Contains(e.errors, part) {
					t.Errorf("the progress does not tell %q: %s", part, e.errors)
				}
			}
			if strings.Contains(e.errors, "[###") {
				t.Errorf("there is a bar, and no terminal: %s", e.errors)
			}

			e = r.run(`{"tasks":[{"question":"Why?"}]}`, "marathon", "run", "-", "--json")
			id := gjson.Get(e.out, "job_id").String()
			if e.code != 0 || gjson.Get(e.out, "tasks.0.answer").String() != "six" {
				t.Errorf("run --json ended with %d and printed %s", e.code, e.out)
			}
			if out := r.must("marathon", "status", id, "--json").out; out != e.out {
				t.Errorf("status printed %s, want %s", out, e.out)
			}
			if out := r.must("marathon", "status", id).out; !strings.Contains(out, "six\n") {
				t.Errorf("status printed %s", out)
			}
			list := r.must("marathon", "list", "--json").out
			if gjson.Get(list, "#").Int() != 2 || gjson.Get(list, "0.job_id").String() != id || gjson.Get(list, "1.rungs_failed").Int() != 1 {
				t.Errorf("list printed %s", list)
			}
			if out := r.must("marathon", "list").out; !strings.Contains(out, id) || !strings.Contains(out, "4/4") {
				t.Errorf("list printed %s", out)
			}
			for what, c := range map[string]struct {
				stdin string
				args  []string
				want  string
			}{
				"a bad task":            {`{"tasks":[{"question":"Why?","priority":true}]}`, []string{"run", "-"}, "tasks[0].priority"},
				"no such file":          {"", []string{"run", file + "x"}, "reading the marathon"},
				"an unknown job":        {"", []string{"status", "job_x"}, "job_x"},
				"a job that is over":    {"", []string{"cancel", id}, "over already: completed"},
				"an unknown job to end": {"", []string{"cancel", "job_x"}, "job_x"},
			} {
				if e := r.run(c.stdin, append([]string{"marathon"}, c.args...)...); e.code != 1 || !strings.Contains(e.errors, c.want) {
					t.Errorf("%s ended with %d: %s", what, e.code, e.errors)
				}
			}
		})
	}
}

// TestMarathonWithoutAnswer fails, and says why.
func TestMarathonWithoutAnswer(t *testing.T) {
	r := newRig(t, ladderConfig(scripted(t, map[string]string{"low": "!500", "high": "!500"})))
	e := r.run(`{"tasks":[{"question":"Why?"}]}`, "marathon", "run", "-", "--json")
	if e.code != 1 || gjson.Get(e.out, "status").String() != "failed" || !strings.Contains(e.errors, "no model has answered; low: upstream_error") {
		t.Errorf("it ended with %d: %s %s", e.code, e.out, e.errors)
	}
}
