package secrets

// Windows refuses credentials over 2,560 bytes.
const systemLimit = 2400

func reachable() error { return nil }
