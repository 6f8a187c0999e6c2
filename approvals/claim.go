package approvals

import (
	"context"
	"sync/atomic"
)

// A claim settles, once, who ends a request: the answer, the time-out, the
// caller that went away or a rule that was added. The Gate hands it down
// through the context so that Desk.Resolve reports a win exactly when the Gate
// will use the answer, however close the deadline is.
type claim struct{ taken atomic.Bool }

type claimKey struct{}

func withClaim(ctx context.Context, c *claim) context.Context {
	return context.WithValue(ctx, claimKey{}, c)
}

// claimOf returns the claim in ctx, or a fresh one when no Gate is involved.
func claimOf(ctx context.Context) *claim {
	if c, ok := ctx.Value(claimKey{}).(*claim); ok {
		return c
	}
	return new(claim)
}

// take reports whether the caller is the one who ends the request.
func (c *claim) take() bool { return c.taken.CompareAndSwap(false, true) }
