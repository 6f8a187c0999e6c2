package cli

import (
	"errors"
	"os/exec"
	"runtime"
)

// openBrowser has the desktop open a page. It does not wait for the browser, and
// leaves it running.
func openBrowser(getenv func(string) string, address string) error {
	if err := checkPage(address); err != nil {
		return err
	}
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	case "darwin":
		cmd = exec.Command("open", address)
	default:
		if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("there is no desktop here") // xdg-open might take the terminal for one in text
		}
		cmd = exec.Command("xdg-open", address)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
