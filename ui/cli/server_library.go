package cli

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pointsman/approvals"
)

// maxShown is the largest resource, in bytes, that is printed.
const maxShown = 8 << 20

// libraryFlags are what a server's prompts and resources are asked for with.
type libraryFlags struct {
	cursor, output  string
	json, templates bool
}

// libraryCommands are the commands of a server's prompts and resources.
func (a *app) libraryCommands() []*cobra.Command {
	var f libraryFlags
	prompts := &cobra.Command{
		Use: "prompts NAME", Short: "List the prompts of an MCP server", Args: arguments(1, 1), Example: "  pointsman servers prompts github",
		RunE: func(cmd *cobra.Command, args []string) error { return a.listPrompts(cmd.Context(), args[0], f) },
	}
	prompt := &cobra.Command{
		Use: "prompt NAME PROMPT [KEY=VALUE…]", Short: "Show a prompt of an MCP server", Args: arguments(2, 1000),
		Long:    "Show a prompt of an MCP server, filled with the values that are given for its\narguments. It is shown, and sent to no model.",
		Example: "  pointsman servers prompt github review pr=12",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.showPrompt(cmd.Context(), args, f) },
	}
	resources := &cobra.Command{
		Use: "resources NAME", Short: "List the resources of an MCP server", Args: arguments(1, 1), Example: "  pointsman servers resources files --templates",
		RunE: func(cmd *cobra.Command, args []string) error { return a.listResources(cmd.Context(), args[0], f) },
	}
	read := &cobra.Command{
		Use: "read NAME URI", Short: "Print a resource of an MCP server", Args: arguments(2, 2),
		Example: "  pointsman servers read files file:///notes.txt\n  pointsman servers read files file:///logo.png --output logo.png",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.readResource(cmd.Context(), args, f) },
	}
	for _, cmd := range []*cobra.Command{prompts, resources} {
		cmd.Flags().StringVar(&f.cursor, "cursor", "", "go on where the list that gave `CURSOR` ended")
	}
	resources.Flags().BoolVar(&f.templates, "templates", false, "list the templates of resources instead")
	read.Flags().StringVar(&f.output, "output", "", "write the resource to `FILE`, which must not be there yet")
	all := []*cobra.Command{prompts, prompt, resources, read}
	for _, cmd := range all {
		cmd.Flags().BoolVar(&f.json, "json", false, "print the server's answer as it came")
	}
	return all
}

// askServer asks a server, the resident's or one of this process, and reads the
// answer into v. With --json it is printed, and v is left as it is: done is then
// true.
func (a *app) askServer(ctx context.Context, server, method string, params any, f libraryFlags, v any) (done bool, err error) {
	c, err := a.open(ctx, opening{start: true, anyConfig: true})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	body, err := json.Marshal(params)
	if err != nil {
		return false, err
	}
	raw, err := c.Request(ctx, server, method, body)
	if err != nil {
		return false, err
	}
	if f.json {
		if terminalFile(a.Stdout) != nil {
			raw = approvals.EscapedJSON(raw)
		}
		return true, a.print("%s", raw)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return false, fmt.Errorf("reading what server %q answered to %s: %w", server, method, err)
	}
	return false, nil
}

// harmless is a text as it is, but at a terminal, which it could control.
func (a *app) harmless(text string) string {
	if terminalFile(a.Stdout) == nil {
		return text
	}
	return approvals.VisibleText(text)
}

// cursorParams are the parameters of a list.
type cursorParams struct {
	Cursor string `json:"cursor,omitempty"`
}

// more says how to see the rest of a list.
func (a *app) more(next string) {
	if next != "" {
		a.tell("There are more: add --cursor %s", approvals.Visible(next))
	}
}

func (a *app) listPrompts(ctx context.Context, server string, f libraryFlags) error {
	var list struct {
		Prompts []struct {
			Name, Title, Description string
			Arguments                []struct {
				Name     string
				Required bool
			}
		}
		NextCursor string
	}
	if done, err := a.askServer(ctx, server, "prompts/list", cursorParams{f.cursor}, f, &list); done || err != nil {
		return err
	}
	var rows [][]string
	for _, p := range list.Prompts {
		var takes []string
		for _, arg := range p.Arguments {
			name := "[" + arg.Name + "]"
			if arg.Required {
				name = arg.Name
			}
			takes = append(takes, name)
		}
		rows = append(rows, []string{p.Name, strings.Join(takes, " "), oneLine(p.Description, widestCell)})
	}
	if len(rows) == 0 {
		a.tell("Server %s lists no prompts.", approvals.Visible(server))
		return nil
	}
	defer a.more(list.NextCursor)
	return a.table([]string{"PROMPT", "ARGUMENTS", "ABOUT"}, rows)
}

// promptParams are the parameters of prompts/get. Arguments are absent when none
// are given.
type promptParams struct {
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

func (a *app) showPrompt(ctx context.Context, args []string, f libraryFlags) error {
	params := promptParams{Name: args[1]}
	for _, pair := range args[2:] {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return usagef("%q is no KEY=VALUE", pair)
		}
		if params.Arguments == nil {
			params.Arguments = map[string]string{}
		}
		params.Arguments[key] = value
	}
	var prompt struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if done, err := a.askServer(ctx, args[0], "prompts/get", params, f, &prompt); done || err != nil {
		return err
	}
	for _, m := range prompt.Messages {
		if err := a.print("%s: %s", approvals.Visible(m.Role), a.harmless(contentText(m.Content))); err != nil {
			return err
		}
	}
	return nil
}

// contentText is one block of content, or several, as text: what is no text is
// named.
func contentText(raw json.RawMessage) string {
	var blocks []json.RawMessage
	if json.Unmarshal(raw, &blocks) != nil {
		blocks = []json.RawMessage{raw}
	}
	var texts []string
	for _, raw := range blocks {
		var block struct {
			Type, Text, URI, MIMEType string
			Resource                  struct{ URI, Text string }
		}
		if json.Unmarshal(raw, &block) != nil {
			texts = append(texts, string(raw))
			continue
		}
		switch block.Type {
		case "text":
			texts = append(texts, block.Text)
		case "resource":
			texts = append(texts, "[resource "+block.Resource.URI+"]", block.Resource.Text)
		default:
			texts = append(texts, strings.TrimSpace(fmt.Sprintf("[%s %s%s]", block.Type, block.MIMEType, block.URI)))
		}
	}
	return strings.Join(texts, "\n")
}

func (a *app) listResources(ctx context.Context, server string, f libraryFlags) error {
	method := "resources/list"
	if f.templates {
		method = "resources/templates/list"
	}
	type resource struct {
		URI, URITemplate, Name, Description, MIMEType string
	}
	var list struct {
		Resources, ResourceTemplates []resource
		NextCursor                   string
	}
	if done, err := a.askServer(ctx, server, method, cursorParams{f.cursor}, f, &list); done || err != nil {
		return err
	}
	var rows [][]string
	for _, r := range slices.Concat(list.Resources, list.ResourceTemplates) {
		rows = append(rows, []string{r.URI + r.URITemplate, r.Name, r.MIMEType, oneLine(r.Description, widestCell)})
	}
	if len(rows) == 0 {
		a.tell("Server %s lists none.", approvals.Visible(server))
		return nil
	}
	defer a.more(list.NextCursor)
	return a.table([]string{"URI", "NAME", "TYPE", "ABOUT"}, rows)
}

// resourcePart is one of the contents of a resource.
type resourcePart struct {
	URI, MIMEType string
	Text          *string
	Blob          string // in base64
}

func (p resourcePart) data() ([]byte, error) {
	if p.Text != nil {
		return []byte(*p.Text), nil
	}
	data, err := base64.StdEncoding.DecodeString(p.Blob)
	if err != nil {
		return nil, fmt.Errorf("reading resource %s: its data is no base64: %w", p.URI, err)
	}
	return data, nil
}

func (a *app) readResource(ctx context.Context, args []string, f libraryFlags) error {
	var read struct{ Contents []resourcePart }
	uri := struct {
		URI string `json:"uri"`
	}{args[1]}
	if done, err := a.askServer(ctx, args[0], "resources/read", uri, f, &read); done || err != nil {
		return err
	}
	if f.output != "" && len(read.Contents) != 1 {
		return fmt.Errorf("resource %s has %s, and goes to one file only if it has one; --json prints them", args[1], counted(len(read.Contents), "part"))
	}
	for _, part := range read.Contents {
		data, err := part.data()
		switch {
		case err != nil:
			return err
		case f.output != "":
			return a.writeOut(f.output, data)
		case part.Text == nil || len(data) > maxShown:
			return fmt.Errorf("resource %s is %d bytes of %s; write it to a file with --output FILE", part.URI, len(data), cmp.Or(part.MIMEType, "data"))
		}
		if err := a.print("%s", a.harmless(trimNewline(string(data)))); err != nil {
			return err
		}
	}
	return nil
}
