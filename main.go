// Pointsman hosts an OpenAI-compatible endpoint on loopback, gives any model
// access to MCP tools, and puts every risky tool call before a person.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"pointsman/approvals"
	"pointsman/ui/cli"
)

// version is set by the linker; see the Makefile.
var version string

func main() {
	speak()
	tuneMemory()
	ctx, cancel := untilSignal()
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	cancel(nil)
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(ctx, cli.Options{Args: args, Stdin: stdin, Stdout: stdout, Stderr: stderr, Version: version, Windows: showWindows})
}

// untilSignal returns a context that ends with the first signal to stop. The
// second one ends the program at once, as the system does by itself.
func untilSignal() (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	// A closed pipe is an error of the write, not the end of the program; an
	// ignored signal would be inherited by the MCP servers, a caught one is not.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() { // ends with the program
		<-stop
		signal.Stop(stop)
		cancel(approvals.ErrShuttingDown)
	}()
	return ctx, cancel
}
