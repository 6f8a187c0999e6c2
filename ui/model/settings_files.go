package model

import (
	"path/filepath"

	"pointsman/gateway/config"
)

// File is one of the user's files.
type File struct {
	Name   string
	Path   string // or why there is none
	Folder string // "" when there is none
}

// Files are where the user's files are.
func Files(now config.Settings, home config.Home) []File {
	files := []File{
		{"Configuration", now.Path, filepath.Dir(now.Path)},
		{"State", home.State, home.State},
		{"Journal", filepath.Join(home.State, "journal.db"), home.State},
	}
	if now.Log == "" {
		return append(files, File{Name: "Log", Path: "It is written to no file."})
	}
	return append(files, File{"Log", now.Log, filepath.Dir(now.Log)})
}
