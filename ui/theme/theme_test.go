package theme_test

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	fynetheme "fyne.io/fyne/v2/theme"

	"pointsman/approvals"
	"pointsman/assets"
	"pointsman/ui/theme"
)

// classes are all the risk classes, and one that there is not.
var classes = []approvals.Class{approvals.Read, approvals.Write, approvals.Destructive, approvals.Execute, approvals.OpenWorld, "unheard of"}

// TestContrast holds every colour that words are written in to WCAG AA.
func TestContrast(t *testing.T) {
	words := []fyne.ThemeColorName{
		fynetheme.ColorNameForeground, fynetheme.ColorNamePlaceHolder, fynetheme.ColorNameDisabled, fynetheme.ColorNamePrimary,
		fynetheme.ColorNameError, fynetheme.ColorNameWarning, fynetheme.ColorNameSuccess, fynetheme.ColorNameHyperlink, theme.ColorMuted, theme.ColorGood,
	}
	for _, class := range classes {
		words = append(words, theme.ClassColor(class))
	}
	grounds := []fyne.ThemeColorName{fynetheme.ColorNameBackground, theme.ColorCard, theme.ColorRail, fynetheme.ColorNameInputBackground, fynetheme.ColorNameOverlayBackground}
	pairs := map[fyne.ThemeColorName]fyne.ThemeColorName{
		fynetheme.ColorNameForegroundOnPrimary: fynetheme.ColorNamePrimary, fynetheme.ColorNameForegroundOnError: fynetheme.ColorNameError,
		fynetheme.ColorNameForegroundOnWarning: fynetheme.ColorNameWarning, fynetheme.ColorNameForegroundOnSuccess: fynetheme.ColorNameSuccess,
	}
	for _, choice := range []theme.Choice{theme.Light, theme.Dark} {
		look := theme.New(choice)
		check := func(word, ground fyne.ThemeColorName) {
			if got := contrast(look.Color(word, 0), look.Color(ground, 0)); got < 4.5 {
				t.Errorf("%s: %s on %s has a contrast of %.2f", choice, word, ground, got)
			}
		}
		for _, ground := range grounds {
			for _, word := range words {
				check(word, ground)
			}
		}
		for word, ground := range pairs {
			check(word, ground)
		}
		for _, ground := range []fyne.ThemeColorName{theme.ColorAdded, theme.ColorRemoved, fynetheme.ColorNameButton} {
			check(fynetheme.ColorNameForeground, ground)
		}
	}
}

// contrast is WCAG's contrast ratio of two opaque colours.
func contrast(a, b color.Color) float64 {
	one, other := luminance(a), luminance(b)
	return (max(one, other) + 0.05) / (min(one, other) + 0.05)
}

func luminance(c color.Color) float64 {
	part := func(v uint32) float64 {
		s := float64(v) / 0xffff
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*part(r) + 0.7152*part(g) + 0.0722*part(b)
}

func TestChoice(t *testing.T) {
	for _, test := range []struct {
		choice theme.Choice
		system fyne.ThemeVariant
		dark   bool
	}{
		{theme.System, fynetheme.VariantDark, true},
		{theme.System, fynetheme.VariantLight, false},
		{theme.Light, fynetheme.VariantDark, false},
		{theme.Dark, fynetheme.VariantLight, true},
		{"sepia", fynetheme.VariantDark, true},
	} {
		ground := theme.New(test.choice).Color(fynetheme.ColorNameBackground, test.system)
		if dark := luminance(ground) < 0.5; dark != test.dark {
			t.Errorf("%q over %d is dark: %v", test.choice, test.system, dark)
		}
	}
}

// TestClassesDiffer: no two risk classes look the same, and what is not known
// looks like the worst.
func TestClassesDiffer(t *testing.T) {
	test.NewApp().Settings().SetTheme(theme.New(theme.System))
	seen := map[string]approvals.Class{}
	for _, class := range classes[:5] {
		sign := fmt.Sprint(theme.ClassIcon(class).Name())
		if other, twice := seen[sign]; twice {
			t.Errorf("%s looks like %s", class, other)
		}
		seen[sign] = class
	}
	if theme.ClassColor("unheard of") != theme.ClassColor(approvals.Destructive) || theme.ClassIcon("unheard of").Name() != theme.ClassIcon(approvals.Destructive).Name() {
		t.Error("an unknown class does not look destructive")
	}
}

// TestIcon: an icon has the colour of the theme that is in use, and another name
// in another colour.
func TestIcon(t *testing.T) {
	app := test.NewApp()
	icon := theme.Icon("servers", theme.ColorGood)
	names := map[string]bool{}
	for _, choice := range []theme.Choice{theme.Light, theme.Dark} {
		app.Settings().SetTheme(theme.New(choice))
		names[icon.Name()] = true
		if len(icon.Content()) == 0 || bytes.Contains(icon.Content(), []byte("currentColor")) {
			t.Errorf("%s: the drawing is %s", choice, icon.Content())
		}
	}
	if len(names) != 2 {
		t.Errorf("the names are %v", names)
	}
	if assets.Drawing("no such drawing") != nil {
		t.Error("a drawing that there is not was found")
	}
}

// TestIconOfDisabled: Fyne paints what is disabled by filling shapes with one
// colour; a drawing of lines must stay one.
func TestIconOfDisabled(t *testing.T) {
	test.NewApp().Settings().SetTheme(theme.New(theme.Light))
	entries, err := os.ReadDir("../../assets/icons/ui")
	if err != nil || len(entries) < 30 {
		t.Fatalf("%d drawings, %v", len(entries), err)
	}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".svg")
		drawn := fynetheme.NewDisabledResource(theme.Icon(name, theme.ColorMuted)).Content()
		if paths := bytes.Count(drawn, []byte("<path")); paths == 0 || bytes.Count(drawn, []byte(`fill="none"`)) < paths {
			t.Errorf("%s is filled: %s", name, drawn)
		}
	}
}
