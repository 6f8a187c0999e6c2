package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"pointsman/gateway/mcpapi"
)

// streamProtocol is what a connection that carries an MCP client's messages is
// upgraded to: one JSON message a line, as over stdio.
const streamProtocol = "mcp"

// mcpStream makes of the request's connection an MCP client's stream.
func (s *Server) mcpStream(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != streamProtocol {
		fail(w, http.StatusUpgradeRequired, "this carries MCP messages; upgrade the connection to "+streamProtocol)
		return
	}
	q := r.URL.Query()
	who := mcpapi.Client{Session: q.Get("session"), CWD: q.Get("cwd"), Tools: q.Get("tools"), Servers: q["server"]}
	s.streams.Add(1)
	defer s.streams.Done()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		fail(w, http.StatusInternalServerError, "taking over the connection: "+err.Error())
		return
	}
	ctx := r.Context() // ends with Serve; it does not any more when the client goes
	_ = conn.SetDeadline(time.Time{})
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: %s\r\nConnection: Upgrade\r\n\r\n", streamProtocol); err != nil {
		_ = conn.Close()
		return
	}
	if err := s.opts.Gateway.ServeMCP(ctx, &readAhead{conn, buffered.Reader}, who); err != nil && ctx.Err() == nil {
		s.opts.Logger.Debug("an MCP client's stream has ended", "error", err)
	}
}

// readAhead is a connection of which something was read already.
type readAhead struct {
	net.Conn
	reader *bufio.Reader
}

func (c *readAhead) Read(p []byte) (int, error) { return c.reader.Read(p) }

// MCP opens a stream that carries the messages of an MCP client, one a line, to
// the gateway's MCP door. Its owner closes it. It ends with the gateway, too.
func (c *Client) MCP(ctx context.Context, who mcpapi.Client) (io.ReadWriteCloser, error) {
	q := url.Values{"session": {who.Session}, "cwd": {who.CWD}, "tools": {who.Tools}, "server": who.Servers}
	header := http.Header{"Connection": {"Upgrade"}, "Upgrade": {streamProtocol}}
	response, err := c.Do(ctx, http.MethodPost, "/mcp/stream?"+q.Encode(), header, nil)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		defer response.Body.Close()
		if response.StatusCode == http.StatusNotFound {
			return nil, errors.New("the running Pointsman is an older one that serves no MCP clients; restart it")
		}
		said, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10)) // what came of it
		return nil, &RefusedError{Status: response.StatusCode, Message: refusal(said)}
	}
	stream, ok := response.Body.(io.ReadWriteCloser)
	if !ok {
		_ = response.Body.Close()
		return nil, errors.New("opening an MCP stream: the connection cannot be written to")
	}
	return stream, nil
}
