package ui

import (
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"fyne.io/fyne/v2"
)

// looksLike compares a canvas with the picture of that name in testdata. One that
// differs is left in testdata/failed; when it is the better one, it takes the
// place of the old one.
func looksLike(t *testing.T, name string, canvas fyne.Canvas) {
	t.Helper()
	got := canvas.Capture()
	want, err := readPicture(filepath.Join("testdata", name))
	if err == nil && want.Bounds() == got.Bounds() {
		differ := 0
		for y := range got.Bounds().Dy() {
			for x := range got.Bounds().Dx() {
				if !alike(got.At(x, y), want.At(x, y)) {
					differ++
				}
			}
		}
		if differ == 0 {
			return
		}
		t.Errorf("%s: %d pixels are not as they were", name, differ)
	} else {
		t.Errorf("%s: there is no such picture of that size: %v", name, err)
	}
	if err := writePicture(filepath.Join("testdata", "failed", name), got); err != nil {
		t.Error(err)
	}
}

// alike reports whether two colours cannot be told apart: processors differ in
// the last bit.
func alike(a, b color.Color) bool {
	const most = 3 << 8 // of 65,535
	r, g, bl, al := a.RGBA()
	r2, g2, bl2, al2 := b.RGBA()
	near := func(x, y uint32) bool { return max(x, y)-min(x, y) <= most }
	return near(r, r2) && near(g, g2) && near(bl, bl2) && near(al, al2)
}

func readPicture(path string) (image.Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return png.Decode(f)
}

func writePicture(path string, picture image.Image) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, picture), f.Close())
}
