//go:build !headless && (wayland || !(linux || freebsd || netbsd || openbsd))

package main

import "fyne.io/fyne/v2"

// noUserTime does nothing: GLFW's own means are enough here, and on Wayland the
// compositor decides.
func noUserTime(fyne.Window) {}
