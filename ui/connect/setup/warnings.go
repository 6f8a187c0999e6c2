package setup

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/jsonc"
)

// warnings are what defeats a program's setup.
func (s *Setup) warnings(c client) []string {
	switch c.name {
	case "copilot":
		return slices.Concat(s.otherHome(), s.hooksDisabled(), s.otherProviders(), s.otherAddress(), s.proxy())
	case "copilot-sdk":
		return s.proxy()
	}
	return nil
}

// otherHome warns of a Copilot that looks elsewhere than where we write.
func (s *Setup) otherHome() []string {
	usual := filepath.Join(s.Machine.Home, ".copilot")
	home := s.Machine.CopilotHome()
	if filepath.Clean(home) == usual {
		return nil
	}
	return []string{fmt.Sprintf("COPILOT_HOME is %s here: that is what is set up. A Copilot that is started without it reads %s, and asks nobody", home, usual)}
}

// hooksDisabled warns of files that switch hooks off.
func (s *Setup) hooksDisabled() []string {
	var all []string
	user := filepath.Join(s.Machine.CopilotHome(), "settings.json")
	if disables(user) {
		all = append(all, fmt.Sprintf("%s says disableAllHooks: versions of Copilot may skip the hooks of Pointsman; remove it", user))
	}
	if s.Machine.Folder == "" {
		return all
	}
	for _, name := range []string{".github/copilot/settings.json", ".github/copilot/settings.local.json", ".claude/settings.json", ".claude/settings.local.json"} {
		path := filepath.Join(s.Machine.Folder, filepath.FromSlash(name))
		if disables(path) {
			all = append(all, fmt.Sprintf("%s says disableAllHooks: once you trust this folder, Copilot asks nobody in it; remove it, or do not trust the folder", path))
		}
	}
	return all
}

func disables(path string) bool {
	f, err := readState(path)
	if err != nil || !f.exists {
		return false
	}
	var settings struct {
		DisableAllHooks bool `json:"disableAllHooks"`
	}
	err = json.Unmarshal(jsonc.ToJSON(f.text), &settings)
	return err == nil && settings.DisableAllHooks
}

// otherProviders warns of a providers.json that beats the environment.
func (s *Setup) otherProviders() []string {
	path := s.providersPath()
	f, err := readState(path)
	if err != nil || !f.exists {
		return nil
	}
	providers, err := readProviders(f.text)
	if err != nil {
		return []string{fmt.Sprintf("%s cannot be read: %v", path, err)}
	}
	var others []string
	for _, p := range providers.Providers {
		if p.Name != Name {
			others = append(others, p.Name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s names other providers (%s), and beats the variables of the environment; remove what is left over, or choose the model with --model", path, strings.Join(others, ", "))}
}

// otherAddress warns of variables that lead elsewhere.
func (s *Setup) otherAddress() []string {
	address := s.Machine.Env("COPILOT_PROVIDER_BASE_URL")
	if address == "" || strings.TrimSuffix(address, "/") == s.Gateway.Endpoint {
		return nil
	}
	return []string{fmt.Sprintf("COPILOT_PROVIDER_BASE_URL is %s here, and not %s", withoutUser(address), s.Gateway.Endpoint)}
}

// withoutUser is an address without the password that may be in it.
func withoutUser(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "another address"
	}
	return u.Redacted()
}

// proxy warns of a proxy that Copilot would ask for an address of this machine.
func (s *Setup) proxy() []string {
	either := func(name string) string {
		if v := s.Machine.Env(name); v != "" {
			return v
		}
		return s.Machine.Env(strings.ToLower(name))
	}
	set := slices.IndexFunc([]string{"HTTP_PROXY", "ALL_PROXY"}, func(name string) bool { return either(name) != "" })
	u, err := url.Parse(s.Gateway.Endpoint)
	if set < 0 || err != nil {
		return nil
	}
	for _, host := range strings.FieldsFunc(either("NO_PROXY"), func(r rune) bool { return r == ',' || r == ' ' }) {
		if host == "*" || strings.EqualFold(host, u.Hostname()) || strings.EqualFold(host, u.Host) {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s is set, and NO_PROXY does not name %s: Copilot would ask the proxy for Pointsman; add %[2]s to NO_PROXY", []string{"HTTP_PROXY", "ALL_PROXY"}[set], u.Hostname())}
}
