package ui

import "fyne.io/fyne/v2"

// shares lays objects out beside each other, each with its part of the width.
type shares struct {
	weights []float32
	end     float32 // what is left free behind the last
}

// MinSize is the height of the highest; the width is whatever there is.
func (s *shares) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var height float32
	for _, o := range objects {
		height = max(height, o.MinSize().Height)
	}
	return fyne.NewSize(0, height)
}

// Layout gives each object its part.
func (s *shares) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	var whole, x float32
	for _, weight := range s.weights {
		whole += weight
	}
	for i, o := range objects {
		width := (size.Width - s.end) * s.weights[i] / whole
		o.Resize(fyne.NewSize(width, size.Height))
		o.Move(fyne.NewPos(x, 0))
		x += width
	}
}
