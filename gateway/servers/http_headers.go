package servers

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

type callHeadersKey struct{}

// withCallHeaders attaches the headers that stateless servers want beside a
// request's body: the name of the tool or prompt, or the resource's URI, and each
// argument whose schema names a header for it with x-mcp-header. The SDK sets
// them only for methods it knows.
func withCallHeaders(ctx context.Context, method string, p params) context.Context {
	name := p.name
	switch method {
	case "prompts/get":
		name = gjson.GetBytes(p.body, "name").Str
	case "resources/read":
		name = gjson.GetBytes(p.body, "uri").Str
	}
	if name == "" || p.fields == nil {
		return ctx
	}
	h := http.Header{}
	h.Set("Mcp-Name", name)
	addParamHeaders(h, gjson.GetBytes(p.definition, "inputSchema"), gjson.ParseBytes(p.arguments))
	return context.WithValue(ctx, callHeadersKey{}, h)
}

func callHeaders(ctx context.Context) http.Header {
	h, _ := ctx.Value(callHeadersKey{}).(http.Header)
	return h
}

// addParamHeaders adds the headers for the arguments that an object schema
// describes, at any depth.
func addParamHeaders(h http.Header, schema, arguments gjson.Result) {
	values := arguments.Map()
	for name, property := range schema.Get("properties").Map() {
		value, ok := values[name]
		if !ok {
			continue
		}
		if header := property.Get("x-mcp-header").Str; isToken(header) {
			if text, ok := headerText(value); ok {
				h.Set("Mcp-Param-"+header, encodeHeader(text))
			}
		}
		addParamHeaders(h, property, value)
	}
}

// headersFault returns why a tool's input schema names headers wrongly, or "". Over
// streamable HTTP such a tool must not be used (MCP 2026-07-28, x-mcp-header): its
// headers would not say what its arguments do.
func headersFault(schema gjson.Result) string {
	return headersFaultIn(schema, map[string]bool{})
}

func headersFaultIn(schema gjson.Result, taken map[string]bool) (fault string) {
	schema.Get("properties").ForEach(func(name, property gjson.Result) bool {
		if header := property.Get("x-mcp-header"); header.Exists() {
			fault = headerFault(header, property.Get("type").Str, taken)
		}
		if fault == "" {
			fault = headersFaultIn(property, taken)
		} else {
			fault = fmt.Sprintf("the x-mcp-header of its argument %q %s", name.Str, fault)
		}
		return fault == ""
	})
	return fault
}

func headerFault(header gjson.Result, typ string, taken map[string]bool) string {
	name := strings.ToLower(header.Str)
	switch {
	case !isToken(header.Str):
		return fmt.Sprintf("is no name of a header: %s", header.Raw)
	case typ != "string" && typ != "integer" && typ != "boolean":
		return "is not on a string, an integer or a boolean"
	case taken[name]:
		return fmt.Sprintf("is another argument's, too: %s", header.Raw)
	}
	taken[name] = true
	return ""
}

// headerText returns a string, a boolean or an integer as text; other values
// have no header.
func headerText(value gjson.Result) (string, bool) {
	switch value.Type {
	case gjson.String:
		return value.Str, true
	case gjson.True, gjson.False:
		return value.Raw, true
	case gjson.Number:
		const largest = 1<<53 - 1 // beyond it a number does not survive as a double
		n := int64(value.Num)
		return strconv.FormatInt(n, 10), float64(n) == value.Num && -largest <= n && n <= largest
	}
	return "", false
}

// encodeHeader returns text as a header value: as it is if it is plain ASCII
// without space around it, else in base64.
func encodeHeader(text string) string {
	plain := strings.TrimSpace(text) == text
	for _, c := range []byte(text) {
		plain = plain && ' ' <= c && c <= '~'
	}
	if plain && !strings.HasPrefix(text, "=?base64?") {
		return text
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

// isToken reports whether s may be part of a header's name.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		alphanumeric := '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !alphanumeric && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
