package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pointsman/approvals"
	"pointsman/gateway/elicit"
)

const terminalForm = `{"type":"object","required":["name","seat"],"properties":{
	"name":{"type":"string","title":"Your name"},
	"count":{"type":"integer","maximum":8,"default":2},
	"seat":{"type":"string","oneOf":[{"const":"w","title":"Window"},{"const":"a","title":"Aisle"}]},
	"extras":{"type":"array","items":{"type":"string","enum":["bicycle","meal"]}},
	"sure":{"type":"boolean"}}}`

// TestQuestionsAtTheTerminal: each line is typed after the one before was read.
func TestQuestionsAtTheTerminal(t *testing.T) {
	for name, c := range map[string]struct {
		page    string
		typed   []string // nil: the input ends at once
		want    elicit.Action
		content string
		shown   string
	}{
		"filled in":      {typed: []string{"y", "Ada", "", "2", "1, meal", "n", "y"}, want: elicit.Accept, content: `{"count":2,"extras":["bicycle","meal"],"name":"Ada","seat":"a","sure":false}`},
		"left out":       {typed: []string{"y", "Ada", "3", "w", "", "", "y"}, want: elicit.Accept, content: `{"count":3,"name":"Ada","seat":"w"}`},
		"asked again":    {typed: []string{"what?", "y", "", "Ada", "9", "1", "3", "1", "", "", "y"}, want: elicit.Accept, content: `{"count":1,"name":"Ada","seat":"w"}`, shown: "It must be at most 8."},
		"declined":       {typed: []string{"n"}, want: elicit.Decline},
		"not sent":       {typed: []string{"y", "Ada", "", "1", "", "", "c"}, want: elicit.Cancel},
		"a page":         {page: "https://example.com/go", typed: []string{"y"}, want: elicit.Accept, shown: "host: example.com"},
		"the input ends": {want: elicit.Cancel},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, typing := io.Pipe()
				var out bytes.Buffer
				d := elicit.NewDesk(elicit.Options{Attended: func() bool { return true }})
				person := newAttendant(approvals.NewTerminal(in, &out, approvals.TerminalOptions{}), func(string, ...any) {})
				person.questions = d
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				desk := approvals.NewDesk(approvals.DeskOptions{})
				go func() { ended <- person.Run(ctx, ownDesk{desk}) }()
				synctest.Wait()
				go func() {
					time.Sleep(time.Second) // until what is typed counts
					for _, line := range c.typed {
						if _, err := io.WriteString(typing, line+"\n"); err != nil {
							t.Error(err)
						}
					}
					if c.typed == nil {
						typing.Close()
					}
				}()
				q := elicit.Question{Server: "s", Message: "m", URL: c.page, Deadline: time.Now().Add(time.Hour)}
				if c.page == "" {
					q.Schema = json.RawMessage(terminalForm)
				}
				a, err := d.Ask(ctx, q)
				if err != nil || a.Action != c.want || string(a.Content) != c.content {
					t.Errorf("answered %s %s, %v, want %s %s", a.Action, a.Content, err, c.want, c.content)
				}
				cancel()
				typing.Close()
				<-ended
				if !strings.Contains(out.String(), "The MCP server") || !strings.Contains(out.String(), c.shown) {
					t.Errorf("the person was shown %s", out.String())
				}
			})
		})
	}
}

// TestQuestionTakenBack leaves the terminal to the next one.
func TestQuestionTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, typing := io.Pipe()
		d := elicit.NewDesk(elicit.Options{Attended: func() bool { return true }})
		var told []string
		person := newAttendant(approvals.NewTerminal(in, io.Discard, approvals.TerminalOptions{}), func(line string, _ ...any) { told = append(told, line) })
		person.questions = d
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- person.Run(ctx, ownDesk{approvals.NewDesk(approvals.DeskOptions{})}) }()
		synctest.Wait()
		q := elicit.Question{Server: "s", Schema: json.RawMessage(`{}`), Deadline: time.Now().Add(time.Minute)}
		if a, err := d.Ask(ctx, q); err != nil || a.Action != elicit.Cancel { // not in time
			t.Errorf("answered %+v, %v", a, err)
		}
		synctest.Wait()
		if len(told) != 1 || !strings.HasPrefix(told[0], "No longer asked") {
			t.Errorf("told %q", told)
		}
		cancel()
		typing.Close()
		<-ended
	})
}
