// Package e2e tests the built program from outside: real clients speak to its
// HTTP door, real MCP servers run below it, and a scripted provider answers for
// the model. TestMain builds the program once; each test starts its own, in a
// home of its own. Processes and goroutines end with the test that started them.
package e2e

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// binaryVariable names a program to test instead of building one.
const binaryVariable = "POINTSMAN_E2E_BINARY"

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pointsman-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if os.Getenv(binaryVariable) == "" {
		path := filepath.Join(dir, "pointsman")
		build := exec.Command("go", "build", "-race", "-o", path, "..")
		if said, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, said)
			return 1
		}
		if err := os.Setenv(binaryVariable, path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// TestBuiltFromTheseSources lists the program's sources. The go command takes a
// package's result from its cache while nothing that its tests looked at has
// changed, and does not see what the build in TestMain reads.
func TestBuiltFromTheseSources(t *testing.T) {
	sources := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && path != ".." && (name == "node_modules" || name == "bin" || name[0] == '.') {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".go" || filepath.Ext(path) == ".yaml" {
			sources++
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil || sources < 100 {
		t.Errorf("%d sources, %v", sources, err)
	}
}
