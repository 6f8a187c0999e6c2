package owntools

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"pointsman/approvals"
)

// copilotPackage is the Copilot CLI, as npm knows it.
const copilotPackage = "@github/copilot"

// copilot tells of the Copilot CLI.
type copilot struct {
	Installed bool   `json:"installed"`
	Path      string `json:"path"`
	Version   string `json:"version"` // "" when it does not tell
	Ran       string `json:"ran"`     // the command that was run to install it, or ""
	Output    string `json:"output"`  // the end of what that printed
}

func installTool() *tool {
	return &tool{
		name: "copilot_install", title: "Copilot CLI: report or install", class: approvals.Execute, reads: "install", openWorld: true,
		description: "Reports whether the GitHub Copilot CLI is installed, and its version. With install: true it runs `npm install -g " + copilotPackage + "`, which the user is asked about.",
		input: `{"type":"object","properties":{"install":{"type":"boolean","default":false,` +
			`"description":"Install the Copilot CLI, or bring it up to date."}},"additionalProperties":false}`,
		run: func(ctx context.Context, arguments json.RawMessage, progress func(string)) (any, error) {
			var args struct {
				Install bool `json:"install"`
			}
			if err := json.Unmarshal(arguments, &args); err != nil {
				return nil, err
			}
			if !args.Install {
				return reportCopilot(ctx), nil
			}
			return installCopilot(ctx, progress)
		},
	}
}

// reportCopilot looks for the Copilot CLI. One that does not tell its version is
// there all the same.
func reportCopilot(ctx context.Context) copilot {
	path := find("copilot")
	if path == "" {
		return copilot{}
	}
	version, err := program{path: path, args: []string{"--version"}, env: []string{"COPILOT_AUTO_UPDATE=false"}, timeout: 15 * time.Second}.run(ctx)
	if err != nil {
		version = ""
	}
	return copilot{Installed: true, Path: path, Version: version}
}

func installCopilot(ctx context.Context, progress func(string)) (any, error) {
	npm := find("npm")
	if npm == "" {
		return nil, errors.New("npm was not found in PATH; install Node.js first")
	}
	install := program{path: npm, args: []string{"install", "-g", copilotPackage}, timeout: 10 * time.Minute}
	progress("npm installs " + copilotPackage)
	said, err := install.run(ctx)
	if err != nil {
		return nil, err
	}
	report := reportCopilot(ctx)
	report.Ran, report.Output = "npm install -g "+copilotPackage, said
	return report, nil
}
