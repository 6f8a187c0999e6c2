package servers_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"pointsman/gateway/config"
	"pointsman/gateway/servers"
)

// TestLists: what a server may answer when it is asked for its tools.
func TestLists(t *testing.T) {
	tests := map[string]struct {
		result string
		names  []string
		fault  string
	}{
		"tools":             {`{"tools":[{"name":"a"},{"name":"b"}]}`, []string{"a", "b"}, ""},
		"none":              {`{"tools":[]}`, nil, ""},
		"absent":            {`{}`, nil, ""},
		"null":              {`{"tools":null}`, nil, ""},
		"an odd cursor":     {`{"tools":[{"name":"a"}],"nextCursor":7}`, []string{"a"}, ""},
		"the last name":     {`{"tools":[{"name":"a","NAME":"b","name":"c"}]}`, []string{"c"}, ""},
		"some without name": {`{"tools":[{"NAME":"a"},7,{"name":""},{"name":1},{"name":"b"}]}`, []string{"b"}, ""},
		"no list":           {`{"tools":{"a":{"name":"a"}}}`, nil, "it is no list"},
		"no object":         {`[{"name":"a"}]`, nil, "it is no list"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(listing(test.result))
			t.Cleanup(web.Close)
			h := start(t, servers.Options{}, map[string]config.MCPServer{"r": {URL: web.URL}})
			defer h.stop()
			if test.fault != "" {
				if got := h.awaitState("r", servers.Failed).Live.Error; !strings.Contains(got, test.fault) {
					t.Errorf("the error is %q, want %q in it", got, test.fault)
				}
				return
			}
			h.awaitState("r", servers.Connected)
			if got := h.toolNames(); !slices.Equal(got, test.names) {
				t.Errorf("the tools are %q, want %q", got, test.names)
			}
		})
	}
}

// listing is a server that answers tools/list with a result.
func listing(result string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		message, _ := io.ReadAll(r.Body)
		asked := gjson.GetManyBytes(message, "id", "method")
		answer := `"error":{"code":-32601,"message":"method not found"}`
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case !asked[0].Exists():
			w.WriteHeader(http.StatusAccepted)
			return
		case asked[1].Str == "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"r","version":"1"}}`
		case asked[1].Str == "tools/list":
			answer = `"result":` + result
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, asked[0].Raw, answer)
	})
}
