//go:build !headless && !wayland && (linux || freebsd || netbsd || openbsd)

package main

/*
#cgo LDFLAGS: -lX11
#include <X11/Xlib.h>
#include <X11/Xatom.h>

// A window that no user action brought up says so with a user time of 0 (EWMH,
// _NET_WM_USER_TIME), and is not given the focus.
static void no_user_time(void *display, unsigned long window) {
	unsigned long zero = 0;
	Atom property = XInternAtom(display, "_NET_WM_USER_TIME", False);
	XChangeProperty(display, window, property, XA_CARDINAL, 32, PropModeReplace, (unsigned char *)&zero, 1);
}
*/
import "C"

import (
	"unsafe"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver"
	"github.com/go-gl/glfw/v3.3/glfw"
)

// noUserTime tells the window manager that no user action brought the window up.
// It comes in time between the making of a window and its first appearance.
func noUserTime(w fyne.Window) {
	native, ok := w.(driver.NativeWindow)
	if !ok {
		return
	}
	native.RunNative(func(context any) {
		if x11, ok := context.(driver.X11WindowContext); ok && x11.WindowHandle != 0 {
			C.no_user_time(unsafe.Pointer(glfw.GetX11Display()), C.ulong(x11.WindowHandle))
		}
	})
}
