//go:build !windows && !darwin

package clipboard

// Find finds what can copy on this desktop.
func Find(getenv func(string) string) Clipboard {
	x11 := [][]string{{"xclip", "-selection", "clipboard", "-in"}, {"xsel", "--clipboard", "--input"}}
	switch {
	case getenv("WAYLAND_DISPLAY") != "":
		return choose(append([][]string{{"wl-copy"}}, x11...), "install wl-clipboard")
	case getenv("DISPLAY") != "":
		return choose(x11, "install xclip")
	}
	return Clipboard{missing: "no display"}
}
