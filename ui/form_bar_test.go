package ui

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

// TestFormBarLeavesNoGap: the page has the room that the bar does not take.
func TestFormBarLeavesNoGap(t *testing.T) {
	test.NewTempApp(t)
	bar, page := newFormBar(), widget.NewLabel("page")
	window := test.NewTempWindow(t, bar.in(container.NewBorder(bar.object, nil, nil, nil, page)))
	window.Resize(fyne.NewSize(400, 300))
	alone := page.Position()
	bar.say("saved")
	if page.Position().Y <= alone.Y {
		t.Errorf("the page stands at %v under the bar", page.Position())
	}
	bar.hide()
	if page.Position() != alone {
		t.Errorf("the page stands at %v without the bar, and not at %v", page.Position(), alone)
	}
}
