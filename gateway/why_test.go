package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway"
	"pointsman/gateway/tools"
)

// crowded is a built-in server with so many tools that not all are offered, and
// one whose schema cannot be fitted.
func crowded(ctx context.Context) (mcp.Transport, error) {
	server := mcp.NewServer(&mcp.Implementation{Name: "crowd", Version: "1"}, nil)
	add := func(name, schema string) {
		server.AddTool(&mcp.Tool{Name: name, Description: "Does " + name, InputSchema: json.RawMessage(schema)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	}
	for i := range 6 {
		add(fmt.Sprintf("read_%c", 'a'+i), `{"type":"object"}`)
	}
	add("read_far", `{"type":"object","properties":{"a":{"$ref":"https://example.com/far.json"}}}`)
	add("read_file", `{"type":"object"}`)
	ours, theirs := mcp.NewInMemoryTransports()
	go func() { _ = server.Run(context.WithoutCancel(ctx), theirs) }()
	return ours, nil
}

func TestWhyTool(t *testing.T) {
	d := newDesk(t, `tools: {max_offered: 4}
mcpServers:
  gone: {command: /nowhere/server}
  off: {command: /nowhere/server, disabled: true, prefix: other}
`, func(o *gateway.Options) { o.Builtin["crowd"] = crowded })
	d.await(t, "the servers to be as they are", func() bool {
		return len(d.Tools()) == 12 && !strings.Contains(fmt.Sprint(d.WhyTool("gone__x")), "still connecting")
	})
	for _, tt := range []struct {
		name, asked string
		want        string // names, offered, callable, causes of each
		says        string
	}{
		{"offered", "scratch__list_files", "scratch__list_files true true", ""},
		{"by its bare name", "list_files", "scratch__list_files true true", ""},
		{"of two servers", "read_file", "crowd__read_file false true beyond, scratch__read_file false true beyond", "4 are offered at once"},
		{"set aside", "crowd__read_far", "crowd__read_far false true set_aside", "nothing is fetched"},
		{"of a failed server", "gone__x", " false false not_connected", `server "gone" is not connected (failed): `},
		{"of a disabled server", "other__x", " false false not_connected", `server "off" is disabled in the configuration`},
		{"not of its server", "scratch__x", " false false unknown", `server "scratch" is connected, and has no tool of that name`},
		{"of nobody", "fly_away", " false false unknown not_connected not_connected", "no connected server has a tool of that name"},
		{"nothing", "", " false false unknown not_connected not_connected", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var answers, texts []string
			for _, why := range d.WhyTool(tt.asked) {
				answer := fmt.Sprint(why.Name, " ", why.Offered, " ", why.Callable)
				for _, reason := range why.Reasons {
					answer += " " + string(reason.Cause)
					texts = append(texts, reason.Text)
				}
				answers = append(answers, answer)
			}
			if got := strings.Join(answers, ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := strings.Join(texts, "; "); !strings.Contains(got, tt.says) {
				t.Errorf("it says %q, not %q", got, tt.says)
			}
		})
	}
	for asked, want := range map[string]string{"scratch__raed_file": "scratch__read_file", "lst_files": "scratch__list_files", "deleting of files": "scratch__delete_file"} {
		if got := d.WhyTool(asked)[0].Similar; !slices.Contains(got, want) {
			t.Errorf("similar to %q are %q", asked, got)
		}
	}
	d.Pause(true)
	if why := d.WhyTool("list_files")[0]; why.Callable || len(why.Reasons) != 1 || why.Reasons[0].Cause != tools.Paused {
		t.Errorf("paused: %+v", why)
	}
}

// A definition that changed is told of; its tool stays on offer.
func TestWhyToolChanged(t *testing.T) {
	home := t.TempDir()
	for i, want := range []int{0, 1} {
		d := newShifty(t, home, func(ctx context.Context) (mcp.Transport, error) {
			server := mcp.NewServer(&mcp.Implementation{Name: "shifty", Version: "1"}, nil)
			server.AddTool(&mcp.Tool{Name: "list_things", Description: fmt.Sprint("List ", i), InputSchema: json.RawMessage(`{"type":"object"}`)},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return &mcp.CallToolResult{}, nil
				})
			ours, theirs := mcp.NewInMemoryTransports()
			go func() { _ = server.Run(context.WithoutCancel(ctx), theirs) }()
			return ours, nil
		})
		why := d.WhyTool("list_things")[0]
		if len(why.Reasons) != want || !why.Offered || !why.Callable || want == 1 && why.Reasons[0].Cause != tools.Changed {
			t.Errorf("start %d: %+v", i, why)
		}
		_ = d.Close()
	}
}
