// Package wake tells when the machine wakes from sleep, where the system says so
// by itself: on Linux, by systemd-logind. It never wakes to look. Watch owns the
// one connection that it listens on, and ends it before it returns.
package wake

import "errors"

// ErrUntold says that the system does not tell here.
var ErrUntold = errors.New("the system does not tell when it wakes")
