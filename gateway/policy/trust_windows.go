package policy

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// File returns where the machine's policy is, if there is one. The environment
// has no part in it: it is the user's.
func File() (string, error) {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0)
	if err != nil {
		return "", fmt.Errorf("finding the folder of the administrator's policy: %w", err)
	}
	return filepath.Join(dir, "pointsman", "policy.yaml"), nil
}

// trusted returns why somebody other than an administrator may have written the
// file or its folder, which every user may make; nil when nobody could.
func trusted(file string) error {
	for _, path := range []string{file, filepath.Dir(file)} {
		sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
		if err != nil {
			return err
		}
		owner, _, err := sd.Owner()
		if err != nil {
			return err
		}
		if !owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) && !owner.IsWellKnown(windows.WinLocalSystemSid) {
			return fmt.Errorf("%s does not belong to the administrators; an administrator has to own it", path)
		}
	}
	return nil
}
