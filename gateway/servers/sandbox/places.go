package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// secretPlaces are where programs keep credentials, below the user's home.
var secretPlaces = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".password-store", ".Xauthority", ".vault-token",
	".config/gcloud", ".config/gh", ".config/git/credentials", ".config/github-copilot", ".config/op", ".copilot",
	".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
	".config/Code/User", ".config/Claude", ".claude.json", ".codex", ".cursor/mcp.json",
	"Library/Application Support/Code/User", "Library/Application Support/Claude", "Library/Application Support/Google/Chrome",
	"Library/Application Support/Firefox", "Library/Cookies", "Library/Safari",
}

// keychainPlaces are where keychains keep what they hold, below the user's home.
var keychainPlaces = []string{".local/share/keyrings", ".local/share/kwalletd", "Library/Keychains"}

// SecretPlaces returns where programs and keychains keep secrets, as paths below
// the user's home, with slashes.
func SecretPlaces() []string { return slices.Concat(secretPlaces, keychainPlaces) }

// credentials returns where programs keep credentials, and where agents listen
// that use them for anybody who asks.
func credentials() []string {
	places := atHome(secretPlaces)
	for _, name := range []string{"SSH_AUTH_SOCK", "XAUTHORITY"} {
		if path := os.Getenv(name); filepath.IsAbs(path) {
			places = append(places, path)
		}
	}
	return places
}

// keychain returns where the user's secrets are kept, and how they are asked for.
func keychain() []string {
	places := atHome(keychainPlaces)
	if runtime.GOOS == "linux" {
		session := filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
		places = append(places, filepath.Join(session, "bus"), filepath.Join(session, "keyring"))
	}
	if path := os.Getenv("GNOME_KEYRING_CONTROL"); filepath.IsAbs(path) {
		places = append(places, path)
	}
	for _, address := range strings.Split(os.Getenv("DBUS_SESSION_BUS_ADDRESS"), ";") {
		if _, path, ok := strings.Cut(address, "unix:path="); ok {
			path, _, _ = strings.Cut(path, ",")
			if filepath.IsAbs(path) {
				places = append(places, path)
			}
		}
	}
	return places
}

func atHome(names []string) []string {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return nil
	}
	var paths []string
	for _, name := range names {
		if runtime.GOOS == "darwin" || !strings.HasPrefix(name, "Library/") {
			paths = append(paths, filepath.Join(home, filepath.FromSlash(name)))
		}
	}
	return paths
}
