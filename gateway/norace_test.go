//go:build !race

package gateway_test

// raceDetector reports whether the race detector is at work, with which a gateway
// takes six times as long to begin.
const raceDetector = false
