// Package theme is how our windows look: colours, sizes and icons, over Fyne's
// own theme. It starts no goroutine.
package theme

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"pointsman/approvals"
)

// Step is the rhythm of the layout, in Fyne's units: distances are multiples of it.
const Step float32 = 8

// The names of the colours that Fyne has not. Each stands on the background, and
// on a card, with a contrast of at least 4.5 to 1.
const (
	ColorMuted       fyne.ThemeColorName = "pointsman-muted" // words beside the point
	ColorCard        fyne.ThemeColorName = "pointsman-card"  // what a card stands on
	ColorRail        fyne.ThemeColorName = "pointsman-rail"  // what the navigation stands on
	ColorLine        fyne.ThemeColorName = "pointsman-line"  // between things
	ColorGood        fyne.ThemeColorName = "pointsman-good"  // done, connected
	ColorRead        fyne.ThemeColorName = "pointsman-read"
	ColorWrite       fyne.ThemeColorName = "pointsman-write"
	ColorDestructive fyne.ThemeColorName = "pointsman-destructive"
	ColorExecute     fyne.ThemeColorName = "pointsman-execute"
	ColorOpenWorld   fyne.ThemeColorName = "pointsman-open-world"
	ColorAdded       fyne.ThemeColorName = "pointsman-added"   // behind a line of a diff
	ColorRemoved     fyne.ThemeColorName = "pointsman-removed" // behind a line of a diff
)

// Choice is which of the two faces the windows have, as desktop.theme sets it.
type Choice string

// The choices. Everything else counts as System.
const (
	System Choice = "system"
	Light  Choice = "light"
	Dark   Choice = "dark"
)

// Theme is ours. It is safe for concurrent use.
type Theme struct{ choice Choice }

// New returns the theme with the face that was chosen.
func New(choice Choice) *Theme { return &Theme{choice: choice} }

// Color returns a colour by its name.
func (t *Theme) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	palette := light
	if t.dark(variant) {
		palette, variant = dark, theme.VariantDark
	} else {
		variant = theme.VariantLight
	}
	if c, ours := palette[name]; ours {
		return c
	}
	return theme.DefaultTheme().Color(name, variant)
}

func (t *Theme) dark(system fyne.ThemeVariant) bool {
	switch t.choice {
	case Light:
		return false
	case Dark:
		return true
	default:
		return system == theme.VariantDark
	}
}

// Font returns the font for a style of text.
func (t *Theme) Font(style fyne.TextStyle) fyne.Resource { return theme.DefaultTheme().Font(style) }

// Icon returns an icon by its name: ours, or Fyne's.
func (t *Theme) Icon(name fyne.ThemeIconName) fyne.Resource { return theme.DefaultTheme().Icon(name) }

// sizes are those in which we differ from Fyne.
var sizes = map[fyne.ThemeSizeName]float32{
	theme.SizeNamePadding:         Step / 2,
	theme.SizeNameInnerPadding:    Step,
	theme.SizeNameLineSpacing:     Step / 2,
	theme.SizeNameText:            14,
	theme.SizeNameHeadingText:     22,
	theme.SizeNameSubHeadingText:  16,
	theme.SizeNameCaptionText:     12,
	theme.SizeNameInputRadius:     6,
	theme.SizeNameSelectionRadius: 6,
	theme.SizeNameInputBorder:     1,
	theme.SizeNameInlineIcon:      20,
	theme.SizeNameScrollBar:       12,
}

// Size returns a size by its name.
func (t *Theme) Size(name fyne.ThemeSizeName) float32 {
	if size, ours := sizes[name]; ours {
		return size
	}
	return theme.DefaultTheme().Size(name)
}

// Color is a colour of the theme that is in use; where that is not ours and has
// none of the name, it is ours.
func Color(name fyne.ThemeColorName) color.Color {
	settings := fyne.CurrentApp().Settings()
	if c := settings.Theme().Color(name, settings.ThemeVariant()); c != nil {
		return c
	}
	return New(System).Color(name, settings.ThemeVariant())
}

// ClassColor is the colour of a risk class. It is never the only sign of it: see
// ClassIcon.
func ClassColor(class approvals.Class) fyne.ThemeColorName {
	switch class {
	case approvals.Read:
		return ColorRead
	case approvals.Write:
		return ColorWrite
	case approvals.Execute:
		return ColorExecute
	case approvals.OpenWorld:
		return ColorOpenWorld
	default: // what is not known is taken for the worst
		return ColorDestructive
	}
}
