package model

import (
	"maps"
	"slices"
	"strings"
	"time"

	"pointsman/gateway/config"
)

// ProviderLine is a provider as a line of a list.
type ProviderLine struct {
	Name    string
	Address string // or the word that it is a known one
	Key     KeyLook
	Answer  string // to the last trial, or ""
	Failed  bool   // that trial
}

// ProviderAnswer is how a provider did when it was tried out.
type ProviderAnswer struct {
	OK      bool
	Message string
	When    time.Time
}

// KeyLook is how it stands with a provider's key.
type KeyLook struct {
	Word string
	Icon string // a drawing's name
	Tone Tone
}

// Keychain is what is known of the keychain.
type Keychain struct {
	Has   map[string]bool
	Fault string // why it cannot be looked into; "" when it can
}

// keyless are the known providers that run on the user's machine and ask for no
// key.
var keyless = []string{"ollama", "lmstudio"}

// ProviderLines makes lines of the providers in force, by name.
func ProviderLines(cfg *config.Config, keys Keychain, last map[string]ProviderAnswer) []ProviderLine {
	lines := []ProviderLine{}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		p := cfg.Providers[name]
		line := ProviderLine{Name: name, Address: p.BaseURL, Key: lookOfKey(name, p.APIKey, keys)}
		if line.Address == "" {
			line.Address = "Its usual address"
		}
		if answer, tried := last[name]; tried {
			line.Answer, line.Failed = answer.When.Format("15:04")+": "+clip(answer.Message, longestText), !answer.OK
		}
		lines = append(lines, line)
	}
	return lines
}

func lookOfKey(provider string, key config.Secret, keys Keychain) KeyLook {
	name := keychainName(key)
	switch {
	case key == "" && slices.Contains(keyless, provider):
		return KeyLook{"Needs no key", "done", Good}
	case key == "":
		return KeyLook{"No key", "key", Asking}
	case name == "" && key.IsReference():
		return KeyLook{"In the environment", "key", Quiet}
	case name == "":
		return KeyLook{"In the file, as text", "key", Asking}
	case keys.Fault != "":
		return KeyLook{"Keychain unreadable", "failed", Bad}
	case keys.Has[name]:
		return KeyLook{"In the keychain", "done", Good}
	default:
		return KeyLook{"Not in the keychain", "failed", Bad}
	}
}

// ProviderKeys are the names of the keychain entries that providers refer to.
func ProviderKeys(cfg *config.Config) []string {
	names := []string{}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		if key := keychainName(cfg.Providers[name].APIKey); key != "" {
			names = append(names, key)
		}
	}
	return names
}

// The fields of a ProviderForm, as Faults names them, besides FieldName and
// FieldURL.
const FieldKey = "key"

// ProviderForm is a provider's entry as a form shows it.
type ProviderForm struct {
	Name     string
	URL      string // "": the usual address of a known provider
	Key      string // as typed; "" keeps what there is
	Discover bool   // ask it for its models

	base config.Provider
	was  string // the saved entry's name; "" when there is none
}

// SavedProvider is the form of an entry as the resident tells it.
func SavedProvider(name string, p config.Provider) ProviderForm {
	f := ProviderForm{Name: name, URL: p.BaseURL, Discover: p.Models.Discover, base: p, was: name}
	if keychainName(p.APIKey) == "" && p.APIKey.IsReference() && !strings.Contains(string(p.APIKey), mask) {
		f.Key = string(p.APIKey) // of the environment: there is nothing secret in it
	}
	return f
}

// Was is the name of the saved entry that the form changes; "" when it adds one.
func (f ProviderForm) Was() string { return f.was }

// KeptWords says where the key is that the form does not show; "" when there is
// none.
func (f ProviderForm) KeptWords() string {
	if f.base.APIKey.IsReference() && keychainName(f.base.APIKey) == "" {
		return ""
	}
	return keptWords(f.base.APIKey)
}

// Draft makes an entry of the form. cfg is what is in force: it says which names
// are taken.
func (f ProviderForm) Draft(cfg *config.Config) ProviderDraft {
	d := newDraft("providers", strings.TrimSpace(f.Name), f.was, f.base)
	d.Entry.BaseURL, d.Entry.Models.Discover = strings.TrimSpace(f.URL), f.Discover
	f.key(&d, cfg)
	if d.Name == "" {
		d.Faults[FieldName] = "Choose a provider, or give it a name"
		return d
	}
	if _, taken := cfg.Providers[d.Name]; taken && d.Name != f.was {
		d.Faults[FieldName] = "There is a provider of this name already"
	}
	only := config.Default()
	only.Providers = map[string]config.Provider{d.Name: d.Entry}
	d.Faults.AddProvider(d.Name, only.Problems())
	return d
}

func (f ProviderForm) key(d *ProviderDraft, cfg *config.Config) {
	typed := strings.TrimSpace(f.Key)
	switch {
	case typed == "" && strings.Contains(string(f.base.APIKey), mask) && d.Name != f.was:
		d.Faults[FieldKey] = "The key stands in the file and does not come along under another name; type it again"
	case typed == "" && keychainName(f.base.APIKey) == "" && f.base.APIKey.IsReference():
		d.Entry.APIKey = "" // it was shown, and has been taken out
	case typed == "":
	case config.Secret(typed).IsReference():
		d.Entry.APIKey = config.Secret(typed)
	default:
		saved := config.JoinPath("providers", f.was) + ".api_key"
		name := keychainName(f.base.APIKey)
		if name == "" || usedElsewhere(cfg, name, saved) {
			name = freeName(keyName(d.Name), func(name string) bool { return usedElsewhere(cfg, name, saved) })
		}
		d.Secrets[name] = typed
		d.Entry.APIKey = config.Secret(keychainScheme + name)
	}
}

// AddProvider marks the fields of a provider's form with the problems of its
// entry.
func (to Faults) AddProvider(name string, problems []config.Problem) {
	to.add(config.JoinPath("providers", name), problems, providerField)
}

// providerField is the field that shows what stands at a place in the entry.
func providerField(place string) string {
	switch place {
	case "base_url":
		return FieldURL
	case "api_key":
		return FieldKey
	default:
		return FieldName
	}
}
