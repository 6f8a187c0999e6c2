//go:build !linux && !windows

package secrets

// macOS's tool takes commands of up to 4,096 bytes, with the value in base64.
const systemLimit = 2000

func reachable() error { return nil }
