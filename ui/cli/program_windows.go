package cli

import (
	"os"
	"path/filepath"
	"strings"
)

// residentProgram is what the desktop starts for a resident: of the two programs
// that are shipped for Windows, the one that opens no console.
func residentProgram() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	base := strings.TrimSuffix(program, filepath.Ext(program))
	if windowless := base + "w.exe"; !strings.HasSuffix(base, "w") {
		if info, err := os.Stat(windowless); err == nil && info.Mode().IsRegular() {
			return windowless, nil
		}
	}
	return program, nil
}
