package model_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pointsman/approvals"
	"pointsman/ui/model"
)

func TestChangeLines(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := put("a.go", "one\ntwo\nthree\n")
	binary := put("a.bin", "a\x00b")
	large := put("large", strings.Repeat("x", model.MostCompared+1))
	absent := filepath.Join(dir, "absent")
	object := func(pairs ...any) string {
		members := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			members[pairs[i].(string)] = pairs[i+1]
		}
		raw, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	file := func(path string) string { return "<file> " + path + "\n" }
	hunk := "hunk @@ -1,3 +1,3 @@\n one\nremoved -two\nadded +2\n three\n"

	for _, tt := range []struct{ name, tool, args, want string }{
		{"a whole file", "write_file", object("path", text, "content", "one\n2\nthree\n"), file(text) + hunk},
		{"by a file URL", "write_file", object("uri", "file://"+text, "text", "one\n2\nthree\n"), file(text) + hunk},
		{"what hides", "write_file", object("path", text, "content", "one\ntwo\u202e\nthree\n"),
			file(text) + "hunk @@ -1,3 +1,3 @@\n one\nremoved -two\nadded +two<U+202E>\n three\n"},
		{"no end of line", "write_file", object("path", text, "content", "one\ntwo\nthree"),
			file(text) + "hunk @@ -1,3 +1,3 @@\n one\n two\nremoved -three\nadded +three\n\\ No newline at end of file\n"},
		{"the same", "write_file", object("path", text, "content", "one\ntwo\nthree\n"), file(text) + "note The file has this content already.\n"},
		{"a patch", "apply_patch", object("files", []string{text}, "patch", "*** Update File: a.go\n@@\n one\n-two\n+2\u202e"),
			"hunk *** Update File: a.go\nhunk @@\n one\nremoved -two\nadded +2<U+202E>\n"},
		{"a new file", "write_file", object("path", absent, "content", "x"), file(absent) + "note The file does not exist yet: all of its content is new.\n"},
		{"binary", "write_file", object("path", binary, "content", "x"), file(binary) + "note No comparison: the file is binary.\n"},
		{"large", "write_file", object("path", large, "content", "x"), file(large) + "note No comparison: the file is larger than 1024 kB.\n"},
		{"a folder", "write_file", object("path", dir, "content", "x"), file(dir) + "note No comparison: it is no regular file.\n"},
		{"an edit", "edit_file", object("file_path", text, "old_string", "two", "new_string", "2"), file(text) + hunk},
		{"edits", "edit_file", object("path", text, "edits", []any{map[string]string{"oldText": "two", "newText": "2"}}, "dryRun", false), file(text) + hunk},
		{"an edit that does not fit", "edit_file", object("path", text, "old_str", "e", "new_str", "E"),
			file(text) + "note The text to replace is not in the file exactly once.\nnote The texts that are exchanged:\nhunk @@ -1,1 +1,1 @@\nremoved -e\n\\ No newline at end of file\nadded +E\n\\ No newline at end of file\n"},
		{"an edit of what is not there", "edit_file", object("path", absent, "old_str", "a\n", "new_str", "b\n"),
			file(absent) + "note Not compared with the file: it does not exist.\nnote The texts that are exchanged:\nhunk @@ -1,1 +1,1 @@\nremoved -a\nadded +b\n"},

		{"appending is not replacing", "append_file", object("path", text, "content", "x"), ""},
		{"something else is said", "write_file", object("path", text, "content", "x", "offset", 3), ""},
		{"two paths", "write_file", object("path", text, "file", text, "content", "x"), ""},
		{"a relative path", "write_file", object("path", "a.go", "content", "x"), ""},
		{"a path with two readings", "write_file", object("path", text+"%41", "content", "x"), ""},
		{"an address", "write_file", object("path", "https://example.com/a", "content", "x"), ""},
		{"content that is no text", "write_file", object("path", text, "content", 5), ""},
		{"edits that say more", "edit_file", object("path", text, "edits", []any{map[string]any{"oldText": "two", "newText": "2", "all": true}}), ""},
		{"no edits", "edit_file", object("path", text, "edits", []any{}), ""},
		{"reading", "read_file", object("path", text), ""},
		{"not an object", "write_file", "[]", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := approvals.Request{Tool: tt.tool, Arguments: json.RawMessage(tt.args)}
			if got := written(model.ChangeLines(t.Context(), req, req.Arguments)); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
	t.Run("nobody waits for it", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		args := json.RawMessage(object("path", text, "content", "x"))
		if lines := model.ChangeLines(ctx, approvals.Request{}, args); lines != nil {
			t.Errorf("got %v", lines)
		}
	})
}

func TestEditedArguments(t *testing.T) {
	for _, tt := range []struct{ name, text, want, fault string }{
		{"in order", "{\n  \"a\": 1\n}", `{"a":1}`, ""},
		{"an empty object", "{}", "{}", ""},
		{"a comma too many", "{\n  \"a\": 1,\n}", "", "line 3, column 1: invalid character '}' looking for beginning of object key string"},
		{"after wide characters", `{"a": "你好" x}`, "", "line 1, column 12: invalid character 'x' after object key:value pair"},
		{"not finished", "{\n  \"a\": ", "", "line 2, column 8: unexpected end of JSON input"},
		{"nothing", "", "", "line 1, column 1: unexpected end of JSON input"},
		{"more than one", "{}\n{}", "", "line 2, column 1: invalid character '{' after top-level value"},
		{"not an object", "[1]", "", "not a JSON object"},
		{"twice the same name", `{"a":1,"a":2}`, "", `key "a" occurs twice`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := model.EditedArguments(approvals.Request{ID: "a"}, tt.text)
			if string(got) != tt.want || err == nil != (tt.fault == "") {
				t.Fatalf("got %s, %v", got, err)
			}
			if err != nil && err.Error() != tt.fault {
				t.Errorf("fault %q, want %q", err, tt.fault)
			}
		})
	}
}

// Laid out for editing, arguments mean what they meant, and nothing hides.
func FuzzEditableJSON(f *testing.F) {
	f.Add("{\"a\":\"\u202e\u200b\U000E0041\",\"b\":[1,{}]}")
	f.Add(`{"a":"\u202e\n"}`)
	f.Fuzz(func(t *testing.T, args string) {
		text := model.EditableJSON(json.RawMessage(args))
		if approvals.VisibleText(text) != text && json.Valid([]byte(args)) && !strings.ContainsRune(text, '\ufffd') {
			t.Fatalf("%q hides something", text)
		}
		var before, after any
		if json.Unmarshal([]byte(args), &before) != nil {
			return
		}
		if err := json.Unmarshal([]byte(text), &after); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		b, _ := json.Marshal(before)
		a, _ := json.Marshal(after)
		if string(a) != string(b) {
			t.Fatalf("%s became %s", b, a)
		}
	})
}
