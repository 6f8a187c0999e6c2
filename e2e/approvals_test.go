package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"pointsman/approvals"
)

// writing is a request whose model writes a file, and then tells what came of it.
func (p *pointsman) writing(mark string) []byte {
	return p.fill(`{`+user(`@tool fs__write_file {"path":"%FOLDER%/%MARK%.txt","content":"written for %MARK%"}`)+`}`, mark)
}

// TestRiskyCallWaits: nothing runs before the answer, which the command line
// gives.
func TestRiskyCallWaits(t *testing.T) {
	t.Parallel()
	p := serve(t, withFiles(t, "approvals: {control: true}\n"))
	tests := []struct {
		name    string
		answer  []string // of pointsman approvals; ID stands for the request's
		written bool
		says    string // in the provider's next request
		outcome string
	}{
		{"approved", []string{"approve", "ID"}, true, "Successfully wrote", "ok"},
		{"denied", []string{"deny", "ID", "--reason", "not on a Friday"}, false, "not on a Friday", "denied"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(p.folder, test.name+".txt")
			var answer gjson.Result
			var client sync.WaitGroup
			client.Go(func() { answer = p.chatOnce(t.Context(), t, p.writing(test.name)) })
			req := p.pending(t, 1)[0]
			expect(t, "the server", req.Server, "fs")
			expect(t, "the tool", req.Tool, "write_file")
			expect(t, "it is risky", req.Risky, true)
			expect(t, "the arguments", gjson.GetBytes(req.Arguments, "path").String(), path)
			if _, err := os.Stat(path); err == nil {
				t.Error("the file is there before anybody has answered")
			}
			p.checkList(t, req)
			args := append([]string{"approvals"}, strings.Split(strings.ReplaceAll(strings.Join(test.answer, "\n"), "ID", req.ID), "\n")...)
			_, code := p.cli(t, args...)
			expect(t, "the exit code", code, 0)
			client.Wait()
			_, code = p.cli(t, args...)
			expect(t, "the exit code of a second answer", code, 1)

			_, err := os.Stat(path)
			expect(t, "the file is there", err == nil, test.written)
			asked := p.about("mark " + test.name)
			expect(t, "requests", len(asked), 2)
			contains(t, "what the model is told", asked[1].body.Get("messages.3.content").String(), test.says)
			contains(t, "the answer", answer.Get("choices.0.message.content").String(), test.says)
			expect(t, "approved", answer.Get("x_gateway.invocations.0.approved").Bool(), test.written)
			row := p.journal(t)[0]
			expect(t, "the journal's outcome", row.Get("outcome").String(), test.outcome)
			expect(t, "the journal's approver", row.Get("approver").String(), approvals.ByDesk)
			expect(t, "the journal's id", row.Get("id").String(), req.ID)
		})
	}
}

// checkList checks what `approvals list` says of the one request that waits.
func (p *pointsman) checkList(t *testing.T, req approvals.Request) {
	t.Helper()
	out, code := p.cli(t, "approvals", "list", "--json")
	expect(t, "the exit code", code, 0)
	expect(t, "requests in the list", gjson.Get(out, "#").Int(), 1)
	for _, name := range []string{"id", "server", "tool", "arguments", "class", "risky", "evidence", "client", "run", "created", "deadline"} {
		if !gjson.Get(out, "0."+name).Exists() {
			t.Errorf("the list does not tell %q: %s", name, out)
		}
	}
	expect(t, "the id in the list", gjson.Get(out, "0.id").String(), req.ID)
}

// TestNobodyMayAnswer: with approvals.control off, the command line cannot
// answer, and a risky call is denied at once.
func TestNobodyMayAnswer(t *testing.T) {
	t.Parallel()
	p := serve(t, withFiles(t, ""))
	answer := p.chatOnce(t.Context(), t, p.writing("nobody"))
	contains(t, "the answer", answer.Get("choices.0.message.content").String(), "nobody to ask")
	if _, err := os.Stat(filepath.Join(p.folder, "nobody.txt")); err == nil {
		t.Error("the file was written")
	}
	if counted, err := p.control.Answer(t.Context(), "any", approvals.Decision{Outcome: approvals.Allowed}); err == nil || counted {
		t.Errorf("the answer counted: %v, %v", counted, err)
	}
}

// TestTwoCallsOneDenied: in one turn, each decision reaches its own call.
func TestTwoCallsOneDenied(t *testing.T) {
	t.Parallel()
	p := serve(t, withFiles(t, "approvals: {control: true}\n"))
	script := `@tool fs__write_file {"path":"%FOLDER%/yes.txt","content":"x"}` + "\n" + `@tool fs__write_file {"path":"%FOLDER%/no.txt","content":"x"}`
	var client sync.WaitGroup
	client.Go(func() { p.chatOnce(t.Context(), t, p.fill(`{`+user(script)+`}`, "pair")) })
	for _, req := range p.pending(t, 2) {
		p.decide(t, req, strings.HasSuffix(gjson.GetBytes(req.Arguments, "path").String(), "yes.txt"), "only one")
	}
	client.Wait()
	for name, want := range map[string]bool{"yes.txt": true, "no.txt": false} {
		_, err := os.Stat(filepath.Join(p.folder, name))
		expect(t, name+" is there", err == nil, want)
	}
	messages := p.about("mark pair")[1].body.Get("messages")
	contains(t, "the first result", messages.Get("3.content").String(), "Successfully wrote")
	contains(t, "the second result", messages.Get("4.content").String(), "only one")
}

func (p *pointsman) decide(t *testing.T, req approvals.Request, yes bool, reason string) {
	t.Helper()
	d := approvals.Decision{Outcome: approvals.Denied, Reason: reason}
	if yes {
		d = approvals.Decision{Outcome: approvals.Allowed}
	}
	counted, err := p.control.Answer(t.Context(), req.ID, d)
	if err != nil || !counted {
		t.Errorf("answering %s: counted %v, %v", req.ID, counted, err)
	}
}

// TestFiftyRuns runs fifty at once. Each publishes a plan, reads, and asks for
// a risky call; every second one is denied.
func TestFiftyRuns(t *testing.T) {
	t.Parallel()
	const runs = 50
	p := serve(t, withFiles(t, "approvals: {control: true}\n"))
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	answers := make([]gjson.Result, runs)
	var clients sync.WaitGroup
	for i := range runs {
		clients.Go(func() { answers[i] = p.chatOnce(ctx, t, p.planned(i)) })
	}
	for _, req := range p.pending(t, runs) {
		var i int
		if _, err := fmt.Sscanf(gjson.GetBytes(req.Arguments, "content").String(), "written for run%d.", &i); err != nil {
			t.Fatalf("arguments %s: %v", req.Arguments, err)
		}
		expect(t, "the step that is shown", req.PlanStep, fmt.Sprintf("write for run%d.", i))
		p.decide(t, req, i%2 == 0, fmt.Sprintf("no to run%d.", i))
	}
	clients.Wait()
	for i, answer := range answers {
		p.checkRun(t, i, answer)
	}
}

// planned is the request of run i: a plan and a read, then a write.
func (p *pointsman) planned(i int) []byte {
	plan, err := json.Marshal(map[string]any{"steps": []any{map[string]any{"description": fmt.Sprintf("write for run%d.", i), "status": "in_progress"}}})
	if err != nil {
		panic(err)
	}
	script := "@tool update_plan " + string(plan) + "\n" +
		`@tool fs__read_text_file {"path":"%FOLDER%/poem.txt"}` + "\n@then\n" +
		`@tool fs__write_file {"path":"%FOLDER%/%MARK%txt","content":"written for %MARK%"}`
	return p.fill(`{`+user(script)+`}`, fmt.Sprintf("run%d.", i))
}

func (p *pointsman) checkRun(t *testing.T, i int, answer gjson.Result) {
	t.Helper()
	mark := fmt.Sprintf("run%d.", i)
	content := answer.Get("choices.0.message.content").String()
	contains(t, mark, content, "roses are red")
	data, err := os.ReadFile(filepath.Join(p.folder, mark+"txt"))
	if i%2 == 0 {
		expect(t, mark+" file", string(data), "written for "+mark)
		contains(t, mark, content, "Successfully wrote to "+filepath.Join(p.folder, mark+"txt"))
	} else {
		expect(t, mark+" file is absent", err != nil, true)
		contains(t, mark, content, "no to "+mark)
	}
	expect(t, mark+" plan", answer.Get("x_gateway.plan.#.description").Raw, fmt.Sprintf(`["write for %s"]`, mark))
	expect(t, mark+" rounds", answer.Get("x_gateway.rounds").Int(), 3)
	expect(t, mark+" requests", len(p.about("mark "+mark)), 3)
}
