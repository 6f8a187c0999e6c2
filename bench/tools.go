package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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

// runTools is an MCP server over stdio with toolCount tools that only read.
func runTools(ctx context.Context) error {
	server := mcp.NewServer(&mcp.Implementation{Name: serverName, Version: "1"}, nil)
	schema := json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","description":"Which item to read."},"fields":{"type":"array","items":{"type":"string"},"description":"The fields to return; all when absent."}},"required":["id"],"additionalProperties":false}`)
	for i := range toolCount {
		server.AddTool(&mcp.Tool{
			Name:        toolName(i),
			Description: fmt.Sprintf("Read one item of list %d and return its fields as text. Reads only.", i),
			InputSchema: schema,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answerText}}}, nil
		})
	}
	return server.Run(ctx, &mcp.StdioTransport{})
}
