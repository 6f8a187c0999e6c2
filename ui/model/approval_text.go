package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"pointsman/approvals"
)

// TextKind says what a line of a call's text is.
type TextKind int

// The kinds of lines.
const (
	TextPlain   TextKind = iota
	TextHeading          // of a section
	TextNote             // ours, about what stands below it
	TextWarning          // ours, and worth a second look
	TextAdded            // of a diff
	TextRemoved          // of a diff
	TextHunk             // of a diff: where the lines after it stand
)

// TextLine is one line of what a person judges. Nothing in it hides.
type TextLine struct {
	Kind  TextKind
	Label string // names the value that begins here, or ""
	Text  string
	Under bool // it belongs to a name that stands above it
}

const (
	// inlineValue is the longest value, in characters, that keeps its brackets and
	// stands on one line; a longer one is taken apart.
	inlineValue = 72
	// deepest is how far values are taken apart; what lies deeper is shown as JSON.
	deepest = 24
)

// ArgumentLines lays a call's arguments out, whole and in their own order: each
// value under its name, strings over as many lines as they have. Numbers, words
// and what is not an object are shown as the JSON they are.
func ArgumentLines(args json.RawMessage) []TextLine {
	if len(bytes.TrimSpace(args)) == 0 || string(bytes.TrimSpace(args)) == "{}" {
		return []TextLine{{Kind: TextNote, Text: "No arguments."}}
	}
	if !utf8.Valid(args) || !json.Valid(args) || kindOf(args) != '{' {
		return append([]TextLine{{Kind: TextWarning, Text: "These arguments are not a JSON object. As they came:"}}, plainLines("", string(args))...)
	}
	return appendMembers(nil, "", args, 0)
}

// ArgumentNames says which arguments there are, when there are several: a long one
// must not hide that others follow. It is "" for one, for none, and for what is no
// object.
func ArgumentNames(args json.RawMessage) string {
	if kindOf(args) != '{' {
		return ""
	}
	var names []string
	dec := json.NewDecoder(bytes.NewReader(args))
	_, err := dec.Token()
	for err == nil && dec.More() {
		var key json.Token
		var value json.RawMessage
		if key, err = dec.Token(); err == nil {
			names = append(names, Shorten(approvals.Visible(key.(string)), longestPart))
			err = dec.Decode(&value)
		}
	}
	if len(names) < 2 {
		return ""
	}
	return fmt.Sprintf("%d: %s", len(names), strings.Join(names, ", "))
}

// kindOf returns the first byte of a JSON value, which tells its kind.
func kindOf(raw json.RawMessage) byte {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 {
		return trimmed[0]
	}
	return 0
}

// appendMembers appends the members of an object or a list that stands under label.
func appendMembers(lines []TextLine, label string, raw json.RawMessage, depth int) []TextLine {
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, err := dec.Token()
	for i := 0; err == nil && dec.More(); i++ {
		name := fmt.Sprintf("%s[%d]", label, i)
		if open == json.Delim('{') {
			var key json.Token
			if key, err = dec.Token(); err != nil {
				break
			}
			name = memberName(label, key.(string))
		}
		var value json.RawMessage
		if err = dec.Decode(&value); err == nil {
			lines = appendValue(lines, name, value, depth+1)
		}
	}
	if err != nil { // it was valid JSON as a whole; should a part not be, it is shown as it came
		return append(lines, plainLines(label, approvals.VisibleText(string(raw)))...)
	}
	return lines
}

// memberName names the member key of what stands under label.
func memberName(label, key string) string {
	simple := key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	switch {
	case !simple:
		return label + "[" + quoted(key) + "]"
	case label == "":
		return key
	default:
		return label + "." + key
	}
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		return fmt.Sprintf("%q", text)
	}
	return approvals.VisibleJSON(raw)
}

func appendValue(lines []TextLine, label string, raw json.RawMessage, depth int) []TextLine {
	switch kindOf(raw) {
	case '"':
		return append(lines, stringLines(label, raw)...)
	case '{', '[':
		if text, ok := inline(raw); ok {
			return append(lines, TextLine{Label: label, Text: text})
		}
		if depth < deepest {
			return appendMembers(lines, label, raw, depth)
		}
		return append(lines, plainLines(label, approvals.VisibleJSON(raw))...)
	default:
		return append(lines, TextLine{Label: label, Text: approvals.VisibleText(string(raw))})
	}
}

// inline returns a short list or object as one line of JSON.
func inline(raw json.RawMessage) (string, bool) {
	if len(raw) > 4*inlineValue || bytes.Contains(raw, []byte(`\n`)) {
		return "", false
	}
	// A line break is never inside a string, so what stands at the beginning of a
	// line is indentation.
	var parts []string
	for line := range strings.SplitSeq(approvals.VisibleJSON(raw), "\n") {
		parts = append(parts, strings.TrimLeft(line, " "))
	}
	text := strings.Join(parts, " ")
	return text, utf8.RuneCountInString(text) <= inlineValue
}

// stringLines unfolds a string. One that could be taken for something else, or
// that says less than its JSON, is shown as the JSON it is.
func stringLines(label string, raw json.RawMessage) []TextLine {
	var text string
	if json.Unmarshal(raw, &text) != nil || strings.ContainsRune(text, unicode.ReplacementChar) || mistakable(text) {
		return []TextLine{{Label: label, Text: approvals.Visible(string(bytes.TrimSpace(raw)))}}
	}
	return plainLines(label, text)
}

// mistakable reports whether a string without its quotes looks like another
// value, or hides where it begins and ends.
func mistakable(text string) bool {
	if text == "" || text != strings.TrimSpace(text) && !strings.Contains(text, "\n") {
		return true
	}
	return len(text) < inlineValue && json.Valid([]byte(text))
}

// plainLines are the lines of a text of several, under its label.
func plainLines(label, text string) []TextLine {
	if !strings.Contains(text, "\n") {
		return []TextLine{{Label: label, Text: showable(text)}}
	}
	var lines []TextLine
	if label != "" {
		lines = append(lines, TextLine{Label: label})
	}
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, TextLine{Text: showable(line), Under: label != ""})
	}
	return lines
}

// mostMarks is how many marks may stand on one letter. More would grow over the
// lines above and below.
const mostMarks = 2

// tabWidth is how many blanks a tab is shown as.
const tabWidth = 4

// showable makes one line of a text fit to be drawn: what hides is written out,
// and so are marks piled on one letter.
func showable(line string) string {
	if !strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
		return line // most are
	}
	var b strings.Builder
	marks := 0
	for _, r := range approvals.VisibleText(line) {
		switch {
		case r == '\t':
			b.WriteString(strings.Repeat(" ", tabWidth))
		case !unicode.Is(unicode.M, r):
			marks = 0
			b.WriteRune(r)
		case marks < mostMarks:
			marks++
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// DefinitionLines show how a tool's definition changed since it was last seen;
// none when it did not.
func DefinitionLines(req approvals.Request) []TextLine {
	if req.DefinitionChange == "" {
		return nil
	}
	return append([]TextLine{{Kind: TextWarning, Text: "The server has changed what it says of this tool:"}}, diffLines(req.DefinitionChange)...)
}

// WarningLines say what is destructive in a call; none when nothing was found.
func WarningLines(req approvals.Request) []TextLine {
	var lines []TextLine
	for _, warning := range req.Warnings {
		lines = append(lines, TextLine{Kind: TextWarning, Text: approvals.Visible(warning)})
	}
	return lines
}

// DetailLines tell everything about a call that is not its arguments, whole.
func DetailLines(req approvals.Request) []TextLine {
	var lines []TextLine
	add := func(label, value string) {
		if value != "" {
			lines = append(lines, plainLines(label, value)...)
		}
	}
	add("tool", req.Tool)
	add("title", req.Title)
	add("server", req.Server)
	add("class", string(req.Class))
	for _, evidence := range req.Evidence {
		add("because", evidence)
	}
	add("asked", req.Reason)
	add("plan step", req.PlanStep)
	add("client", req.Client)
	add("door", req.Door)
	add("model", req.Model)
	add("folder", req.CWD)
	add("session", req.Session)
	add("run", req.Run)
	if req.Run != "" {
		add("round", fmt.Sprint(req.Round))
	}
	return lines
}
