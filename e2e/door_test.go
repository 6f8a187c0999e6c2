package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// request makes a chat request.
func (p *pointsman) request(ctx context.Context, t *testing.T, body []byte) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/v1/chat/completions", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	return req
}

// post sends a chat request and returns the reply, its body unread.
func (p *pointsman) post(ctx context.Context, t *testing.T, body []byte) *http.Response {
	t.Helper()
	response, err := http.DefaultClient.Do(p.request(ctx, t, body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

// chatOnce makes a plain request and returns the reply's body.
func (p *pointsman) chatOnce(ctx context.Context, t *testing.T, body []byte) gjson.Result {
	t.Helper()
	response := p.post(ctx, t, body)
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%v, %s: %s", err, response.Status, data)
	}
	return gjson.ParseBytes(data)
}

// line is a line of a stream and when it came.
type line struct {
	text string
	at   time.Time
}

// lines reads a stream to its end.
func lines(t *testing.T, body io.Reader) []line {
	t.Helper()
	var list []line
	scanner := bufio.NewScanner(body)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		if scanner.Text() != "" {
			list = append(list, line{scanner.Text(), time.Now()})
		}
	}
	if err := scanner.Err(); err != nil {
		t.Errorf("reading the stream: %v", err)
	}
	return list
}

func (l line) data() gjson.Result { return gjson.Parse(strings.TrimPrefix(l.text, "data: ")) }

// TestStreamOnTheWire reads streams as they are on the wire.
func TestStreamOnTheWire(t *testing.T) {
	t.Parallel()
	p := serve(t, withFiles(t, ""))
	tests := []struct {
		name, script string
		done         bool   // ends with [DONE]
		fails        string // the error event's message; "": there is none
	}{
		{"one round", "@say one two three", true, ""},
		{"two rounds", `@tool fs__read_text_file {"path":"%FOLDER%/poem.txt"}` + "\n@then\n@say one two three", true, ""},
		{"without [DONE]", "@say one two three\n@bare", true, ""},
		{"cut", "@say one two three\n@cut", false, "cut in the middle"},
		{"cut in the second round", "@say Looking.\n" + `@tool fs__read_text_file {"path":"%FOLDER%/poem.txt"}` + "\n@then\n@say one two three\n@cut", false, "cut in the middle"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			response := p.post(t.Context(), t, p.fill(`{"stream":true,`+user(test.script)+`}`, test.name))
			expect(t, "status", response.StatusCode, http.StatusOK)
			expect(t, "Content-Type", response.Header.Get("Content-Type"), "text/event-stream")
			expect(t, "Cache-Control", response.Header.Get("Cache-Control"), "no-cache")
			expect(t, "X-Accel-Buffering", response.Header.Get("X-Accel-Buffering"), "no")
			got := lines(t, response.Body)
			last := got[len(got)-1]
			expect(t, "[DONE]", last.text == "data: [DONE]", test.done)
			expect(t, "an error", last.data().Get("error").Exists(), !test.done)
			contains(t, "the error", last.data().Get("error.message").String(), test.fails)
			checkChunks(t, got, test.done)
		})
	}
}

// checkChunks checks what holds for every stream of a caller who did not ask
// for usage: one id, no usage, one finish, and x_gateway on it alone.
func checkChunks(t *testing.T, got []line, complete bool) {
	t.Helper()
	var ids []string
	finishes, reports := 0, 0
	for _, l := range got {
		chunk := l.data()
		if !strings.HasPrefix(l.text, "data: ") {
			t.Errorf("a line that is no data: %s", l.text)
		}
		if id := chunk.Get("id").String(); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if chunk.Get("usage").Exists() {
			t.Errorf("usage was not asked for: %s", l.text)
		}
		finished := chunk.Get("choices.0.finish_reason").String() != ""
		if finished {
			finishes++
		}
		if chunk.Get("x_gateway").Exists() {
			reports++
			expect(t, "x_gateway is on the finishing chunk", finished, true)
		}
	}
	want := 0
	if complete {
		want = 1
	}
	expect(t, "ids in a stream", len(ids), 1)
	expect(t, "finishing chunks", finishes, want)
	expect(t, "chunks with x_gateway", reports, want)
}

// TestTokensArriveAtOnce: a provider that sends a token every 200 ms, in the
// first round and after a tool call.
func TestTokensArriveAtOnce(t *testing.T) {
	p := serve(t, withFiles(t, "")) // not parallel: it measures time
	tests := []struct {
		name, script string
		rounds       int
	}{
		{"first round", "@pace 200ms\n@say one two three four five six", 1},
		{"after a tool call", `@tool fs__read_text_file {"path":"%FOLDER%/poem.txt"}` + "\n@then\n@pace 200ms\n@say one two three four five six", 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			response := p.post(t.Context(), t, p.fill(`{"stream":true,`+user(test.script)+`}`, test.name))
			got := tokenLines(lines(t, response.Body))
			asked := p.about("mark " + test.name)
			expect(t, "rounds", len(asked), test.rounds)
			sent := asked[len(asked)-1].sentAt()
			if len(sent) != 6 || len(got) != 6 {
				t.Fatalf("%d tokens were sent, %d arrived", len(sent), len(got))
			}
			var delays []time.Duration
			for i := range sent {
				delays = append(delays, got[i].at.Sub(sent[i]))
			}
			slices.Sort(delays)
			t.Logf("delays %v", delays)
			if delays[3] > 20*time.Millisecond || delays[5] > 150*time.Millisecond {
				t.Errorf("tokens were held back: %v", delays)
			}
		})
	}
}

// tokenLines returns the lines that carry text.
func tokenLines(all []line) []line {
	return slices.DeleteFunc(all, func(l line) bool {
		return strings.TrimSpace(l.data().Get("choices.0.delta.content").String()) == ""
	})
}

// TestCommentsWhileAPersonDecides: headers and a comment come after ten
// seconds, and the answer after the decision.
func TestCommentsWhileAPersonDecides(t *testing.T) {
	t.Parallel()
	p := serve(t, withFiles(t, "approvals: {control: true}\n"))
	body := p.fill(`{"stream":true,`+user(`@tool fs__write_file {"path":"%FOLDER%/late","content":"x"}`)+`}`, "late")
	began := time.Now()
	response := p.post(t.Context(), t, body) // returns with the headers
	if waited := time.Since(began); waited > 15*time.Second {
		t.Errorf("the headers came after %s", waited)
	}
	scanner := bufio.NewScanner(response.Body)
	comment := ""
	for comment == "" && scanner.Scan() {
		if strings.HasPrefix(scanner.Text(), ":") {
			comment = scanner.Text()
		}
	}
	if waited := time.Since(began); comment == "" || waited < 9*time.Second || waited > 20*time.Second {
		t.Errorf("the comment %q came after %s", comment, waited)
	}
	out, code := p.cli(t, "approvals", "approve", p.pending(t, 1)[0].ID)
	if code != 0 {
		t.Fatalf("approving: %d, %s", code, out)
	}
	last := ""
	for scanner.Scan() {
		if scanner.Text() != "" {
			last = scanner.Text()
		}
	}
	expect(t, "the last line", last, "data: [DONE]")
}

// TestRawRequests sends what no client library sends, byte by byte.
func TestRawRequests(t *testing.T) {
	t.Parallel()
	p := serve(t, setup{})
	host := strings.TrimPrefix(p.url, "http://")
	chat := "POST /v1/chat/completions HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " + key + "\r\nContent-Type: application/json\r\n"
	withBody := func(body string) string { return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", chat, len(body), body) }
	tests := []struct {
		name, request string
		status        int
		says          string
	}{
		{"not JSON", withBody("hello"), 400, "JSON"},
		{"not an object", withBody("[1]"), 400, "object"},
		{"cut JSON", withBody(`{"messages":[{"role":"user"`), 400, "JSON"},
		{"invalid UTF-8", withBody("{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}"), 400, "UTF-8"},
		{"deep nesting", withBody(`{"messages":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `}`), 400, "1000 deep"},
		{"no messages", withBody(`{"model":"scripted/test"}`), 400, "messages"},
		{"messages of another kind", withBody(`{"messages":"hello"}`), 400, "messages"},
		{"messages that are no objects", withBody(`{"messages":["hello"]}`), 400, "messages[0]"},
		{"too long, as announced", chat + "Content-Length: 34603008\r\n\r\n{", 413, "33554432"},
		{"too long, in chunks", chat + "Transfer-Encoding: chunked\r\n\r\n" + chunked(34<<20), 413, "33554432"},
		{"wrong method", "GET /v1/chat/completions HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " + key + "\r\n\r\n", 405, "POST"},
		{"no key", "GET /v1/models HTTP/1.1\r\nHost: " + host + "\r\n\r\n", 401, "key"},
		{"foreign Host", "GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "gateway."},
		{"foreign Origin", "GET /health HTTP/1.1\r\nHost: " + host + "\r\nOrigin: https://evil.example\r\n\r\n", 403, "gateway."},
		{"nothing there", "GET /v1/nothing HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " + key + "\r\n\r\n", 404, "/v1/nothing"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, body := exchange(t, host, test.request)
			expect(t, "status", status, test.status)
			contains(t, "the error", gjson.Get(body, "error.message").String(), test.says)
		})
	}
	if n := len(p.about("")); n != 0 {
		t.Errorf("%d requests reached the provider", n)
	}
	expect(t, "the door still answers", p.healthy(), true)
}

// chunked is a JSON string of n bytes in one chunk, as it stands on the wire.
func chunked(n int) string {
	return fmt.Sprintf("%x\r\n\"%s\r\n", n, strings.Repeat("a", n-1))
}

// exchange writes a request to a socket and reads the reply. The server may
// answer, and close, before it has read all.
func exchange(t *testing.T, host, request string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(conn, request) }() // ends with the connection
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}

// TestTwoAtOneDoor: a port in use and a second resident are told apart, with
// the process that is in the way.
func TestTwoAtOneDoor(t *testing.T) {
	t.Parallel()
	p := serve(t, setup{})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	pid := fmt.Sprint(p.cmd.Process.Pid)
	second := p.command(ctx, "serve", "--listen", freeAddress(t))
	said, err := second.CombinedOutput()
	if err == nil || !strings.Contains(string(said), pid) {
		t.Errorf("a second resident: %v: %s; want the process %s named", err, said, pid)
	}
	other := p.command(ctx, "serve", "--listen", strings.TrimPrefix(p.url, "http://"))
	other.Env = append(other.Env, "POINTSMAN_HOME="+t.TempDir())
	said, err = other.CombinedOutput()
	if err == nil || !strings.Contains(string(said), "has the port") || !strings.Contains(string(said), pid) {
		t.Errorf("a port in use: %v: %s; want the process %s named", err, said, pid)
	}
	expect(t, "the first still answers", p.healthy(), true)
}
