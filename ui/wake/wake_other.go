//go:build !linux

package wake

import "context"

// Watch returns ErrUntold: here, the gateway's own clock has to do.
func Watch(context.Context, func()) error { return ErrUntold }
