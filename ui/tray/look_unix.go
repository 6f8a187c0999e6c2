//go:build linux || freebsd || openbsd || netbsd || (darwin && cgo)

package tray

import (
	"runtime"
	"strings"
)

// iconSize is that of the picture that is given to the panel, in pixels: enough
// for one of 24 at twice the scale. The panel makes it smaller.
const iconSize = 48

// picture is the form in which the panel takes a PNG.
func picture(png []byte) []byte { return png }

// label is a title in a menu, where D-Bus takes an underscore for the mark of
// an access key.
func label(title string) string {
	if runtime.GOOS == "darwin" {
		return title
	}
	return strings.ReplaceAll(title, "_", "__")
}
