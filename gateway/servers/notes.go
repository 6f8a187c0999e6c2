package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"pointsman/gateway/servers/diagnostics"
)

// maxBody is the size, in bytes, up to which a message is kept as a record: of a
// larger one, only the size.
const maxBody = 256 << 10

// SetDiagnostics sets how much is kept of what happens; see diagnostics.Log.
func (h *Host) SetDiagnostics(level diagnostics.Level) { h.notes.SetLevel(level) }

// Diagnostics reads what was kept of one server. The error is a
// *diagnostics.QueryError.
func (h *Host) Diagnostics(ctx context.Context, q diagnostics.Query) (diagnostics.Page, error) {
	if q.Server != "" && h.find(q.Server) == nil {
		return diagnostics.Page{}, &diagnostics.QueryError{Param: "server", Reason: fmt.Sprintf("no server named %q is configured", q.Server)}
	}
	return h.notes.Read(ctx, q)
}

// note keeps a record, without credentials, if records of its level are kept.
func (s *server) note(level diagnostics.Level, about diagnostics.Category, connection, format string, args ...any) {
	if w := s.host.notes.Writer(level); w != nil {
		text := diagnostics.Scrub(s.secret.clean(fmt.Sprintf(format, args...)))
		w.Write(diagnostics.Entry{Server: s.name, ConnectionID: connection, Category: about, Message: text})
	}
}

// noteBody keeps a whole message, a JSON document, at the level trace.
func (s *server) noteBody(about diagnostics.Category, connection, arrow string, body json.RawMessage) {
	w := s.host.notes.Writer(diagnostics.Trace)
	if w == nil || len(body) == 0 {
		return
	}
	text := fmt.Sprintf("%d bytes, too many to be kept", len(body))
	if len(body) <= maxBody {
		text = string(diagnostics.ScrubJSON(s.secret.cleanJSON(body)))
	}
	w.Write(diagnostics.Entry{Server: s.name, ConnectionID: connection, Category: about, Message: arrow + " " + text})
}

const (
	sentArrow     = "→"
	receivedArrow = "←"
)

// noteMessage keeps a message that passed over a wire.
func (s *server) noteMessage(connection, arrow string, msg jsonrpc.Message) {
	if s.host.notes.Level() == diagnostics.Off {
		return
	}
	switch m := msg.(type) {
	case *jsonrpc.Request:
		id := "no id"
		if m.ID.IsValid() {
			id = fmt.Sprintf("id %v", m.ID.Raw())
		}
		s.note(diagnostics.Debug, diagnostics.Protocol, connection, "%s %s (%s, %d bytes)", arrow, m.Method, id, len(m.Params))
		s.noteBody(diagnostics.Protocol, connection, arrow, m.Params)
	case *jsonrpc.Response:
		if m.Error != nil {
			s.note(levelOfError(m.Error), diagnostics.Protocol, connection, "%s error in answer to id %v: %v", arrow, m.ID.Raw(), m.Error)
			return
		}
		s.note(diagnostics.Debug, diagnostics.Protocol, connection, "%s answer to id %v (%d bytes)", arrow, m.ID.Raw(), len(m.Result))
		s.noteBody(diagnostics.Protocol, connection, arrow, m.Result)
	}
}

// levelOfError is how grave an error answer is: that a method is not there is
// how versions of the protocol find each other out.
func levelOfError(err error) diagnostics.Level {
	if isMissing(err) {
		return diagnostics.Debug
	}
	return diagnostics.Warning
}

// notingMethods keeps what the SDK sends or receives where there is no wire.
func (s *server) notingMethods(connection, arrow, back string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			shown := strings.TrimPrefix(method, rawPrefix)
			s.note(diagnostics.Debug, diagnostics.Protocol, connection, "%s %s", arrow, shown)
			began := time.Now()
			res, err := next(ctx, method, req)
			if err != nil {
				s.note(levelOfError(err), diagnostics.Protocol, connection, "%s error in answer to %s: %s", back, shown, strings.ReplaceAll(err.Error(), rawPrefix, ""))
				return res, err
			}
			s.note(diagnostics.Debug, diagnostics.Protocol, connection, "%s answer to %s after %s", back, shown, time.Since(began).Round(time.Millisecond))
			if raw, ok := res.(*rawResult); ok {
				s.noteBody(diagnostics.Protocol, connection, back, raw.raw)
			}
			return res, nil
		}
	}
}

// noteHTTP keeps one request to a remote server; never its headers.
func (s *server) noteHTTP(connection string, req *http.Request, resp *http.Response, err error, took time.Duration) {
	if err != nil {
		s.note(diagnostics.Warning, diagnostics.HTTP, connection, "%s %s failed after %s: %v", req.Method, req.URL, took.Round(time.Millisecond), err)
		return
	}
	level := diagnostics.Debug
	if resp.StatusCode >= 400 {
		level = diagnostics.Warning
	}
	s.note(level, diagnostics.HTTP, connection, "%s %s answered %s after %s", req.Method, req.URL, resp.Status, took.Round(time.Millisecond))
}

// noteStderr returns what keeps the lines of a process's stderr, but for private
// keys: a part of one does not look like a credential.
func (s *server) noteStderr(connection string) func(line string) {
	inKey := false
	return func(line string) {
		begins := strings.Contains(line, "-----BEGIN") && strings.Contains(line, "PRIVATE KEY")
		if !begins && !inKey {
			s.note(diagnostics.Info, diagnostics.Stderr, connection, "%s", line)
		}
		inKey = (begins || inKey) && !strings.Contains(line, "-----END")
	}
}

// noteLive keeps a change of the server's state.
func (s *server) noteLive(live Live) {
	level, why := diagnostics.Info, ""
	if live.Status == Failed || live.Status == NeedsAuth {
		level = diagnostics.Error
	}
	if live.Error != "" {
		why = ": " + live.Error
	}
	s.note(level, diagnostics.Lifecycle, s.connection, "%s%s", live.Status, why)
}
