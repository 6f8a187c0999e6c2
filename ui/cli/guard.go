package cli

import (
	"context"
	"io"

	"pointsman/gateway/servers/process"
)

// runGuard is the guard process. The signals that end the gateway do not end
// it: it has to outlive the gateway, or it would be of no use.
func runGuard(ctx context.Context, stdin io.Reader) error {
	return process.RunGuard(context.WithoutCancel(ctx), stdin)
}
