package model_test

import (
	"bytes"
	"image/png"
	"testing"

	"pointsman/assets"
	"pointsman/ui/model"
)

// Every icon that the model names was drawn, at every size, and no two are the
// same picture.
func TestIconsAreDrawn(t *testing.T) {
	seen := map[string]model.Icon{}
	for _, icon := range model.Icons() {
		for _, size := range []int{22, 32, 48} {
			data := assets.TrayIcon(string(icon), size)
			picture, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				t.Errorf("%s at %d pixels: %v", icon, size, err)
				continue
			}
			if bounds := picture.Bounds(); bounds.Dx() != size || bounds.Dy() != size {
				t.Errorf("%s at %d pixels is %v", icon, size, bounds)
			}
			if other, ok := seen[string(data)]; ok {
				t.Errorf("%s looks like %s", icon, other)
			}
			seen[string(data)] = icon
		}
	}
	if data := assets.TrayIcon("nothing", 22); data != nil {
		t.Error("there is a picture of nothing")
	}
}
