package servers

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// flooded is a connection to a server that asks without end.
type flooded struct {
	mcp.Connection
	asked   int
	written []jsonrpc.Message
}

func (f *flooded) Read(context.Context) (jsonrpc.Message, error) {
	if f.asked++; f.asked > maxUnanswered+3 {
		return nil, io.EOF
	}
	id, err := jsonrpc.MakeID(float64(f.asked))
	return &jsonrpc.Request{ID: id, Method: "ping"}, err
}

func (f *flooded) Write(_ context.Context, msg jsonrpc.Message) error {
	f.written = append(f.written, msg)
	return nil
}

// What a server asks beyond what may wait is refused, and an answer makes room.
func TestWireRefusesAFlood(t *testing.T) {
	server := &flooded{}
	w := &wire{Connection: server, onEnd: func(error) {}, saw: func(string, jsonrpc.Message) {}}
	var last *jsonrpc.Request
	for range maxUnanswered {
		msg, err := w.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		last = msg.(*jsonrpc.Request)
	}
	if err := w.Write(t.Context(), &jsonrpc.Response{ID: last.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Read(t.Context()); err != nil {
		t.Fatalf("there is room for one, and reading gives %v", err)
	}
	if _, err := w.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("the rest gives %v, want nothing", err)
	}
	var refused int
	for _, msg := range server.written {
		if resp := msg.(*jsonrpc.Response); resp.Error != nil {
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("%d were refused, want 2", refused)
	}
}

// A stream of events is read on as its questions are answered.
func TestStreamWaitsForAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const question = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n"
		ctx, cancel := context.WithCancel(t.Context())
		open := make(chan struct{}, 2)
		stream := &eventStream{
			in: bufio.NewReader(strings.NewReader(strings.Repeat(question, 5))), mark: newMarker(nil), ctx: ctx, open: open,
		}
		lines := make(chan string, 20)
		go func() {
			for in := bufio.NewScanner(stream); in.Scan(); {
				if in.Text() != "" {
					lines <- in.Text()
				}
			}
			close(lines)
		}()
		for _, want := range []int{2, 3} {
			synctest.Wait()
			if len(lines) != want {
				t.Errorf("%d questions were read, want %d", len(lines), want)
			}
			<-open
		}
		cancel() // the session ends
		synctest.Wait()
		if len(lines) != 5 {
			t.Errorf("%d questions were read at the end, want all", len(lines))
		}
	})
}
