package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// patience bounds one request.
const patience = 30 * time.Second

// target is one endpoint that is measured.
type target struct {
	name  string
	addr  string
	path  string
	key   string
	model string // put before the model's name
	pid   int    // zero: none that counts
	tool  bool   // every request is a round with a tool call

	headers string // further lines of a request's head, each with its end
}

// message returns the bytes of a request to the target.
func (t *target) message(body []byte) []byte {
	head := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n%s\r\n",
		t.path, t.addr, t.key, len(body), t.headers)
	return append(head, body...)
}

// conn is a client's kept connection. It sends prepared bytes and starts no
// goroutine, so that it adds little of its own to what is measured.
type conn struct {
	addr string
	net  net.Conn
	in   *bufio.Reader
	text *bufio.Reader // over a reply's body
	body bytes.Buffer
}

func newConn(addr string) *conn {
	return &conn{addr: addr, in: bufio.NewReaderSize(nil, 64<<10), text: bufio.NewReaderSize(nil, 64<<10)}
}

func (c *conn) close() {
	if c.net != nil {
		_ = c.net.Close() // nothing is left to be said
		c.net = nil
	}
}

// load is what one measurement sends to a target, and what must come back.
type load struct {
	message []byte
	chunks  int    // of text that the reply streams; zero: a plain reply
	want    []byte // must be in a plain reply
}

// errCut is a stream that did not arrive whole.
var errCut = errors.New("the stream ended without [DONE]")

// timing is what one request took.
type timing struct {
	first time.Duration // until the first text of a stream
	whole time.Duration
}

// do sends one request and reads its reply to the end.
func (c *conn) do(l load) (timing, error) {
	began := time.Now()
	reply, err := c.send(l.message)
	if err != nil {
		c.close()
		return timing{}, err
	}
	var took timing
	switch {
	case reply.StatusCode != http.StatusOK:
		text, _ := io.ReadAll(io.LimitReader(reply.Body, 300))
		err = fmt.Errorf("status %d: %s", reply.StatusCode, text)
	case l.chunks > 0:
		took, err = c.readStream(reply.Body, began, l.chunks)
	default:
		took, err = c.readPlain(reply.Body, began, l.want)
	}
	if err != nil || reply.Close {
		c.close()
	}
	return took, err
}

func (c *conn) send(message []byte) (*http.Response, error) {
	if c.net == nil {
		var err error
		if c.net, err = net.DialTimeout("tcp", c.addr, patience); err != nil {
			return nil, err
		}
		c.in.Reset(c.net)
	}
	if err := c.net.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := c.net.Write(message); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.in, nil)
}

func (c *conn) readPlain(body io.Reader, began time.Time, want []byte) (timing, error) {
	c.body.Reset()
	if _, err := c.body.ReadFrom(body); err != nil {
		return timing{}, err
	}
	took := time.Since(began)
	if !bytes.Contains(c.body.Bytes(), want) {
		return timing{}, fmt.Errorf("the reply lacks %s: %.300s", want, c.body.Bytes())
	}
	return timing{first: took, whole: took}, nil
}

var (
	dataField = []byte("data: ")
	doneData  = []byte("[DONE]")
	textMark  = []byte(`"content":"` + answerText[:8])
)

// readStream reads events to the end and counts those with text.
func (c *conn) readStream(body io.Reader, began time.Time, chunks int) (timing, error) {
	c.text.Reset(body)
	var took timing
	got, done := 0, false
	for {
		line, err := c.text.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return took, err
		}
		data, ok := bytes.CutPrefix(line, dataField)
		switch {
		case !ok:
		case bytes.HasPrefix(data, doneData):
			done = true
		case bytes.Contains(data, textMark):
			if got++; got == 1 {
				took.first = time.Since(began)
			}
		}
	}
	took.whole = time.Since(began)
	switch {
	case !done:
		return took, errCut
	case got != chunks:
		return took, fmt.Errorf("the stream brought %d chunks of text; want %d", got, chunks)
	}
	return took, nil
}
