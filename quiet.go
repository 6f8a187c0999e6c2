//go:build !headless

package main

import (
	"fyne.io/fyne/v2"
	"github.com/go-gl/glfw/v3.3/glfw"
)

// keepQuiet keeps a window from taking the keyboard when it comes up, and keeps it
// before all others: a window manager puts what may not have the keyboard behind
// the window that has it, where nobody would see that something waits. It is called
// on the UI goroutine, just before the window's first Show. What must be said
// before the window is made is said here; what must be said between its making
// and its first appearance waits for the moment when Fyne asks for the icon's
// bytes, for Fyne does both in one go.
func keepQuiet(a fyne.App, w fyne.Window) {
	glfw.WindowHint(glfw.FocusOnShow, glfw.False)
	glfw.WindowHint(glfw.Floating, glfw.True)
	w.SetIcon(&quietIcon{Resource: a.Icon(), made: func() {
		glfw.WindowHint(glfw.FocusOnShow, glfw.True) // for the next window
		glfw.WindowHint(glfw.Floating, glfw.False)
		noUserTime(w)
	}})
}

// quietIcon is an icon that tells when it is asked for.
type quietIcon struct {
	fyne.Resource
	made func()
}

// Content is the icon's picture.
func (i *quietIcon) Content() []byte {
	i.made()
	return i.Resource.Content()
}
