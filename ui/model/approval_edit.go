package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"pointsman/approvals"
)

// MostEdited is the longest arguments, in bytes, that can be edited.
const MostEdited = 64 << 10

// EditableJSON lays arguments out for editing. What would hide in an editor is
// written as the escape that JSON has for it, so that saving changes nothing.
func EditableJSON(args json.RawMessage) string {
	var indented bytes.Buffer
	if err := json.Indent(&indented, bytes.TrimSpace(args), "", "  "); err != nil || indented.Len() == 0 {
		return "{}"
	}
	var b strings.Builder
	for _, r := range indented.String() {
		if r == '\n' || approvals.Visible(string(r)) == string(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// EditFault says where edited arguments are wrong, and how.
type EditFault struct {
	Line, Column int // from 1; 0: no place in particular
	Problem      string
}

func (f *EditFault) Error() string {
	if f.Line == 0 {
		return f.Problem
	}
	return fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.Problem)
}

// EditedArguments reads edited arguments for a decision. They must be one JSON
// object that the gate takes. The error is an *EditFault.
func EditedArguments(req approvals.Request, text string) (json.RawMessage, error) {
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(text), &whole); err != nil { // unlike Compact it says where
		return nil, faultAt(text, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, whole); err != nil {
		return nil, faultAt(text, err)
	}
	d := approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk, Arguments: compact.Bytes()}
	if err := approvals.Check(d, req); err != nil {
		return nil, &EditFault{Problem: strings.TrimPrefix(err.Error(), "edited arguments: ")}
	}
	return compact.Bytes(), nil
}

// faultAt finds the place of an error in text.
func faultAt(text string, err error) *EditFault {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return &EditFault{Problem: err.Error()}
	}
	// The offset counts the byte at fault, which has been read.
	at := min(max(int(syntax.Offset)-1, 0), len(text))
	if strings.HasPrefix(err.Error(), "unexpected end") {
		at = len(text)
	}
	before := text[:at]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return &EditFault{Line: line, Column: column, Problem: err.Error()}
}
