package loop_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"pointsman/gateway/tools"
)

// crowd is a catalogue of more tools than are offered at once.
func crowd(t *testing.T, limit int) *tools.Catalogue {
	t.Helper()
	var defs []tools.Definition
	add := func(server, name, about string) {
		raw := fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`, name, about)
		def, err := tools.Parse(server, []byte(raw), true)
		if err != nil {
			t.Fatal(err)
		}
		defs = append(defs, def)
	}
	for _, part := range []string{"axles", "bolts", "chains", "doors", "engines", "fans", "gears", "hoses", "keys", "lamps", "nuts", "pipes"} {
		add("depot", "list_"+part, "Lists the "+part+" there are.")
	}
	add("weather", "get_forecast", "Tells tomorrow's weather of a place.")
	add("weather", "get_pollen", "Tells how much pollen is in the air.")
	classifier, err := tools.NewClassifier(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tools.NewCatalogue(defs, tools.Settings{Classifier: classifier, MaxOffered: limit})
}

// offeredIn returns the names of a request's tools, in their order.
func offeredIn(request gjson.Result) string {
	var names []string
	for _, name := range request.Get("tools.#.function.name").Array() {
		names = append(names, name.String())
	}
	return strings.Join(names, " ")
}

func TestTooManyToolsOfferTheRelevant(t *testing.T) {
	for _, tt := range []struct{ name, messages, more, want string }{
		{"what was asked", `{"role":"user","content":"How will the weather be?"}`, "", "depot__list_axles weather__get_forecast weather__get_pollen find_tools update_plan"},
		{"in parts", `{"role":"user","content":[{"type":"text","text":"pollen"},{"type":"image_url","image_url":{"url":"data:"}}]}`, "", "depot__list_axles weather__get_forecast weather__get_pollen find_tools update_plan"},
		{"the system's words do not count", `{"role":"system","content":"weather weather"},{"role":"user","content":"gears"}`, "", "depot__list_axles depot__list_gears weather__get_forecast find_tools update_plan"},
		{"what was called stays", `{"role":"user","content":"gears"},{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"weather__get_pollen","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"much"}`, "",
			"depot__list_axles depot__list_gears weather__get_pollen find_tools update_plan"},
		{"what must be called", `{"role":"user","content":"gears"}`, `,"tool_choice":{"type":"function","function":{"name":"weather__get_pollen"}}`,
			"depot__list_axles depot__list_gears weather__get_pollen find_tools update_plan"},
		{"beside the caller's tools", `{"role":"user","content":"weather"}`, `,"tools":[{"type":"function","function":{"name":"weather__get_pollen"}},{"type":"function","function":{"name":"find_tools"}}]`,
			"weather__get_pollen find_tools depot__list_axles depot__list_bolts weather__get_forecast update_plan"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProvider(t, say("ok"))
			r := newRig(t, p)
			r.catalogue = crowd(t, 3)
			r.mustRun(t, `{"messages":[`+tt.messages+`]`+tt.more+`}`)
			if got := offeredIn(p.request(t, 0)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// What find_tools finds is offered in the same run, and can be called.
func TestFindTools(t *testing.T) {
	p := newProvider(t,
		ask(toolCall("a", "find_tools", `{"query":"pollen in the air"}`)),
		ask(toolCall("b", "weather__get_pollen", `{}`)),
		say("much"))
	r := newRig(t, p)
	r.catalogue = crowd(t, 3)
	result, _ := r.mustRun(t, `{"messages":[{"role":"user","content":"bolts, nuts and gears"}]}`)
	if got := offeredIn(p.request(t, 0)); strings.Contains(got, "pollen") || !strings.Contains(p.request(t, 0).Get("tools").Raw, "Of 14 tools, from depot (12), weather (2)") {
		t.Fatalf("at first there is %s", p.request(t, 0).Get("tools"))
	}
	second := p.request(t, 1)
	if got := offeredIn(second); !strings.Contains(got, "weather__get_pollen") || !strings.Contains(got, "depot__list_gears") || strings.Count(got, "find_tools") != 1 {
		t.Errorf("then there is %s", got)
	}
	if got := second.Get("messages.@reverse.0.content").String(); !strings.HasPrefix(got, "Found, the best first; each can be called from now on:\n- weather__get_pollen: Tells how much pollen is in the air.") {
		t.Errorf("it is told %q", got)
	}
	if got := strings.Join(result.UsedTools, " "); got != "find_tools weather__get_pollen" {
		t.Errorf("used are %s", got)
	}
	if len(r.ran) != 1 || r.ran[0] != "get_pollen{}" {
		t.Errorf("ran %q", r.ran)
	}
}

func TestFindToolsSaysWhatIsWrong(t *testing.T) {
	p := newProvider(t, ask(toolCall("a", "find_tools", `{}`), toolCall("b", "find_tools", `{"query":"submarine"}`)), say("ok"))
	r := newRig(t, p)
	r.catalogue = crowd(t, 3)
	r.mustRun(t, `{"messages":[{"role":"user","content":"hi"}]}`)
	messages := p.request(t, 1).Get("messages")
	if got := messages.Raw; !strings.Contains(got, "query must say what the tool should do") || !strings.Contains(got, `No tool is found for \"submarine\"`) {
		t.Errorf("it is told %s", got)
	}
}

// With few tools there is nothing to find.
func TestFindToolsIsNotOfferedWithoutNeed(t *testing.T) {
	p := newProvider(t, ask(toolCall("a", "find_tools", `{"query":"x"}`)), say("ok"))
	r := newRig(t, p)
	r.mustRun(t, `{"messages":[{"role":"user","content":"hi"}]}`)
	if got := offeredIn(p.request(t, 0)); strings.Contains(got, "find_tools") {
		t.Errorf("offered are %s", got)
	}
	if got := p.request(t, 1).Get("messages").Raw; !strings.Contains(got, `there is no tool named \"find_tools\"`) {
		t.Errorf("it is told %s", got)
	}
}

// A model calls a tool as it was offered; the server, the person and the record
// get what it means.
func TestCallsAreMappedBack(t *testing.T) {
	def, err := tools.Parse("db", []byte(`{"name":"find","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object",
		"properties":{"$match":{"type":"object","properties":{"a b":{"type":"integer"}}},"id":{"type":"string"}},"anyOf":[{"required":["$match"]},{"required":["id"]}]}}`), true)
	if err != nil {
		t.Fatal(err)
	}
	catalogue := tools.NewCatalogue([]tools.Definition{def}, tools.Settings{})
	var parameters struct {
		Properties map[string]struct {
			AnyOf []struct{ Properties map[string]json.RawMessage }
		}
	}
	if err := json.Unmarshal([]byte(gjson.GetBytes(catalogue.Lookup("find").Function, "function.parameters").Raw), &parameters); err != nil {
		t.Fatal(err)
	}
	var match string
	for name := range parameters.Properties["input"].AnyOf[0].Properties {
		if strings.HasPrefix(name, "_match_") {
			match = name
		}
	}
	for _, tt := range []struct{ name, args, want string }{
		{"as offered", `{"input":{"` + match + `":{"a b":1}}}`, `find{"$match":{"a b":1}}`},
		{"as the server has it", `{"$match":{"a b":2}}`, `find{"$match":{"a b":2}}`},
		{"both names", `{"input":{"` + match + `":{},"$match":{}}}`, ""},
		{"not what the server takes", `{"input":{}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProvider(t, ask(toolCall("a", "db__find", tt.args)), say("ok"))
			r := newRig(t, p)
			r.catalogue, r.decide = catalogue, approve
			events, stop := r.events.Subscribe(100)
			defer stop()
			result, _ := r.mustRun(t, `{"messages":[{"role":"user","content":"hi"}]}`)
			if got := strings.Join(r.ran, " "); got != tt.want {
				t.Errorf("ran %q, want %q: %+v", got, tt.want, result.Invocations)
			}
			for len(events) > 0 {
				if e := <-events; tt.want != "" && e.Tool != "" && len(e.Arguments) > 0 && "find"+string(e.Arguments) != tt.want {
					t.Errorf("%s tells of %s", e.Kind, e.Arguments)
				}
			}
		})
	}
}
