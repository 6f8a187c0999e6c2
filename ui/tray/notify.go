package tray

// Notice is one notification of the desktop.
type Notice struct {
	Title string
	Body  string // plain text
}
