package ui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"pointsman/gateway"
	"pointsman/gateway/control"
	"pointsman/gateway/models/local"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// nearby finds servers as a gateway does: it knows which of them are configured.
func nearby(found ...local.Server) func(context.Context, *gateway.Gateway) []local.Server {
	return func(_ context.Context, g *gateway.Gateway) []local.Server {
		list := append([]local.Server{}, found...)
		for i := range list {
			list[i].Configured = g.Models().Reaches(list[i].Address)
		}
		return list
	}
}

func anOllama() local.Server {
	return local.Server{Provider: "ollama", Title: "Ollama", Version: "0.17.6", Address: "http://127.0.0.1:11434/v1", Models: []string{"llama3.2:3b", "qwen3:8b"}}
}

func TestLocalServerAdded(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: "# mine\n", local: nearby(anOllama())})
	s := b.modelsScreen()
	b.sees("Ollama 0.17.6 runs on this machine, with llama3.2:3b, qwen3:8b.")
	if strings.Contains(b.file(), "ollama") {
		t.Errorf("it was added unasked: %s", b.file())
	}
	b.tap("Add Ollama")
	b.sees("Ollama is added, with 2 models.")
	b.wantFile([]string{"# mine", "base_url: http://127.0.0.1:11434/v1", "model: ollama_chat/qwen3:8b"})
	b.until("it is offered no more", func() bool { return !s.nearby.box.Visible() })
	s.remove("ollama")
	b.sees("Removed “ollama”")
}

func TestLocalServerThatIsKnown(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: "providers: {ollama: {}}\n", local: nearby(anOllama())})
	s := b.modelsScreen()
	b.sees("Needs no key")
	if s.nearby.box.Visible() {
		t.Error("what is configured is offered")
	}
}

func TestFirstStepsWithALocalServer(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{first: true, local: nearby(anOllama()), manager: func(m control.Manager) control.Manager {
		return testedProviders{m, control.ProviderTest{OK: true, Message: "it answers", Model: "llama3.2:3b", Models: []string{"llama3.2:3b", "qwen3:8b"}}}
	}})
	b.open("")
	b.until("the server is offered", func() bool { return b.says("[Add Ollama]") })
	b.tap("Add Ollama")
	b.until("it is asked, and answers when none is named", func() bool {
		return b.says("it answers") && !b.says("[Add Ollama]") && strings.Contains(b.file(), "default_model: ollama/llama3.2:3b")
	})
}

// TestLocalOfferShots are pictures to be looked at.
func TestLocalOfferShots(t *testing.T) {
	if os.Getenv("SHOTS") == "" {
		t.Skip("SHOTS names no folder for the pictures")
	}
	long := local.Server{Provider: "lmstudio", Title: "LM Studio", Address: "http://127.0.0.1:1234/v1", Models: []string{strings.Repeat("名前が長い-model-", 20), "b", "c", "d"}}
	for _, face := range []theme.Choice{theme.Light, theme.Dark} {
		b := newFormsBench(t, gatewaySetup{yaml: shownServers[:strings.Index(shownServers, "mcpServers")], face: face, local: nearby(anOllama(), long)})
		b.modelsScreen()
		b.sees("LM Studio runs")
		b.arranged("models-nearby-" + string(face))
		empty := newFormsBench(t, gatewaySetup{face: face, local: nearby(anOllama())})
		empty.modelsScreen()
		empty.sees("Ollama 0.17.6 runs")
		empty.arranged("models-nearby-empty-" + string(face))
		var w *windowBench
		shoot := func(name string) {
			if err := writePicture(filepath.Join(os.Getenv("SHOTS"), name+".png"), w.ui.main.window.Canvas().Capture()); err != nil {
				t.Fatal(err)
			}
		}
		w = newWindowBench(t, gatewaySetup{first: true, local: nearby(anOllama(), long)})
		w.open("")
		w.until("the server is offered", func() bool { return w.says("[Add Ollama]") })
		w.ui.wear(face)
		shoot("welcome-nearby-" + string(face))
		w.setState(func(s *model.State) {
			s.OllamaFault = "ollama.listen: listening on 127.0.0.1:11434: process 7 (ollama) has the port; stop it, or choose another address"
		})
		settings := w.settings()
		w.until("the fault is shown", func() bool { return settings.form.Field(model.PathOllama).Problem != "" })
		w.ui.main.window.Resize(fyne.NewSize(900, 1700)) // all of it
		shoot("settings-ollama-" + string(face))
	}
}
