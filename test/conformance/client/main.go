// Command client is what the official MCP conformance runner runs in its client
// mode: each scenario is a server on loopback, which this program reaches as
// Pointsman reaches one that a user has configured, through gateway/servers.
//
//	conformance client --command client --suite core
//
// The runner appends the server's address to the command, and names the scenario
// and its data in the environment. What a scenario's server has seen decides
// whether it passes; the exit code only says whether all that was wanted of it
// was had.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"time"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/signin"
)

// scenarioVariable and contextVariable are how the runner says what is wanted.
const (
	scenarioVariable = "MCP_CONFORMANCE_SCENARIO"
	contextVariable  = "MCP_CONFORMANCE_CONTEXT"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance client:", err)
		os.Exit(1)
	}
}

// run plays the scenario that the environment names against the server at the
// address that is the one argument.
func run(ctx context.Context, args []string, getenv func(string) string, stderr io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: client URL, with the scenario in %s", scenarioVariable)
	}
	given, err := readGiven(getenv(contextVariable))
	if err != nil {
		return err
	}
	name := getenv(scenarioVariable)
	play, err := scenario(name)
	if err != nil {
		return err
	}
	entry, err := entryFor(name, args[0], given)
	if err != nil {
		return err
	}
	return host(ctx, entry, stderr, func(c *client) error {
		c.given = given
		return play(ctx, c)
	})
}

// given is what the runner gives a scenario beside the address.
type given struct {
	ClientID     string     `json:"client_id"`
	ClientSecret string     `json:"client_secret"`
	ToolCalls    []toolCall `json:"toolCalls"`
}

type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func readGiven(text string) (given, error) {
	var g given
	if text == "" {
		return g, nil
	}
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		return g, fmt.Errorf("reading %s: %w", contextVariable, err)
	}
	return g, nil
}

// serverName is the server's in the configuration.
const serverName = "conformance"

// document is the address of a metadata document that the runner's authorization
// servers take for a client's id, if they take any.
const document = "https://conformance-test.local/client-metadata.json"

// entryFor is the server as a user would configure it for a scenario.
func entryFor(scenario, url string, g given) (config.MCPServer, error) {
	entry := config.MCPServer{
		Type: "http", URL: url, Timeout: (20 * time.Second).Milliseconds(),
		OAuthClientID: g.ClientID, OAuthClientSecret: config.Secret(g.ClientSecret),
	}
	switch scenario {
	case "auth/basic-cimd":
		entry.OAuthClientID = document
	case "auth/client-credentials-basic":
		entry.OAuthGrantType = signin.ClientCredentials
	}
	if entry.OAuthClientID == "" {
		return entry, nil
	}
	var err error
	entry.OAuthCallbackPort, err = freePort() // scenarios run side by side
	return entry, err
}

func freePort() (int, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port, nil
}

// host runs the server's entry, waits for its connection, has play use it, and
// ends it.
func host(ctx context.Context, entry config.MCPServer, stderr io.Writer, play func(*client) error) error {
	h := servers.New(servers.Options{
		Logger: slog.New(slog.NewTextHandler(stderr, nil)),
		Client: &willing{},
	})
	h.Apply(map[string]config.MCPServer{serverName: entry}, nil)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	defer func() { cancel(); <-ended; h.Close() }()
	if err := h.Settle(ctx); err != nil {
		return err
	}
	c := &client{host: h}
	if err := c.connected(ctx, h.Status()[0]); err != nil {
		return err
	}
	return play(c)
}
