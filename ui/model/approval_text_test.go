package model_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"pointsman/approvals"
	"pointsman/ui/model"
)

// written writes lines in a row each: its kind, its label, its text.
func written(lines []model.TextLine) string {
	marks := map[model.TextKind]string{
		model.TextHeading: "# ", model.TextNote: "note ", model.TextWarning: "warning ",
		model.TextAdded: "added ", model.TextRemoved: "removed ", model.TextHunk: "hunk ",
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(marks[l.Kind])
		if l.Label != "" {
			b.WriteString("<" + l.Label + "> ")
		}
		if l.Under {
			b.WriteString(".. ")
		}
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func TestArgumentLines(t *testing.T) {
	for _, tt := range []struct{ name, args, want string }{
		{"none", ``, "note No arguments.\n"},
		{"an empty object", ` {} `, "note No arguments.\n"},
		{"in their own order", `{"b":1,"a":"x"}`, "<b> 1\n<a> x\n"},
		{"numbers as written", `{"n":1e400,"m":0.10}`, "<n> 1e400\n<m> 0.10\n"},
		{"a string unfolds", `{"content":"a\n\tb\n"}`, "<content> \n.. a\n..     b\n.. \n"},
		{"a string that looks like something else", `{"a":"true","b":"5","c":"null","d":"","e":" x ","f":"{}"}`,
			"<a> \"true\"\n<b> \"5\"\n<c> \"null\"\n<d> \"\"\n<e> \" x \"\n<f> \"{}\"\n"},
		{"what hides", `{"a":"x\u202ey\u200b\u0007","b":"a\r\nb"}`, "<a> x<U+202E>y<U+200B><U+0007>\n<b> \n.. a<U+000D>\n.. b\n"},
		{"what hides in a name", `{"a\u202eb":1,"":2,"x y":3,"a\nb":4}`, "<[\"a<U+202E>b\"]> 1\n<[\"\"]> 2\n<[\"x y\"]> 3\n<[\"a\\nb\"]> 4\n"},
		{"half a character", `{"a":"\ud800x"}`, "<a> \"\\ud800x\"\n"},
		{"marks piled on a letter", `{"a":"e\u0301\u0301\u0301\u0301"}`, "<a> e\u0301\u0301<U+0301><U+0301>\n"},
		{"a short list", `{"a":[1, 2,"x"],"b":{"c":"\u4f60"}}`, "<a> [ 1, 2, \"x\" ]\n<b> { \"c\": \"你\" }\n"},
		{"a list of texts unfolds", `{"edits":[{"old":"a\nb","new":"c"}]}`, "<edits[0].old> \n.. a\n.. b\n<edits[0].new> c\n"},
		{"a long list is taken apart", `{"a":[` + strings.Repeat(`"0123456789",`, 9) + `"end"]}`,
			"<a[0]> 0123456789\n<a[1]> 0123456789\n<a[2]> 0123456789\n<a[3]> 0123456789\n<a[4]> 0123456789\n" +
				"<a[5]> 0123456789\n<a[6]> 0123456789\n<a[7]> 0123456789\n<a[8]> 0123456789\n<a[9]> end\n"},
		{"twice the same name", `{"a":1,"a":2}`, "<a> 1\n<a> 2\n"},
		{"not an object", `[1]`, "warning These arguments are not a JSON object. As they came:\n[1]\n"},
		{"not JSON", "{\"a\u202e", "warning These arguments are not a JSON object. As they came:\n{\"a<U+202E>\n"},
		{"not text", "{\"a\":\"\xff\"}", "warning These arguments are not a JSON object. As they came:\n{\"a\":\"<0xFF>\"}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := written(model.ArgumentLines(json.RawMessage(tt.args))); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// Whatever the arguments are, nothing hides, no row is wider than the window, and
// no text is lost on the way into rows.
func FuzzArgumentRows(f *testing.F) {
	f.Add(`{"a":"x\u202e\n\ty","b":[1,{"c":"\ud800"}]}`, 40)
	f.Add("{\"\xff\":1", 10)
	f.Add(`{"`+strings.Repeat("长", 100)+`":"`+strings.Repeat("🙂", 100)+`"}`, 20)
	f.Add(strings.Repeat(`{"a":[`, 60)+`1`+strings.Repeat(`]}`, 60), 80)
	f.Fuzz(func(t *testing.T, args string, columns int) {
		columns = 16 + (columns%200+200)%200
		lines := model.ArgumentLines(json.RawMessage(args))
		if len(lines) == 0 {
			t.Fatal("nothing is shown")
		}
		var want, got strings.Builder
		for _, l := range lines {
			want.WriteString(l.Text)
			if approvals.Visible(l.Text) != l.Text {
				t.Errorf("%q hides something", l.Text)
			}
		}
		for _, row := range model.Rows(lines, columns) {
			got.WriteString(row.Text)
			if approvals.Visible(row.Label) != row.Label {
				t.Errorf("%q hides something", row.Label)
			}
			if n := columnsOf(row.Text) + row.Indent; n > columns {
				t.Errorf("%q takes %d of %d columns", row.Text, n, columns)
			}
			if n := columnsOf(row.Label); n > columns || row.Text != "" && row.Label != "" && n >= row.Indent {
				t.Errorf("label %q takes %d columns, its text begins at %d", row.Label, n, row.Indent)
			}
		}
		if got.String() != want.String() {
			t.Error("text is lost between lines and rows")
		}
	})
}

// columnsOf counts a character of most scripts beyond Europe and the Middle East
// twice.
func columnsOf(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r < 0x700 || r >= 0x2010 && r <= 0x2027 || r >= 0x2500 && r < 0x2580:
			n++
		default:
			n += 2
		}
	}
	return n
}

func TestRows(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []model.TextLine
		want  []model.TextRow
	}{
		{"fits", []model.TextLine{{Label: "path", Text: "/a"}}, []model.TextRow{{Label: "path", Text: "/a", Indent: 6}}},
		{"breaks", []model.TextLine{{Label: "ab", Text: "0123456789abcdefgh"}}, []model.TextRow{
			{Label: "ab", Text: "0123456789ab", Indent: 4}, {Text: "cdefgh", Indent: 4, Continues: true},
		}},
		{"a wide name stands above", []model.TextLine{{Label: "destination", Text: "/a"}}, []model.TextRow{
			{Label: "destination"}, {Text: "/a", Indent: 2},
		}},
		{"wide characters", []model.TextLine{{Text: "长长长长长长长长长"}}, []model.TextRow{{Text: "长长长长长长长长"}, {Text: "长", Continues: true}}},
		{"an empty line is a row", []model.TextLine{{Text: ""}}, []model.TextRow{{}}},
		{"under a name", []model.TextLine{{Label: "content"}, {Text: "x", Under: true}}, []model.TextRow{{Label: "content"}, {Text: "x", Indent: 2}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := model.Rows(tt.lines, 0)
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestDefinitionAndDetailLines(t *testing.T) {
	req := approvals.Request{
		Tool: "t\u202e", Server: "s", Class: approvals.Write, Evidence: []string{"one", "two"}, Run: "r", Round: 3,
		CWD: "/a\nb", DefinitionChange: "@@ -1 +1 @@\n-old\n+new\u200b\n",
	}
	want := "warning The server has changed what it says of this tool:\nhunk @@ -1 +1 @@\nremoved -old\nadded +new<U+200B>\n"
	if got := written(model.DefinitionLines(req)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	want = "<tool> t<U+202E>\n<server> s\n<class> write\n<because> one\n<because> two\n<folder> \n.. /a\n.. b\n<run> r\n<round> 3\n"
	if got := written(model.DetailLines(req)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if lines := model.DefinitionLines(approvals.Request{}); lines != nil {
		t.Errorf("an unchanged definition: %v", lines)
	}
}

// A megabyte is laid out while a person does not notice.
func BenchmarkArgumentRows(b *testing.B) {
	content, err := json.Marshal(map[string]string{"content": strings.Repeat("func main() { println(\"hello, 世界\") }\n", 1<<20/40)})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		model.Rows(model.ArgumentLines(content), 80)
	}
}

func TestArgumentNames(t *testing.T) {
	for args, want := range map[string]string{
		``: "", `{}`: "", `{"path":"/x"}`: "", `[1,2]`: "", `{"a":`: "",
		`{"path":"/x","content":"\n\n","command":{"a":[1,{"b":2}]}}`: "3: path, content, command",
		`{"a\u202eb":1,"c":2}`: "2: a<U+202E>b, c",
	} {
		if got := model.ArgumentNames(json.RawMessage(args)); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}
