package config_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"pointsman/gateway/config"
)

// seeds are configurations in many hands' styles.
var seeds = []string{
	"", "# only a comment\n", "{}", "version: 1\n", "{\"tools\": {\"safe\": [\"a\"]}, \"mcpServers\": {\"x\": {\"command\": \"y\", \"new\": {\"a\": [1]}}}}",
	"# c1\ntools: # c2\n  # c3\n  safe: [a, b] # c4\n  # c5\n\n# c6\nlog:\n    level: info # c7\n# c8",
	"model_list:\n- model_name: a # m1\n  litellm_params:\n    model: openai/x # m2\n    top_p: 0.5\n    api_key: os.environ/K\n# m3\n- model_name: b\n  litellm_params: {model: openai/y, api_base: 'http://h/v1'}\nlitellm_settings:\n  drop_params: true # m4\n",
	"mcpServers:\n  a:\n    type: local\n    command: npx\n    args: [-y, \"x y\"]\n    env: {A: b}\n    tools: ['*'] # t\n    deferTools: auto\n  # gone\n  b: {url: 'https://e.example/mcp', headers: {Authorization: 'Bearer ${keychain:g}'}}\n",
	"approvals:\n  rules:\n    - id: r1 # one\n      action: deny\n      tool: x\n    # between\n    - {id: r2, action: allow, tool: y}\n  deny:\n  - a\n  - b # bb\n",
	"model_list: [{model_name: \"*\", litellm_params: {model: openai/x}}]\ncapabilities:\n  coding: >-\n    Writing,\n    refactoring.\n\n  fast: |\n    x # not a comment\n  'q''uoted': \"a \\\"b\\\" # no\" # yes\n",
	"defaults: &d {command: x}\nmcpServers: {a: *d}\n", "x: &a [*a]\n", "tools:\n\tsafe: []\n", "a: b: c", "- 1\n", "---\nlog: {level: info}\n---\nb: 1\n",
	"tools:\r\n  safe:\r\n    - a # one\r\n  risky: []\r\nlog: {}\r\n", "? tools\n: safe: [a]\n", "roots: [a, # one\n  b] # two\n", "\ufeffroots: [a]\n",
}

// comments finds every comment that the parser sees.
func comments(t *testing.T, text []byte) map[string]int {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatalf("does not parse: %v\n%s", err, text)
	}
	found := map[string]int{}
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		for _, c := range []string{n.HeadComment, n.LineComment, n.FootComment} {
			for line := range strings.SplitSeq(c, "\n") {
				if line = strings.TrimSpace(line); line != "" {
					found[line]++
				}
			}
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(&doc)
	return found
}

// additions are changes that take nothing away, so every comment must stay.
func additions(r *rand.Rand, c *config.Config) string {
	word := fmt.Sprintf("w%d", r.IntN(1000))
	switch r.IntN(14) {
	case 0:
		c.Tools.MaxRounds = 1 + r.IntN(50)
		return "max_rounds"
	case 1:
		c.DefaultModel = word
		return "default_model"
	case 2:
		c.Tools.Safe = append(c.Tools.Safe, word)
		return "safe"
	case 3:
		if c.MCPServers == nil {
			c.MCPServers = map[string]config.MCPServer{}
		}
		c.MCPServers[word] = config.MCPServer{Command: word, Args: []string{"- x: # " + word, "\"q\" 'r'"}, Tools: []string{}}
		return "add server"
	case 4:
		for name, s := range c.MCPServers {
			s.Disabled, s.Timeout = true, int64(r.IntN(9000)+1)
			c.MCPServers[name] = s
		}
		return "change servers"
	case 5:
		c.Approvals.Rules = append([]config.Rule{{ID: word, Action: "deny", Tool: word, Arguments: `{"a": [1, "#"]}`}}, c.Approvals.Rules...)
		return "prepend rule"
	case 6:
		if c.Capabilities == nil {
			c.Capabilities = map[string]string{}
		}
		c.Capabilities[word] = "for: " + word + "\nand # more\t"
		c.ModelList = append(c.ModelList, config.Deployment{ModelName: "*", LiteLLMParams: config.LiteLLMParams{Model: "openai/x"}})
		return "add capability"
	case 7:
		c.Approvals.Timeout = config.Duration(time.Duration(1+r.IntN(500)) * time.Second)
		return "timeout"
	case 8:
		for i := range c.ModelList {
			c.ModelList[i].LiteLLMParams.Timeout = float64(r.IntN(100)) + 0.5
		}
		return "deployments"
	case 9:
		c.Gateway.AllowedHosts = append(c.Gateway.AllowedHosts, word+".example")
		return "hosts"
	case 10:
		c.Providers = map[string]config.Provider{word: {BaseURL: "http://" + word + "/v1", Timeout: config.Duration(time.Minute)}}
		return "provider"
	case 11:
		c.Log.Level = []string{"debug", "warn", "error"}[r.IntN(3)]
		return "log"
	case 12:
		c.RouterSettings.Fallbacks = []map[string][]string{{word: {"sol", "luna"}}}
		return "fallbacks"
	}
	c.Roots = append(c.Roots, "/"+word)
	return "roots"
}

// keepsEverything applies seeded changes to text and checks what the package
// promises of Update. It reports whether the text could be loaded.
func keepsEverything(t *testing.T, text []byte, seed uint64) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := config.Load(config.Options{Path: path, Getenv: func(string) string { return "" }})
	if err != nil {
		return false
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for range 3 {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		what := ""
		var wanted *config.Config
		err = store.Update(func(c *config.Config) error {
			what = additions(r, c)
			wanted = c
			return nil
		})
		after, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if err != nil {
			if !bytes.Equal(before, after) {
				t.Errorf("%s failed (%v) but the file changed", what, err)
			}
			return false
		}
		checkKept(t, what, before, after)
		again, err := config.Load(config.Options{Path: path, Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatalf("%s: the saved file does not load: %v\n%s", what, err, after)
		}
		if again.Config().DefaultModel != wanted.DefaultModel || len(again.Config().MCPServers) != len(wanted.MCPServers) {
			t.Errorf("%s: the saved file says something else:\n%s", what, after)
		}
	}
	return true
}

var scalarComment = regexp.MustCompile(`#`)

func checkKept(t *testing.T, what string, before, after []byte) {
	t.Helper()
	if len(bytes.TrimSpace(before)) == 0 {
		return
	}
	had, has := comments(t, before), comments(t, after)
	for comment := range had {
		if has[comment] == 0 && scalarComment.Match(after) && !bytes.Contains(after, []byte(comment)) {
			t.Errorf("%s lost the comment %q:\n%s\n->\n%s", what, comment, before, after)
		}
	}
	var old, new map[string]any
	if yaml.Unmarshal(before, &old) != nil || yaml.Unmarshal(after, &new) != nil {
		return
	}
	known := map[string]bool{}
	for key := range configKeys() {
		known[key] = true
	}
	for key, value := range old {
		if !known[key] && !reflect.DeepEqual(value, new[key]) {
			t.Errorf("%s changed the unknown key %q:\n%s", what, key, after)
		}
	}
}

func configKeys() map[string]bool {
	keys := map[string]bool{}
	typ := reflect.TypeFor[config.Config]()
	for i := range typ.NumField() {
		keys[typ.Field(i).Tag.Get("yaml")] = true
	}
	return keys
}

func TestUpdateKeepsEverything(t *testing.T) {
	saved := 0
	for _, text := range seeds {
		for seed := range uint64(12) {
			if keepsEverything(t, []byte(text), seed) {
				saved++
			}
		}
	}
	if saved < 100 { // most seeds are valid and written in a usual way
		t.Errorf("only %d updates were made", saved)
	}
}

func FuzzUpdate(f *testing.F) {
	for i, text := range seeds {
		f.Add([]byte(text), uint64(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) { keepsEverything(t, text, seed) })
}

func FuzzCheck(f *testing.F) {
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, p := range config.CheckText("config.yaml", text) {
			if p.Message == "" || p.Error() == "" {
				t.Errorf("a problem without words: %#v", p)
			}
		}
	})
}
