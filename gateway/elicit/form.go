package elicit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Kind is how a field is filled in.
type Kind string

// The kinds of fields.
const (
	Text    Kind = "text"
	Number  Kind = "number"
	Integer Kind = "integer"
	Switch  Kind = "switch"  // true or false
	Choice  Kind = "choice"  // one of Options
	Choices Kind = "choices" // any of Options
)

// Option is one value to choose.
type Option struct {
	Value string
	Title string // what a person is shown
}

// Field is one thing a form asks for.
type Field struct {
	Name        string
	Title       string // the name when the server gives none
	Description string
	Kind        Kind
	Required    bool
	Default     json.RawMessage // a value that fits the field; nil for none
	Options     []Option
	Format      string   // email, uri, date or date-time; "" for none
	Min, Max    *float64 // of a number; how many characters or options of the others
}

// Form is what a schema asks for, in the server's order.
type Form []Field

// maxFields is how many fields a form may have: more is no question to a person.
const maxFields = 64

// ParseForm reads the restricted JSON schema of an elicitation, an object whose
// properties are strings, numbers, integers, booleans, or choices (MCP
// 2025-11-25). Defaults that do not fit their field are left out.
func ParseForm(schema json.RawMessage) (Form, error) {
	if !gjson.ValidBytes(schema) {
		return nil, errors.New("reading the form: its schema is not JSON")
	}
	root := gjson.ParseBytes(schema)
	if kind := root.Get("type"); !root.IsObject() || kind.Exists() && kind.Str != "object" {
		return nil, errors.New("reading the form: its schema must be of the type object")
	}
	required := map[string]bool{}
	for _, name := range root.Get("required").Array() {
		required[name.Str] = true
	}
	form := Form{}
	var fault error
	root.Get("properties").ForEach(func(name, property gjson.Result) bool {
		var field Field
		if field, fault = parseField(name.Str, property); fault == nil {
			field.Required = required[name.Str]
			form = append(form, field)
		}
		return fault == nil && len(form) <= maxFields
	})
	if fault == nil && len(form) > maxFields {
		fault = fmt.Errorf("reading the form: it has more than %d fields", maxFields)
	}
	return form, fault
}

func parseField(name string, p gjson.Result) (Field, error) {
	f := Field{Name: name, Title: p.Get("title").Str, Description: p.Get("description").Str}
	if f.Title == "" {
		f.Title = name
	}
	switch p.Get("type").Str {
	case "boolean":
		f.Kind = Switch
	case "number", "integer":
		f.Kind = Kind(p.Get("type").Str)
		f.Min, f.Max = number(p.Get("minimum")), number(p.Get("maximum"))
	case "string":
		f.Kind, f.Format = Text, p.Get("format").Str
		f.Min, f.Max = number(p.Get("minLength")), number(p.Get("maxLength"))
		if f.Options = options(p); f.Options != nil {
			f.Kind, f.Format, f.Min, f.Max = Choice, "", nil, nil
		}
	case "array":
		f.Kind, f.Options = Choices, options(p.Get("items"))
		f.Min, f.Max = number(p.Get("minItems")), number(p.Get("maxItems"))
		if f.Options == nil {
			return Field{}, fmt.Errorf("reading the form: the list %q does not say what can be chosen", name)
		}
	default:
		return Field{}, fmt.Errorf("reading the form: the field %q is neither a string, a number, a boolean nor a list of choices", name)
	}
	if preset := p.Get("default"); preset.Exists() && preset.Type != gjson.Null && f.check(preset) == nil {
		f.Default = json.RawMessage(preset.Raw)
	}
	return f, nil
}

func number(r gjson.Result) *float64 {
	if r.Type != gjson.Number {
		return nil
	}
	return &r.Num
}

// options returns what can be chosen: the members of enum, with the titles of
// enumNames if there are any, or of oneOf or anyOf.
func options(p gjson.Result) []Option {
	var list []Option
	titles := p.Get("enumNames").Array()
	for i, value := range p.Get("enum").Array() {
		o := Option{value.String(), value.String()}
		if i < len(titles) && titles[i].Str != "" {
			o.Title = titles[i].Str
		}
		list = append(list, o)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		for _, each := range p.Get(key).Array() {
			value := each.Get("const")
			o := Option{value.String(), each.Get("title").Str}
			if !value.Exists() {
				continue
			}
			if o.Title == "" {
				o.Title = o.Value
			}
			list = append(list, o)
		}
	}
	return list
}

// FieldError says what is wrong with the value of a field, in words for a person.
type FieldError struct {
	Field string // its name
	Fault string
}

func (e *FieldError) Error() string { return fmt.Sprintf("%s: %s", e.Field, e.Fault) }

// Check checks the values of a form that is sent, an object by the names of the
// fields. The error joins a *FieldError for each field that does not fit.
func (form Form) Check(content json.RawMessage) error {
	values := map[string]gjson.Result{}
	if len(bytes.TrimSpace(content)) > 0 {
		if !gjson.ValidBytes(content) || !gjson.ParseBytes(content).IsObject() {
			return errors.New("checking the form: its values are not a JSON object")
		}
		values = gjson.ParseBytes(content).Map()
	}
	var faults []error
	for _, f := range form {
		value, given := values[f.Name]
		delete(values, f.Name)
		fault := error(nil)
		switch {
		case given:
			fault = f.check(value)
		case f.Required:
			fault = errors.New("it must be filled in")
		}
		if fault != nil {
			faults = append(faults, &FieldError{f.Name, fault.Error()})
		}
	}
	for name := range values {
		faults = append(faults, &FieldError{name, "the form has no such field"})
	}
	return errors.Join(faults...)
}

// Value reads what a person typed into a field of the kind Text, Number or
// Integer, as JSON; nil when nothing was. The error is in words for a person.
func (f Field) Value(typed string) (json.RawMessage, error) {
	if f.Kind != Text {
		typed = strings.TrimSpace(typed)
	}
	if typed == "" {
		if f.Required {
			return nil, errors.New("it must be filled in")
		}
		return nil, nil
	}
	var value any = typed
	if f.Kind != Text {
		n, err := strconv.ParseFloat(typed, 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return nil, errors.New("it must be a number")
		}
		value = n
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return raw, f.check(gjson.ParseBytes(raw))
}

// Fault says what is wrong with a value of the field, in words for a person; nil
// when it fits.
func (f Field) Fault(value json.RawMessage) error { return f.check(gjson.ParseBytes(value)) }

// check says what is wrong with a value, in words for a person.
func (f Field) check(v gjson.Result) error {
	switch f.Kind {
	case Switch:
		if !v.IsBool() {
			return errors.New("it must be yes or no")
		}
	case Number, Integer:
		return f.checkNumber(v)
	case Choice:
		if v.Type != gjson.String || !f.offers(v.Str) {
			return errors.New("it must be one of the choices")
		}
	case Choices:
		return f.checkChoices(v)
	default:
		return f.checkText(v)
	}
	return nil
}

func (f Field) offers(value string) bool {
	return slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == value })
}

func (f Field) checkNumber(v gjson.Result) error {
	switch {
	case v.Type != gjson.Number:
		return errors.New("it must be a number")
	case f.Kind == Integer && v.Num != math.Trunc(v.Num):
		return errors.New("it must be a whole number")
	case f.Min != nil && v.Num < *f.Min:
		return fmt.Errorf("it must be at least %s", plain(*f.Min))
	case f.Max != nil && v.Num > *f.Max:
		return fmt.Errorf("it must be at most %s", plain(*f.Max))
	}
	return nil
}

func (f Field) checkChoices(v gjson.Result) error {
	if !v.IsArray() {
		return errors.New("it must be a list of choices")
	}
	chosen := v.Array()
	for _, each := range chosen {
		if each.Type != gjson.String || !f.offers(each.Str) {
			return errors.New("each must be one of the choices")
		}
	}
	n := float64(len(chosen))
	switch {
	case f.Min != nil && n < *f.Min:
		return fmt.Errorf("choose at least %s", plain(*f.Min))
	case f.Max != nil && n > *f.Max:
		return fmt.Errorf("choose at most %s", plain(*f.Max))
	}
	return nil
}

func (f Field) checkText(v gjson.Result) error {
	if v.Type != gjson.String {
		return errors.New("it must be text")
	}
	n := float64(utf8.RuneCountInString(v.Str))
	switch {
	case f.Min != nil && n < *f.Min:
		return fmt.Errorf("it must have at least %s characters", plain(*f.Min))
	case f.Max != nil && n > *f.Max:
		return fmt.Errorf("it must have at most %s characters", plain(*f.Max))
	}
	return checkFormat(f.Format, v.Str)
}

// checkFormat checks the formats that the protocol has; any other is the server's
// business.
func checkFormat(format, text string) error {
	var err error
	want := ""
	switch format {
	case "email":
		var address *mail.Address
		address, err = mail.ParseAddress(text)
		if err == nil && address.Address != text {
			err = errors.New("it has more than an address")
		}
		want = "an e-mail address, like name@example.com"
	case "uri":
		var u *url.URL
		u, err = url.Parse(text)
		if err == nil && !u.IsAbs() {
			err = errors.New("it has no scheme")
		}
		want = "an address, like https://example.com"
	case "date":
		_, err = time.Parse(time.DateOnly, text)
		want = "a date, like 2026-01-31"
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
		want = "a date and time, like 2026-01-31T18:00:00Z"
	}
	if err != nil {
		return errors.New("it must be " + want)
	}
	return nil
}

func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
