package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/secrets"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/signin"
)

// A program that has signed its user in already gives the tokens itself. What it
// does not know it hands back, or cancels with the zero answer.
func ExampleOptions_tokens() {
	dir, err := os.MkdirTemp("", "pointsman-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	docs := startGuarded("token-of-the-user") // an MCP server that takes this token
	defer docs.Close()
	entries, _ := json.Marshal([]map[string]string{{"name": "docs", "transport": "http", "url": docs.URL}})
	getenv := func(name string) string {
		return map[string]string{"POINTSMAN_HOME": dir, "MCP_SERVERS": string(entries)}[name]
	}
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

	ctx := context.Background()
	g, err := gateway.New(ctx, gateway.Options{
		Config: store, Home: home, Keychain: secrets.Memory(),
		Tokens: func(_ context.Context, r signin.TokenRequest) (signin.TokenAnswer, error) {
			switch {
			case r.Server == "docs" && r.Reason == signin.TokenMissing:
				return signin.TokenAnswer{Token: "token-of-the-user"}, nil
			case r.Server == "docs":
				return signin.TokenAnswer{HandBack: true}, nil // use and renew what `servers login` has stored
			}
			return signin.TokenAnswer{}, nil // cancelled
		},
		OnSignIn: func(e signin.Event) { fmt.Println(e.Kind, e.Server, e.Outcome) },
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
	for _, s := range g.Servers() {
		fmt.Println(s.Name, s.Live.Status == servers.Connected, s.Tools)
	}
	// Output:
	// oauth_completed docs succeeded
	// docs true 1
}
