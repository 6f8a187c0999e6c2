package model

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"pointsman/gateway/config"
)

// SettingKind is how a setting is entered.
type SettingKind int

// The kinds.
const (
	TextSetting   SettingKind = iota // a line of text
	SwitchSetting                    // On or Off
	ChoiceSetting                    // one of Choices
)

// The two texts of a SwitchSetting.
const (
	On  = "on"
	Off = "off"
)

// SettingChoice is one value of a ChoiceSetting.
type SettingChoice struct{ Value, Label string }

// Setting is one line of the settings' form.
type Setting struct {
	Path    string // in the configuration, with dots
	Label   string
	Hint    string
	Kind    SettingKind
	Choices []SettingChoice
	Unit    string // after the value; "" for none
	Under   string // path of the switch without which it does nothing; "" for none

	read  func(*config.Config) string
	value func(c *config.Config, text string) (any, error) // for an edit
}

// label is a text that the setting has, as a person reads it.
func (s Setting) label(text string) string {
	for _, choice := range s.Choices {
		if choice.Value == text {
			return choice.Label
		}
	}
	return strings.TrimSpace(text + " " + s.Unit)
}

// The paths of the settings that a screen does something special for.
const (
	PathListen        = "gateway.listen"
	PathTheme         = "desktop.theme"
	PathLaunchAtLogin = "desktop.launch_at_login"
	PathOllama        = "ollama.enabled"
)

// SettingGroup is settings that belong together.
type SettingGroup struct {
	Title    string
	Settings []Setting
}

// SettingGroups are the settings of the form, in its order.
func SettingGroups() []SettingGroup {
	return []SettingGroup{
		{"Endpoint", []Setting{listenSetting()}},
		{"Desktop", []Setting{
			switchSetting(PathLaunchAtLogin, "Launch at login", "Pointsman starts into the tray.", func(c *config.Config) *bool { return &c.Desktop.LaunchAtLogin }),
			choiceSetting(PathTheme, "Theme", "The look of these windows.", func(c *config.Config) *string { return &c.Desktop.Theme },
				SettingChoice{"system", "As the system"}, SettingChoice{"light", "Light"}, SettingChoice{"dark", "Dark"}),
			switchSetting("desktop.notify", "Notifications", "Tell on the desktop when a call waits for you.", func(c *config.Config) *bool { return &c.Desktop.Notify }),
		}},
		{"Approvals", []Setting{timeoutSetting()}},
		{"Runs", []Setting{
			switchSetting("tools.plan_mode", "Plan mode", "The model keeps a plan that you can follow.", func(c *config.Config) *bool { return &c.Tools.PlanMode }),
			numberSetting("tools.max_rounds", "Rounds", "With tool calls, at most, in one run.", func(c *config.Config) *int { return &c.Tools.MaxRounds }),
			switchSetting("tools.loop_detection.enabled", "Loop guard", "Notice a model that repeats itself.", func(c *config.Config) *bool { return &c.Tools.LoopDetection.Enabled }),
			under("tools.loop_detection.enabled", numberSetting("tools.loop_detection.soft", "Warn after", "Equal calls; the model is told.", func(c *config.Config) *int { return &c.Tools.LoopDetection.Soft })),
			under("tools.loop_detection.enabled", numberSetting("tools.loop_detection.hard", "Stop after", "Equal calls; the run ends.", func(c *config.Config) *int { return &c.Tools.LoopDetection.Hard })),
		}},
		{"Log", []Setting{
			choiceSetting("log.level", "Log level", "Debug also tells what each request does.", func(c *config.Config) *string { return &c.Log.Level },
				SettingChoice{"error", "Errors"}, SettingChoice{"warn", "Warnings"}, SettingChoice{"info", "Normal"}, SettingChoice{"debug", "Debug"}),
		}},
		{"Ollama's API", []Setting{
			switchSetting(PathOllama, "For clients of Ollama", "They find your models by themselves, and show no key: your programs can use models and reading tools through it.", func(c *config.Config) *bool { return &c.Ollama.Enabled }),
			under(PathOllama, textSetting("ollama.listen", "Address", "Where Ollama would be. On this machine alone.", func(c *config.Config) *string { return &c.Ollama.Listen })),
		}},
	}
}

func under(path string, s Setting) Setting {
	s.Under = path
	return s
}

func switchSetting(path, label, hint string, at func(*config.Config) *bool) Setting {
	return Setting{
		Path: path, Label: label, Hint: hint, Kind: SwitchSetting, Choices: []SettingChoice{{On, "on"}, {Off, "off"}},
		read: func(c *config.Config) string {
			if *at(c) {
				return On
			}
			return Off
		},
		value: func(_ *config.Config, text string) (any, error) { return text == On, nil },
	}
}

func choiceSetting(path, label, hint string, at func(*config.Config) *string, choices ...SettingChoice) Setting {
	return Setting{
		Path: path, Label: label, Hint: hint, Kind: ChoiceSetting, Choices: choices,
		read:  func(c *config.Config) string { return *at(c) },
		value: func(_ *config.Config, text string) (any, error) { return text, nil },
	}
}

func textSetting(path, label, hint string, at func(*config.Config) *string) Setting {
	return Setting{
		Path: path, Label: label, Hint: hint,
		read:  func(c *config.Config) string { return *at(c) },
		value: func(_ *config.Config, text string) (any, error) { return text, nil },
	}
}

func numberSetting(path, label, hint string, at func(*config.Config) *int) Setting {
	return Setting{
		Path: path, Label: label, Hint: hint,
		read: func(c *config.Config) string { return strconv.Itoa(*at(c)) },
		value: func(_ *config.Config, text string) (any, error) {
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, errNumber
			}
			return n, nil
		},
	}
}

// wordError is an error that stands beside a field.
type wordError string

func (e wordError) Error() string { return string(e) }

const (
	errNumber   wordError = "a whole number is needed"
	errDuration wordError = "a time is needed, such as 5m, 90s or 1h30m"
)

func timeoutSetting() Setting {
	return Setting{
		Path: "approvals.timeout", Label: "Time to answer", Hint: "A call that nobody answers in time does not run. Such as 90s, 5m or 1h.",
		read: func(c *config.Config) string { return c.Approvals.Timeout.String() },
		value: func(_ *config.Config, text string) (any, error) {
			var d config.Duration
			if err := d.UnmarshalText([]byte(text)); err != nil {
				return nil, errDuration
			}
			return d, nil
		},
	}
}

// listenSetting is the port of gateway.listen; the host stays what it is.
func listenSetting() Setting {
	return Setting{
		Path: PathListen, Label: "Port", Hint: "Where OpenAI and MCP clients reach Pointsman on this machine.",
		read: func(c *config.Config) string {
			_, port, err := net.SplitHostPort(c.Gateway.Listen)
			if err != nil {
				return c.Gateway.Listen
			}
			return port
		},
		value: func(c *config.Config, text string) (any, error) { return listenAddress(c, text), nil },
	}
}

// listenAddress is gateway.listen with another port, which need not make sense.
func listenAddress(c *config.Config, port string) string {
	host, _, err := net.SplitHostPort(c.Gateway.Listen)
	if err != nil {
		host, _, _ = net.SplitHostPort(config.Default().Gateway.Listen)
	}
	return net.JoinHostPort(host, port)
}

// restarts reports whether a path is among those that take effect at the next
// start, or inside one of them.
func restarts(paths []string, path string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return p == path || strings.HasPrefix(path, p+".") })
}

// decidedBy is what decides a setting in the place of the file; "": the file.
func decidedBy(set map[string]string, path string) string {
	for at := path; at != ""; {
		if by := set[at]; by != "" {
			return cmp.Or(by, "set elsewhere")
		}
		cut := strings.LastIndexByte(at, '.')
		if cut < 0 {
			break
		}
		at = at[:cut]
	}
	return ""
}
