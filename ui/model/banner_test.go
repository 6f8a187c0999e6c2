package model_test

import (
	"strings"
	"testing"

	"pointsman/gateway/config"
	"pointsman/ui/model"
)

func TestBanners(t *testing.T) {
	for _, test := range []struct {
		name     string
		state    model.State
		now      config.Settings
		keychain string
		want     []string // in each banner's title, in order
		acts     int
	}{
		{"all is well", model.State{Serving: "127.0.0.1:1"}, config.Settings{}, "", nil, 0},
		{"held", model.State{}, config.Settings{Held: []string{"approvals.require: off"}, Revision: "r"}, "", []string{"loosens a gate"}, 2},
		{"fault", model.State{}, config.Settings{Fault: []string{"config.yaml:3: x"}}, "", []string{"configuration file has a fault"}, 1},
		{"paused", model.State{Paused: true}, config.Settings{}, "", []string{"Tools are paused"}, 1},
		{"keychain", model.State{}, config.Settings{}, "the keychain is locked", []string{"keychain cannot be used"}, 1},
		{"server", model.State{Fault: "server github failed"}, config.Settings{}, "", []string{"Server github failed."}, 1},
		{"another fault is in the status line", model.State{Fault: "no windows: x"}, config.Settings{}, "", nil, 0},
		{"no tray", model.State{NoTray: "no panel"}, config.Settings{}, "", []string{"no tray here (no panel)"}, 0},
		{"restart", model.State{}, config.Settings{Restart: []string{"gateway.listen", "journal"}}, "", []string{"started again: gateway.listen, journal."}, 0},
		{"the weightiest is first", model.State{NoTray: "x", Paused: true}, config.Settings{Held: []string{"y"}}, "", []string{"loosens", "paused", "no tray"}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			banners := model.Banners(test.state, test.now, test.keychain)
			if len(banners) != len(test.want) {
				t.Fatalf("there are %+v", banners)
			}
			acts := 0
			for i, banner := range banners {
				acts += len(banner.Acts)
				if !strings.Contains(banner.Title, test.want[i]) {
					t.Errorf("banner %d says %q, want %q", i, banner.Title, test.want[i])
				}
			}
			if acts != test.acts {
				t.Errorf("there are %d things to do, want %d", acts, test.acts)
			}
		})
	}
}

// Another revision is another question, also in the same words.
func TestSameBanners(t *testing.T) {
	held := func(revision string) []model.Banner {
		return model.Banners(model.State{}, config.Settings{Held: []string{"x"}, Revision: revision}, "")
	}
	if !model.SameBanners(held("1"), held("1")) || model.SameBanners(held("1"), held("2")) || model.SameBanners(held("1"), nil) {
		t.Error("banners are not told apart")
	}
}

func TestFirstStart(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(*config.Config)
		want bool
	}{
		{"nothing", func(*config.Config) {}, true},
		{"a key", func(c *config.Config) {
			c.Providers = map[string]config.Provider{"openai": {APIKey: "keychain:openai"}}
		}, false},
		{"a provider without its key", func(c *config.Config) { c.Providers = map[string]config.Provider{"openai": {}} }, true},
		{"one that needs none", func(c *config.Config) { c.Providers = map[string]config.Provider{"ollama": {}} }, false},
		{"an address", func(c *config.Config) { c.Providers = map[string]config.Provider{"corp": {BaseURL: "http://x"}} }, false},
		{"the demo", func(c *config.Config) { c.DefaultModel = model.DemoModel }, false},
		{"deployments", func(c *config.Config) { c.ModelList = []config.Deployment{{}} }, false},
		{"a server", func(c *config.Config) { c.MCPServers = map[string]config.MCPServer{"x": {}} }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := config.Default()
			test.edit(c)
			if got := model.FirstStart(c); got != test.want {
				t.Errorf("it is a first start: %v", got)
			}
		})
	}
	if model.FirstStart(nil) {
		t.Error("what is not known counts as a first start")
	}
}
