package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"pointsman/approvals"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/gateway/models"
	"pointsman/gateway/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const hello = `{"model":"fake/m","messages":[{"role":"user","content":"hello"}]}`

func TestPlainAnswerKeepsEverything(t *testing.T) {
	p := newProvider(t, say("hi"))
	r := newRig(t, p)
	result, _ := r.mustRun(t, `{"model":"fake/m","messages":[{"role":"developer","content":"d"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:x"}}],"cot_id":"7"}],"temperature":0.0,"vendor_extension":{"deep":[1,2]},"response_format":{"type":"json_object"}}`)

	sent := p.request(t, 0)
	for path, want := range map[string]string{
		"temperature": "0.0", "vendor_extension": `{"deep":[1,2]}`, "messages.1.cot_id": `"7"`, "messages.0.role": `"developer"`,
		"model": `"m"`, "response_format.type": `"json_object"`,
	} {
		if got := sent.Get(path).Raw; got != want {
			t.Errorf("the provider was sent %s = %s, want %s", path, got, want)
		}
	}
	reply := gjson.ParseBytes(result.Reply)
	for path, want := range map[string]string{
		"choices.0.message.vendor": `{"x":1}`, "system_fingerprint": `"fp"`, "usage.total_tokens": "12",
		"x_gateway.rounds": "1", "x_gateway.used_tools": "[]", "x_gateway.invocations": "[]", "x_gateway.loop_stopped": "false",
	} {
		if got := reply.Get(path).Raw; got != want {
			t.Errorf("the caller got %s = %s, want %s", path, got, want)
		}
	}
}

func TestToolRound(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream %v", stream), func(t *testing.T) {
			first := ask(toolCall("a", "fs__read_file", `{"path":"/x"}`), toolCall("b", "fs__list_files", ""))
			second := say("done")
			body := hello
			if stream {
				first = `{"id":"s1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Let me "},"finish_reason":null}]}
					{"id":"s1","model":"m","choices":[{"index":0,"delta":{"content":"look."},"finish_reason":null}]}
					{"id":"s1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"fs__read_file","arguments":""}}]},"finish_reason":null}]}
					{"id":"s1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]},"finish_reason":null}]}
					{"id":"s1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"/x\"}"}},{"index":1,"id":"b","type":"function","function":{"name":"fs__list_files","arguments":""}}]},"finish_reason":null}]}
					{"id":"s1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
					{"id":"s1","model":"m","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}
					[DONE]`
				second = `{"id":"s2","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"done"},"finish_reason":null}]}
					{"id":"s2","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
					{"id":"s2","model":"m","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":3,"total_tokens":23}}
					[DONE]`
				body = `{"model":"fake/m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]}`
			}
			p := newProvider(t, first, second)
			r := newRig(t, p)
			result, s := r.mustRun(t, body)

			messages := p.request(t, 1).Get("messages").Array()
			if len(messages) != 4 {
				t.Fatalf("the second request has %d messages, want user, assistant, two results: %s", len(messages), p.request(t, 1))
			}
			if got := messages[1].Get("tool_calls.#.id").Raw; got != `["a","b"]` {
				t.Errorf("the history's calls are %s", got)
			}
			for i, want := range map[int]string{2: "result of read_file", 3: "result of list_files"} {
				if got := messages[i].Get("content").String(); got != want {
					t.Errorf("result %d is %q, want %q", i, got, want)
				}
			}
			if diff := cmp.Diff([]string{"fs__read_file", "fs__list_files"}, result.UsedTools); diff != "" {
				t.Error(diff)
			}
			if result.Rounds != 2 {
				t.Errorf("rounds = %d, want 2", result.Rounds)
			}
			if !stream {
				if got := gjson.GetBytes(result.Reply, "usage").Raw; gjson.Get(got, "total_tokens").Int() != 24 || gjson.Get(got, "prompt_tokens_details.cached_tokens").Int() != 6 {
					t.Errorf("usage is not the sum of both rounds: %s", got)
				}
				return
			}
			if got := s.text(); got != "Let me look.\n\ndone" {
				t.Errorf("the stream said %q", got)
			}
			finish := s.finish()
			if len(finish) != 1 || finish[0].Get("choices.0.finish_reason").String() != "stop" || finish[0].Get("x_gateway.rounds").Int() != 2 {
				t.Errorf("want one finishing chunk with stop and x_gateway, got %v", finish)
			}
			for _, e := range s.events {
				if gjson.Get(e, "id").String() != "s1" {
					t.Errorf("a chunk has another id than the first: %s", e)
				}
				if strings.Contains(e, "tool_calls") && !strings.Contains(e, "x_gateway") {
					t.Errorf("a hidden call reached the caller: %s", e)
				}
			}
			if last := s.events[len(s.events)-1]; gjson.Get(last, "usage.total_tokens").Int() != 35 {
				t.Errorf("the last chunk should carry the summed usage: %s", last)
			}
		})
	}
}

func TestUsageIsHiddenUnlessAsked(t *testing.T) {
	p := newProvider(t, `{"id":"s","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}
		{"id":"s","choices":[],"usage":{"total_tokens":5}}`)
	r := newRig(t, p)
	_, s := r.mustRun(t, `{"model":"fake/m","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
	if !p.request(t, 0).Get("stream_options.include_usage").Bool() {
		t.Error("the provider was not asked for usage")
	}
	for _, e := range s.events {
		if strings.Contains(e, "total_tokens") {
			t.Errorf("usage reached a caller that did not ask: %s", e)
		}
	}
}

func TestCallsThatDoNotRun(t *testing.T) {
	for name, test := range map[string]struct {
		call    string
		decide  func(approvals.Request) approvals.Decision
		server  func(context.Context, servers.Call) (*servers.Result, error)
		told    string // in the result the model gets
		outcome journal.Outcome
		ran     bool
	}{
		"denied":             {call: toolCall("a", "fs__write_file", `{"path":"/x"}`), told: "not today", outcome: journal.Denied},
		"unknown tool":       {call: toolCall("a", "nope", `{}`), told: `no tool named "nope"`, outcome: journal.Invalid},
		"truncated":          {call: toolCall("a", "fs__read_file", `{"path":"/x`), told: "complete JSON object", outcome: journal.Invalid},
		"not an object":      {call: toolCall("a", "fs__read_file", `[1]`), told: "arguments", outcome: journal.Invalid},
		"wrong type":         {call: toolCall("a", "fs__read_file", `{"path":7}`), told: "path", outcome: journal.Invalid},
		"missing":            {call: toolCall("a", "fs__read_file", `{}`), told: "path", outcome: journal.Invalid},
		"nonsense approver":  {call: toolCall("a", "fs__write_file", `{"path":"/x"}`), decide: func(approvals.Request) approvals.Decision { return approvals.Decision{Outcome: "maybe"} }, told: "not run", outcome: journal.Denied},
		"panicking approver": {call: toolCall("a", "fs__write_file", `{"path":"/x"}`), decide: func(approvals.Request) approvals.Decision { panic("boo") }, told: "not run", outcome: journal.Denied},
		"own file":           {call: toolCall("a", "fs__write_file", `{"path":"/home/own.yaml"}`), told: "not today", outcome: journal.Denied},
		"edited badly": {call: toolCall("a", "fs__write_file", `{"path":"/x"}`), decide: func(approvals.Request) approvals.Decision {
			return approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk, Arguments: json.RawMessage(`{"content":"no path"}`)}
		}, told: "edited by the person", outcome: journal.Invalid},
		"fails": {call: toolCall("a", "fs__list_files", `{}`), server: func(context.Context, servers.Call) (*servers.Result, error) {
			return &servers.Result{Raw: textResult("disk on fire").Raw, IsError: true}, nil
		}, told: "disk on fire", outcome: journal.Failed, ran: true},
		"times out": {call: toolCall("a", "fs__list_files", `{}`), server: func(context.Context, servers.Call) (*servers.Result, error) {
			return nil, &servers.TimeoutError{Server: "fs"}
		}, told: "Error", outcome: journal.Timeout, ran: true},
		"server lost": {call: toolCall("a", "fs__list_files", `{}`), server: func(context.Context, servers.Call) (*servers.Result, error) {
			return nil, &servers.LostError{Server: "fs", Tool: "list_files"}
		}, told: "Error", outcome: journal.Unknown, ran: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, ask(test.call), say("I see"))
			r := newRig(t, p)
			r.decide, r.onServer = test.decide, test.server
			result, _ := r.mustRun(t, hello)
			if result.Content != "I see" {
				t.Errorf("the turn did not go on: %q", result.Content)
			}
			if got := p.request(t, 1).Get("messages.2.content").String(); !strings.Contains(got, test.told) {
				t.Errorf("the model was told %q, want %q in it", got, test.told)
			}
			if (len(r.ran) > 0) != test.ran {
				t.Errorf("ran %v, want ran = %v", r.ran, test.ran)
			}
			var outcomes []journal.Outcome
			for row, err := range r.journal.Calls(t.Context(), journal.Filter{}) {
				if err != nil {
					t.Fatal(err)
				}
				outcomes = append(outcomes, row.Outcome)
			}
			if diff := cmp.Diff([]journal.Outcome{test.outcome}, outcomes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEditedArgumentsRun(t *testing.T) {
	p := newProvider(t, ask(toolCall("a", "fs__write_file", `{"path":"/x"}`)), say("ok"))
	r := newRig(t, p)
	r.decide = func(approvals.Request) approvals.Decision {
		return approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByDesk, Arguments: json.RawMessage(`{"path":"/y"}`)}
	}
	result, _ := r.mustRun(t, hello)
	if diff := cmp.Diff([]string{`write_file{"path":"/y"}`}, r.ran); diff != "" {
		t.Error(diff)
	}
	if got := p.request(t, 1).Get("messages.2.content").String(); !strings.Contains(got, "/y") {
		t.Errorf("the model was not told of the edit: %q", got)
	}
	if got := string(result.Invocations[0].Arguments); got != `{"path":"/y"}` {
		t.Errorf("the invocation says %s", got)
	}
}

func TestTwoAtOnceOneDenied(t *testing.T) {
	p := newProvider(t, ask(toolCall("a", "fs__write_file", `{"path":"/yes"}`), toolCall("b", "fs__write_file", `{"path":"/no"}`)), say("ok"))
	r := newRig(t, p)
	r.decide = func(req approvals.Request) approvals.Decision {
		if strings.Contains(string(req.Arguments), "/yes") {
			return approve(req)
		}
		return approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByDesk, Reason: "no!"}
	}
	result, _ := r.mustRun(t, hello)
	if diff := cmp.Diff([]string{`write_file{"path":"/yes"}`}, r.ran); diff != "" {
		t.Error(diff)
	}
	messages := p.request(t, 1).Get("messages").Array()
	if got := messages[2].Get("content").String(); got != "result of write_file" || messages[2].Get("tool_call_id").String() != "a" {
		t.Errorf("result a is %s", messages[2])
	}
	if got := messages[3].Get("content").String(); !strings.Contains(got, "no!") || messages[3].Get("tool_call_id").String() != "b" {
		t.Errorf("result b is %s", messages[3])
	}
	if a, b := result.Invocations[0].Approved, result.Invocations[1].Approved; a == nil || !*a || b == nil || *b {
		t.Errorf("approved is %v and %v, want true and false", a, b)
	}
}

// TestOddCalls sends calls as sloppy providers do.
func TestOddCalls(t *testing.T) {
	chunk := func(calls string) string {
		return `{"id":"s","choices":[{"index":0,"delta":{"tool_calls":[` + calls + `]},"finish_reason":null}]}`
	}
	end := `{"id":"s","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	for name, events := range map[string][]string{
		"no index": {
			chunk(`{"id":"a","type":"function","function":{"name":"fs__read_file","arguments":"{\"path\":"}}`),
			chunk(`{"function":{"arguments":"\"/1\"}"}}`),
			chunk(`{"id":"b","type":"function","function":{"name":"fs__read_file","arguments":"{\"path\":\"/2\"}"}}`),
		},
		"no id": {
			chunk(`{"index":0,"function":{"name":"fs__read_file","arguments":"{\"path\":\"/1\"}"}}`),
			chunk(`{"index":1,"function":{"name":"fs__read_file","arguments":"{\"path\":\"/2\"}"}}`),
		},
		"one id for both": {
			chunk(`{"index":0,"id":"a","function":{"name":"fs__read_file","arguments":"{\"path\":\"/1\"}"}}`),
			chunk(`{"index":1,"id":"a","function":{"name":"fs__read_file","arguments":"{\"path\":\"/2\"}"}}`),
		},
		"one index for both": {
			chunk(`{"index":0,"id":"a","function":{"name":"fs__read_file","arguments":"{\"path\":\"/1\"}"}}`),
			chunk(`{"index":0,"id":"b","function":{"name":"fs__read_file","arguments":"{\"path\":\"/2\"}"}}`),
		},
		"id and name in every delta": {
			chunk(`{"index":0,"id":"a","function":{"name":"fs__read_file","arguments":"{\"path\":"}}`),
			chunk(`{"index":0,"id":"a","function":{"name":"fs__read_file","arguments":"\"/1\"}"}}`),
			chunk(`{"index":1,"id":"b","function":{"name":"fs__read_file","arguments":"{\"path\":\"/2\"}"}}`),
		},
		"arguments as an object": {
			chunk(`{"index":0,"id":"a","function":{"name":"fs__read_file","arguments":{"path":"/1"}}}`),
			chunk(`{"index":1,"id":"b","function":{"name":"fs__read_file","arguments":{"path":"/2"}}}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, strings.Join(append(events, end), "\n"), `{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}`)
			r := newRig(t, p)
			r.settings.Parallel = 1
			r.mustRun(t, `{"model":"fake/m","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
			ran := map[string]bool{}
			for _, c := range r.ran {
				ran[c] = true
			}
			if diff := cmp.Diff(map[string]bool{`read_file{"path":"/1"}`: true, `read_file{"path":"/2"}`: true}, ran); diff != "" {
				t.Error(diff)
			}
			ids := p.request(t, 1).Get("messages.1.tool_calls.#.id").Array()
			if len(ids) != 2 || ids[0].String() == "" || ids[0].String() == ids[1].String() {
				t.Errorf("the history's ids are not unique: %v", ids)
			}
		})
	}
}

const callersTool = `{"type":"function","function":{"name":"theirs","parameters":{"type":"object"}}}`

// TestMixedTurn lets the model call a tool of ours and one of the caller's in
// one turn, and follows the caller's next request.
func TestMixedTurn(t *testing.T) {
	mixedPlain := ask(toolCall("o", "fs__read_file", `{"path":"/x"}`), toolCall("t", "theirs", `{"q":1}`))
	mixedStream := `{"id":"s","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"o","type":"function","function":{"name":"fs__read_file","arguments":"{\"path\":\"/x\"}"}}]},"finish_reason":null}]}
		{"id":"s","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"t","type":"function","function":{"name":"theirs","arguments":"{\"q\""}}]},"finish_reason":null}]}
		{"id":"s","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":":1}"}}]},"finish_reason":null}]}
		{"id":"s","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	for name, test := range map[string]struct {
		stream bool
		mixed  string
	}{"plain": {false, mixedPlain}, "stream": {true, mixedStream}} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, test.mixed, say("all done"))
			r := newRig(t, p)
			body := fmt.Sprintf(`{"model":"fake/m","stream":%v,"tools":[%s],"messages":[{"role":"user","content":"hello"}]}`, test.stream, callersTool)
			result, s := r.mustRun(t, body)
			if len(r.ran) != 1 {
				t.Errorf("ours ran %v", r.ran)
			}
			var calls []gjson.Result
			if test.stream {
				for _, e := range s.events {
					calls = append(calls, gjson.Get(e, "choices.0.delta.tool_calls").Array()...)
				}
				if len(calls) != 2 || calls[0].Get("index").Int() != 0 || calls[0].Get("id").String() != "t" {
					t.Errorf("the caller's deltas are %v", calls)
				}
				if finish := s.finish(); len(finish) != 1 || finish[0].Get("choices.0.finish_reason").String() != "tool_calls" || finish[0].Get("x_gateway.used_tools.0").String() != "fs__read_file" {
					t.Errorf("finish is %v", finish)
				}
			} else {
				calls = gjson.GetBytes(result.Reply, "choices.0.message.tool_calls").Array()
				if len(calls) != 1 || calls[0].Get("id").String() != "t" {
					t.Errorf("the caller got the calls %v", calls)
				}
			}

			// The caller's next request: its own view of the turn, with spaces
			// and key order of its own.
			next := fmt.Sprintf(`{"model":"fake/m","tools":[%s],"messages":[{"content":"hello", "role":"user"},{"role":"assistant","content":null,"tool_calls":[%s]},{"role":"tool","tool_call_id":"t","content":"their result"}]}`,
				callersTool, toolCall("t", "theirs", `{"q":1}`))
			r.mustRun(t, next)
			var roles []string
			for _, m := range p.request(t, 1).Get("messages").Array() {
				roles = append(roles, m.Get("role").String()+m.Get("tool_call_id").String())
			}
			if diff := cmp.Diff([]string{"user", "assistant", "toolo", "toolt"}, roles); diff != "" {
				t.Errorf("the hidden call was not put back: %s", diff)
			}
			if got := p.request(t, 1).Get("messages.1.tool_calls.#.id").Raw; got != `["o","t"]` {
				t.Errorf("the assistant's calls are %s", got)
			}
		})
	}
}

func TestNameClashGoesToTheCaller(t *testing.T) {
	p := newProvider(t, ask(toolCall("a", "fs__read_file", `{"path":"/x"}`)))
	r := newRig(t, p)
	own := strings.ReplaceAll(callersTool, "theirs", "fs__read_file")
	carried := strings.ReplaceAll(callersTool, "theirs", "pointsman-fs__list_files")
	result, _ := r.mustRun(t, fmt.Sprintf(`{"model":"fake/m","tools":[%s,%s],"messages":[{"role":"user","content":"hello"}]}`, own, carried))
	if len(r.ran) != 0 || result.Finish != "tool_calls" {
		t.Errorf("ran %v, finish %q; want the caller to get its own call", r.ran, result.Finish)
	}
	names := p.request(t, 0).Get("tools.#.function.name").Raw
	if strings.Count(names, "read_file") != 1 || strings.Count(names, "list_files") != 1 {
		t.Errorf("a tool was offered twice: %s", names)
	}
}

func TestToolChoice(t *testing.T) {
	for name, test := range map[string]struct {
		choice string
		offers bool
		second string
	}{
		"absent":   {"", true, ""},
		"auto":     {`"auto"`, true, `"auto"`},
		"required": {`"required"`, true, `"auto"`},
		"none":     {`"none"`, false, ""},
		"theirs":   {`{"type":"function","function":{"name":"theirs"}}`, false, ""},
		"ours":     {`{"type":"function","function":{"name":"fs__list_files"}}`, true, `"auto"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, ask(toolCall("a", "fs__list_files", `{}`)), say("ok"))
			r := newRig(t, p)
			body := fmt.Sprintf(`{"model":"fake/m","tools":[%s],"messages":[{"role":"user","content":"hello"}]`, callersTool)
			if test.choice != "" {
				body += `,"tool_choice":` + test.choice
			}
			r.mustRun(t, body+"}")
			if got := strings.Contains(p.request(t, 0).Get("tools").Raw, "fs__list_files"); got != test.offers {
				t.Errorf("ours offered = %v, want %v", got, test.offers)
			}
			if test.offers {
				if got := p.request(t, 1).Get("tool_choice").Raw; got != test.second {
					t.Errorf("tool_choice of the second round is %s, want %s", got, test.second)
				}
			}
		})
	}
}

func TestChoicesNeedToolsOff(t *testing.T) {
	r := newRig(t, newProvider(t))
	_, _, err := r.run(t, `{"model":"fake/m","n":2,"messages":[{"role":"user","content":"hello"}]}`)
	var e *models.Error
	if !errors.As(err, &e) || e.Status != 400 || e.Param != "n" {
		t.Errorf("error is %v, want 400 about n", err)
	}
}

func TestRoundsAreCapped(t *testing.T) {
	for _, stream := range []bool{false, true} {
		var replies []string
		for i := range 3 {
			call := toolCall("a", "fs__read_file", fmt.Sprintf(`{"path":"/%d"}`, i))
			if stream {
				replies = append(replies, fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[%s]},"finish_reason":"tool_calls"}]}`, call))
			} else {
				replies = append(replies, ask(call))
			}
		}
		p := newProvider(t, replies...)
		r := newRig(t, p)
		r.settings.MaxRounds = 2
		result, s := r.mustRun(t, fmt.Sprintf(`{"model":"fake/m","stream":%v,"messages":[{"role":"user","content":"hello"}]}`, stream))
		if p.count() != 3 || len(r.ran) != 2 {
			t.Fatalf("%d requests and %d calls, want 3 and 2", p.count(), len(r.ran))
		}
		last := p.request(t, 2)
		if last.Get("tool_choice").String() != "none" || !last.Get("tools").Exists() || !strings.Contains(last.Get("messages").Raw, "limit of 2 rounds") {
			t.Errorf("the last request should keep the tools, forbid them and say why: %s", last)
		}
		if result.Stopped != "rounds" || result.LoopStopped {
			t.Errorf("stopped = %q, loop_stopped = %v", result.Stopped, result.LoopStopped)
		}
		text, finish := gjson.GetBytes(result.Reply, "choices.0.message.content").String(), gjson.GetBytes(result.Reply, "choices.0.finish_reason").String()
		if stream {
			text, finish = s.text(), s.finish()[0].Get("choices.0.finish_reason").String()
		}
		if text == "" || finish != "stop" {
			t.Errorf("the user got %q with finish %q, want some answer and stop", text, finish)
		}
	}
}

func TestLoopGuard(t *testing.T) {
	for name, test := range map[string]struct {
		server   func(n int64) string
		requests int
		stopped  bool
		warned   bool
	}{
		"repetition": {func(int64) string { return "same" }, 5, true, true},
		"polling":    {func(n int64) string { return fmt.Sprintf("%d%%", n) }, 9, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var replies []string
			for range 8 {
				replies = append(replies, ask(toolCall("a", "fs__list_files", `{}`)))
			}
			p := newProvider(t, append(replies, say("end"))...)
			r := newRig(t, p)
			var n atomic.Int64
			r.onServer = func(context.Context, servers.Call) (*servers.Result, error) {
				return textResult(test.server(n.Add(1))), nil
			}
			if test.stopped {
				p.replies = append(p.replies[:5:5], say("end"))
			}
			result, _ := r.mustRun(t, hello)
			if result.LoopStopped != test.stopped || int(n.Load()) != min(test.requests, 8) {
				t.Errorf("stopped = %v after %d calls, want %v after %d", result.LoopStopped, n.Load(), test.stopped, test.requests)
			}
			all := p.request(t, p.count()-1).Raw
			if got := strings.Count(all, "Repeating it brings nothing new"); (got == 1) != test.warned {
				t.Errorf("the model was warned %d times", got)
			}
			if result.Content != "end" {
				t.Errorf("the answer is %q", result.Content)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	plan := `{"steps":[{"description":"look","status":"in_progress"},{"description":"tell","status":"pending"}]}`
	p := newProvider(t, ask(toolCall("p", "update_plan", plan), toolCall("a", "fs__list_files", `{}`)), ask(toolCall("b", "update_plan", `{"steps":[{"description":"look","status":"finished"}]}`)), say("ok"))
	r := newRig(t, p)
	events, stop := r.events.Subscribe(100)
	defer stop()
	result, _ := r.mustRun(t, hello)
	if !strings.Contains(p.request(t, 0).Get("tools").Raw, "update_plan") {
		t.Error("update_plan was not offered")
	}
	if got := p.request(t, 1).Get("messages").Raw; !strings.Contains(got, "[in_progress] look") {
		t.Errorf("the plan was not repeated to the model: %s", got)
	}
	if got := p.request(t, 2).Get("messages").Raw; !strings.Contains(got, "finished") || !strings.Contains(got, "allowed are pending") {
		t.Errorf("a bad status was not refused: %s", got)
	}
	if diff := cmp.Diff(map[string]int{"total": 2, "pending": 1, "in_progress": 1, "completed": 0, "skipped": 0}, result.PlanProgress); diff != "" {
		t.Error(diff)
	}
	var kinds []loop.Kind
	for len(events) > 0 {
		kinds = append(kinds, (<-events).Kind)
	}
	want := []loop.Kind{loop.RunStarted, loop.PlanChanged, loop.CallRequested, loop.CallRunning, loop.CallFinished, loop.Text, loop.RunFinished}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
}

// TestEventsOfCalls: each call is told from its request to its end, under the id
// that the journal has it by, though the provider gives both the same.
func TestEventsOfCalls(t *testing.T) {
	p := newProvider(t, ask(toolCall("a", "fs__list_files", `{}`)), ask(toolCall("a", "fs__write_file", `{"path":"/a"}`)), say("ok"))
	r := newRig(t, p)
	r.decide = approve
	events, stop := r.events.Subscribe(100)
	defer stop()
	result, _ := r.mustRun(t, hello)
	kinds, approvers := map[string][]loop.Kind{}, map[string]string{}
	for len(events) > 0 {
		if e := <-events; e.Call != "" {
			kinds[e.Record] = append(kinds[e.Record], e.Kind)
			approvers[e.Record] = e.Approver
		}
	}
	want := map[string][]loop.Kind{}
	for c, err := range r.journal.Calls(t.Context(), journal.Filter{Run: result.Run}) {
		if err != nil {
			t.Fatal(err)
		}
		want[c.ID] = []loop.Kind{loop.CallRequested, loop.CallRunning, loop.CallFinished}
		if c.Tool == "write_file" {
			want[c.ID] = []loop.Kind{loop.CallRequested, loop.CallWaiting, loop.CallRunning, loop.CallFinished}
		}
		if approvers[c.ID] != c.Approver {
			t.Errorf("the approver of %s is %q, the journal has %q", c.Tool, approvers[c.ID], c.Approver)
		}
	}
	if len(want) != 2 {
		t.Fatalf("the journal has %d calls", len(want))
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
}

// TestActiveTellsWhatEventsTold: who comes late sees a call where it stands.
func TestActiveTellsWhatEventsTold(t *testing.T) {
	p := newProvider(t, ask(toolCall("a", "fs__list_files", `{}`)), ask(toolCall("a", "fs__write_file", `{"path":"/a"}`)), say("ok"))
	r := newRig(t, p)
	look := func() []loop.ActiveCall {
		active := r.loop.Active()
		if len(active) != 1 {
			t.Fatalf("%d runs are active", len(active))
		}
		return active[0].Calls
	}
	var asked, running []loop.ActiveCall
	r.decide = func(req approvals.Request) approvals.Decision { asked = look(); return approve(req) }
	r.onServer = func(_ context.Context, call servers.Call) (*servers.Result, error) {
		running = look()
		return textResult(call.Tool), nil
	}
	r.mustRun(t, hello)
	if len(asked) != 2 || asked[0].Outcome != "ok" || asked[0].Running || asked[1].Running {
		t.Errorf("while it was asked about: %+v", asked)
	}
	if c := running[1]; !c.Running || c.Approver != approvals.ByDesk || c.Request != nil || c.Record == "" || c.Record == running[0].Record {
		t.Errorf("while it ran: %+v", c)
	}
	if left := r.loop.Active(); len(left) != 0 {
		t.Errorf("left after the end: %+v", left)
	}
}

func TestHistoryIsRepaired(t *testing.T) {
	p := newProvider(t, say("ok"))
	r := newRig(t, p)
	r.mustRun(t, fmt.Sprintf(`{"model":"fake/m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[%s,%s]},{"role":"tool","tool_call_id":"b","content":"B"},{"role":"user","content":"go on"}]}`,
		toolCall("a", "x", "{}"), toolCall("b", "y", "{}")))
	var got []string
	for _, m := range p.request(t, 0).Get("messages").Array() {
		got = append(got, m.Get("role").String()+m.Get("tool_call_id").String())
	}
	if diff := cmp.Diff([]string{"user", "assistant", "toola", "toolb", "user"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBrokenStreams(t *testing.T) {
	begin := `{"id":"s","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}` + "\n"
	for name, test := range map[string]struct{ events, want string }{
		"no finish":     {begin + `[DONE]`, "no finish_reason"},
		"error inside":  {begin + `{"error":{"message":"overloaded"}}`, "overloaded"},
		"not JSON":      {begin + `{"id":`, "not JSON"},
		"error at once": {`{"error":{"message":"overloaded"}}`, "overloaded"},
		"nothing":       {"[DONE]", "finish_reason"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, newProvider(t, test.events))
			_, _, err := r.run(t, `{"model":"fake/m","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
			if err == nil || !strings.Contains(err.Error(), test.want) || models.AsError(err).Code != models.UpstreamError {
				t.Errorf("error is %v, want an upstream_error about %q", err, test.want)
			}
		})
	}
}

// TestTextArrivesBeforeTheCallsRun: also when the whole turn, with its end, was
// read at once.
func TestTextArrivesBeforeTheCallsRun(t *testing.T) {
	p := newProvider(t, `{"id":"s","choices":[{"index":0,"delta":{"content":"Looking."},"finish_reason":null}]}
		{"id":"s","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"o","type":"function","function":{"name":"fs__list_files","arguments":"{}"}}]},"finish_reason":null}]}
		{"id":"s","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
		[DONE]`, `{"id":"s","choices":[{"index":0,"delta":{"content":"Done."},"finish_reason":"stop"}]}`)
	p.burst = true
	r := newRig(t, p)
	var caller *sink
	r.onStart = func(s *sink) { caller = s }
	r.onServer = func(context.Context, servers.Call) (*servers.Result, error) {
		if caller.unsent > 0 || caller.text() != "Looking." {
			t.Errorf("while the call runs the caller has %q, and %d events are not sent", caller.text(), caller.unsent)
		}
		return textResult("nothing"), nil
	}
	r.mustRun(t, `{"model":"fake/m","stream":true,"messages":[{"role":"user","content":"hello"}]}`)
	if len(r.ran) != 1 {
		t.Errorf("ran %v", r.ran)
	}
}

func TestStreamWithoutDoneIsComplete(t *testing.T) {
	r := newRig(t, newProvider(t, `{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`))
	if _, s := r.mustRun(t, `{"model":"fake/m","stream":true,"messages":[{"role":"user","content":"hello"}]}`); s.text() != "x" {
		t.Errorf("text is %q", s.text())
	}
}

// TestRunsDoNotMix runs fifty at once, each with a plan, a safe call and a
// risky one whose decision depends on the run.
func TestRunsDoNotMix(t *testing.T) {
	p := newProvider(t)
	p.Config.Handler = echoProvider(t)
	r := newRig(t, p)
	r.decide = func(req approvals.Request) approvals.Decision {
		n := gjson.GetBytes(req.Arguments, "n").Int()
		if n%2 == 0 {
			return approve(req)
		}
		return approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByDesk, Reason: fmt.Sprintf("reason %d", n)}
	}
	r.onServer = func(_ context.Context, call servers.Call) (*servers.Result, error) {
		return textResult("ran for " + gjson.GetBytes(call.Arguments, "path").String()), nil
	}
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			result, _, err := r.run(t, fmt.Sprintf(`{"model":"fake/m","messages":[{"role":"user","content":"%d"}]}`, n))
			if err != nil {
				t.Error(err)
				return
			}
			if got, want := result.Plan[0].Description, fmt.Sprintf("plan %d", n); got != want {
				t.Errorf("run %d has %q", n, got)
			}
			want := fmt.Sprintf("ran for /%d", n)
			if n%2 == 1 {
				want = fmt.Sprintf("reason %d", n)
			}
			if !strings.Contains(result.Content, want) {
				t.Errorf("run %d ended with %q, want %q in it", n, result.Content, want)
			}
		})
	}
	wg.Wait()
}

// TestNamelessToolsStay offers ours beside a tool of the caller's without a name.
func TestNamelessToolsStay(t *testing.T) {
	p := newProvider(t, say("ok"), say("ok"))
	r := newRig(t, p)
	r.mustRun(t, `{"model":"fake/m","tools":[{"type":"web_search"}],"messages":[{"role":"user","content":"hello"}]}`)
	r.mustRun(t, `{"model":"fake/m","tools":[],"messages":[{"role":"user","content":"hello"}]}`)
	for i, want := range []string{"web_search", "function"} {
		list := p.request(t, i).Get("tools").Array()
		if len(list) != 4+1-i || list[0].Get("type").String() != want {
			t.Errorf("request %d offers %v", i, list)
		}
	}
}
