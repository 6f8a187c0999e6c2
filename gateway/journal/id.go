package journal

import "crypto/rand"

// NewID returns an id that no other has: prefix and 24 random characters.
func NewID(prefix string) string { return prefix + rand.Text()[:24] }
