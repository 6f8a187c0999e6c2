// Package scratch is a small MCP server of our own: four tools over one folder.
// It is what the demo plays with, and it needs nothing installed.
//
// No path leads out of the folder: not .., not an absolute path, not a symbolic
// link. Each connection is served by the SDK's goroutines, which end when the
// client closes it; the folder stays, it is its owner's.
package scratch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxFile is how much read_file returns and write_file takes, in bytes.
const maxFile = 1 << 20

// Transport returns a function that connects a client to a new server over dir,
// in this process. The folder must exist. Closing the client's session ends the
// server.
func Transport(dir string) func(ctx context.Context) (mcp.Transport, error) {
	return func(ctx context.Context) (mcp.Transport, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, fmt.Errorf("opening the scratch folder: %w", err)
		}
		ours, theirs := mcp.NewInMemoryTransports()
		session, err := newServer(root).Connect(context.WithoutCancel(ctx), ours, nil)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("starting the scratch server: %w", err), root.Close())
		}
		go func() { // ends with the session, which ends with the client's
			_ = session.Wait()
			_ = root.Close()
		}()
		return theirs, nil
	}
}

type folder struct{ root *os.Root }

func newServer(root *os.Root) *mcp.Server {
	f := folder{root}
	s := mcp.NewServer(&mcp.Implementation{Name: "scratch", Title: "Scratch folder", Version: "1"}, nil)
	no := false
	yes := true
	mcp.AddTool(s, &mcp.Tool{
		Name: "list_files", Title: "List files", Description: "List the files of the scratch folder, with their sizes in bytes.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no},
	}, f.list)
	mcp.AddTool(s, &mcp.Tool{
		Name: "read_file", Title: "Read a file", Description: "Read a text file of the scratch folder.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no},
	}, f.read)
	mcp.AddTool(s, &mcp.Tool{
		Name: "write_file", Title: "Write a file", Description: "Write a text file in the scratch folder, replacing what was there.",
		Annotations: &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: &yes, OpenWorldHint: &no},
	}, f.write)
	mcp.AddTool(s, &mcp.Tool{
		Name: "delete_file", Title: "Delete a file", Description: "Delete a file of the scratch folder.",
		Annotations: &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: &yes, OpenWorldHint: &no},
	}, f.remove)
	return s
}

type listing struct {
	Files []file `json:"files"`
}

type file struct {
	Path string `json:"path" jsonschema:"path in the folder, with forward slashes"`
	Size int64  `json:"size" jsonschema:"bytes"`
}

func (f folder) list(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, listing, error) {
	out := listing{Files: []file{}}
	err := fs.WalkDir(f.root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		out.Files = append(out.Files, file{Path: path, Size: info.Size()})
		return nil
	})
	if err != nil {
		return nil, listing{}, fmt.Errorf("listing the scratch folder: %w", err)
	}
	return nil, out, nil
}

type named struct {
	Path string `json:"path" jsonschema:"path in the folder, with forward slashes"`
}

func (f folder) read(_ context.Context, _ *mcp.CallToolRequest, in named) (*mcp.CallToolResult, any, error) {
	r, err := f.root.Open(in.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading from the scratch folder: %w", err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", in.Path, err)
	}
	if len(data) > maxFile {
		return nil, nil, fmt.Errorf("reading %s: it is larger than %d bytes", in.Path, maxFile)
	}
	return text(string(data)), nil, nil
}

type written struct {
	Path    string `json:"path" jsonschema:"path in the folder, with forward slashes"`
	Content string `json:"content" jsonschema:"the whole new text of the file"`
}

func (f folder) write(_ context.Context, _ *mcp.CallToolRequest, in written) (*mcp.CallToolResult, any, error) {
	if len(in.Content) > maxFile {
		return nil, nil, fmt.Errorf("writing %s: the content is larger than %d bytes", in.Path, maxFile)
	}
	if dir := path.Dir(in.Path); dir != "." {
		if err := f.root.MkdirAll(dir, 0o700); err != nil {
			return nil, nil, fmt.Errorf("writing to the scratch folder: %w", err)
		}
	}
	if err := f.root.WriteFile(in.Path, []byte(in.Content), 0o600); err != nil {
		return nil, nil, fmt.Errorf("writing to the scratch folder: %w", err)
	}
	return text(fmt.Sprintf("wrote %d bytes to %s", len(in.Content), in.Path)), nil, nil
}

func (f folder) remove(_ context.Context, _ *mcp.CallToolRequest, in named) (*mcp.CallToolResult, any, error) {
	if info, err := f.root.Lstat(in.Path); err == nil && info.IsDir() {
		return nil, nil, fmt.Errorf("deleting %s: it is a folder", in.Path)
	}
	if err := f.root.Remove(in.Path); err != nil {
		return nil, nil, fmt.Errorf("deleting from the scratch folder: %w", err)
	}
	return text("deleted " + strings.TrimPrefix(in.Path, "./")), nil, nil
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}
