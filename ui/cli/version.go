package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// build is what `version --json` prints.
type build struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: arguments(0, 0), Example: "  pointsman version --json",
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(a.Stdout, build{a.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH})
			}
			return a.print("%s", a.versionLine())
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// versionLine is what `version` and --version print.
func (a *app) versionLine() string {
	return fmt.Sprintf("pointsman %s (%s, %s/%s)", a.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
