package theme

import (
	"bytes"
	"fmt"

	"fyne.io/fyne/v2"

	"pointsman/approvals"
	"pointsman/assets"
)

// icon is one of our drawings in a colour of the theme. Its name holds the colour
// it has now, for Fyne keeps what it has painted by name.
type icon struct {
	drawing string
	color   fyne.ThemeColorName
}

// Icon returns one of our drawings in a colour that follows the theme. Without
// such a drawing it is an empty picture.
func Icon(drawing string, color fyne.ThemeColorName) fyne.Resource { return icon{drawing, color} }

// ClassIcon is the sign of a risk class, in its colour.
func ClassIcon(class approvals.Class) fyne.Resource {
	switch class {
	case approvals.Read:
		return Icon("read", ClassColor(class))
	case approvals.Write:
		return Icon("write", ClassColor(class))
	case approvals.Execute:
		return Icon("execute", ClassColor(class))
	case approvals.OpenWorld:
		return Icon("open-world", ClassColor(class))
	default: // what is not known is taken for the worst
		return Icon("destructive", ClassColor(class))
	}
}

// Name is unique to the drawing and its colour.
func (i icon) Name() string { return i.drawing + "-" + i.hex()[1:] + ".svg" }

// Content is the drawing as SVG.
func (i icon) Content() []byte {
	return bytes.ReplaceAll(assets.Drawing(i.drawing), []byte("currentColor"), []byte(i.hex()))
}

// hex is the colour as a style sheet writes it.
func (i icon) hex() string {
	r, g, b, _ := Color(i.color).RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
