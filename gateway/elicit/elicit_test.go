package elicit_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pointsman/gateway/elicit"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ params, fault string }{
		"form":                 {`{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, ""},
		"form without schema":  {`{"mode":"form","message":"m"}`, ""},
		"page":                 {`{"mode":"url","message":"m","url":"https://example.com/x"}`, ""},
		"no page":              {`{"mode":"url","message":"m"}`, "not an address"},
		"a file":               {`{"mode":"url","url":"file:///etc/passwd"}`, "not an address"},
		"a script":             {`{"mode":"url","url":"javascript://x/%0aalert(1)"}`, `"javascript"`},
		"a name in front":      {`{"mode":"url","url":"https://bank.example@evil.example/"}`, "user name"},
		"unknown mode":         {`{"mode":"voice"}`, `"voice"`},
		"nested":               {`{"requestedSchema":{"type":"object","properties":{"a":{"type":"object"}}}}`, `"a"`},
		"list without choices": {`{"requestedSchema":{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}}`, `"a"`},
		"not an object":        {`{"requestedSchema":{"type":"string"}}`, "object"},
		"not JSON":             {`{`, "reading"},
		"endless":              {`{"message":"` + strings.Repeat("m", 128<<10) + `"}`, "128 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := elicit.Read(json.RawMessage(c.params))
			if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("got %v, want %q", err, c.fault)
			}
		})
	}
}

const everyKind = `{"type":"object","required":["name","count","pick"],"properties":{
	"name":{"type":"string","title":"Your name","minLength":2,"maxLength":4,"default":"Ada"},
	"mail":{"type":"string","format":"email"},
	"site":{"type":"string","format":"uri"},
	"day":{"type":"string","format":"date"},
	"at":{"type":"string","format":"date-time"},
	"count":{"type":"integer","minimum":1,"maximum":9,"default":99},
	"ratio":{"type":"number"},
	"sure":{"type":"boolean","default":true},
	"pick":{"type":"string","oneOf":[{"const":"a","title":"First"},{"const":"b","title":"Second"}]},
	"old":{"type":"string","enum":["x","y"],"enumNames":["Ex","Why"]},
	"many":{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"p","title":"P"},{"const":"q","title":"Q"},{"const":"r","title":"R"}]}}
}}`

func TestForm(t *testing.T) {
	form, err := elicit.ParseForm(json.RawMessage(everyKind))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range form {
		names = append(names, f.Name)
	}
	if want := strings.Fields("name mail site day at count ratio sure pick old many"); !slices.Equal(names, want) {
		t.Errorf("fields %q, want them in the server's order, %q", names, want)
	}
	if form[0].Title != "Your name" || string(form[0].Default) != `"Ada"` || form[1].Title != "mail" || form[5].Default != nil {
		t.Errorf("read as %+v", form)
	}
	if o := form[9].Options; len(o) != 2 || o[1] != (elicit.Option{Value: "y", Title: "Why"}) {
		t.Errorf("options %+v", o)
	}
}

func TestCheck(t *testing.T) {
	form, err := elicit.ParseForm(json.RawMessage(everyKind))
	if err != nil {
		t.Fatal(err)
	}
	const fine = `"name":"Ada","count":1,"pick":"a"`
	for content, faulty := range map[string]string{
		`{` + fine + `}`: "",
		`{` + fine + `,"mail":"a@b.cc","site":"https://x.y","day":"2026-01-31","at":"2026-01-31T18:00:00Z","ratio":-0.5,"sure":false,"old":"x","many":["p","r"]}`: "",
		`{}`:                                     "name count pick",
		`{"name":"A","count":1,"pick":"a"}`:      "name",
		`{"name":"Adele","count":10,"pick":"c"}`: "name count pick",
		`{"name":"ééé","count":1.5,"pick":"a"}`:  "count",
		`{` + fine + `,"mail":"Ada <a@b.cc>","site":"x.y","day":"2026-02-30","at":"now"}`: "mail site day at",
		`{` + fine + `,"sure":"yes","many":[]}`:                                           "sure many",
		`{` + fine + `,"many":["p","q","r"],"old":"Ex"}`:                                  "many old",
		`{` + fine + `,"many":["z"]}`:                                                     "many",
		`{` + fine + `,"another":1}`:                                                      "another",
	} {
		err := form.Check(json.RawMessage(content))
		for _, name := range strings.Fields(faulty) {
			if err == nil || !strings.Contains("\n"+err.Error(), "\n"+name+": ") {
				t.Errorf("%s: %v does not say what is wrong with %s", content, err, name)
			}
		}
		var one *elicit.FieldError
		if err != nil && (faulty == "" || !errors.As(err, &one) || strings.Count(err.Error(), "\n") != len(strings.Fields(faulty))-1) {
			t.Errorf("%s: %v, want faults of %q alone", content, err, faulty)
		}
	}
	if form.Check(json.RawMessage(`[]`)) == nil || form.Check(json.RawMessage(`{`)) == nil {
		t.Error("values that are no object are taken")
	}
}

func TestTyped(t *testing.T) {
	limit := 5.0
	for name, c := range map[string]struct {
		field  elicit.Field
		typed  string
		want   string
		faulty bool
	}{
		"text as it is":     {elicit.Field{Kind: elicit.Text}, ` a "b" `, `" a \"b\" "`, false},
		"nothing":           {elicit.Field{Kind: elicit.Text}, "", "", false},
		"nothing, required": {elicit.Field{Kind: elicit.Number, Required: true}, " ", "", true},
		"number":            {elicit.Field{Kind: elicit.Number}, " 1.50 ", "1.5", false},
		"no number":         {elicit.Field{Kind: elicit.Number}, "1,5", "", true},
		"infinite":          {elicit.Field{Kind: elicit.Number}, "Inf", "", true},
		"not whole":         {elicit.Field{Kind: elicit.Integer}, "1.5", "", true},
		"too large":         {elicit.Field{Kind: elicit.Integer, Max: &limit}, "6", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.field.Value(c.typed)
			if (err != nil) != c.faulty || err == nil && string(got) != c.want {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func FuzzForm(f *testing.F) {
	f.Add([]byte(everyKind), []byte(`{"name":"Ada"}`))
	f.Add([]byte(`{"properties":{"":{"type":"array","items":{"enum":[1,null]}}}}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, schema, content []byte) {
		form, err := elicit.ParseForm(schema)
		if err != nil {
			return
		}
		for _, field := range form { // a default that is kept can be sent
			if field.Default != nil && (elicit.Form{field}).Check(json.RawMessage(`{}`)) == nil && !json.Valid(field.Default) {
				t.Errorf("the default %q of %q is not JSON", field.Default, field.Name)
			}
		}
		_ = form.Check(content) // must not panic
	})
}

func TestDeskEnds(t *testing.T) {
	gone := errors.New("the call has ended")
	for name, c := range map[string]struct {
		attended bool
		end      func(*elicit.Desk, context.CancelCauseFunc)
		want     elicit.Action
		err      error
	}{
		"nobody there":      {false, func(*elicit.Desk, context.CancelCauseFunc) {}, elicit.Cancel, nil},
		"not in time":       {true, func(*elicit.Desk, context.CancelCauseFunc) { time.Sleep(2 * time.Minute) }, elicit.Cancel, nil},
		"withdrawn":         {true, func(_ *elicit.Desk, cancel context.CancelCauseFunc) { cancel(gone) }, "", gone},
		"the program stops": {true, func(d *elicit.Desk, _ context.CancelCauseFunc) { d.Close() }, elicit.Cancel, nil},
		"declined": {true, func(d *elicit.Desk, _ context.CancelCauseFunc) {
			if ok, err := d.Answer(d.Open()[0].ID, elicit.Answer{Action: elicit.Decline, Content: json.RawMessage(`{"left":"out"}`)}); !ok || err != nil {
				panic(err)
			}
		}, elicit.Decline, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := elicit.NewDesk(elicit.Options{Attended: func() bool { return c.attended }})
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				done := make(chan struct{})
				go func() {
					defer close(done)
					a, err := d.Ask(ctx, elicit.Question{Schema: json.RawMessage(`{}`), Deadline: time.Now().Add(time.Minute)})
					if a.Action != c.want || !errors.Is(err, c.err) || a.Content != nil {
						t.Errorf("got %+v, %v", a, err)
					}
				}()
				synctest.Wait()
				c.end(d, cancel)
				<-done
				if open := d.Open(); len(open) != 0 {
					t.Errorf("still open: %+v", open)
				}
			})
		})
	}
}
