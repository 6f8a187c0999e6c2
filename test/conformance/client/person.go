package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"pointsman/gateway/elicit"
	"pointsman/gateway/servers"
	"pointsman/gateway/servers/signin"
)

// willing is a person who fills in each form as it is proposed, and says yes
// where nothing is.
type willing struct{}

func (*willing) Abilities() servers.Abilities { return servers.Abilities{Form: true} }

func (*willing) Elicit(_ context.Context, _ servers.Origin, params json.RawMessage) (json.RawMessage, error) {
	asked, err := elicit.Read(params)
	if err != nil {
		return nil, err
	}
	form, err := elicit.ParseForm(asked.Schema)
	if err != nil {
		return nil, err
	}
	content := map[string]json.RawMessage{}
	for _, field := range form {
		switch {
		case field.Default != nil:
			content[field.Name] = field.Default
		case field.Kind == elicit.Switch:
			content[field.Name] = json.RawMessage("true")
		}
	}
	return json.Marshal(map[string]any{"action": elicit.Accept, "content": content})
}

func (*willing) Sample(context.Context, servers.Origin, json.RawMessage) (json.RawMessage, error) {
	return nil, fmt.Errorf("no model is there to be asked")
}

func (*willing) Elicited(string, string) {}

// mostSignIns is how often a person signs in before giving it up: a server that
// is never content must not have its way.
const mostSignIns = 3

// connected signs in until the server is connected.
func (c *client) connected(ctx context.Context, s servers.Status) error {
	for s.Live.Status == servers.NeedsAuth {
		var err error
		if s, err = c.signIn(ctx); err != nil {
			return err
		}
	}
	if s.Live.Status != servers.Connected {
		return fmt.Errorf("the server is %s: %s", s.Live.Status, s.Live.Error)
	}
	return nil
}

// signIn opens the address of a sign-in as a browser would, agreeing to all, and
// waits for what comes of it.
func (c *client) signIn(ctx context.Context) (servers.Status, error) {
	if c.signIns++; c.signIns > mostSignIns {
		return servers.Status{}, fmt.Errorf("%d sign-ins were not enough", mostSignIns)
	}
	flow, err := c.host.SignIn(ctx, serverName, signin.How{})
	if err != nil {
		return servers.Status{}, err
	}
	if flow.URL != "" {
		if err := browse(ctx, flow.URL); err != nil {
			return servers.Status{}, err
		}
	}
	return c.host.AwaitSignIn(ctx, flow.ID)
}

// browse follows an address to where it leads.
func browse(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("opening the sign-in: %w", err)
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
