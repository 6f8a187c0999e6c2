package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/journal"
	"pointsman/gateway/loop"
	"pointsman/gateway/secrets"
)

// demoConfig is the demo's whole configuration.
const demoConfig = `# The demo's own configuration. It is removed with the demo.
default_model: demo
gateway: {listen: "127.0.0.1:0"}
mcpServers:
  scratch: {type: builtin, tools: ["*"]}
`

// demoSession marks the demo's run among the events.
const demoSession = "demo"

func (a *app) demoCommand() *cobra.Command {
	var answer string
	cmd := &cobra.Command{
		Use: "demo", Short: "See it work, without a key and without a network", Args: arguments(0, 0),
		Long: `See it work, without a key and without a network: a scripted model (no AI is asked)
and a scratch MCP server over a temporary folder. Your own configuration, keys and
servers are not touched. At a terminal you are asked about the risky call.`,
		Example: "  pointsman demo\n  pointsman demo --answer deny",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if answer != "" && answer != "approve" && answer != "deny" {
				return usagef("--answer %s is not known; give approve or deny", answer)
			}
			return a.demo(cmd.Context(), answer)
		},
	}
	cmd.Flags().StringVar(&answer, "answer", "", "answer the risky call with `ANSWER`: approve or deny")
	choices(cmd, "answer", "approve", "deny")
	return cmd
}

// scripted answers the demo's risky call as --answer says.
type scripted struct{ answer string }

func (s scripted) Ask(context.Context, approvals.Request) (approvals.Decision, error) {
	if s.answer == "approve" {
		return approvals.Decision{Outcome: approvals.Allowed, Approver: approvals.ByStatic, Reason: "demo --answer approve"}, nil
	}
	return approvals.Decision{Outcome: approvals.Denied, Approver: approvals.ByStatic, Reason: "demo --answer deny"}, nil
}

// demo runs the whole program once, in a home of its own.
func (a *app) demo(ctx context.Context, answer string) (err error) {
	dir, err := os.MkdirTemp("", "pointsman-demo-")
	if err != nil {
		return fmt.Errorf("making the demo's home: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	inside := *a // the same streams; nothing else of the user's
	inside.Keychain = secrets.Memory()
	inside.configPath = ""
	inside.Getenv = func(name string) string {
		switch name {
		case "POINTSMAN_HOME":
			return dir
		case "NO_COLOR", "TERM", "COLUMNS":
			return a.Getenv(name)
		}
		return ""
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(demoConfig), 0o600); err != nil {
		return fmt.Errorf("writing the demo's configuration: %w", err)
	}
	return inside.runDemo(ctx, dir, answer)
}

func (a *app) runDemo(ctx context.Context, dir, answer string) (err error) {
	screen := a.screen()
	screen.Line("Pointsman demo: a scripted model, a scratch folder, a temporary home. Nothing here is an AI.")
	folder := filepath.Join(dir, "scratch")
	person := a.attendant(answer == "", screen)
	g, home, err := a.demoGateway(ctx, folder, answer, person)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	g.Start()
	bounded, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	if err := g.Ready(bounded); err != nil {
		return fmt.Errorf("starting the scratch server: %w", err)
	}
	if err := a.demoRequest(ctx, g, screen, person, whereDemo(answer)); err != nil {
		return err
	}
	return a.demoJournal(ctx, home, screen)
}

func (a *app) demoGateway(ctx context.Context, folder, answer string, person *attendant) (*gateway.Gateway, config.Home, error) {
	home, err := a.home()
	if err != nil {
		return nil, home, err
	}
	store, err := a.load(loading{})
	if err != nil {
		return nil, home, err
	}
	opts := gateway.Options{Attended: person.attends, Builtin: scratchIn(folder)}
	if answer != "" {
		opts.Approver = scripted{answer}
	}
	g, err := a.newGateway(ctx, store, home, opts)
	return g, home, err
}

// whereDemo says where the demo's waiting call is answered.
func whereDemo(answer string) string {
	if answer != "" {
		return "--answer " + answer + " answers"
	}
	return "answer here"
}

// demoRequest serves on a free port and sends a real request there, with the
// key, as any client would.
func (a *app) demoRequest(ctx context.Context, g *gateway.Gateway, screen *screen, person *attendant, where string) (err error) {
	key, err := g.AccessKey()
	if err != nil {
		return err
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("taking a free port: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	served := make(chan error, 1)
	work.Go(func() { served <- g.Serve(ctx, ln) })
	if person.terminal != nil {
		work.Go(func() {
			if err := person.Run(ctx, ownDesk{g.Desk()}); err != nil && ctx.Err() == nil {
				screen.Line("asking at this terminal has ended: %v", err)
			}
		})
		<-person.seated
	}
	url := "http://" + ln.Addr().String() + "/v1/chat/completions"
	screen.Line("POST %s (demo model, streaming)", url)
	follow := followDemo(g, &progress{screen: screen, where: where})
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	_, err = postTo(client, url, key).stream(ctx, map[string]any{
		"model":    "demo",
		"messages": []message{{"user", "Please write a note into the scratch folder and read it back."}},
	}, screen.Answer)
	follow(err == nil)
	return errors.Join(err, screen.EndAnswer(), failedServing(served))
}

// failedServing returns why serving has ended already, or nil.
func failedServing(served <-chan error) error {
	select {
	case err := <-served:
		return err
	default:
		return nil
	}
}

// followDemo shows the progress until the returned function is called.
func followDemo(g *gateway.Gateway, p *progress) func(complete bool) {
	events, unsubscribe := g.Events().Subscribe(1024)
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		p.follow(demoSession, func() (loop.Event, error) {
			e, ok := <-events
			if !ok {
				return e, io.EOF
			}
			return e, nil
		})
	}()
	return func(complete bool) {
		awaitLast(shown, complete)
		unsubscribe()
		<-shown
		p.screen.Status("")
	}
}

// postTo sends requests to an endpoint of ours over HTTP.
func postTo(client *http.Client, url, key string) asker {
	return func(ctx context.Context, body []byte) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("User-Agent", "pointsman-demo")
		req.Header.Set("X-Pointsman-Session", demoSession)
		return client.Do(req)
	}
}

// demoJournal prints what the journal has of the demo.
func (a *app) demoJournal(ctx context.Context, home config.Home, screen *screen) (err error) {
	reader, err := journal.OpenReader(filepath.Join(home.State, "journal.db"))
	if err != nil {
		return fmt.Errorf("reading the demo's journal: %w", err)
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	screen.Line("\nThe demo's journal:")
	var calls []journal.Call
	for call, err := range reader.Calls(ctx, journal.Filter{OldestFirst: true}) {
		if err != nil {
			return err
		}
		calls = append(calls, call)
	}
	if err := a.showCalls(calls); err != nil {
		return err
	}
	screen.Line("\nThat was the demo. `pointsman keys set openai` and `pointsman serve` are the real thing.")
	return nil
}
