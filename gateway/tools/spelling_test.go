package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pointsman/approvals"
	"pointsman/gateway/tools"
)

func TestClassifySpelling(t *testing.T) {
	c := newClassifier(t, nil, []string{"liste_länder"})
	for _, tt := range []struct {
		name, tool, description string
		class                   approvals.Class
	}{
		{"a full-width letter", "get_ｄelete", "Returns information.", approvals.Destructive},
		{"a full-width verb", "ｄｅｌｅｔｅ_all", "Returns information.", approvals.Destructive},
		{"a space that shows nothing", "list_d\u200belete_all", "Returns information.", approvals.Destructive},
		{"a joiner", "get_wi\u2060pe_disk", "Returns information.", approvals.Destructive},
		{"a soft hyphen", "get_pur\u00adge", "Returns information.", approvals.Destructive},
		{"a variation selector", "get_dis\ufe0fable_x", "Returns information.", approvals.Write},
		{"a filler", "get_ki\u3164ll", "Returns information.", approvals.Destructive},
		{"a turned direction", "get_\u202eelif_eteled", "Returns information.", approvals.Write},
		{"an accent", "execuțe", "Returns information.", approvals.Execute},
		{"a loose accent", "get_dele\u0301te_all", "Returns information.", approvals.Destructive},
		{"a ligature", "get_ﬂush", "Returns information.", approvals.Destructive},
		{"a letter of another script", "getdеlete", "Returns information.", approvals.Write},
		{"a read in another script", "获取天气", "Returns the weather.", approvals.Write},
		{"a second command", "Get-Item; rm -rf", "Returns information.", approvals.Destructive},
		{"a pipe", "get_file|tee", "Returns information.", approvals.Write},
		{"a newline", "get_x\ny", "Returns information.", approvals.Write},
		{"a nul", "get_x\x00", "Returns information.", approvals.Write},
		{"a tag", "get_x\U000e0061", "Returns information.", approvals.Write},
		{"bytes that are no text", "get_x\xff", "Returns information.", approvals.Write},
		{"separators that are usual", "get.item/by-id: x", "Returns information.", approvals.Read},
		{"the user knows it", "liste_länder", "", approvals.Read},
		{"a description of many scripts", "get_x", "Gibt „größte“ Länder zurück, 天気 🌦️.", approvals.Read},
		{"a description that turns its direction", "get_x", "Returns \u202eetirw dna\u202c x.", approvals.Write},
		{"a description with unseen ASCII", "get_x", "Returns x.\U000e0064\U000e0065\U000e006c", approvals.Write},
		{"a description with a split verb", "blame", "De\u200bletes the file.", approvals.Destructive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := c.Classify(tools.Definition{Name: tt.tool, Description: tt.description}, tt.tool)
			if v.Class != tt.class || v.Risky != (tt.class != approvals.Read) {
				t.Errorf("got %s, risky %v (%q), want %s", v.Class, v.Risky, v.Evidence, tt.class)
			}
		})
	}
}

// A trusted server may call a tool harmless, but not one whose name hides.
func TestClassifySpellingTrusted(t *testing.T) {
	def := parseFor(t, "srv", map[string]any{
		"name": "get_\u202eelif_eteled", "annotations": map[string]any{"readOnlyHint": true},
	}, true)
	v := newClassifier(t, nil, nil).Classify(def, "x")
	if !v.Risky || v.Evidence[0] != "the name holds unusual characters" {
		t.Errorf("got risky %v because %q", v.Risky, v.Evidence)
	}
}

func TestJudgeSpelledValues(t *testing.T) {
	c := newClassifier(t, nil, nil)
	free := parse(t, modeTool("manage_thing", "action", map[string]any{"type": "string"}))
	spelled := parse(t, modeTool("get_thing", "ａction", map[string]any{"enum": []string{"list", "delete"}}))
	for _, args := range []string{`{"action":"list_dеlete"}`, `{"action":"l\u200bist"}`, `{"action":"ｌist"}`} {
		if v := c.Judge(free, "x", json.RawMessage(args)); !v.Risky {
			t.Errorf("%s: got %q, want risky", args, v.Evidence)
		}
	}
	if v := c.Classify(spelled, "x"); v.Class != approvals.Destructive {
		t.Errorf("a selector in full-width letters: got %s (%q)", v.Class, v.Evidence)
	}
}

func FuzzClassifyNames(f *testing.F) {
	for _, seed := range []string{"get_x", "get_ｄelete", "list_d\u200belete_all", "execuțe", "a\xff", "Get-Item; rm", ""} {
		f.Add(seed, "Returns it.")
	}
	c, err := tools.NewClassifier(nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	const usual = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./: "
	f.Fuzz(func(t *testing.T, name, description string) {
		v := c.Classify(tools.Definition{Name: name, Description: description}, name)
		if len(v.Evidence) == 0 || v.Risky != (v.Class != approvals.Read) {
			t.Errorf("%q: %+v", name, v)
		}
		if strings.Trim(name, usual) != "" && !v.Risky {
			t.Errorf("%q only reads because %q", name, v.Evidence)
		}
	})
}
