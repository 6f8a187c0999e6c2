package servers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// TestDeepLine: a line that would fill the stack is skipped as one that is no message.
func TestDeepLine(t *testing.T) {
	for _, head := range []string{"", `{"jsonrpc":"2.0","id":1,"result":`} {
		if got := decodeLine([]byte(head + strings.Repeat("[", 30_000_000))); got != nil {
			t.Errorf("decoded as %v", got)
		}
	}
}

// FuzzDecodeLine holds the short way of decoding against the SDK's own.
func FuzzDecodeLine(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1073741825,"result":{"content":[]}}`,
		`{"result": {"a":"}"} ,"id":7, "jsonrpc":"2.0","error":null}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`,
		`{"jsonrpc":"2.0","id":"a","method":"roots/list"}`,
		`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":null}]`,
		`{"level":"info"}`, `hello`, `{`, `null`, `{"jsonrpc":"2.0","id":1.5,"result":1}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got := decodeLine(line)
		if len(line) == 0 || line[0] != '{' || !json.Valid(line) {
			return // a batch, or nothing: it must not panic
		}
		want, err := jsonrpc.DecodeMessage(line)
		resp, ok := want.(*jsonrpc.Response)
		if err != nil || !ok || len(got) != 1 {
			return
		}
		mine, ok := got[0].(*jsonrpc.Response)
		if !ok {
			t.Fatalf("a response was decoded as %T", got[0])
		}
		if mine.ID != resp.ID {
			t.Errorf("id %v, want %v", mine.ID.Raw(), resp.ID.Raw())
		}
		if diff := cmp.Diff(string(resp.Result), string(mine.Result)); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
	})
}
