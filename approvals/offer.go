package approvals

import "path/filepath"

// Check says why a Gate would refuse d as an answer to req, or nil. Whoever
// offers a person choices offers only those that pass.
func Check(d Decision, req Request) error { return check(d, req) }

// Folders returns the folders that a rule about req could be bound to with
// Scope.PathPrefix, the narrowest first: the one that holds every path of the
// arguments, and the client's working folder when that holds them, too. It
// offers no root, and nothing for a call that a path does not bound. It looks at
// the file system, and so may take a while.
func Folders(req Request, arguments []byte) []string {
	if req.Class == Execute {
		return nil
	}
	obj, err := parseObject(arguments)
	if err != nil {
		return nil
	}
	nearest := commonFolder(appendPaths(nil, obj, anything))
	candidates := []string{nearest}
	if filepath.IsAbs(req.CWD) && filepath.Clean(req.CWD) != nearest {
		candidates = append(candidates, filepath.Clean(req.CWD))
	}
	var folders []string
	for _, folder := range candidates {
		if folder == "" || folder == filepath.Dir(folder) {
			continue
		}
		if p, err := newPrefix(folder); err == nil && p.covers(arguments) {
			folders = append(folders, folder)
		}
	}
	return folders
}

// commonFolder returns the narrowest folder that all paths lie strictly below,
// or "" when there is none, or no telling.
func commonFolder(paths []string) string {
	common := ""
	for _, text := range paths {
		readings, ok := Readings(text)
		if !ok {
			return ""
		}
		for _, path := range readings {
			if !plainPath(path) {
				return ""
			}
			folder := filepath.Dir(filepath.Clean(path))
			if common == "" {
				common = folder
			}
			for common != folder && !below(common, folder) && common != filepath.Dir(common) {
				common = filepath.Dir(common)
			}
		}
	}
	return common
}
