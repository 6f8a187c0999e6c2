package setup

import (
	"bytes"
	"fmt"
)

// The states of a part.
const (
	Absent  = "absent"  // it is not set up
	Current = "set"     // it is as Apply would make it
	Stale   = "differs" // it is set up otherwise: an older address, program or model
	Broken  = "fault"   // its file cannot be read with certainty
)

// Status is how a program is set up.
type Status struct {
	Client    string       `json:"client"`
	Title     string       `json:"title"`
	Installed bool         `json:"installed"` // there are signs of the program
	Parts     []PartStatus `json:"parts"`
	Snippet   bool         `json:"snippet"` // there are lines to copy
	// Environment is Current when the lines are in force here, Absent when they are
	// not, "" for a program that takes none.
	Environment string   `json:"environment"`
	Warnings    []string `json:"warnings"` // what defeats the setup, in sentences
}

// PartStatus is how one file of a program is set up.
type PartStatus struct {
	Part  string `json:"part"`
	Path  string `json:"path"`
	State string `json:"state"`
	Fault string `json:"fault"` // why it is Broken, or ""
	Undo  bool   `json:"undo"`  // there is a backup of what was there
}

// List tells how the programs are set up, and what defeats that. It asks for no
// key.
func (s *Setup) List() []Status {
	var all []Status
	for _, c := range s.clients() {
		status := Status{Client: c.name, Title: c.title, Installed: s.installed(c), Parts: []PartStatus{}, Snippet: c.snippet != "", Warnings: []string{}}
		for _, p := range c.parts {
			status.Parts = append(status.Parts, s.status(p))
		}
		if c.name == "copilot" {
			status.Environment = s.environmentState()
		}
		status.Warnings = append(status.Warnings, s.warnings(c)...)
		all = append(all, status)
	}
	return all
}

// environmentState tells whether the variables lead to our endpoint.
func (s *Setup) environmentState() string {
	if trimSlash(s.Machine.Env("COPILOT_PROVIDER_BASE_URL")) == s.Gateway.Endpoint {
		return Current
	}
	return Absent
}

func (s *Setup) status(p part) PartStatus {
	status := PartStatus{Part: p.name, Path: p.path}
	now, err := readState(p.path)
	if err == nil {
		if status.State, err = p.state(now); err != nil {
			err = fmt.Errorf("reading %s: %w", p.path, err)
		}
	}
	if err == nil {
		var r *record
		r, err = s.load(now.target)
		status.Undo = r != nil
	}
	if err != nil {
		status.State, status.Fault = Broken, err.Error()
	}
	return status
}

// state compares a file with what it is to be, but for the key.
func (p part) state(now file) (string, error) {
	if !now.exists {
		return Absent, nil
	}
	if p.format != nil {
		entries, err := p.ours(now.text)
		if err != nil || len(entries) == 0 {
			return Absent, err
		}
	}
	after, _, err := p.wanted(now.text, "")
	if err != nil {
		return Stale, nil // what is there is ours, and what it should be is not known now
	}
	if bytes.Equal(after, now.text) {
		return Current, nil
	}
	return Stale, nil
}
