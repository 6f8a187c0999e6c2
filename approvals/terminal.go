package approvals

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	// settle is how long a fresh prompt ignores input: what was typed for
	// something else must not approve.
	settle = 700 * time.Millisecond
	// attempts is how many unclear answers a prompt takes before it denies.
	attempts = 3
	// deadlineGrace is how long a read may go on after its deadline.
	deadlineGrace = 100 * time.Millisecond
	// maxLine bounds one line of input, in bytes. A longer one is no answer: its
	// end might say the opposite of its beginning.
	maxLine = 1 << 20
)

// TerminalOptions says how a Terminal works.
type TerminalOptions struct {
	// Flush discards what the terminal's driver holds of input not yet read. It
	// is called before each prompt. Nil: nothing to discard.
	Flush func()
	// Question shows a question, in one line, and keeps it the last thing on
	// the screen until it is called with "": whatever else is printed meanwhile
	// goes above it. Nil: it is written to the output, as everything else.
	Question func(text string) error
}

// Ended is the cause to cancel a Terminal's Ask with when what it asks about
// has ended elsewhere. The person is shown the reason.
type Ended struct{ Reason string }

func (e *Ended) Error() string { return e.Reason }

// Terminal asks a person at a text terminal: one prompt at a time, in the order
// of arrival. It is the only reader of its input, so a program that also reads
// lines itself does that with ReadLine.
//
// Run reads the input; without it there is nobody to ask.
type Terminal struct {
	in       io.Reader
	out      io.Writer
	flush    func()
	question func(text string) error
	lines    chan inputLine
	turn     chan struct{} // held by the one that uses the terminal; its waiters are served in order
	began    chan struct{} // closed when Run reads
	ended    chan struct{} // closed when Run has ended
}

// inputLine is a line with the time its first byte arrived.
type inputLine struct {
	text  string
	began time.Time
	long  bool // longer than maxLine; text is empty
}

// NewTerminal returns a Terminal that reads answers from in and writes prompts
// to out. It reads nothing before Run.
func NewTerminal(in io.Reader, out io.Writer, opts TerminalOptions) *Terminal {
	if opts.Flush == nil {
		opts.Flush = func() {}
	}
	if opts.Question == nil {
		opts.Question = func(text string) error { _, err := io.WriteString(out, text); return err }
	}
	return &Terminal{
		in: in, out: out, flush: opts.Flush, question: opts.Question,
		lines: make(chan inputLine),
		turn:  make(chan struct{}, 1),
		began: make(chan struct{}),
		ended: make(chan struct{}),
	}
}

// Run reads the input until it ends (nil), fails, or ctx ends (ctx's error);
// then every prompt is denied. It must be called once. A Read that cannot be
// interrupted (a terminal's) outlives Run until its next input; if in has
// SetReadDeadline or is otherwise unblocked by its owner, nothing is left.
func (t *Terminal) Run(ctx context.Context) error {
	close(t.began)
	defer close(t.ended)
	read := make(chan error, 1)
	go func() { read <- t.read(ctx) }()
	select {
	case err := <-read:
		return err
	case <-ctx.Done():
		if in, ok := t.in.(interface{ SetReadDeadline(time.Time) error }); ok && in.SetReadDeadline(time.Now()) == nil {
			select {
			case <-read:
			case <-time.After(deadlineGrace): // a file in blocking mode takes a deadline and does not keep it
			}
		}
		return ctx.Err()
	}
}

// Started is closed when Run has begun: from then on Ask asks.
func (t *Terminal) Started() <-chan struct{} { return t.began }

// read hands on each line of the input until it ends.
func (t *Terminal) read(ctx context.Context) error {
	r := bufio.NewReader(t.in)
	for {
		line, err := readLine(r)
		if line != nil {
			select {
			case t.lines <- *line:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the terminal: %w", err)
		}
	}
}

// readLine returns the next line, nil when the input ends before its line feed:
// an unfinished answer is none.
func readLine(r *bufio.Reader) (*inputLine, error) {
	var line inputLine
	var text []byte
	for {
		b, err := r.ReadByte()
		if err != nil {
			return nil, err
		}
		if line.began.IsZero() {
			line.began = time.Now()
		}
		if b == '\n' {
			line.text = string(text)
			return &line, nil
		}
		if line.long = line.long || len(text) == maxLine; line.long {
			text = nil
		} else {
			text = append(text, b)
		}
	}
}

// ReadLine returns the next line of input that no prompt takes, without its
// line feed; io.EOF when the input has ended, and another error for a line of
// more than a megabyte. Prompts wait meanwhile no longer than for this line.
func (t *Terminal) ReadLine(ctx context.Context) (string, error) {
	if err := t.take(ctx); err != nil {
		return "", err
	}
	defer t.leave()
	select {
	case line := <-t.lines:
		if line.long {
			return "", fmt.Errorf("reading the terminal: a line is longer than %d bytes", maxLine)
		}
		return strings.TrimSuffix(line.text, "\r"), nil
	case <-t.ended:
		return "", io.EOF
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// take waits for the caller's turn at the terminal; blocked senders of a
// channel are served first come, first served.
func (t *Terminal) take(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Terminal) leave() { <-t.turn }

// reading reports whether Run is at work.
func (t *Terminal) reading() bool {
	select {
	case <-t.ended:
		return false
	default:
	}
	select {
	case <-t.began:
		return true
	default:
		return false
	}
}

// Ask shows req and waits for a clear answer.
func (t *Terminal) Ask(ctx context.Context, req Request) (Decision, error) {
	if err := t.take(ctx); err != nil {
		return Decision{}, err
	}
	defer t.leave()
	if !t.reading() {
		return denial(ByNone, "nobody to ask"), nil
	}
	t.flush()
	if _, err := io.WriteString(t.out, describe(req)); err != nil {
		return Decision{}, fmt.Errorf("showing a call for approval: %w", err)
	}
	d, err := t.await(ctx, req)
	_ = t.question("") // what is asked is not on the screen any more
	if err != nil {
		_, _ = fmt.Fprintf(t.out, "\nNo longer asked: %s.\n", endingOf(ctx))
	}
	return d, err
}

// Talk shows intro and lets talk ask the person several things in a row, with no
// other prompt between: line shows a question, in one line, and returns what is
// typed then; io.EOF when the input has ended, or ctx's cause. As for Ask, what was
// typed before does not count. Without Run it returns io.EOF.
func (t *Terminal) Talk(ctx context.Context, intro string, talk func(line func(question string) (string, error)) error) error {
	if err := t.take(ctx); err != nil {
		return err
	}
	defer t.leave()
	if !t.reading() {
		return io.EOF
	}
	t.flush()
	if _, err := io.WriteString(t.out, intro); err != nil {
		return fmt.Errorf("showing a question: %w", err)
	}
	armed := time.Now().Add(settle)
	err := talk(func(question string) (string, error) {
		if err := t.question(question); err != nil {
			return "", fmt.Errorf("asking at the terminal: %w", err)
		}
		line, err := t.next(ctx, armed)
		return strings.TrimSuffix(line, "\r"), err
	})
	_ = t.question("") // what is asked is not on the screen any more
	return err
}

// endingOf says to the person why a prompt is gone.
func endingOf(ctx context.Context) string { return endingFor(context.Cause(ctx)) }

// endingFor words the cause of a request's end.
func endingFor(cause error) string {
	var told *Ended
	switch {
	case errors.As(cause, &told):
		return told.Reason
	case errors.Is(cause, ErrSettled):
		return ErrSettled.Error()
	case errors.Is(cause, errNotAnswered):
		return errNotAnswered.Error()
	case errors.Is(cause, ErrShuttingDown):
		return "withdrawn: Pointsman is shutting down"
	case errors.Is(cause, ErrStopped):
		return "withdrawn: the run was " + ErrStopped.Error()
	default:
		return "withdrawn: " + callerWent
	}
}

// await reads answers until one is clear.
func (t *Terminal) await(ctx context.Context, req Request) (Decision, error) {
	armed := time.Now().Add(settle)
	for unclear := 0; unclear < attempts; {
		if err := t.question(question(req)); err != nil {
			return Decision{}, fmt.Errorf("asking for approval: %w", err)
		}
		line, err := t.next(ctx, armed)
		if errors.Is(err, io.EOF) {
			_, _ = io.WriteString(t.out, "\n") // no line feed was typed
			return denial(ByTerminal, "the terminal's input ended"), nil
		}
		if err != nil {
			return Decision{}, err
		}
		if d, ok := verdict(line, req); ok {
			return d, nil
		}
		unclear++
	}
	return denial(ByTerminal, "no clear answer"), nil
}

// next returns the first line that was begun after the prompt was armed.
func (t *Terminal) next(ctx context.Context, armed time.Time) (string, error) {
	for {
		select {
		case line := <-t.lines:
			if !line.began.Before(armed) {
				return line.text, nil
			}
		case <-t.ended:
			return "", io.EOF
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// wholeWord reports whether req needs the whole word yes.
func wholeWord(req Request) bool { return req.Class == Destructive || req.Class == Execute }

// maxAsked bounds the name in a question, in characters. It is shown whole above.
const maxAsked = 80

// question asks about req in one line, which says again what it is about: what
// is printed meanwhile may have moved the description out of sight.
func question(req Request) string {
	name := req.Offered
	if name == "" {
		name = req.Tool + " of " + req.Server
	}
	if chars := []rune(Visible(name)); len(chars) > maxAsked {
		name = string(chars[:maxAsked]) + "…"
	} else {
		name = string(chars)
	}
	answers := "y / n / n REASON"
	if wholeWord(req) {
		answers = "type yes / n / n REASON"
	}
	return fmt.Sprintf("Run %s (%s)? %s: ", name, Visible(string(req.Class)), answers)
}

// verdict reads one answer; false means it is not clear.
func verdict(line string, req Request) (Decision, bool) {
	word, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch strings.ToLower(word) {
	case "y", "yes":
		if reason != "" || wholeWord(req) && len(word) != len("yes") {
			return Decision{}, false
		}
		return Decision{Outcome: Allowed, Approver: ByTerminal}, true
	case "n", "no":
		return denial(ByTerminal, strings.TrimSpace(reason)), true
	default:
		return Decision{}, false
	}
}

// describe returns what a person must know to answer, with nothing hidden.
func describe(req Request) string {
	var b strings.Builder
	b.WriteString("\nA tool wants to run.\n")
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-10s %s\n", name, Visible(value))
		}
	}
	field("tool", req.Tool)
	field("title", req.Title)
	field("server", req.Server)
	field("class", string(req.Class))
	for _, e := range req.Evidence {
		field("because", e)
	}
	field("asked", req.Reason)
	field("door", req.Door)
	field("client", req.Client)
	field("model", req.Model)
	field("folder", req.CWD)
	field("plan step", req.PlanStep)
	section(&b, "arguments", VisibleJSON(req.Arguments))
	if req.DefinitionChange != "" {
		section(&b, "the tool's definition has changed", VisibleText(req.DefinitionChange))
	}
	return b.String()
}

func section(b *strings.Builder, name, text string) {
	fmt.Fprintf(b, "  %s:\n", name)
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "    %s\n", strings.TrimSuffix(line, "\n"))
	}
}
