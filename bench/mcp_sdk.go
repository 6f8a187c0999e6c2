package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// runSDK is the least that stands between a client and a server with the MCP Go
// SDK on both sides, as anybody would write it first: a server over stdio whose
// tools are another's, over stdio or HTTP. It is what our own way is compared with.
func runSDK(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) != 2 {
		return errors.New("sdk: want a transport, and the number of tools or an address")
	}
	transport, err := behindSDK(args[0], args[1])
	if err != nil {
		return err
	}
	info := &mcp.Implementation{Name: "bench", Version: "1"}
	behind, err := mcp.NewClient(info, nil).Connect(ctx, transport, nil)
	if err != nil {
		return fmt.Errorf("connecting the server behind: %w", err)
	}
	server := mcp.NewServer(info, nil)
	for tool, err := range behind.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("listing the tools of the server behind: %w", err)
		}
		server.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return behind.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: req.Params.Arguments})
		})
	}
	err = server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(stdin), Writer: unclosed{stdout}})
	return errors.Join(err, behind.Close())
}

// behindSDK is the way to the server behind.
func behindSDK(transport, what string) (mcp.Transport, error) {
	if transport == "http" {
		return &mcp.StreamableClientTransport{Endpoint: "http://" + what + "/mcp", DisableStandaloneSSE: true}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &mcp.CommandTransport{Command: exec.Command(self, "tools", "stdio", what)}, nil
}

// unclosed is a stream that others close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
