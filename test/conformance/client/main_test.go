package main

import (
	"context"
	"os"
	"testing"
	"time"

	"pointsman/test/conformance"
)

// TestMain is the client itself when the runner starts it: the runner sets what
// it wants in the environment.
func TestMain(m *testing.M) {
	if os.Getenv(scenarioVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestConformance has the official runner judge how we reach servers.
func TestConformance(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, suite := range map[string]struct {
		runner string
		args   []string
	}{
		"core":       {conformance.Stable, []string{"--suite", "core"}},
		"2025-11-25": {conformance.Next, []string{"--requirements", "2025-11-25"}},
		"2026-07-28": {conformance.Next, []string{"--requirements", "2026-07-28"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			runner, err := conformance.Find(ctx, "..", suite.runner)
			if err != nil {
				t.Skip(err)
			}
			report, err := runner.Run(ctx, "client", append(suite.args, "--command", self, "--output-dir", t.TempDir())...)
			if err != nil {
				t.Fatalf("%v\n%s", err, report)
			}
			t.Log(report)
		})
	}
}
