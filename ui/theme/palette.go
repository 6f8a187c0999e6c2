package theme

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// rgb is an opaque colour, written as in a style sheet.
func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// see is a colour that lets what is behind it through.
func see(hex uint32, alpha uint8) color.NRGBA {
	c := rgb(hex)
	c.A = alpha
	return c
}

var light = map[fyne.ThemeColorName]color.Color{
	theme.ColorNameBackground:          rgb(0xfbfbfa),
	theme.ColorNameForeground:          rgb(0x1d2125),
	theme.ColorNamePlaceHolder:         rgb(0x63696f),
	theme.ColorNameDisabled:            rgb(0x656b71),
	theme.ColorNameDisabledButton:      rgb(0xeeeeec),
	theme.ColorNameButton:              rgb(0xe9e9e6),
	theme.ColorNameInputBackground:     rgb(0xffffff),
	theme.ColorNameInputBorder:         rgb(0xc9ccce),
	theme.ColorNamePrimary:             rgb(0x0b6e5b),
	theme.ColorNameForegroundOnPrimary: rgb(0xffffff),
	theme.ColorNameHyperlink:           rgb(0x0b6e5b),
	theme.ColorNameFocus:               see(0x0b6e5b, 0x40),
	theme.ColorNameSelection:           see(0x0b6e5b, 0x2e),
	theme.ColorNameHover:               see(0x1d2125, 0x0f),
	theme.ColorNamePressed:             see(0x1d2125, 0x1f),
	theme.ColorNameSeparator:           rgb(0xe1e2e0),
	theme.ColorNameMenuBackground:      rgb(0xffffff),
	theme.ColorNameOverlayBackground:   rgb(0xffffff),
	theme.ColorNameHeaderBackground:    rgb(0xf3f3f1),
	theme.ColorNameShadow:              see(0x000000, 0x14),
	theme.ColorNameScrollBar:           see(0x1d2125, 0x55),
	theme.ColorNameScrollBarBackground: see(0x1d2125, 0x0a),
	theme.ColorNameSuccess:             rgb(0x1b7a3d),
	theme.ColorNameForegroundOnSuccess: rgb(0xffffff),
	theme.ColorNameWarning:             rgb(0x8a5a00),
	theme.ColorNameForegroundOnWarning: rgb(0xffffff),
	theme.ColorNameError:               rgb(0xb3261e),
	theme.ColorNameForegroundOnError:   rgb(0xffffff),
	ColorMuted:                         rgb(0x596066),
	ColorCard:                          rgb(0xffffff),
	ColorRail:                          rgb(0xf1f1ee),
	ColorLine:                          rgb(0xe1e2e0),
	ColorGood:                          rgb(0x1b7a3d),
	ColorRead:                          rgb(0x4a5560),
	ColorWrite:                         rgb(0x8a5a00),
	ColorDestructive:                   rgb(0xb3261e),
	ColorExecute:                       rgb(0x7a3aa8),
	ColorOpenWorld:                     rgb(0x1560b0),
	ColorAdded:                         rgb(0xdcf3e3),
	ColorRemoved:                       rgb(0xfbe1df),
}

var dark = map[fyne.ThemeColorName]color.Color{
	theme.ColorNameBackground:          rgb(0x17191b),
	theme.ColorNameForeground:          rgb(0xe9eaeb),
	theme.ColorNamePlaceHolder:         rgb(0x9ca2a8),
	theme.ColorNameDisabled:            rgb(0x969ca2),
	theme.ColorNameDisabledButton:      rgb(0x24272a),
	theme.ColorNameButton:              rgb(0x2e3236),
	theme.ColorNameInputBackground:     rgb(0x1f2225),
	theme.ColorNameInputBorder:         rgb(0x43484d),
	theme.ColorNamePrimary:             rgb(0x4cc3a5),
	theme.ColorNameForegroundOnPrimary: rgb(0x06231c),
	theme.ColorNameHyperlink:           rgb(0x4cc3a5),
	theme.ColorNameFocus:               see(0x4cc3a5, 0x55),
	theme.ColorNameSelection:           see(0x4cc3a5, 0x33),
	theme.ColorNameHover:               see(0xffffff, 0x12),
	theme.ColorNamePressed:             see(0xffffff, 0x22),
	theme.ColorNameSeparator:           rgb(0x303438),
	theme.ColorNameMenuBackground:      rgb(0x24272a),
	theme.ColorNameOverlayBackground:   rgb(0x1f2225),
	theme.ColorNameHeaderBackground:    rgb(0x1f2225),
	theme.ColorNameShadow:              see(0x000000, 0x66),
	theme.ColorNameScrollBar:           see(0xffffff, 0x55),
	theme.ColorNameScrollBarBackground: see(0xffffff, 0x0a),
	theme.ColorNameSuccess:             rgb(0x5fce86),
	theme.ColorNameForegroundOnSuccess: rgb(0x062312),
	theme.ColorNameWarning:             rgb(0xe0b04a),
	theme.ColorNameForegroundOnWarning: rgb(0x2a1d00),
	theme.ColorNameError:               rgb(0xff8a80),
	theme.ColorNameForegroundOnError:   rgb(0x370b07),
	ColorMuted:                         rgb(0xa6acb2),
	ColorCard:                          rgb(0x1f2225),
	ColorRail:                          rgb(0x121415),
	ColorLine:                          rgb(0x303438),
	ColorGood:                          rgb(0x5fce86),
	ColorRead:                          rgb(0xb3bac1),
	ColorWrite:                         rgb(0xe0b04a),
	ColorDestructive:                   rgb(0xff8a80),
	ColorExecute:                       rgb(0xcf9bf2),
	ColorOpenWorld:                     rgb(0x7db7f5),
	ColorAdded:                         rgb(0x173625),
	ColorRemoved:                       rgb(0x42201e),
}
