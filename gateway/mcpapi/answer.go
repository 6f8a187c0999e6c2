package mcpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"pointsman/gateway/models"
)

// answer is a result that goes out as it is.
type answer struct {
	mcp.ResultBase
	body raw
}

// MarshalJSON returns the result.
func (a *answer) MarshalJSON() ([]byte, error) { return a.body, nil }

// GetMeta returns the members of the result's _meta.
func (a *answer) GetMeta() map[string]any {
	meta := map[string]any{}
	gjson.GetBytes(a.body, "_meta").ForEach(func(key, value gjson.Result) bool {
		meta[key.String()] = raw(value.Raw)
		return true
	})
	return meta
}

// SetMeta sets those members of _meta that are not there: the SDK adds who we are.
func (a *answer) SetMeta(meta map[string]any) {
	own := raw(gjson.GetBytes(a.body, "_meta").Raw)
	if len(own) == 0 || own[0] != '{' {
		own = raw("{}")
	}
	had := a.GetMeta()
	for key, value := range meta {
		if _, ok := had[key]; ok {
			continue
		}
		if encoded, err := json.Marshal(value); err == nil {
			own = models.WithMember(own, key, encoded)
		}
	}
	a.body = models.WithMember(a.body, "_meta", own)
}

// answered is a result for the client of req: one of the stateless protocol has
// to say of what type it is.
func answered(req request, body raw) *answer {
	if stateless(req) && !gjson.GetBytes(body, "resultType").Exists() {
		body = models.WithMember(body, "resultType", raw(`"complete"`))
	}
	return &answer{body: body}
}

// item is one of a list.
type item struct {
	key  string // its name or address; unique in the list
	body raw

	server, own string // whose it is, and its name or address there; "" of a tool
}

// pageSize is how many items a page has at most.
const pageSize = 1000

// page answers a request for a list with one page of it. The cursor is the last
// page's last key.
func page(req request, member, cursor string, items []item) (mcp.Result, error) {
	if cursor != "" {
		after, err := base64.RawURLEncoding.DecodeString(cursor)
		start := -1
		for i := range items {
			if err == nil && items[i].key == string(after) {
				start = i + 1
			}
		}
		if start < 0 {
			return nil, invalid("the cursor is not known any more; list from the beginning")
		}
		items = items[start:]
	}
	next := ""
	if len(items) > pageSize {
		items = items[:pageSize]
		next = base64.RawURLEncoding.EncodeToString([]byte(items[pageSize-1].key))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{%q:[", member)
	for i := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(items[i].body)
	}
	b.WriteByte(']')
	if next != "" {
		fmt.Fprintf(&b, `,"nextCursor":%q`, next)
	}
	if stateless(req) { // what is listed changes at any time, and is this user's
		b.WriteString(`,"ttlMs":0,"cacheScope":"private"`)
	}
	b.WriteByte('}')
	return answered(req, b.Bytes()), nil
}

// invalid is the error of a request that asks for what there is not.
func invalid(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}
