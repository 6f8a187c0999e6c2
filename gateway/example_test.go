package gateway_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/secrets"
	"pointsman/gateway/servers/scratch"
)

// A program of your own can run a gateway inside itself: with its own servers,
// and with its own say on risky calls.
func Example() {
	dir, err := os.MkdirTemp("", "pointsman-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	getenv := func(name string) string { return map[string]string{"POINTSMAN_HOME": dir}[name] }
	home, err := config.Locate(getenv)
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := config.Load(config.Options{Getenv: getenv})
	if err != nil {
		fmt.Println(err)
		return
	}

	folder := filepath.Join(dir, "scratch")
	if err := os.Mkdir(folder, 0o700); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	g, err := gateway.New(ctx, gateway.Options{
		Config: store, Home: home, Keychain: secrets.Memory(), Demo: true,
		Builtin:  map[string]func(context.Context) (mcp.Transport, error){"scratch": scratch.Transport(folder)},
		Approver: approvals.Static{Allow: []string{"scratch__write_file"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	g.Start()
	if err := g.Ready(ctx); err != nil {
		fmt.Println(err)
		return
	}

	answer, err := g.Chat(ctx, gateway.ChatRequest{Model: "demo", Prompt: "Show me what you can do."})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.UsedTools)
	fmt.Println(answer.PlanProgress["completed"], "steps completed of", answer.PlanProgress["total"])
	// Output:
	// [update_plan scratch__list_files scratch__write_file scratch__read_file]
	// 3 steps completed of 3
}
