package main

import (
	"context"
	"fmt"
	"strings"

	"pointsman/gateway/config"
)

// mcpStage is a server, and all the ways to it.
type mcpStage struct {
	ways  [ways]caller
	stage *stage // the gateway
}

// open starts a server with so many tools, and what is in each way to it.
func (b *mcpBench) open(ctx context.Context, transport string, tools int) (*mcpStage, error) {
	s := &mcpStage{stage: &stage{binary: b.opts.binary, dir: b.dir, provider: "127.0.0.1:9"}} // no model is asked
	if err := s.openWays(ctx, b, transport, tools); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, s.close())
	}
	return s, nil
}

// entry is a server with so many tools as a user would configure it.
func (b *mcpBench) entry(tools int) config.MCPServer {
	return config.MCPServer{Command: b.self, Args: []string{"tools", "stdio", fmt.Sprint(tools)}}
}

func (b *mcpBench) directStdio(ctx context.Context, tools int) (*stdioCaller, error) {
	return newStdioCaller(ctx, toolName(0), toolName(tools-1), nil, b.self, "tools", "stdio", fmt.Sprint(tools))
}

// throughSDK starts what the SDK makes of it, before the server of that address or,
// over stdio, before one of its own.
func (b *mcpBench) throughSDK(ctx context.Context, transport, url string, tools int) (*stdioCaller, error) {
	what := fmt.Sprint(tools)
	if transport == "http" {
		what = strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	}
	return newStdioCaller(ctx, toolName(0), toolName(tools-1), nil, b.self, "sdk", transport, what)
}

func (s *mcpStage) openWays(ctx context.Context, b *mcpBench, transport string, tools int) (err error) {
	entry, last := b.entry(tools), toolName(tools-1)
	inFile := fmt.Sprintf("{type: local, command: %q, args: [tools, stdio, %q]}", b.self, fmt.Sprint(tools))
	if transport == "http" {
		p, addr, err := startPart(ctx, "tools", transport, fmt.Sprint(tools))
		if err != nil {
			return err
		}
		entry = config.MCPServer{URL: "http://" + addr + "/mcp"}
		inFile = fmt.Sprintf("{type: http, url: %q}", entry.URL)
		s.stage.processes = append(s.stage.processes, p)
		s.ways[unaided], err = newHTTPCaller(ctx, &target{addr: addr, path: "/mcp"}, toolName(0), last)
		if err != nil {
			return err
		}
	} else if s.ways[unaided], err = b.directStdio(ctx, tools); err != nil {
		return err
	}
	if s.ways[bySDK], err = b.throughSDK(ctx, transport, entry.URL, tools); err != nil {
		return err
	}
	if s.ways[byHost], err = newHosted(ctx, map[string]config.MCPServer{serverName: entry}, tools); err != nil {
		return err
	}
	return s.openDoors(ctx, transport, inFile, tools)
}

// openDoors starts a gateway with the server in its configuration.
func (s *mcpStage) openDoors(ctx context.Context, transport, inFile string, tools int) error {
	name := fmt.Sprintf("mcp %s %d", transport, tools)
	t, err := s.stage.startGateway(ctx, name, fmt.Sprintf("mcp: {tools: servers}\nmcpServers: {%s: %s}\n", serverName, inFile))
	if err != nil {
		return err
	}
	if err := awaitTools(ctx, t, tools); err != nil {
		return err
	}
	last := serverName + "__" + toolName(tools-1)
	if s.ways[byStdio], err = newStdioCaller(ctx, firstTool, last, s.stage.env(s.stage.home(name)), s.stage.binary, "mcp"); err != nil {
		return err
	}
	door := *t
	door.path = "/mcp"
	s.ways[byHTTP], err = newHTTPCaller(ctx, &door, firstTool, last)
	return err
}

// close ends all that was started, and returns what the gateway complained of.
func (s *mcpStage) close() string {
	for _, way := range s.ways {
		if way != nil {
			way.close()
		}
	}
	return s.stage.end()
}
