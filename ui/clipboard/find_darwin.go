package clipboard

// Find finds what can copy on this desktop.
func Find(func(string) string) Clipboard {
	return choose([][]string{{"/usr/bin/pbcopy"}}, "pbcopy is missing")
}
