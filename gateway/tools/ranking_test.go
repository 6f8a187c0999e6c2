package tools_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pointsman/gateway/tools"
)

// question is what somebody asks, and the tools any of which answers it.
type question struct {
	text string
	want []string // server/tool
}

func readQuestions(t *testing.T) []question {
	t.Helper()
	data, err := os.ReadFile("testdata/questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []question
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		text, want, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("no tools in %q", line)
		}
		list = append(list, question{text, strings.Fields(want)})
	}
	return list
}

// labelledDefinitions are tools of real servers, by name and parameters alone.
func labelledDefinitions(t *testing.T) []tools.Definition {
	t.Helper()
	file, err := os.Open("testdata/labelled.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var defs []tools.Definition
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var l struct {
			Server, Tool string
			Params       []string
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		properties := map[string]any{}
		for _, name := range l.Params {
			properties[name] = map[string]any{"type": "string"}
		}
		raw, err := json.Marshal(map[string]any{"name": l.Tool, "inputSchema": map[string]any{"type": "object", "properties": properties}})
		if err != nil {
			t.Fatal(err)
		}
		def, err := tools.Parse(l.Server, raw, false)
		if err != nil {
			t.Fatal(err)
		}
		defs = append(defs, def)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return defs
}

// The right tool is among the ten best for plain questions, among more than a
// thousand of fifty servers, even without their descriptions.
func TestFindRecall(t *testing.T) {
	c := tools.NewCatalogue(labelledDefinitions(t), tools.Settings{MaxOffered: 100})
	questions := readQuestions(t)
	ten, offered := 0, 0
	for _, q := range questions {
		if slices.ContainsFunc(c.Find(q.text, 10), q.answers) {
			ten++
		} else {
			t.Logf("not among ten: %s: %v", q.text, q.want)
		}
		if slices.ContainsFunc(c.OfferFor(tools.Conversation{Said: []string{q.text}}), q.answers) {
			offered++
		}
	}
	t.Logf("%d tools, %d questions: recall@10 %.3f, offered %.3f", len(c.Usable()), len(questions), share(ten, questions), share(offered, questions))
	if share(ten, questions) < 0.8 || share(offered, questions) < 0.95 {
		t.Errorf("of %d questions %d find their tool among ten, %d among those offered", len(questions), ten, offered)
	}
}

func (q question) answers(e *tools.Entry) bool { return slices.Contains(q.want, e.Server+"/"+e.Name) }

func share(n int, of []question) float64 { return float64(n) / float64(len(of)) }

func TestQuestionsNameRealTools(t *testing.T) {
	known := map[string]bool{}
	for _, def := range labelledDefinitions(t) {
		known[def.Server+"/"+def.Name] = true
	}
	for _, q := range readQuestions(t) {
		if !slices.ContainsFunc(q.want, func(tool string) bool { return known[tool] }) {
			t.Errorf("%s: none of %v is there", q.text, q.want)
		}
	}
}

// manyTools are tools of several servers, so many that not all are offered.
func manyTools(t *testing.T) []tools.Definition {
	t.Helper()
	var defs []tools.Definition
	for _, server := range []string{"alpha", "beta", "gamma"} {
		for i := range 10 {
			defs = append(defs, described(t, server, fmt.Sprintf("part_%d", i), fmt.Sprintf("Handles part %d.", i)))
		}
	}
	return append(defs,
		described(t, "mail", "send_mail", "Send an email to somebody."),
		described(t, "mail", "list_mails", "List the emails in a mailbox."),
		described(t, "zoo", "feed_animals", "Give the animals their food."))
}

func described(t *testing.T, server, name, about string) tools.Definition {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"name": name, "description": about, "inputSchema": map[string]any{"type": "object"}})
	if err != nil {
		t.Fatal(err)
	}
	def, err := tools.Parse(server, raw, false)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

func TestOfferFor(t *testing.T) {
	c := tools.NewCatalogue(manyTools(t), tools.Settings{MaxOffered: 5})
	fed := c.Lookup("zoo__feed_animals")
	for _, tt := range []struct {
		name         string
		conversation tools.Conversation
		want         string
	}{
		{"nothing said: some of each server", tools.Conversation{}, "alpha__part_0 beta__part_0 gamma__part_0 mail__list_mails zoo__feed_animals"},
		{"what was said", tools.Conversation{Said: []string{"Please e-mail Anna: send her an email."}}, "alpha__part_0 beta__part_0 gamma__part_0 mail__list_mails mail__send_mail"},
		{"another form of a word", tools.Conversation{Said: []string{"who was feeding them"}}, "alpha__part_0 beta__part_0 gamma__part_0 mail__list_mails zoo__feed_animals"},
		{"the newest counts most", tools.Conversation{Said: []string{"part 3 of alpha", "feed the animals"}}, "alpha__part_0 alpha__part_1 alpha__part_2 alpha__part_3 zoo__feed_animals"},
		{"kept", tools.Conversation{Said: []string{"alpha"}, Keep: func(e *tools.Entry) bool { return e == fed }}, "alpha__part_0 alpha__part_1 alpha__part_2 alpha__part_3 zoo__feed_animals"},
		{"skipped", tools.Conversation{Said: []string{"feed the animals"}, Skip: func(e *tools.Entry) bool { return e == fed }}, "alpha__part_0 alpha__part_1 beta__part_0 gamma__part_0 mail__list_mails"},
		{"a text of nothing", tools.Conversation{Said: []string{"", "the of and", "???"}}, "alpha__part_0 beta__part_0 gamma__part_0 mail__list_mails zoo__feed_animals"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 5 { // always the same
				if got := offeredNames(c.OfferFor(tt.conversation)); got != tt.want {
					t.Fatalf("got  %s\nwant %s", got, tt.want)
				}
			}
		})
	}
}

func offeredNames(list []*tools.Entry) string {
	var names []string
	for _, e := range list {
		names = append(names, e.Offered)
	}
	return strings.Join(names, " ")
}

func TestOfferForOffersAllBelowTheLimit(t *testing.T) {
	for _, limit := range []int{0, 33, 100} {
		c := tools.NewCatalogue(manyTools(t), tools.Settings{MaxOffered: limit})
		if got := c.OfferFor(tools.Conversation{Said: []string{"mail"}}); c.Limited() || len(got) != 33 {
			t.Errorf("of 33 tools with the limit %d, %d are offered", limit, len(got))
		}
	}
}

func TestFind(t *testing.T) {
	c := tools.NewCatalogue(manyTools(t), tools.Settings{MaxOffered: 5, PerServer: map[string][]string{"beta": {}}})
	for _, tt := range []struct{ query, want string }{
		{"send an email", "mail__send_mail mail__list_mails"},
		{"sending mails", "mail__send_mail mail__list_mails"},
		{"mail__list_mails", "mail__list_mails mail__send_mail"},
		{"animal", "zoo__feed_animals"},
		{"submarine", ""},
		{"beta", ""},
		{"", ""},
	} {
		t.Run(tt.query, func(t *testing.T) {
			if got := offeredNames(c.Find(tt.query, 3)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFindInOtherWritings(t *testing.T) {
	c := tools.NewCatalogue([]tools.Definition{
		described(t, "a", "x1", "搜索航班信息"), described(t, "a", "x2", "删除文件"), described(t, "a", "x3", "إرسال بريد إلكتروني"),
	}, tools.Settings{MaxOffered: 1})
	for query, want := range map[string]string{"请删除这个文件": "a__x2", "航班": "a__x1", "بريد": "a__x3"} {
		if got := offeredNames(c.Find(query, 1)); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
}

func BenchmarkOfferFor(b *testing.B) {
	var defs []tools.Definition
	for i := range 2000 {
		def, err := tools.Parse(fmt.Sprintf("s%d", i/50), []byte(fmt.Sprintf(`{"name":"tool_%d","description":"Does the thing number %d with an issue of a repository."}`, i, i)), false)
		if err != nil {
			b.Fatal(err)
		}
		defs = append(defs, def)
	}
	c := tools.NewCatalogue(defs, tools.Settings{MaxOffered: 100})
	said := []string{strings.Repeat("Please list the issues of the repository and close number 7. ", 20)}
	for b.Loop() {
		c.OfferFor(tools.Conversation{Said: said})
	}
}
