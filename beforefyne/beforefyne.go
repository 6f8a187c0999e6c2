// Package beforefyne silences the standard log while the program's packages are
// initialised. Fyne complains there about a locale such as C.UTF-8, in every
// command of a program that has it linked in, whether or not it opens a window.
//
// It has to be initialised before fyne.io/fyne/v2/lang. Of the packages that
// could be next, Go takes the one whose path sorts first: hence the name, and
// hence a module of its own, for no path that begins with "pointsman" would do.
package beforefyne

import (
	"io"
	"log"
	"os"
)

func init() { log.SetOutput(io.Discard) }

// Over lets the standard log speak again.
func Over() { log.SetOutput(os.Stderr) }
