package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/tidwall/gjson"
)

// serverName is the MCP server's name in the gateway's configuration.
const serverName = "bench"

// toolCount is how many tools it has.
const toolCount = 20

// firstTool is the offered name of the tool that the provider calls.
var firstTool = serverName + "__" + toolName(0)

// riskyTool is a tool of the program's own scratch server that a person is asked
// about.
const riskyTool = "scratch__write_file"

func toolName(i int) string { return fmt.Sprintf("get_item_%02d", i) }

// toolServer is an MCP server whose tools only read. Like the provider it finds
// its way by a few searches, so that its own work stays small.
type toolServer struct{ list []byte } // the result of tools/list

func newToolServer(tools int) *toolServer {
	const schema = `{"type":"object","properties":{"id":{"type":"string","description":"Which item to read."},"fields":{"type":"array","items":{"type":"string"},"description":"The fields to return; all when absent."}},"required":["id"],"additionalProperties":false}`
	list := []byte(`{"tools":[`)
	for i := range tools {
		if i > 0 {
			list = append(list, ',')
		}
		list = fmt.Appendf(list, `{"name":%q,"description":"Read one item of list %d and return its fields as text. Reads only.","inputSchema":%s,"annotations":{"readOnlyHint":true}}`, toolName(i), i, schema)
	}
	return &toolServer{append(list, "]}"...)}
}

// runTools is an MCP server with so many tools over stdio, or over HTTP on a port
// that it prints.
func runTools(args []string, stdin io.Reader, stdout io.Writer) error {
	transport, tools := "stdio", toolCount
	if len(args) == 2 {
		transport = args[0]
		var err error
		if tools, err = strconv.Atoi(args[1]); err != nil {
			return fmt.Errorf("reading the number of tools: %w", err)
		}
	}
	s := newToolServer(tools)
	if transport == "http" {
		return serveUntilEOF(s, stdin, stdout)
	}
	return s.serve(stdin, stdout)
}

// serve answers one message a line.
func (s *toolServer) serve(stdin io.Reader, stdout io.Writer) error {
	in := bufio.NewReaderSize(stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil // the client has gone
		}
		if reply := s.answer(line); reply != nil {
			if _, err := stdout.Write(append(reply, '\n')); err != nil {
				return err
			}
		}
	}
}

func (s *toolServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost { // no stream of its own, and no session
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var message bytes.Buffer
	if _, err := message.ReadFrom(r.Body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	reply := s.answer(message.Bytes())
	if reply == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(reply) // a client that has gone needs none
}

// answer returns the reply to a message, or nil for one that wants none.
func (s *toolServer) answer(message []byte) []byte {
	found := gjson.GetManyBytes(message, "id", "method")
	if !found[0].Exists() {
		return nil
	}
	reply := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,`, found[0].Raw)
	switch found[1].Str {
	case "initialize":
		return fmt.Appendf(reply, `"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":%q,"version":"1"}}}`, protocol, serverName)
	case "tools/list":
		return append(append(append(reply, `"result":`...), s.list...), '}')
	case "tools/call":
		return append(append(reply, callResult...), '}')
	case "ping":
		return append(reply, `"result":{}}`...)
	default:
		return append(reply, `"error":{"code":-32601,"message":"method not found"}}`...)
	}
}

// protocol is the MCP revision that is spoken.
const protocol = "2025-11-25"

// callResult answers each call.
const callResult = `"result":{"content":[{"type":"text","text":"` + answerText + `"}]}`
