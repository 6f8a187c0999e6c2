//go:build !unix

package servers_test

import "pointsman/gateway/config"

// doomedEntries has no shell to start its servers with here.
func doomedEntries(string, string) map[string]config.MCPServer { return nil }
