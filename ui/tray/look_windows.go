package tray

import (
	"encoding/binary"
	"strings"
)

// iconSize is that of the picture that is given to the taskbar, in pixels.
const iconSize = 32

// picture is a PNG in an .ico file of one picture: the form that Windows takes.
func picture(png []byte) []byte {
	const header = 22
	ico := []byte{0, 0, 1, 0, 1, 0, iconSize, iconSize, 0, 0, 1, 0, 32, 0}
	ico = binary.LittleEndian.AppendUint32(ico, uint32(len(png)))
	ico = binary.LittleEndian.AppendUint32(ico, header)
	return append(ico, png...)
}

// label is a title in a menu, where Windows takes an ampersand for the mark of
// an access key.
func label(title string) string { return strings.ReplaceAll(title, "&", "&&") }
