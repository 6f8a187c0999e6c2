package control

// ownPrivate trusts the access list of the user's temporary folder, which lets
// nobody else in.
func ownPrivate(string) error { return nil }
