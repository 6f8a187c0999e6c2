package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// libraryServer is an MCP server with prompts and resources.
func libraryServer() {
	s := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, nil)
	s.AddPrompt(&mcp.Prompt{Name: "greet", Description: "Greets.", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}, {Name: "how"}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := &mcp.TextContent{Text: fmt.Sprintf("Hello %s!\x1b[2J (%d arguments)", r.Params.Arguments["who"], len(r.Params.Arguments))}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: text}}}, nil
		})
	contents := map[string]*mcp.ResourceContents{
		"mem://text": {MIMEType: "text/plain", Text: "first\nsecond\n"},
		"mem://blob": {MIMEType: "image/png", Blob: []byte("\x89PNG\x00")},
		"mem://huge": {MIMEType: "text/plain", Text: strings.Repeat("x", 9<<20)},
	}
	for uri, content := range contents {
		s.AddResource(&mcp.Resource{URI: uri, Name: "a " + uri, MIMEType: content.MIMEType}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			content.URI = uri
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
		})
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "mem://{name}", Name: "any"}, nil)
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(0)
}

func libraryRig(t *testing.T) *rig {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return newRig(t, fmt.Sprintf("mcpServers:\n  lib: {command: %q, env: {CLI_TEST_LIBRARY: \"1\"}}\n  scratch: {type: builtin}\n", exe))
}

func TestServerLibrary(t *testing.T) {
	r := libraryRig(t)
	tests := map[string]struct {
		args []string
		want string // in the output
	}{
		"prompts":           {[]string{"prompts", "lib"}, "greet   who [how]  Greets."},
		"a prompt":          {[]string{"prompt", "lib", "greet", "who=Ada=1"}, "user: Hello Ada=1!\x1b[2J (1 arguments)\n"},
		"no arguments":      {[]string{"prompt", "lib", "greet"}, "(0 arguments)"},
		"prompts as JSON":   {[]string{"prompts", "lib", "--json"}, `{"arguments":[{"name":"who","required":true},{"name":"how"}],`},
		"resources":         {[]string{"resources", "lib"}, "mem://text  a mem://text  text/plain"},
		"templates":         {[]string{"resources", "lib", "--templates"}, "mem://{name}  any"},
		"a resource":        {[]string{"read", "lib", "mem://text"}, "first\nsecond\n"},
		"a resource's JSON": {[]string{"read", "lib", "mem://blob", "--json"}, `"blob":"iVBORwA="`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if e := r.must(append([]string{"servers"}, test.args...)...); !strings.Contains(e.out, test.want) {
				t.Errorf("got %q %s, want %q in it", e.out, e.errors, test.want)
			}
		})
	}
}

func TestServerLibraryRefuses(t *testing.T) {
	r := libraryRig(t)
	tests := map[string]struct {
		args []string
		want string
	}{
		"binary":           {[]string{"read", "lib", "mem://blob"}, "5 bytes of image/png; write it to a file with --output"},
		"huge":             {[]string{"read", "lib", "mem://huge"}, "9437184 bytes"},
		"not there":        {[]string{"read", "lib", "mem://none"}, "lib"},
		"a server without": {[]string{"prompts", "scratch"}, `server "scratch" has no prompts`},
		"no server":        {[]string{"resources", "nobody"}, "no server of this name"},
		"no pair":          {[]string{"prompt", "lib", "greet", "who"}, "KEY=VALUE"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := r.run("", append([]string{"servers"}, test.args...)...)
			if e.code == 0 || !strings.Contains(e.errors, test.want) || e.out != "" {
				t.Errorf("ended with %d: %s %s, want %q", e.code, e.out, e.errors, test.want)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "x.png")
	r.must("servers", "read", "lib", "mem://blob", "--output", path)
	if data, err := os.ReadFile(path); err != nil || string(data) != "\x89PNG\x00" {
		t.Errorf("the file has %q %v", data, err)
	}
}
