package model

import "strconv"

// Icon names one of the tray's pictures, assets/icons/tray-NAME.svg.
type Icon string

// The pictures that carry no number.
const (
	IconRunning Icon = "running"
	IconPaused  Icon = "paused"
	IconFault   Icon = "fault"
)

// mostWaiting is the largest number that a picture carries; more are "9+".
const mostWaiting = 9

// IconOf is the picture for a state. What waits for a person comes before all
// else, and what is wrong before what was chosen.
func IconOf(s State) Icon {
	switch {
	case s.Waiting > 0:
		return iconWaiting(s.Waiting)
	case s.Fault != "":
		return IconFault
	case s.Paused:
		return IconPaused
	}
	return IconRunning
}

func iconWaiting(n int) Icon {
	if n > mostWaiting {
		return Icon("waiting-" + strconv.Itoa(mostWaiting) + "plus")
	}
	return Icon("waiting-" + strconv.Itoa(n))
}

// Icons are all pictures there are.
func Icons() []Icon {
	all := []Icon{IconRunning, IconPaused, IconFault}
	for n := range mostWaiting + 1 {
		all = append(all, iconWaiting(n+1))
	}
	return all
}
