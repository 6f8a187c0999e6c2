package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"pointsman/approvals"
	"pointsman/gateway/cut"
	"pointsman/gateway/tools/schema"
)

// Entry is one tool in a Catalogue. Its fields never change.
type Entry struct {
	Offered string // the name a model sees
	Definition
	Verdict
	Allowed  bool            // the allowlists let it be called
	Missing  string          // why it is not offered; "" when it is
	Cause    Cause           // the same in a word
	Notice   string          // what a user should know about it, or ""
	Function json.RawMessage // the element of an OpenAI request's tools; nil when it could not be made

	shared    bool // another tool would have the same name
	profile   profile
	unvouched profile // without the user's safe list
	words     *vocabulary
	schema    func() (*Schema, error) // compiles at the first call
	fitted    *schema.Fitted          // nil when it could not be, or need not
	terms     func() terms            // what it is found by; made at the first call
}

// Listed returns the verdict of the lists that name the tool: the user's, and the
// embedded ones. Arguments change nothing about it. It reports whether there is
// one.
func (e *Entry) Listed() (Verdict, bool) { return e.profile.verdict, e.profile.fixed }

// Restore maps the arguments of a call, as they follow Function, to what the
// server knows. Arguments that follow the server's own schema stay as they are.
// args must be a JSON object as NormalizeArguments returns it. The error says
// for the model what is wrong.
func (e *Entry) Restore(args json.RawMessage) (json.RawMessage, error) {
	if e.fitted == nil {
		return args, nil
	}
	return e.fitted.Restore(args)
}

// Looser says what Function allows that the tool's own schema does not, a
// sentence each.
func (e *Entry) Looser() []string {
	if e.fitted == nil {
		return nil
	}
	return e.fitted.Looser
}

// Judge judges one call. It is Classifier.Judge without looking at the
// definition again.
func (e *Entry) Judge(args json.RawMessage) Verdict {
	return e.profile.judge(e.words, args)
}

// JudgeChanged is Judge for a tool whose definition is not the one that was agreed
// to (see Pins.Check): the user's safe list does not speak for it.
func (e *Entry) JudgeChanged(args json.RawMessage) Verdict {
	return e.unvouched.judge(e.words, args)
}

// Validate checks a call's arguments against the tool's input schema, and says
// for a model what is wrong. A schema that does not compile checks nothing: see
// SchemaNotice.
func (e *Entry) Validate(args json.RawMessage) error {
	schema, err := e.schema()
	if err != nil {
		schema = &Schema{}
	}
	return schema.Validate(args)
}

// SchemaNotice says why arguments are not validated, or not wholly, or "". The
// schema is compiled at the first call of it or of Validate.
func (e *Entry) SchemaNotice() string {
	compiled, err := e.schema()
	switch {
	case err != nil:
		return "arguments are not validated: " + err.Error()
	case len(compiled.patterns) > 0:
		return fmt.Sprintf("arguments are not validated against %q, a pattern that is not understood here", compiled.patterns[0])
	}
	return ""
}

// Summary returns the beginning of the description, or the title, in at most n
// characters of one line.
func (e *Entry) Summary(n int) string {
	return cut.To(strings.Join(strings.Fields(cmp.Or(e.Description, e.title())), " "), n)
}

func lazySchema(raw json.RawMessage) func() (*Schema, error) {
	return sync.OnceValues(func() (*Schema, error) { return CompileSchema(raw) })
}

// Row is an Entry as `tools --json` prints it.
type Row struct {
	Name        string          `json:"name"` // the offered name
	Tool        string          `json:"tool"`
	Server      string          `json:"server"`
	Class       approvals.Class `json:"class"`
	Risky       bool            `json:"risky"`
	Changed     bool            `json:"changed"` // its definition is not the one that was agreed to: its next call asks
	Allowed     bool            `json:"allowed"`
	Evidence    []string        `json:"evidence"`
	Missing     *string         `json:"missing"` // null when it is offered
	Cause       Cause           `json:"cause"`   // the same in a word; "" when it is offered
	Looser      []string        `json:"looser"`  // what models are not told exactly of its arguments
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Definition  string          `json:"definition"` // its hash
	Notice      string          `json:"notice"`
}

// Row returns the entry as it is printed. It compiles the schema, so that the
// notice is whole.
func (e *Entry) Row() Row {
	row := Row{
		Name: e.Offered, Tool: e.Name, Server: e.Server,
		Class: e.Class, Risky: e.Risky, Allowed: e.Allowed, Evidence: e.Evidence,
		Title: e.title(), Description: e.Description, Definition: e.Hash,
		Notice: joinNotices(e.Notice, e.SchemaNotice()), Cause: e.Cause, Looser: append([]string{}, e.Looser()...),
	}
	if e.Missing != "" {
		row.Missing = &e.Missing
	}
	return row
}

// ChangedRow is Row for a tool whose definition is not the one that was agreed to,
// judged as by JudgeChanged.
func (e *Entry) ChangedRow() Row {
	row, v := e.Row(), e.unvouched.verdict
	row.Changed, row.Class, row.Risky = true, v.Class, v.Risky
	row.Evidence = append([]string{"its definition is not the one that was agreed to"}, v.Evidence...)
	return row
}

// Asks reports whether a call of the tool comes before a person, as far as that
// can be told without its arguments.
func (r Row) Asks() bool { return r.Risky || r.Changed }

func (e *Entry) title() string {
	if e.Title != "" {
		return e.Title
	}
	return e.Annotations.Title
}

func joinNotices(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// MarshalJSON writes the entry's Row.
func (e *Entry) MarshalJSON() ([]byte, error) { return json.Marshal(e.Row()) }
