package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pointsman/approvals"
	"pointsman/gateway/tools"
)

// TestJudgeChanged: what the user called safe was another definition.
func TestJudgeChanged(t *testing.T) {
	s := tools.Settings{Classifier: newClassifier(t, []string{"get_listed"}, []string{"delete_file", "get_x"})}
	for name, want := range map[string]struct{ agreed, changed approvals.Class }{
		"delete_file": {approvals.Read, approvals.Destructive},
		"get_x":       {approvals.Read, approvals.Read},
		"get_listed":  {approvals.Write, approvals.Write},
		"write_file":  {approvals.Write, approvals.Write},
		"git_blame":   {approvals.Read, approvals.Read},
	} {
		entry := tools.NewCatalogue([]tools.Definition{parse(t, map[string]any{"name": name})}, s).Lookup(name)
		agreed, changed := entry.Judge(json.RawMessage(`{}`)), entry.JudgeChanged(json.RawMessage(`{}`))
		if agreed.Class != want.agreed || changed.Class != want.changed || strings.Contains(fmt.Sprint(changed.Evidence), "safe list") {
			t.Errorf("%s: got %+v, and changed %+v", name, agreed, changed)
		}
		if row := entry.Row(); row.Class != want.agreed || row.Changed || row.Asks() != agreed.Risky {
			t.Errorf("%s: its row is %+v", name, row)
		}
		if row := entry.ChangedRow(); row.Class != want.changed || row.Risky != changed.Risky || !row.Changed || !row.Asks() || !strings.Contains(row.Evidence[0], "agreed") {
			t.Errorf("%s: changed, its row is %+v", name, row)
		}
	}
}
