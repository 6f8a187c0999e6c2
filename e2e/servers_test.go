package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// realServers are the real MCP servers, over every transport, by name.
func realServers(t *testing.T) map[string]any {
	node := func(file string, args ...string) map[string]any {
		return map[string]any{"command": "node", "args": append([]string{npm(t, file)}, args...)}
	}
	everything := "@modelcontextprotocol/server-everything/dist/index.js"
	memory := node("@modelcontextprotocol/server-memory/dist/index.js")
	memory["env"] = map[string]string{"MEMORY_FILE_PATH": folderMark + "/memory.jsonl"}
	return map[string]any{
		"fs":     node("@modelcontextprotocol/server-filesystem/dist/index.js", folderMark),
		"memory": memory,
		"runner": node("mcp-server-code-runner/dist/cli.js"), // greets on stdout
		"stdio":  node(everything, "stdio"),
		"http":   map[string]any{"type": "http", "url": serveEverything(t, everything, "streamableHttp") + "/mcp"},
		"sse":    map[string]any{"type": "sse", "url": serveEverything(t, everything, "sse") + "/sse"},
	}
}

// serveEverything starts the everything server on a port of its own and
// returns its URL.
func serveEverything(t *testing.T, file, transport string) string {
	t.Helper()
	address := freeAddress(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", npm(t, file), transport)
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	await(t, "the everything server over "+transport, func() bool {
		response, err := http.Get("http://" + address + "/nothing")
		if err != nil {
			return false
		}
		return response.Body.Close() == nil
	})
	return "http://" + address
}

// TestRealServers connects them all at once and calls a tool of each.
func TestRealServers(t *testing.T) {
	t.Parallel()
	p := serve(t, setup{servers: realServers(t), extra: "approvals: {approver: allow}\n"})
	p.checkInventory(t)
	p.checkTools(t)
	tests := []struct{ server, tool, arguments, says string }{
		{"fs", "read_text_file", `{"path":"%FOLDER%/poem.txt"}`, "roses are red"},
		{"fs", "write_file", `{"path":"%FOLDER%/new.txt","content":"x"}`, "Successfully wrote"},
		{"memory", "create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["likes engines"]}]}`, "likes engines"},
		{"runner", "run-code", `{"code":"console.log(6*7)","languageId":"javascript"}`, "42"},
		{"stdio", "echo", `{"message":"over stdio"}`, "Echo: over stdio"},
		{"http", "echo", `{"message":"over http"}`, "Echo: over http"},
		{"sse", "echo", `{"message":"over sse"}`, "Echo: over sse"},
		{"stdio", "get-sum", `{"a":2,"b":40}`, "42"},
		{"stdio", "get-sum", `{"a":"two"}`, "do not fit its schema"},
		{"stdio", "nothing", `{}`, "nothing"},
		{"stdio", "echo", `{"message":`, "not usable"},
	}
	for i, test := range tests {
		t.Run(test.server+"/"+test.tool, func(t *testing.T) {
			mark := fmt.Sprintf("server-%d-", i)
			script := "@tool " + test.server + "__" + test.tool + " " + test.arguments
			answer := p.chatOnce(t.Context(), t, p.fill(`{`+user(script)+`}`, mark))
			contains(t, "the answer", answer.Get("choices.0.message.content").String(), test.says)
			contains(t, "the provider's next request", p.about(mark)[1].body.Get("messages.3.content").String(), test.says)
		})
	}
	expect(t, "rows of the journal", len(p.journal(t)), len(tests))
}

func (p *pointsman) checkInventory(t *testing.T) {
	t.Helper()
	status := p.status(t)
	expect(t, "the transport", status.Get("mcp.transport").String(), "multi")
	expect(t, "the servers", status.Get("mcp.servers").Raw, `["fs","http","memory","runner","sse","stdio"]`)
	for _, server := range status.Get("mcp.inventory").Array() {
		name := server.Get("name").String()
		expect(t, name+" is", server.Get("live.status").String(), "connected")
		expect(t, name+" prints junk", server.Get("junk").Int() > 0, name == "runner")
		if server.Get("live.serverInfo.name").String() == "" || server.Get("live.protocol").String() == "" {
			t.Errorf("%s does not tell who it is: %s", name, server.Raw)
		}
	}
	out, code := p.cli(t, "servers", "list", "--json")
	expect(t, "the exit code", code, 0)
	expect(t, "servers in the list", gjson.Get(out, "#").Int(), 6)
}

// checkTools checks what the command line and the provider are told of tools.
func (p *pointsman) checkTools(t *testing.T) {
	t.Helper()
	out, code := p.cli(t, "tools", "--json")
	expect(t, "the exit code", code, 0)
	var rows []struct {
		Name, Tool, Server, Class string
		Risky, Allowed            bool
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	risky := map[string]bool{
		"fs__read_text_file": false, "fs__write_file": true, "memory__read_graph": false, "memory__delete_entities": true,
		"runner__run-code": true, "http__echo": false, "sse__echo": false, "stdio__echo": false,
	}
	var names []string
	for _, row := range rows {
		names = append(names, row.Name)
		expect(t, row.Name+" is allowed", row.Allowed, true)
		if want, ok := risky[row.Name]; ok {
			expect(t, row.Name+" is risky", row.Risky, want)
			delete(risky, row.Name)
		}
	}
	if len(risky) > 0 {
		t.Errorf("not listed: %v", risky)
	}
	p.chatOnce(t.Context(), t, p.fill(`{`+user("@say Hello.")+`}`, "offered"))
	offered := p.about("mark offered")[0].tools()
	offered = slices.DeleteFunc(offered, func(name string) bool { return name == "update_plan" })
	slices.Sort(offered)
	slices.Sort(names)
	expect(t, "the tools that the model is offered", strings.Join(offered, " "), strings.Join(names, " "))
}
