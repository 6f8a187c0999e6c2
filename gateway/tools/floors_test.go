package tools_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"pointsman/gateway/tools"
)

// labelled is one tool of a real server, with what a careful reader found it
// really does.
type labelled struct {
	Server      string              `json:"server"`
	Tool        string              `json:"tool"`
	Label       string              `json:"label"`
	Risky       bool                `json:"risky"`
	Annotations json.RawMessage     `json:"annotations"`
	Params      []string            `json:"params"`
	Modes       map[string][]string `json:"modes"`
}

func (l labelled) definition(t *testing.T, trusted bool) tools.Definition {
	t.Helper()
	properties := map[string]any{}
	for _, p := range l.Params {
		properties[p] = map[string]any{}
		if modes := l.Modes[p]; modes != nil {
			properties[p] = map[string]any{"enum": modes}
		}
	}
	raw, err := json.Marshal(map[string]any{
		"name":        l.Tool,
		"inputSchema": map[string]any{"type": "object", "properties": properties},
		"annotations": l.Annotations,
	})
	if err != nil {
		t.Fatal(err)
	}
	def, err := tools.Parse(l.Server, raw, trusted)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func readLabelled(t *testing.T) []labelled {
	t.Helper()
	f, err := os.Open("testdata/labelled.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []labelled
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row labelled
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// tally counts right and wrong verdicts.
type tally struct{ risky, missed, safe, alarms int }

func (c *tally) add(risky, held bool) {
	switch {
	case risky:
		c.risky++
		if !held {
			c.missed++
		}
	default:
		c.safe++
		if held {
			c.alarms++
		}
	}
}

func (c *tally) check(t *testing.T, recall, alarms float64) {
	t.Helper()
	gotRecall := 1 - float64(c.missed)/float64(c.risky)
	gotAlarms := float64(c.alarms) / float64(c.safe)
	t.Logf("recall %.4f of %d risky, false alarms %.4f of %d safe", gotRecall, c.risky, gotAlarms, c.safe)
	if gotRecall < recall {
		t.Errorf("recall on risky tools is %.4f, want at least %.4f", gotRecall, recall)
	}
	if gotAlarms > alarms {
		t.Errorf("false alarms on safe tools are %.4f, want at most %.4f", gotAlarms, alarms)
	}
}

// The floors leave room for servers never seen: those promised are recall 0.99
// and alarms 0.10 for trusted servers, 0.995 and 0.15 for others.
func TestClassifyFloors(t *testing.T) {
	c := newClassifier(t, nil, nil)
	rows := readLabelled(t)
	if len(rows) < 1000 {
		t.Fatalf("read %d labelled tools", len(rows))
	}
	for _, tt := range []struct {
		name           string
		trusted        bool
		recall, alarms float64
	}{
		{"trusted", true, 0.998, 0.06},
		{"untrusted", false, 0.998, 0.07},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var count tally
			for _, row := range rows {
				def := row.definition(t, tt.trusted)
				held := c.Classify(def, tools.OfferedName(def.Server, def.Name)).Risky
				count.add(row.Risky, held)
				if row.Risky && !held {
					t.Logf("missed %s %s", row.Server, row.Tool)
				}
			}
			count.check(t, tt.recall, tt.alarms)
		})
	}
}

// Words were chosen with labelled.jsonl in sight, so names of other servers
// must hold up too, here with nothing but the name.
func TestClassifyWellKnownNames(t *testing.T) {
	data, err := os.ReadFile("testdata/wellknown.txt")
	if err != nil {
		t.Fatal(err)
	}
	c := newClassifier(t, nil, nil)
	var count tally
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		risky, name := line[0] == '+', line[1:]
		held := c.Classify(parse(t, map[string]any{"name": name}), name).Risky
		count.add(risky, held)
		if risky && !held {
			t.Logf("missed %s", name)
		}
	}
	count.check(t, 0.99, 0.06)
}
