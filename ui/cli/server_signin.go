package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/control"
	"pointsman/gateway/servers"
)

// cancelPatience bounds telling the resident that a sign-in is given up.
const cancelPatience = 2 * time.Second

// loginFlags are what `servers login` is asked for.
type loginFlags struct {
	redirect  string
	noBrowser bool
	json      bool
}

func (a *app) loginCommand() *cobra.Command {
	var f loginFlags
	cmd := &cobra.Command{
		Use: "login NAME", Short: "Sign in to a remote MCP server", Args: arguments(1, 1),
		Long: `Sign in to a remote MCP server, with OAuth: a browser opens the server's own page, and
comes back to Pointsman on this machine. The tokens are kept in the system's keychain.

With --redirect-uri the browser comes back to an https address of yours instead. The
address to open and an id are printed, and the command ends; hand the address that the
browser came back to, with its query, to ` + "`pointsman servers login-complete`" + ` within ten minutes.`,
		Example: "  pointsman servers login docs\n  pointsman servers login docs --redirect-uri https://example.com/callback",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.redirect != "" {
				return a.loginElsewhere(cmd.Context(), args[0], f)
			}
			return a.login(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.redirect, "redirect-uri", "", "have the browser come back to `URL`, an https address of yours without query and fragment")
	cmd.Flags().BoolVar(&f.noBrowser, "no-browser", false, "print the address, and open nothing")
	jsonFlag(cmd, &f.json)
	return cmd
}

func (a *app) loginCompleteCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "login-complete ID URL", Short: "Finish a sign-in that came back to an address of yours", Args: arguments(2, 2),
		Long: `Finish a sign-in that was begun with --redirect-uri. URL is the whole address that the
browser came to, with its query; - reads it from the standard input, where no other
program sees it.`,
		Example: "  pointsman servers login-complete ID 'https://example.com/callback?code=…&state=…'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.loginComplete(cmd.Context(), args[0], args[1], asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) logoutCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "logout NAME", Short: "Sign out of a remote MCP server", Args: arguments(1, 1),
		Long:    "Sign out of a remote MCP server: the tokens are revoked, where the server offers that,\nand removed from the keychain.",
		Example: "  pointsman servers logout docs",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.logout(cmd.Context(), args[0], asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// login signs in through a browser, with the resident or in this process.
func (a *app) login(ctx context.Context, name string, f loginFlags) error {
	c, err := a.open(ctx, opening{})
	if err != nil {
		return err
	}
	defer c.Close()
	in, err := c.SignIn(ctx, name, "")
	if err != nil {
		return err
	}
	if in.URL != "" {
		a.showSignIn(in, f)
	}
	status, err := c.AwaitSignIn(ctx, in.ID)
	if ctx.Err() != nil {
		giveUp(c.Client, name)
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	return a.tellSignedIn(status, f.json)
}

// showSignIn prints the address to open, and opens it.
func (a *app) showSignIn(in servers.SignIn, f loginFlags) {
	a.tell("To sign in to %s, open this address in a browser on this machine:\n\n  %s\n", approvals.Visible(in.Server), approvals.Visible(in.URL))
	if f.noBrowser {
		return
	}
	if err := openBrowser(a.Getenv, in.URL); err != nil {
		a.tell("note: no browser was opened: %v", err)
	}
	a.tell("Waiting for it to come back (until %s; Ctrl-C gives up) …", in.Expires.Local().Format(time.TimeOnly))
}

// giveUp cancels a sign-in whose command is interrupted.
func giveUp(c *control.Client, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), cancelPatience)
	defer cancel()
	_, _ = c.CancelSignIn(ctx, name) // it ends by itself, too
}

func (a *app) tellSignedIn(s servers.Status, asJSON bool) error {
	if asJSON {
		if err := printJSON(a.Stdout, s); err != nil {
			return err
		}
	}
	name := approvals.Visible(s.Name)
	switch s.Live.Status {
	case servers.Connected:
		a.tell("Signed in to %s; it is connected, with %s.", name, counted(s.Tools, "tool"))
	case servers.Stopped, servers.Disabled:
		a.tell("Signed in to %s. It is not running.", name)
	default:
		a.tell("Signed in to %s, but it is not connected (%s): %s", name, s.Live.Status, approvals.Visible(s.Live.Error))
		return silentError{}
	}
	return nil
}

// loginElsewhere begins a sign-in that comes back to an address of the user's.
// It waits in the resident.
func (a *app) loginElsewhere(ctx context.Context, name string, f loginFlags) error {
	client, err := a.residentOfServers(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	in, err := client.SignIn(ctx, name, f.redirect)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(a.Stdout, in)
	}
	_, err = fmt.Fprintf(a.Stdout, "url %s\nid %s\n", approvals.Visible(in.URL), in.ID)
	a.tell("Open the url, then run `pointsman servers login-complete %s URL` with the address that the browser came back to, until %s.",
		in.ID, in.Expires.Local().Format(time.TimeOnly))
	return err
}

func (a *app) loginComplete(ctx context.Context, id, callback string, asJSON bool) error {
	if callback == "-" {
		const longest = 64 << 10
		text, err := io.ReadAll(io.LimitReader(a.Stdin, longest))
		if err != nil {
			return fmt.Errorf("reading the address from the standard input: %w", err)
		}
		callback = strings.TrimSpace(string(text))
	}
	client, err := a.residentOfServers(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	status, err := client.CompleteSignIn(ctx, id, callback)
	if err != nil {
		return err
	}
	return a.tellSignedIn(status, asJSON)
}

func (a *app) logout(ctx context.Context, name string, asJSON bool) error {
	c, err := a.open(ctx, opening{})
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := c.SignOut(ctx, name)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(a.Stdout, out)
	}
	switch {
	case !out.Was:
		a.tell("Nobody was signed in to %s.", approvals.Visible(name))
	case out.Revoked:
		a.tell("Signed out of %s; its tokens are revoked.", approvals.Visible(name))
	default:
		a.tell("Signed out of %s. It cannot revoke tokens: those that it gave end by themselves.", approvals.Visible(name))
	}
	return nil
}

// checkPage refuses to have anything but a page of the web opened.
func checkPage(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("it is no http or https address")
	}
	return nil
}
