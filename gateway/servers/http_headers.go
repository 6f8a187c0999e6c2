package servers

import (
	"context"
	"net/http"
)

type callHeadersKey struct{}

// withCallHeaders attaches the headers that name a call's tool, which stateless
// servers want beside the body. The SDK sets them only for methods it knows.
func withCallHeaders(ctx context.Context, p params) context.Context {
	if p.name == "" || p.meta == nil {
		return ctx
	}
	h := http.Header{}
	h.Set("Mcp-Name", p.name)
	return context.WithValue(ctx, callHeadersKey{}, h)
}

func callHeaders(ctx context.Context) http.Header {
	h, _ := ctx.Value(callHeadersKey{}).(http.Header)
	return h
}
