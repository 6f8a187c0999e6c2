package clipboard

// Find finds what can copy on this desktop. clip.exe takes plain ASCII as it
// is, which the endpoint's address and key are.
func Find(func(string) string) Clipboard {
	return choose([][]string{{"clip.exe"}}, "clip.exe is missing")
}
