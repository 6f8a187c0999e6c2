package mcpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"pointsman/approvals"
	"pointsman/gateway/calls"
	"pointsman/gateway/journal"
	"pointsman/gateway/mcpapi"
	"pointsman/gateway/servers"
	"pointsman/gateway/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests.
const patience = 20 * time.Second

// rig is a door, the tools behind it, and what becomes of their calls.
type rig struct {
	t         *testing.T
	door      *mcpapi.Door
	catalogue *tools.Catalogue
	mu        sync.Mutex // guards the fields above that change
	approver  approvals.Approver
	call      func(ctx context.Context, call servers.Call) (*servers.Result, error)
	tools     string
	asked     []string // of the servers
}

// odd is a definition that the SDK's types cannot hold: a schema of no type, a
// field of a task, an unknown field, and hints of which one is absent.
const odd = `{"name":"odd","inputSchema":{"properties":{"a":{"type":["string","null"]}}},"execution":{"taskSupport":"forbidden"},"outputSchema":{"oneOf":[{"type":"object"}]},"annotations":{"destructiveHint":false},"_meta":{"x":1e2},"id":12345678901234567890}`

const reader = `{"name":"read_it","description":"Reads it.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}},"annotations":{"readOnlyHint":true}}`

const writer = `{"name":"write_it","description":"Writes it.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}}`

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, tools: "all"}
	r.call = func(_ context.Context, call servers.Call) (*servers.Result, error) {
		return &servers.Result{Raw: fmt.Appendf(nil, `{"content":[{"type":"text","text":"ran %s"}],"_meta":{"k":1},"extra":true}`, call.Tool)}, nil
	}
	r.serve(map[string][]string{"fs": {odd, reader, writer}})
	gate := approvals.NewGate(approvals.GateOptions{Require: true, Approver: asking{r}})
	none := tools.NewCatalogue(nil, tools.Settings{})
	caller := calls.New(calls.Options{
		Catalogue: r.now, Servers: r, Gate: gate, Rules: approvals.NewRules(nil, nil), Recorder: discard{},
		OwnFile: func(string) bool { return false },
	})
	r.door = mcpapi.New(mcpapi.Options{
		Version: "v1", Own: mcpapi.Source{Catalogue: func() *tools.Catalogue { return none }, Caller: caller},
		Servers: mcpapi.Source{Catalogue: r.now, Caller: caller},
		Library: r, Tools: func() string { return r.tools }, Ready: func(context.Context) error { return nil },
	})
	t.Cleanup(r.door.Close)
	return r
}

// asking asks whoever is asked at the moment.
type asking struct{ r *rig }

func (a asking) Ask(ctx context.Context, req approvals.Request) (approvals.Decision, error) {
	a.r.mu.Lock()
	approver := a.r.approver
	a.r.mu.Unlock()
	return approver.Ask(ctx, req)
}

// discard is a record that nobody reads.
type discard struct{}

func (discard) Begin(context.Context, journal.Call) error                { return nil }
func (discard) Decide(context.Context, string, approvals.Decision) error { return nil }
func (discard) FinishSoon(string, journal.End)                           {}

func (r *rig) now() *tools.Catalogue {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.catalogue
}

func (r *rig) Call(ctx context.Context, call servers.Call) (*servers.Result, error) {
	return r.call(ctx, call)
}

// The servers of the tests are files of prompts and resources.
func (r *rig) Servers() []servers.Status {
	var list []servers.Status
	for _, name := range []string{"fs", "git", "Odd Name"} {
		list = append(list, servers.Status{Name: name, Live: servers.Live{Status: servers.Connected, ConnectionID: name}})
	}
	return list
}

func (r *rig) Prefix(server string) string { return server }

// Request answers as server "fs" and "Odd Name" do; "git" has nothing.
func (r *rig) Request(_ context.Context, req servers.Request) (raw, error) {
	if req.Server == "git" {
		return nil, &servers.LackingError{Server: "git", What: "anything"}
	}
	r.mu.Lock()
	r.asked = append(r.asked, req.Server+" "+req.Method+" "+string(req.Params))
	r.mu.Unlock()
	switch req.Method {
	case "prompts/list":
		if !gjson.GetBytes(req.Params, "cursor").Exists() {
			return raw(`{"prompts":[{"name":"greet","x":1}],"nextCursor":"2"}`), nil
		}
		return raw(`{"prompts":[{"name":"part"}]}`), nil
	case "resources/list":
		return raw(`{"resources":[{"uri":"file:///a","name":"a","y":[2]}]}`), nil
	case "resources/templates/list":
		return raw(`{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"t"}]}`), nil
	case "resources/read":
		return raw(fmt.Sprintf(`{"contents":[{"uri":%s,"text":"of %s"}],"z":null}`, gjson.GetBytes(req.Params, "uri").Raw, req.Server)), nil
	}
	return raw(`{"messages":[],"of":"` + req.Server + `"}`), nil
}

// serve has servers advertise these definitions.
func (r *rig) serve(definitions map[string][]string) {
	r.t.Helper()
	var defs []tools.Definition
	for server, list := range definitions {
		for _, text := range list {
			def, err := tools.Parse(server, json.RawMessage(text), true)
			if err != nil {
				r.t.Fatal(err)
			}
			defs = append(defs, def)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.catalogue = tools.NewCatalogue(defs, tools.Settings{})
}

// client is an MCP client that sees what goes over its stream.
type client struct {
	t     *testing.T
	conn  net.Conn
	in    *bufio.Reader
	ended chan error // what Serve returned
	other []gjson.Result
}

func (r *rig) connect(who mcpapi.Client) *client {
	r.t.Helper()
	ours, theirs := net.Pipe()
	c := &client{t: r.t, conn: ours, in: bufio.NewReader(ours), ended: make(chan error, 1)}
	go func() { c.ended <- r.door.Serve(context.Background(), theirs, who) }()
	r.t.Cleanup(func() { c.close() })
	_ = ours.SetDeadline(time.Now().Add(patience))
	return c
}

func (c *client) close() {
	_ = c.conn.Close()
	select {
	case err := <-c.ended:
		c.ended <- err
	case <-time.After(patience):
		c.t.Error("the stream is still served after its client has gone")
	}
}

// initialize is a client of an older protocol that can show forms.
func (c *client) initialize() {
	c.t.Helper()
	c.ask(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"probe","version":"7"}}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.conn, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) read() gjson.Result {
	c.t.Helper()
	line, err := c.in.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return gjson.Parse(line)
}

// ask sends a request and returns the answer. What else comes is kept.
func (c *client) ask(line string) gjson.Result {
	c.t.Helper()
	c.send(line)
	return c.answer(gjson.Get(line, "id").Raw)
}

// answer returns the answer to a request.
func (c *client) answer(id string) gjson.Result {
	c.t.Helper()
	for {
		if m := c.read(); m.Get("id").Raw == id && !m.Get("method").Exists() {
			return m
		} else {
			c.other = append(c.other, m)
		}
	}
}

// until returns the next message of a method.
func (c *client) until(method string) gjson.Result {
	c.t.Helper()
	for {
		if m := c.read(); m.Get("method").Str == method {
			return m
		}
	}
}

func call(id int, name, more string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"path":"/x"}%s}}`, id, name, more)
}

// modern is the _meta of a request of the stateless protocol.
const modern = `,"_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new","version":"2"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`

func TestDefinitionsPassUnchanged(t *testing.T) {
	c := newRig(t).connect(mcpapi.Client{})
	c.initialize()
	listed := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Get("result.tools")
	if got, want := listed.Get(`#(name=="fs__odd")`).Raw, strings.Replace(odd, `"odd"`, `"fs__odd"`, 1); got != want {
		t.Errorf("the definition went out as\n%s, not\n%s", got, want)
	}
	if n := len(listed.Array()); n != 3 {
		t.Errorf("%d tools are listed", n)
	}
}

func TestBothErasListAndCall(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]*client{"initialize": r.connect(mcpapi.Client{}), "stateless": r.connect(mcpapi.Client{})} {
		t.Run(name, func(t *testing.T) {
			meta := ""
			if name == "initialize" {
				c.initialize()
			} else {
				meta = modern
				found := c.ask(`{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{` + meta[1:] + `}}`)
				if !strings.Contains(found.Get("result.supportedVersions").Raw, "2026-07-28") {
					t.Errorf("discovered %s", found.Raw)
				}
				listed := c.ask(`{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{` + meta[1:] + `}}`).Get("result")
				if listed.Get("resultType").Str != "complete" || listed.Get("cacheScope").Str == "" {
					t.Errorf("listed %s", listed.Raw)
				}
			}
			result := c.ask(call(1, "fs__read_it", meta)).Get("result")
			if result.Get("content.0.text").Str != "ran read_it" || !result.Get("extra").Bool() || result.Get("_meta.k").Int() != 1 {
				t.Errorf("answered %s", result.Raw)
			}
			if want := map[string]string{"initialize": "", "stateless": "complete"}[name]; result.Get("resultType").Str != want {
				t.Errorf("the result's type is %q, not %q", result.Get("resultType").Str, want)
			}
		})
	}
}

// TestMetaIsPassedOn: what a client has in _meta goes to the server with its call,
// but for what it says of its own connection.
func TestMetaIsPassedOn(t *testing.T) {
	const own = `"traceparent":"00-1","vendor.example/x":{"a":[1,"b"]}`
	for _, test := range []struct{ name, meta, want string }{
		{"initialize", `,"_meta":{"progressToken":7,` + own + `}`, `{` + own + `}`},
		{"initialize, nothing but the token", `,"_meta":{"progressToken":7}`, ""},
		{"initialize, nothing", "", ""},
		{"stateless", strings.Replace(modern, `{`, `{`+own+`,`, 1), `{` + own + `}`},
		{"stateless, nothing of its own", modern, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			var got string
			answer := r.call
			r.call = func(ctx context.Context, call servers.Call) (*servers.Result, error) {
				got = string(call.Meta)
				return answer(ctx, call)
			}
			c := r.connect(mcpapi.Client{})
			if strings.HasPrefix(test.name, "initialize") {
				c.initialize()
			}
			if result := c.ask(call(1, "fs__read_it", test.meta)).Get("result"); result.Get("content.0.text").Str != "ran read_it" {
				t.Fatalf("answered %s", result.Raw)
			}
			if got != test.want {
				t.Errorf("the server is given _meta %s, not %s", got, test.want)
			}
		})
	}
}

func TestFaultsAreTold(t *testing.T) {
	r := newRig(t)
	r.approver = approvals.DenyAll{}
	r.call = func(_ context.Context, call servers.Call) (*servers.Result, error) {
		return nil, &servers.ProtocolError{Server: "fs", Tool: call.Tool, Code: -32050, Message: "not today", Data: raw(`{"a":1}`)}
	}
	c := r.connect(mcpapi.Client{})
	c.initialize()
	for _, test := range []struct{ name, line, path, want string }{
		{"an unknown tool", call(1, "fs__none", ""), "error.code", "-32602"},
		{"an unknown method", `{"jsonrpc":"2.0","id":2,"method":"no/such"}`, "error.code", "-32601"},
		{"a server's error", call(3, "fs__read_it", ""), "error.data.a", "1"},
		{"a denial", call(4, "fs__write_it", ""), "result.isError", "true"},
		{"unfit arguments", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"fs__read_it","arguments":{"path":5}}}`, "result.isError", "true"},
		{"an unknown cursor", `{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"cursor":"eA"}}`, "error.code", "-32602"},
		{"an unknown state", call(7, "fs__read_it", `,"requestState":"x"`), "error.code", "-32602"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := c.ask(test.line); got.Get(test.path).Raw != test.want {
				t.Errorf("%s is %q in %s", test.path, got.Get(test.path).Raw, got.Raw)
			}
		})
	}
}

func TestWhatIsServed(t *testing.T) {
	r := newRig(t)
	r.serve(map[string][]string{"fs": {reader}, "git": {reader}})
	for _, test := range []struct {
		name string
		who  mcpapi.Client
		want int
	}{
		{"everything", mcpapi.Client{}, 2},
		{"our own alone", mcpapi.Client{Tools: "own"}, 0},
		{"one server's", mcpapi.Client{Servers: []string{"git"}}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := r.connect(test.who)
			c.initialize()
			if got := len(c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Get("result.tools").Array()); got != test.want {
				t.Errorf("%d tools are listed", got)
			}
			answer := c.ask(call(2, "fs__read_it", ""))
			if served := answer.Get("result").Exists(); served != (test.name == "everything") {
				t.Errorf("a call is answered with %s", answer.Raw)
			}
		})
	}
}

func TestElicitation(t *testing.T) {
	for _, test := range []struct{ name, answer, want string }{
		{"yes", `{"action":"accept","content":{"decision":"approve"}}`, "ran write_it"},
		{"no, with a reason", `{"action":"accept","content":{"decision":"deny","reason":"not that file"}}`, "not that file"},
		{"declined", `{"action":"decline"}`, "the person said no"},
		{"closed", `{"action":"cancel"}`, "closed the form"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.approver = mcpapi.Elicitation{}
			c := r.connect(mcpapi.Client{})
			c.initialize()
			c.send(call(1, "fs__write_it", ""))
			asked := c.until("elicitation/create")
			for _, part := range []string{"write_it", "fs", "/x"} {
				if !strings.Contains(asked.Get("params.message").Str, part) {
					t.Errorf("%q is not in the question %s", part, asked.Raw)
				}
			}
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.Get("id").Raw, test.answer))
			if got := c.answer("1").Get("result.content.0.text").Str; !strings.Contains(got, test.want) {
				t.Errorf("the call's result is %q", got)
			}

			c = r.connect(mcpapi.Client{}) // the same without requests of ours
			first := c.ask(call(1, "fs__write_it", modern)).Get("result")
			if first.Get("resultType").Str != "input_required" || first.Get("inputRequests.input_1.method").Str != "elicitation/create" {
				t.Fatalf("answered %s", first.Raw)
			}
			again := fmt.Sprintf(`,"requestState":%s,"inputResponses":{"input_1":%s}`, first.Get("requestState").Raw, test.answer)
			if got := c.ask(call(2, "fs__read_it", modern+again)).Get("result.content.0.text").Str; !strings.Contains(got, test.want) {
				t.Errorf("the call's result is %q", got)
			}
			if got := c.ask(call(3, "fs__write_it", modern+again)); !got.Get("error").Exists() {
				t.Errorf("an answer counts twice: %s", got.Raw)
			}
		})
	}
}

func TestNobodyToElicit(t *testing.T) {
	r := newRig(t)
	r.approver = mcpapi.Elicitation{}
	c := r.connect(mcpapi.Client{})
	c.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"probe","version":"7"}}}`)
	if got := c.ask(call(1, "fs__write_it", "")).Get("result"); !got.Get("isError").Bool() || !strings.Contains(got.Raw, "nobody to ask") {
		t.Errorf("answered %s", got.Raw)
	}
}

// raw is JSON.
type raw = json.RawMessage

func TestProgress(t *testing.T) {
	r := newRig(t)
	r.call = func(_ context.Context, call servers.Call) (*servers.Result, error) {
		call.OnProgress(servers.Progress{Progress: 3, Total: 4, Message: "nearly"})
		return &servers.Result{Raw: raw(`{"content":[]}`)}, nil
	}
	asked := make(chan approvals.Request, 1)
	r.approver = approverFunc(func(ctx context.Context, req approvals.Request) (approvals.Decision, error) {
		asked <- req
		return approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByTerminal}, nil
	})
	c := r.connect(mcpapi.Client{Session: "s1", CWD: "/work"})
	c.initialize()
	c.ask(call(1, "fs__write_it", `,"_meta":{"progressToken":42}`))
	req := <-asked
	if req.Door != "mcp" || req.Client != "probe/7" || req.Session != "s1" || req.CWD != "/work" {
		t.Errorf("the request says %q %q %q %q", req.Door, req.Client, req.Session, req.CWD)
	}
	var told []string
	for _, m := range c.other {
		if m.Get("method").Str == "notifications/progress" && m.Get("params.progressToken").Int() == 42 {
			told = append(told, m.Get("params.message").Str)
		}
	}
	if len(told) != 2 || !strings.Contains(told[0], "waits for approval") || told[1] != "nearly" {
		t.Errorf("told was %q", told)
	}
}

type approverFunc func(context.Context, approvals.Request) (approvals.Decision, error)

func (f approverFunc) Ask(ctx context.Context, req approvals.Request) (approvals.Decision, error) {
	return f(ctx, req)
}

func TestWhoGoesIsNotWaitedFor(t *testing.T) {
	for _, test := range []struct {
		name string
		go_  func(*client)
	}{
		{"cancelled", func(c *client) {
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		}},
		{"gone", func(c *client) { _ = c.conn.Close() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			asked, withdrawn := make(chan bool, 1), make(chan error, 1)
			r.approver = approverFunc(func(ctx context.Context, _ approvals.Request) (approvals.Decision, error) {
				asked <- true
				<-ctx.Done()
				withdrawn <- ctx.Err()
				return approvals.Decision{}, ctx.Err()
			})
			c := r.connect(mcpapi.Client{})
			c.initialize()
			c.send(call(1, "fs__write_it", ""))
			<-asked
			test.go_(c)
			select {
			case <-withdrawn:
			case <-time.After(patience):
				t.Fatal("the request still waits")
			}
		})
	}
}

func TestChangesAreToldOnce(t *testing.T) {
	r := newRig(t)
	c := r.connect(mcpapi.Client{})
	c.initialize()
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	r.door.Changed() // nothing has
	r.serve(map[string][]string{"fs": {reader}})
	for range 5 {
		r.door.Changed()
	}
	c.until("notifications/tools/list_changed")
	c.other = nil
	c.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	for _, m := range c.other {
		t.Errorf("told again: %s", m.Raw)
	}
}

func TestLibrary(t *testing.T) {
	r := newRig(t)
	c := r.connect(mcpapi.Client{})
	c.initialize()
	for _, test := range []struct{ name, method, params, path, want string }{
		{"prompts", "prompts/list", "{}", "prompts", `[{"name":"fs__greet","x":1},{"name":"fs__part"},{"name":"Odd_Name__greet_cf067ac4be","x":1},{"name":"Odd_Name__part_f263d00fb4"}]`},
		{"a prompt", "prompts/get", `{"name":"fs__part"}`, "of", `"fs"`},
		{"resources", "resources/list", "{}", "resources.0", `{"uri":"fs+file:///a","name":"a","y":[2]}`},
		{"resources of a server whose name is no scheme", "resources/list", "{}", "resources.1.uri", `"sodd-name-196cbf20+file:///a"`},
		{"templates", "resources/templates/list", "{}", "resourceTemplates.0.uriTemplate", `"fs+file:///{path}"`},
		{"a resource", "resources/read", `{"uri":"FS+file:///a"}`, "contents", `[{"uri":"fs+file:///a","text":"of fs"}]`},
		{"a linked resource", "resources/read", `{"uri":"file:///a"}`, "contents.0.text", `"of fs"`},
		{"completion", "completion/complete", `{"ref":{"type":"ref/prompt","name":"fs__greet"},"argument":{"name":"n","value":"v"}}`, "of", `"fs"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := c.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, test.method, test.params))
			if got.Get("result."+test.path).Raw != test.want {
				t.Errorf("%s is %s in %s", test.path, got.Get("result."+test.path).Raw, got.Raw)
			}
		})
	}
	if got := c.ask(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"none"}}`); got.Get("error.code").Int() != -32602 {
		t.Errorf("an unknown prompt is %s", got.Raw)
	}
}

func TestSubscriptions(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]*client{"initialize": r.connect(mcpapi.Client{}), "stateless": r.connect(mcpapi.Client{})} {
		t.Run(name, func(t *testing.T) {
			if name == "initialize" {
				c.initialize()
				c.ask(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"fs+file:///a"}}`)
			} else {
				c.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["fs+file:///a"]}` + modern + `}}`)
				c.until("notifications/subscriptions/acknowledged")
			}
			r.door.Notice(servers.Notice{Server: "fs", Method: servers.ResourceUpdated, URI: "file:///b"})
			r.door.Notice(servers.Notice{Server: "fs", Method: servers.ResourceUpdated, URI: "file:///a"})
			if got := c.until("notifications/resources/updated"); got.Get("params.uri").Str != "fs+file:///a" {
				t.Errorf("told of %s", got.Raw)
			}
			r.door.Notice(servers.Notice{Server: "fs", Method: servers.ResourcesChanged})
			c.until("notifications/resources/list_changed")
			c.close()
		})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, want := range []string{`fs resources/subscribe {"uri":"file:///a"}`, `fs resources/unsubscribe {"uri":"file:///a"}`} {
		if n := strings.Count(strings.Join(r.asked, "\n"), want); n != 2 {
			t.Errorf("%q was asked %d times, of %q", want, n, r.asked)
		}
	}
}

// TestServersAsk has a server ask the client whose call it runs.
func TestServersAsk(t *testing.T) {
	r := newRig(t)
	r.call = func(ctx context.Context, call servers.Call) (*servers.Result, error) {
		said, err := call.Client.Elicit(ctx, servers.Origin{Server: "fs", Calls: []servers.Call{call}}, raw(`{"mode":"form","message":"which?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"},"odd":{"type":"array","items":{"type":"string","anyOf":[{"const":"a","title":"A"}]}}}}}`))
		if err != nil {
			return nil, err
		}
		call.OnLog(servers.LogMessage{Level: "warning", Data: raw(`"noted"`)})
		return &servers.Result{Raw: raw(fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, said))}, nil
	}
	c := r.connect(mcpapi.Client{})
	c.initialize()
	c.ask(`{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"info"}}`)
	c.send(call(1, "fs__read_it", ""))
	asked := c.until("elicitation/create")
	if asked.Get("params.requestedSchema.properties.odd.items.anyOf.0.title").Str != "A" {
		t.Errorf("the form is %s", asked.Raw)
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"n":4}}}`, asked.Get("id").Raw))
	if got := c.answer("1").Get("result.content.0.text").Str; !strings.Contains(got, `"n":4`) {
		t.Errorf("the server was told %q", got)
	}
	if len(c.other) == 0 || c.other[0].Get("params.data").Str != "noted" {
		t.Errorf("the client was told %v", c.other)
	}

	c = r.connect(mcpapi.Client{})
	first := c.ask(call(1, "fs__read_it", modern)).Get("result")
	if first.Get("inputRequests.input_1.params.message").Str != "which?" {
		t.Fatalf("answered %s", first.Raw)
	}
	again := fmt.Sprintf(`,"requestState":%s,"inputResponses":{"input_1":{"action":"accept","content":{"n":5}}}`, first.Get("requestState").Raw)
	if got := c.ask(call(2, "fs__read_it", modern+again)).Get("result.content.0.text").Str; !strings.Contains(got, `"n":5`) {
		t.Errorf("the server was told %q", got)
	}
}
