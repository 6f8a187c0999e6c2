package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"pointsman/approvals"
	"pointsman/gateway/config"
)

// chatFlags are what `chat` is asked for.
type chatFlags struct {
	model, system string
	json, noTools bool
}

func (a *app) chatCommand() *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use:   "chat [PROMPT|-]",
		Short: "Ask a model that may use your tools",
		Long: `Ask a model that may use your tools. The answer goes to the standard output, the
progress to the standard error. PROMPT "-" is read from the standard input.
Without PROMPT, at a terminal, you talk until Ctrl-D.`,
		Example: "  pointsman chat \"What changed in this folder today?\"\n  git diff | pointsman chat --system \"Review this diff.\" -",
		Args:    arguments(0, 1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.chat(cmd.Context(), f, args) },
	}
	cmd.Flags().StringVar(&f.model, "model", "", "ask `MODEL`: an id, an alias or a capability (see `pointsman models`)")
	cmd.Flags().StringVar(&f.system, "system", "", "put `TEXT` before the conversation, as the system's message")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document with the answer and how it came about")
	cmd.Flags().BoolVar(&f.noTools, "no-tools", false, "offer the model no tools")
	return cmd
}

// message is one message of a conversation.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// conversation is one `chat`: with whom, and what was said.
type conversation struct {
	flags   chatFlags
	conn    *connection
	screen  *screen
	person  *attendant
	session string
	cwd     string
	version string

	mayAnswer bool // the gateway takes answers from us
	messages  []message
}

func (a *app) chat(ctx context.Context, f chatFlags, args []string) error {
	prompt, talk, err := a.prompt(args, f)
	if err != nil {
		return err
	}
	screen := a.screen()
	person := a.attendant(true, screen)
	conn, err := a.open(ctx, opening{
		loading: loading{dotEnv: true}, noMCP: f.noTools, start: !f.noTools, attended: person.attends,
	})
	if err != nil {
		return err
	}
	c := &conversation{flags: f, conn: conn, screen: screen, person: person, session: "chat-" + rand.Text(), version: a.Version}
	person.mine = func(req approvals.Request) bool { return c.mayAnswer && req.Session == c.session }
	if c.cwd, err = os.Getwd(); err != nil {
		c.cwd = "" // shown to the person only, where it is known
	}
	if f.system != "" {
		c.messages = append(c.messages, message{"system", f.system})
	}
	err = a.converse(ctx, c, prompt, talk)
	return errors.Join(err, conn.Close())
}

// prompt decides what is asked first, and whether to go on talking.
func (a *app) prompt(args []string, f chatFlags) (prompt string, talk bool, err error) {
	switch {
	case len(args) == 1 && args[0] != "-":
		prompt = args[0]
	case len(args) == 0 && a.interactive():
		if f.json {
			return "", false, usagef("chat --json needs a PROMPT")
		}
		return "", true, nil
	default:
		if prompt, err = a.readPrompt(); err != nil {
			return "", false, err
		}
	}
	if strings.TrimSpace(prompt) == "" {
		return "", false, usagef("the prompt is empty; give it as an argument, or `-` to read it from the standard input")
	}
	return prompt, false, nil
}

// readPrompt reads the prompt from the standard input, and no more of it than
// the gateway takes.
func (a *app) readPrompt() (string, error) {
	most := config.Default().Gateway.MaxBodyBytes
	if store, err := a.load(loading{dotEnv: true}); err == nil { // that it fails is told later, if it matters
		most = store.Config().Gateway.MaxBodyBytes
	}
	text, err := io.ReadAll(io.LimitReader(a.Stdin, most+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading the prompt: %w", err)
	case int64(len(text)) > most:
		return "", fmt.Errorf("the prompt on the standard input is longer than %d bytes, the most that the gateway takes; give less, or raise gateway.max_body_bytes", most)
	}
	return string(text), nil
}

// converse answers one prompt, or talks until the input ends.
func (a *app) converse(ctx context.Context, c *conversation, prompt string, talk bool) error {
	if err := a.awaitServers(ctx, c.conn); err != nil {
		return err
	}
	attending, leave, err := c.attend(ctx, talk)
	if err != nil {
		return err
	}
	defer leave()
	if talk {
		return c.talk(attending)
	}
	return c.say(attending, prompt)
}

// attend lets the person answer for this conversation's calls, where they have
// the right to, and talk. leave ends that, and waits until it has ended. What
// is typed to nobody is left to the shell.
func (c *conversation) attend(ctx context.Context, talk bool) (_ context.Context, leave func(), err error) {
	if c.mayAnswer, err = c.conn.MayAnswer(ctx); err != nil {
		return nil, nil, err
	}
	if c.person.terminal == nil || !c.mayAnswer && !talk {
		return ctx, func() {}, nil
	}
	if c.conn.own != nil {
		c.person.questions = c.conn.own.Questions()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		if err := c.person.Run(ctx, c.conn.desk()); err != nil && ctx.Err() == nil {
			c.screen.Line("asking at this terminal has ended: %v", err)
		}
	})
	<-c.person.seated
	return ctx, func() { cancel(nil); work.Wait() }, nil
}

// where says where a waiting call is answered. A call that nobody can answer
// does not wait.
func (c *conversation) where() string {
	if c.mayAnswer && c.person.attends() {
		return "answer here"
	}
	return "answer at the running Pointsman, in its window or at its terminal"
}

// talk reads what the person says, and answers, until the input ends.
func (c *conversation) talk(ctx context.Context) error {
	c.screen.Line("Talking to %s. Ctrl-D ends.", cmp.Or(oneLine(c.flags.model, 60), "the default model"))
	for {
		if err := c.screen.Question("> "); err != nil {
			return err
		}
		line, err := c.person.terminal.ReadLine(ctx)
		_ = c.screen.Question("") // nothing is asked any more
		if errors.Is(err, io.EOF) {
			c.screen.Line("")
			return nil
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := c.say(ctx, line); err != nil {
			if ctx.Err() != nil {
				return err
			}
			c.screen.Line("pointsman: %v", err)
		}
	}
}

// say sends what the person said, and shows the answer.
func (c *conversation) say(ctx context.Context, text string) error {
	c.messages = append(c.messages, message{"user", text})
	request := map[string]any{"messages": c.messages}
	if c.flags.model != "" {
		request["model"] = c.flags.model
	}
	ended, err := c.follow(ctx)
	if err != nil {
		return err
	}
	var d *document
	if c.flags.json {
		d, err = asker(c.post).whole(ctx, request)
	} else {
		d, err = asker(c.post).stream(ctx, request, c.screen.Answer)
	}
	ended(err == nil)
	if err != nil && d.Error == nil {
		err = c.wentAway(ctx, err)
	}
	if c.flags.json {
		return c.print(d, err)
	}
	if err := errors.Join(err, c.screen.EndAnswer()); err != nil {
		c.messages = c.messages[:len(c.messages)-1] // it was not answered
		return err
	}
	for _, notice := range d.Notices {
		c.screen.Line("notice: %s", oneLine(notice, 500))
	}
	c.messages = append(c.messages, message{"assistant", d.Content})
	return d.outcome()
}

// wentAway returns err, or that the resident is gone when that is why.
func (c *conversation) wentAway(ctx context.Context, err error) error {
	if !c.conn.attached() || ctx.Err() != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, endingPatience)
	defer cancel()
	if _, silent := c.conn.MayAnswer(ctx); silent == nil {
		return err
	}
	return errors.New("the running Pointsman went away; what it was doing is unknown: see `pointsman journal`")
}

// print prints the document, an error in it, too.
func (c *conversation) print(d *document, err error) error {
	if err != nil && d.Error == nil {
		d.Error, _ = json.Marshal(map[string]string{"message": err.Error(), "type": "error", "code": "upstream_error"}) // strings always encode
	}
	if printed := printJSON(c.screen.out, d); printed != nil {
		return printed
	}
	if err != nil {
		return err
	}
	return d.outcome()
}

// lastEvents is how long the last events of a run may take to arrive.
const lastEvents = time.Second

// follow shows the progress until the returned function is called, which waits
// until the last of it is shown. complete says that the run came to its end.
func (c *conversation) follow(ctx context.Context) (func(complete bool), error) {
	ctx, cancel := context.WithCancel(ctx)
	events, err := c.conn.Events(ctx, "")
	if err != nil {
		cancel()
		return nil, err
	}
	shown := make(chan struct{})
	p := &progress{screen: c.screen, where: c.where()}
	go func() {
		defer close(shown)
		p.follow(c.session, events.Next)
	}()
	return func(complete bool) {
		awaitLast(shown, complete)
		cancel()
		<-shown
		events.Close()
		c.screen.Status("")
	}, nil
}

// awaitLast waits, not for long, until the last of a complete run is shown.
func awaitLast(shown <-chan struct{}, complete bool) {
	if !complete {
		return
	}
	select {
	case <-shown:
	case <-time.After(lastEvents):
	}
}

// post sends a chat request through the gateway's own door.
func (c *conversation) post(ctx context.Context, body []byte) (*http.Response, error) {
	header := http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"pointsman-chat/" + c.version},
		"X-Pointsman-Door": {"chat"}, "X-Pointsman-Session": {c.session}, "X-Pointsman-Cwd": {c.cwd},
	}
	if c.flags.noTools {
		header.Set("X-Pointsman-Tools", "off")
	}
	return c.conn.Do(ctx, http.MethodPost, "/v1/chat/completions", header, body)
}
