package hooks

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pointsman/gateway/hooks/shell"
	"pointsman/gateway/servers/sandbox"
)

// furtherVaults are places below a home folder where programs keep secrets, beside
// those that servers are kept from.
var furtherVaults = []string{
	".npmrc", ".pypirc", ".pgpass", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".terraform.d/credentials.tfrc.json",
	".bash_history", ".zsh_history", ".python_history", ".copilot/config.json", ".copilot/mcp-config.json", ".copilot/providers.json",
}

// vaults returns all of them. Copilot's own folder is none as a whole: its plans
// and long results are there, and it looks at them all the time.
func vaults() []string {
	places := slices.DeleteFunc(sandbox.SecretPlaces(), func(place string) bool { return place == ".copilot" })
	return append(places, furtherVaults...)
}

// public are files in the vaults that are no secrets.
var public = []string{"known_hosts", "authorized_keys", "*.pub"}

// secretNames are the names of files that hold secrets wherever they are. In the
// working folder, which Copilot was started in to be worked on, they are read.
var secretNames = []string{
	".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "*.keystore", "*.jks", "id_rsa*", "id_ed25519*", "id_ecdsa*", "id_dsa*",
	"credentials", "credentials.json", "credentials.yaml", "credentials.toml", "secrets.*", "*.ovpn", "shadow", "gshadow", "master.passwd", ".htpasswd",
}

// vault tells which files hold secrets.
type vault struct {
	home   string
	folder string // the working folder
}

// holds says what is secret in a file that is read, or "".
func (v vault) holds(file shell.File) string {
	for _, path := range []string{file.Path, sandbox.Real(file.Path)} {
		if what := v.secret(path, file.Deep); what != "" {
			return what
		}
	}
	return ""
}

func (v vault) secret(path string, deep bool) string {
	slashed := filepath.ToSlash(path)
	switch {
	case strings.HasPrefix(slashed, "/proc/") && (strings.HasSuffix(slashed, "/environ") || strings.HasSuffix(slashed, "/mem")):
		return "what a running program keeps in its memory"
	case strings.HasPrefix(slashed, "/proc/") && slices.ContainsFunc(strings.Split(slashed, "/"), func(part string) bool { return part == "root" || part == "cwd" || part == "fd" }):
		return "a file by way of a running program"
	case deep && (slashed == "/" || slashed == "/proc" || strings.HasPrefix(slashed, "/proc/")):
		return "the whole machine"
	}
	if v.home != "" {
		for _, place := range vaults() {
			full := filepath.Join(v.home, filepath.FromSlash(place))
			if within(full, path) && !matches(public, filepath.Base(path)) {
				return "~/" + place + ", where secrets are kept"
			}
			if deep && within(path, full) {
				return "everything below " + short(path) + ", where secrets are kept, too"
			}
		}
	}
	if !within(sandbox.Real(v.folder), path) && !within(v.folder, path) && matches(secretNames, filepath.Base(path)) && !matches(public, filepath.Base(path)) {
		return short(filepath.Base(path)) + ", which may hold secrets, outside the working folder"
	}
	return ""
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
		return ok && err == nil
	})
}

// within reports whether path is dir or lies below it.
// Letters count the same in either case: on some disks they are.
func within(dir, path string) bool {
	rel, err := filepath.Rel(strings.ToLower(dir), strings.ToLower(path))
	return err == nil && filepath.IsLocal(rel)
}
