package servers_test

//lint:file-ignore SA1019 MCP 2026-07-28 deprecates roots, sampling and logging; servers in use ask for them all the same.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/process"
)

// The test binary is its own cast: started with fakeMode set it is an MCP
// server that misbehaves in one way, or the guard process, or a host to be
// killed.
const fakeMode = "FAKE_MODE"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(fakeMode); {
	case len(os.Args) > 1 && os.Args[1] == "guard":
		if err := process.RunGuard(context.Background(), os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case mode == "host":
		runDoomedHost()
	case mode != "":
		runFake(mode)
	default:
		goleak.VerifyTestMain(m)
	}
}

// runFake is an MCP server on stdin and stdout. The mode picks its manners; the
// tools are the same in all.
func runFake(mode string) {
	f := &fake{mode: mode, out: bufio.NewWriter(os.Stdout)}
	fmt.Fprintln(os.Stderr, "fake server, mode", mode)
	switch mode {
	case "silent": // neither reads nor answers
		time.Sleep(time.Hour) // select {} is taken for a deadlock in a program without cgo
	case "slow":
		time.Sleep(300 * time.Millisecond)
	case "stubborn": // ends for KILL alone
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	case "broken":
		fmt.Fprintln(os.Stderr, "cannot find the database", os.Getenv("SAY"))
		os.Exit(3)
	case "crashing": // as soon as it is connected
		fmt.Fprintln(os.Stderr, "out of cheese")
		f.crashing = true
	case "sdk":
		runSDK()
		return
	case "junk":
		fmt.Println("Welcome to the junk server!")
		fmt.Println(`{"level":"info","msg":"json, but no JSON-RPC"}`)
		fmt.Print("\x1b[32m[info]\x1b[0m ready\n\n")
	}
	f.serve()
	for mode == "stubborn" || mode == "lingering" {
		time.Sleep(time.Hour)
	}
}

// runSDK is a server made with the SDK, which speaks the newest protocol.
func runSDK() {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	schema := json.RawMessage(`{"type":"object"}`)
	s.AddTool(&mcp.Tool{Name: "meta", InputSchema: schema}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		meta, err := json.Marshal(req.Params.Meta)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(meta)}}}, err
	})
	ask := &mcp.ElicitParams{Message: "who are you?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}
	s.AddTool(&mcp.Tool{Name: "asks", InputSchema: schema}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer, ok := req.Params.InputResponses["who"].(*mcp.ElicitResult); ok {
			text := fmt.Sprint(answer.Action, " ", answer.Content["name"], " ", req.Params.RequestState)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		}
		return &mcp.CallToolResult{InputRequests: map[string]mcp.InputRequest{"who": ask, "where": &mcp.ListRootsParams{}}, RequestState: "step 2"}, nil
	})
	s.AddTool(&mcp.Tool{Name: "insatiable", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{InputRequests: map[string]mcp.InputRequest{"who": ask}}, nil
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

type fake struct {
	flooding *flood // not nil while it floods
	mode     string
	line     []byte // the request that is handled, as it came
	out      *bufio.Writer
	renamed  bool
	crashing bool // after the list of tools
	storming bool // the list changes whenever it was asked for
	calls    int
	lists    int
	visited  bool
	asking   []request // the calls that wait for an answer to a question
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"` // when it is an answer
	Error  json.RawMessage `json:"error"`
	Params struct {
		URI       string          `json:"uri"`
		Name      string          `json:"name"`
		Cursor    string          `json:"cursor"`
		RequestID json.RawMessage `json:"requestId"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

func (f *fake) serve() {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var req request
		if err := json.Unmarshal(line, &req); err != nil {
			continue
		}
		f.line = line
		f.handle(req)
		f.out.Flush()
	}
}

func (f *fake) handle(req request) {
	switch req.Method {
	case "":
		f.answered(req)
	case "initialize":
		f.answer(req, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}`+f.further()+`},"serverInfo":{"name":"fake","version":"1.2.3"}}`)
	case "tools/list":
		f.list(req)
	case "tools/call":
		f.call(req)
	case "notifications/cancelled":
		if path := os.Getenv("FAKE_LOG"); path != "" {
			os.WriteFile(path, req.Params.RequestID, 0o600)
		}
	case "prompts/list", "prompts/get", "resources/list", "resources/read", "resources/subscribe", "resources/unsubscribe":
		f.library(req)
	default:
		if req.ID != nil {
			fmt.Fprintf(f.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`+"\n", req.ID)
		}
	}
}

// further is what the mode announces more than tools.
func (f *fake) further() string {
	switch f.mode {
	case "library":
		return `,"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{}`
	case "boasting":
		return `,"prompts":{},"resources":{}`
	}
	return ""
}

// What a library has, in the forms that typed clients lose.
const (
	promptList = `{"prompts":[{"arguments":[{"required":false,"name":"a"},{"name":"b"}],"name":"greet","x":{"y":1e2}},{"name":"bare"},{"name":"empty","arguments":[]}],"nextCursor":"2"}`
	aResource  = `{"contents":[{"uri":"mem://a","text":"","_meta":null,"future":[]}]}`
)

func (f *fake) library(req request) {
	switch {
	case f.mode != "library":
		fmt.Fprintf(f.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`+"\n", req.ID)
	case req.Method == "prompts/list" && req.Params.Cursor == "":
		f.answer(req, promptList)
	case req.Method == "prompts/get":
		f.answer(req, fmt.Sprintf(`{"messages":[{"role":"user","content":{"text":%q,"type":"text"}}]}`, f.line))
	case req.Method == "resources/read":
		f.answer(req, aResource)
	case req.Method == "resources/subscribe":
		fmt.Fprintf(f.out, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`+"\n", req.Params.URI)
		fmt.Fprintln(f.out, `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`)
		f.answer(req, `{}`)
	default:
		f.answer(req, `{"resources":[]}`)
	}
}

func (f *fake) answer(req request, result string) {
	switch f.mode {
	case "wrong ids":
		req.ID = json.RawMessage("7000" + strings.Trim(string(req.ID), `"`))
	case "dribbling": // the answer never comes to its end
		for {
			fmt.Fprint(f.out, " ")
			f.out.Flush()
			time.Sleep(5 * time.Millisecond)
		}
	case "twice":
		fmt.Fprintf(f.out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", req.ID, result)
	}
	fmt.Fprintf(f.out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", req.ID, result)
}

// The definitions hold what typed clients lose: unknown members, a false hint
// beside an absent one, odd spacing.
const (
	echoTool  = `{"name":"echo", "description":"says it again","inputSchema":{"type":"object","x-vendor":[1,2]},"annotations":{"readOnlyHint":false},"execution":{"taskSupport":"optional"},"futureField":{"a":null}}`
	otherTool = `{"name":"%s","inputSchema":{"type":"object"}}`
)

// list answers in two pages.
func (f *fake) list(req request) {
	if f.mode == "huge list" { // of 2 MB, in one line, as one of the real servers has it
		f.answer(req, `{"tools":[`+echoTool+hugeTools()+`]}`)
		return
	}
	if req.Params.Cursor == "" {
		f.lists++
		f.answer(req, `{"tools":[`+echoTool+`],"nextCursor":"2"}`)
		return
	}
	name := "second"
	if f.renamed {
		name = "renamed"
	}
	f.answer(req, `{"tools":[`+fmt.Sprintf(otherTool, name)+`]}`)
	if f.storming {
		fmt.Fprintln(f.out, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	}
	if f.crashing {
		f.out.Flush()
		os.Exit(9)
	}
}

func hugeTools() string {
	var b strings.Builder
	for i := range 344 {
		fmt.Fprintf(&b, `,{"name":"tool_%d","description":%q,"inputSchema":{"type":"object"}}`, i, strings.Repeat("long ", 1200))
	}
	return b.String()
}

func (f *fake) call(req request) {
	f.calls++
	switch req.Params.Name {
	case "echo":
		f.answer(req, fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":false,"vendor":{"kept":1e2}}`, req.Params.Arguments))
	case "line": // the request, as it came
		text, _ := json.Marshal(string(f.line))
		f.answer(req, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text))
	case "pid":
		f.answer(req, fmt.Sprintf(`{"content":[{"type":"text","text":"%d"}]}`, os.Getpid()))
	case "env":
		text, _ := json.Marshal(strings.Join(os.Environ(), "\n"))
		f.answer(req, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text))
	case "started":
		dir, _ := os.Getwd()
		text, _ := json.Marshal(struct {
			Args []string
			Dir  string
		}{os.Args[1:], dir})
		f.answer(req, fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, text))
	case "fails":
		f.answer(req, `{"content":[{"type":"text","text":"no such row"}],"isError":true}`)
	case "refuses":
		fmt.Fprintf(f.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"bad arguments","data":{"field":"x"}}}`+"\n", req.ID)
	case "crash":
		os.Exit(7)
	case "hang": // never answers, but stays in good health
	case "big":
		n, _ := strconv.Atoi(strings.Trim(string(req.Params.Arguments), `{}"n: `))
		f.answer(req, fmt.Sprintf(`{"content":[{"type":"text","text":"%s"}]}`, strings.Repeat("x", n)))
	case "progress":
		f.progress(req)
	case "elicit":
		f.ask(req, "elicitation/create", `{"mode":"form","message":"who?","requestedSchema":{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"string"}}},"vendor":1}`)
	case "sample":
		f.ask(req, "sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":"hello"}}],"maxTokens":9,"vendor":1}`)
	case "visit": // wants a page to be visited first
		if f.visited {
			f.answer(req, `{"content":[{"type":"text","text":"visited"}]}`)
			return
		}
		f.visited = true
		fmt.Fprintf(f.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32042,"message":"visit a page","data":{"elicitations":[{"mode":"url","elicitationId":"e1","url":"https://example.com/","message":"go"}]}}}`+"\n", req.ID)
		f.out.Flush()
		time.Sleep(50 * time.Millisecond) // the person is in the browser
		fmt.Fprintln(f.out, `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}`)
	case "log":
		fmt.Fprintln(f.out, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"db","data":{"z":1,"a":2}}}`)
		f.answer(req, `{"content":[]}`)
	case "rename":
		f.renamed = true
		for range 4 {
			fmt.Fprintln(f.out, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		f.answer(req, `{"content":[]}`)
	case "sh":
		f.answer(req, fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, shell(req.Params.Arguments)))
	default:
		f.misbehave(req)
	}
}

// shell runs the argument line, or connects when it is "net ADDRESS", and tells
// whether that failed.
func shell(arguments json.RawMessage) string {
	var args struct {
		Line string `json:"line"`
	}
	if err := json.Unmarshal(arguments, &args); err != nil {
		return err.Error()
	}
	if address, ok := strings.CutPrefix(args.Line, "net "); ok {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return "failed: " + err.Error()
		}
		conn.Close()
		return "connected"
	}
	out, err := exec.Command("sh", "-c", args.Line).CombinedOutput()
	if err != nil {
		return string(out) + "failed: " + err.Error()
	}
	return string(out)
}

// ask asks the client something; the call is answered with what it says.
func (f *fake) ask(req request, method, params string) {
	fmt.Fprintf(f.out, `{"jsonrpc":"2.0","id":"q%d","method":%q,"params":%s}`+"\n", len(f.asking), method, params)
	f.asking = append(f.asking, req)
}

func (f *fake) answered(answer request) {
	if f.flooding != nil {
		f.ebb(answer)
		return
	}
	n, err := strconv.Atoi(strings.Trim(string(answer.ID), `"q`))
	if err != nil || n >= len(f.asking) {
		return
	}
	text, _ := json.Marshal(string(answer.Result) + string(answer.Error))
	f.answer(f.asking[n], fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text))
}

// misbehave answers calls as no server should.
func (f *fake) misbehave(req request) {
	switch req.Params.Name {
	case "loris": // the answer, one byte at a time, and never all of it
		for range 100 {
			fmt.Fprint(f.out, " ")
			f.out.Flush()
			time.Sleep(5 * time.Millisecond)
		}
		fmt.Fprintln(f.out, "{")
	case "wrong id":
		for _, id := range []string{"1", "999999", "1073999999", `"abc"`, "null", "1.5", "-7"} {
			fmt.Fprintf(f.out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"not yours"}]}}`+"\n", id)
		}
	case "many answers":
		for i := range 3 {
			f.answer(req, fmt.Sprintf(`{"content":[{"type":"text","text":"answer %d"}]}`, i))
		}
	case "flood":
		f.flood(req)
	case "endless": // a line of more than anybody can take
		chunk := strings.Repeat("x", 1<<20)
		fmt.Fprint(f.out, `{"jsonrpc":"2.0","result":"`)
		for range 70 {
			fmt.Fprint(f.out, chunk)
		}
	case "storm":
		for range 5000 {
			fmt.Fprintln(f.out, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		f.renamed, f.storming = true, true
		f.answer(req, `{"content":[]}`)
	case "lists":
		f.answer(req, fmt.Sprintf(`{"content":[{"type":"text","text":"%d"}]}`, f.lists))
	}
}

// progress reports 5 times, 60 ms apart, and then answers.
func (f *fake) progress(req request) {
	for i := range 5 {
		fmt.Fprintf(f.out, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":5,"message":"step %d"}}`+"\n",
			req.Params.Meta.ProgressToken, i+1, i+1)
		f.out.Flush()
		time.Sleep(60 * time.Millisecond)
	}
	f.answer(req, `{"content":[{"type":"text","text":"done"}]}`)
}

func self(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// runDoomedHost hosts the two servers that a shell script starts, says so on
// stdout, and waits to be killed.
func runDoomedHost() {
	exe, _ := os.Executable()
	opts := servers.Options{Records: os.Getenv("FAKE_RECORDS")}
	if opts.Records == "" {
		opts.Guard = []string{exe, "guard"}
	}
	entries := doomedEntries(exe, os.Getenv("FAKE_LOG"))
	if dir := os.Getenv("FAKE_CONFINED"); dir != "" {
		opts.Sandbox.Dir = filepath.Join(dir, "sandbox")
		entries = confinedEntries(dir)
	}
	host := servers.New(opts)
	host.Apply(entries, nil)
	go host.Run(context.Background())
	for {
		ready := 0
		for _, s := range host.Status() {
			if s.Live.Status == servers.Connected {
				ready++
			}
		}
		if ready == len(entries) {
			fmt.Println("ready")
			select {}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// confinedEntries is a confined server in dir that ends for KILL alone, with a child that
// has left its session. The folder's name is in the command lines of both.
func confinedEntries(dir string) map[string]config.MCPServer {
	return map[string]config.MCPServer{"doomed": {
		Command: "sh", Cwd: dir, Sandbox: &config.Sandbox{Enabled: true}, Env: map[string]config.Secret{fakeMode: "stubborn"},
		Args: []string{"-c", `trap "" HUP TERM; setsid sh -c 'trap "" HUP TERM; while :; do sleep 0.1; done' ` + dir + ` </dev/null >/dev/null 2>&1 & ./server; true`, dir},
	}}
}

// processesIn returns the running processes whose pids are written in the
// files of dir.
func processesIn(t testing.TB, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.pid"))
	if err != nil {
		t.Fatal(err)
	}
	running := map[string]int{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			continue // being written
		}
		if isRunning(pid) {
			running[filepath.Base(file)] = pid
		}
	}
	return running
}

// isRunning reports whether the process exists and is no zombie: in a container
// nobody may reap an orphan.
func isRunning(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return exec.Command("kill", "-0", strconv.Itoa(pid)).Run() == nil
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return fields[0] != "Z" && fields[0] != "X"
}
