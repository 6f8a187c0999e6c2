package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// Home is where this user's files are: three directories, which may not exist yet.
type Home struct {
	Config  string // config.yaml
	State   string // journal, logs
	Runtime string // control socket, lock
}

const folder = "pointsman"

// Locate finds the directories from the environment that getenv reads; nil
// means os.Getenv. POINTSMAN_HOME puts all three under one directory.
func Locate(getenv func(string) string) (Home, error) {
	if getenv == nil {
		getenv = os.Getenv
	}
	if dir := getenv("POINTSMAN_HOME"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return Home{}, fmt.Errorf("locating POINTSMAN_HOME %q: %w", dir, err)
		}
		return Home{Config: abs, State: filepath.Join(abs, "state"), Runtime: filepath.Join(abs, "run")}, nil
	}
	home, err := locate(runtime.GOOS, getenv)
	if err != nil {
		return Home{}, fmt.Errorf("locating the user's directories: %w", err)
	}
	home.Runtime = home.State
	// Children of MCP clients get a short environment, so the runtime directory
	// is found by user id and not by XDG_RUNTIME_DIR.
	if dir := filepath.Join("/run/user", strconv.Itoa(os.Getuid())); runtime.GOOS != "windows" && ownedByUs(dir) {
		home.Runtime = filepath.Join(dir, folder)
	}
	return home, nil
}

// locate gives the configuration and state directories of a system by the
// rules of os.UserConfigDir and its equals for state.
func locate(goos string, getenv func(string) string) (Home, error) {
	switch goos {
	case "windows":
		roaming, local := getenv("APPDATA"), getenv("LOCALAPPDATA")
		if roaming == "" || local == "" {
			return Home{}, errors.New("APPDATA or LOCALAPPDATA is not set; set POINTSMAN_HOME to a directory instead")
		}
		return Home{Config: filepath.Join(roaming, folder), State: filepath.Join(local, folder, "state")}, nil
	case "darwin":
		user, err := userHome(getenv)
		support := filepath.Join(user, "Library", "Application Support", folder)
		return Home{Config: support, State: filepath.Join(support, "state")}, err
	default:
		configDir, err := xdg(getenv, "XDG_CONFIG_HOME", ".config")
		if err != nil {
			return Home{}, err
		}
		stateDir, err := xdg(getenv, "XDG_STATE_HOME", ".local", "state")
		return Home{Config: filepath.Join(configDir, folder), State: filepath.Join(stateDir, folder)}, err
	}
}

// xdg reads one base directory; the specification says to ignore relative ones.
func xdg(getenv func(string) string, name string, fallback ...string) (string, error) {
	if dir := getenv(name); filepath.IsAbs(dir) {
		return dir, nil
	}
	user, err := userHome(getenv)
	return filepath.Join(append([]string{user}, fallback...)...), err
}

func userHome(getenv func(string) string) (string, error) {
	if dir := getenv("HOME"); dir != "" {
		return dir, nil
	}
	return "", errors.New("HOME is not set; set POINTSMAN_HOME to a directory instead")
}
