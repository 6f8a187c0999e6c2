package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"pointsman/gateway/servers"
)

// client is the connected server, and what the runner gave the scenario.
type client struct {
	host    *servers.Host
	given   given
	signIns int // so far
}

// scenario returns what is to be done when the server is connected and its tools
// are listed.
func scenario(name string) (func(context.Context, *client) error, error) {
	switch {
	case name == "initialize", name == "request-metadata", name == "json-schema-ref-no-deref":
		return func(context.Context, *client) error { return nil }, nil
	case name == "tools_call":
		return calling("add_numbers", `{"a":5,"b":3}`), nil
	case name == "elicitation-sep1034-client-defaults":
		return calling("test_client_elicitation_defaults", `{}`), nil
	case name == "sse-retry":
		return calling("test_reconnection", `{}`), nil
	case name == "json-schema-2020-12-preservation":
		return echoSchema, nil
	case name == "sep-2322-client-request-state":
		return askForInput, nil
	case name == "http-standard-headers":
		return askEverything, nil
	case name == "http-custom-headers":
		return callGiven, nil
	case name == "http-invalid-tool-headers":
		return callAll, nil
	case strings.HasPrefix(name, "auth/"):
		return calling("test-tool", `{}`), nil
	}
	return nil, fmt.Errorf("no scenario named %q is known", name)
}

// calling returns a scenario of one call.
func calling(tool, arguments string) func(context.Context, *client) error {
	return func(ctx context.Context, c *client) error {
		return c.call(ctx, tool, json.RawMessage(arguments))
	}
}

// call calls a tool, and again after each sign-in that it turns out to need.
func (c *client) call(ctx context.Context, tool string, arguments json.RawMessage) error {
	for {
		_, err := c.host.Call(ctx, servers.Call{Server: serverName, Tool: tool, Arguments: arguments})
		var away *servers.UnavailableError
		if !errors.As(err, &away) || away.Status != servers.NeedsAuth {
			return err
		}
		s, err := c.signIn(ctx)
		if err == nil {
			err = c.connected(ctx, s)
		}
		if err != nil {
			return err
		}
	}
}

// definition returns the definition of a listed tool.
func (c *client) definition(name string) (json.RawMessage, error) {
	for _, tool := range c.host.Tools() {
		if tool.Name == name {
			return tool.Raw, nil
		}
	}
	return nil, fmt.Errorf("the server does not list the tool %q", name)
}

// echoSchema sends the schema of one tool back through another.
func echoSchema(ctx context.Context, c *client) error {
	definition, err := c.definition("json_schema_2020_12_tool")
	if err != nil {
		return err
	}
	schema := gjson.GetBytes(definition, "inputSchema").Raw
	return c.call(ctx, "json_schema_echo", json.RawMessage(`{"schema":`+schema+`}`))
}

// askForInput calls tools that ask for input before they answer. Some of them do
// so wrongly, and must not be answered.
func askForInput(ctx context.Context, c *client) error {
	var refused *servers.ProtocolError
	for _, tool := range []string{"test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"} {
		if err := c.call(ctx, tool, nil); err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	return nil
}

// askEverything calls a tool, reads a resource and gets a prompt.
func askEverything(ctx context.Context, c *client) error {
	tools := c.host.Tools()
	if len(tools) == 0 {
		return errors.New("the server lists no tools")
	}
	return errors.Join(
		c.call(ctx, tools[0].Name, nil),
		c.askFirst(ctx, "resources/list", "resources.0.uri", "resources/read", "uri"),
		c.askFirst(ctx, "prompts/list", "prompts.0.name", "prompts/get", "name"),
	)
}

// askFirst asks for the first thing of a list: what the list has at path is the
// parameter that method takes.
func (c *client) askFirst(ctx context.Context, list, path, method, parameter string) error {
	raw, err := c.host.Request(ctx, servers.Request{Server: serverName, Method: list})
	if err != nil {
		return err
	}
	params, err := json.Marshal(map[string]string{parameter: gjson.GetBytes(raw, path).Str})
	if err != nil {
		return err
	}
	_, err = c.host.Request(ctx, servers.Request{Server: serverName, Method: method, Params: params})
	return err
}

// callGiven makes the calls that the runner wants.
func callGiven(ctx context.Context, c *client) error {
	for _, call := range c.given.ToolCalls {
		if err := c.call(ctx, call.Name, call.Arguments); err != nil {
			return err
		}
	}
	return nil
}

// callAll calls whatever the server lists. What we take for faulty must not get
// as far as the server.
func callAll(ctx context.Context, c *client) error {
	for _, tool := range c.host.Tools() {
		err := c.call(ctx, tool.Name, json.RawMessage(`{"region":"us-west1"}`))
		if tool.Fault == "" && err != nil {
			return err
		}
	}
	return nil
}
