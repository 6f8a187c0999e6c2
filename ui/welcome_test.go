package ui

import (
	"context"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/gateway/secrets"
	"pointsman/ui/model"
)

func TestFirstStepsAreShownOnce(t *testing.T) {
	for _, test := range []struct {
		name, yaml string
		first      bool
		want       bool
	}{
		{"nothing configured", "", true, true},
		{"dismissed before", "", false, false},
		{"a provider with a key", "providers: {openai: {api_key: os.environ/KEY}}\n", true, false},
		{"a server", "mcpServers: {scratch: {type: builtin}}\n", true, false},
		{"something else configured", "tools: {max_rounds: 3}\n", true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newWindowBench(t, gatewaySetup{yaml: test.yaml, first: test.first})
			b.open("")
			if b.says("Welcome to Pointsman") != test.want {
				t.Fatalf("the window says %q", b.words())
			}
			if !test.want {
				return
			}
			b.tap("Skip all")
			if b.says("Welcome to Pointsman") || !model.Welcomed(b.home) || b.file() != test.yaml {
				t.Errorf("after skipping the window says %q, the file %q", b.words(), b.file())
			}
		})
	}
}

// Who asked for a screen gets that one.
func TestFirstStepsAreNotInTheWay(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{first: true})
	b.settings()
	if b.says("Welcome to Pointsman") {
		t.Errorf("the window says %q", b.words())
	}
	b.open(screenServers)
	b.until("the empty screen leads to them", func() bool { return b.says("[First steps]") })
	b.tap("First steps")
	if !b.says("Welcome to Pointsman") {
		t.Errorf("the window says %q", b.words())
	}
}

// testedProviders answers for every provider.
type testedProviders struct {
	control.Manager
	answer control.ProviderTest
}

func (m testedProviders) TestProvider(context.Context, string, config.Provider, string) (control.ProviderTest, error) {
	return m.answer, nil
}

func TestFirstSteps(t *testing.T) {
	keychain := secrets.Memory()
	b := newWindowBench(t, gatewaySetup{first: true, keychain: keychain, manager: func(m control.Manager) control.Manager {
		return testedProviders{m, control.ProviderTest{OK: true, Message: "It answers.", Models: []string{"small", "large"}, Model: "small"}}
	}})
	b.open("")
	step := b.ui.main.screens[screenWelcome].(*welcomeScreen).models
	if !step.save.Disabled() {
		t.Error("no key can be saved")
	}
	step.provider.SetSelected("mistral")
	test.Type(step.key, "sk-secret-key-1")
	b.tap("Save and test")
	b.until("the provider has answered", func() bool { return b.says("It answers.") && b.store.Config().DefaultModel == "mistral/small" })
	if value, err := keychain.Get(t.Context(), "mistral"); err != nil || value != "sk-secret-key-1" {
		t.Errorf("the keychain has %q, %v", value, err)
	}
	if strings.Contains(b.file(), "sk-secret") || !strings.Contains(b.file(), "keychain:mistral") || step.key.Text != "" {
		t.Errorf("the file says %q, the field %q", b.file(), step.key.Text)
	}
	b.until("the step is done", func() bool { return b.says("[Next]") })
	step.models.SetSelected("mistral/large")
	b.until("another model is the default", func() bool { return b.store.Config().DefaultModel == "mistral/large" })

	b.tap("Next")
	b.tap("Add the scratch server")
	b.until("the server is added", func() bool { return b.store.Config().MCPServers["scratch"].Type == "builtin" && b.says("[Next]") })
	b.tap("Next")
	b.until("the endpoint can be copied", func() bool { return b.says("http://127.0.0.1:8640/v1") })
	key, err := b.gateway.AccessKey()
	if err != nil || b.says(key) {
		t.Errorf("the key is in plain view, or %v", err)
	}
	b.tap("Finish")
	if b.says("Welcome to Pointsman") || !model.Welcomed(b.home) {
		t.Errorf("at the end the window says %q", b.words())
	}
}

func TestFirstStepsWithTheDemo(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{first: true})
	b.open("")
	b.tap("Try the demo model")
	b.until("it answers", func() bool { return b.store.Config().DefaultModel == "demo" && b.says("The demo model answers") })
}

func TestKeyThatDoesNotWork(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{first: true, manager: func(m control.Manager) control.Manager {
		return testedProviders{m, control.ProviderTest{Message: "The provider refused the key."}}
	}})
	b.open("")
	step := b.ui.main.screens[screenWelcome].(*welcomeScreen).models
	test.Type(step.key, "wrong")
	b.tap("Save and test")
	b.until("it is said", func() bool { return b.says("does not work: The provider refused the key.") })
	if b.store.Config().DefaultModel != config.Default().DefaultModel {
		t.Errorf("the default model is %q", b.store.Config().DefaultModel)
	}
}
