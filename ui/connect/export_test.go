package connect_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway/config"
	"pointsman/ui/connect"
)

// value is a text of an entry, and what comes back of it through each program.
type value struct{ here, copilot, vscode string }

// values are texts with all the references that both programs can carry.
func values() []value {
	return []value{
		{"plain", "plain", "plain"}, {"", "", ""}, {"two words", "two words", "two words"}, {"é\"\\<&>\n", "é\"\\<&>\n", "é\"\\<&>\n"}, {"5 $ 6", "5 $ 6", "5 $ 6"},
		{"${keychain:my key-1}", "${MY_KEY_1}", "${keychain:my key-1}"}, {"x${keychain:a}y", "x${A}y", "x${keychain:a}y"},
		{"keychain:a.b", "${A_B}", "${keychain:a.b}"}, {"os.environ/E", "${E}", "${env:E}"}, {"${env:E}", "${E}", "${env:E}"}, {"$E and ${F}", "${E} and ${F}", "${env:E} and ${env:F}"},
		{"${userHome}/x", "/home/ada/x", "${userHome}/x"}, {"${workspaceFolder}", "/work", "${workspaceFolder}"},
	}
}

// random is an entry, and what comes back of it.
func random(r *rand.Rand) (here, copilot, vscode config.MCPServer) {
	all := values()
	pick := func() value { return all[r.IntN(len(all))] }
	secrets := func() (a, b, c map[string]config.Secret) {
		a, b, c = map[string]config.Secret{}, map[string]config.Secret{}, map[string]config.Secret{}
		for i := range r.IntN(4) {
			v, key := pick(), fmt.Sprintf("V%d", i)
			a[key], b[key], c[key] = config.Secret(v.here), config.Secret(v.copilot), config.Secret(v.vscode)
		}
		return a, b, c
	}
	if r.IntN(2) == 0 {
		here.URL = "https://h.example/" + fmt.Sprint(r.IntN(9))
		here.Type = []string{"", "http", "sse"}[r.IntN(3)]
		copilot, vscode = here, here
		here.Headers, copilot.Headers, vscode.Headers = secrets()
	} else {
		here.Type = []string{"", "local", "stdio"}[r.IntN(3)]
		v := pick()
		here.Command, copilot.Command, vscode.Command = "c"+v.here, "c"+v.copilot, "c"+v.vscode
		if strings.Contains(v.here, ":a.b") || strings.Contains(v.here, "os.") { // as a part they are no references
			copilot.Command, vscode.Command = "c"+v.here, "c"+v.here
		}
		for range r.IntN(4) {
			v := pick()
			here.Args, copilot.Args, vscode.Args = append(here.Args, v.here), append(copilot.Args, v.copilot), append(vscode.Args, v.vscode)
		}
		here.Env, copilot.Env, vscode.Env = secrets()
	}
	if r.IntN(2) == 0 {
		here.Tools, here.Timeout = []string{"a", "b_*"}, int64(r.IntN(90000)+1)
		copilot.Tools, copilot.Timeout = here.Tools, here.Timeout
	}
	if r.IntN(3) == 0 {
		here.OAuthClientID = "client"
		copilot.OAuthClientID, vscode.OAuthClientID = "client", "client"
	}
	return here, copilot, vscode
}

// TestExportAndImport: what the program can carry comes back as it was.
func TestExportAndImport(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	files := map[string]string{"copilot": ".copilot/mcp-config.json", "vscode": ".config/Code/User/mcp.json"}
	for range 150 {
		here, copilot, vscode := random(r)
		for to, want := range map[string]config.MCPServer{"copilot": copilot, "vscode": vscode} {
			out, err := connect.Export(to, map[string]config.MCPServer{"s": here}, "/home/ada", "/work")
			if err != nil {
				t.Fatal(err)
			}
			found := one(t, machine(t, map[string]string{files[to]: string(out.Document)}), to)
			got := found.Fill(func(id string) string { return "${keychain:" + id + "}" })
			if diff := cmp.Diff(plain(normal(want)), plain(normal(got))); diff != "" || found.Fault != "" || len(found.Lost) > 0 {
				t.Fatalf("through %s: %s %q\n%s\n%s\nof %s", to, found.Fault, found.Lost, diff, out.Document, plain(here))
			}
			again, err := connect.Export(to, map[string]config.MCPServer{"s": got}, "/home/ada", "/work")
			if err != nil || string(again.Document) != string(out.Document) {
				t.Fatalf("exported again to %s: %v %s", to, err, cmp.Diff(string(out.Document), string(again.Document)))
			}
		}
	}
}

// normal is an entry with what means the same written the same.
func normal(e config.MCPServer) config.MCPServer {
	switch {
	case e.Type == "" && e.URL != "":
		e.Type = "http"
	case e.URL == "":
		e.Type = "local"
	}
	if slices.Equal(e.Tools, []string{"*"}) {
		e.Tools = nil
	}
	if len(e.Args) == 0 {
		e.Args = nil
	}
	if len(e.Env) == 0 {
		e.Env = nil
	}
	if len(e.Headers) == 0 {
		e.Headers = nil
	}
	return e
}

func TestExportHoldsNoSecret(t *testing.T) {
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
	servers := map[string]config.MCPServer{
		"env":     {Command: "x", Env: map[string]config.Secret{"API_TOKEN": token, "LEVEL": "debug"}},
		"header":  {URL: "https://h", Headers: map[string]config.Secret{"Authorization": "Bearer " + token}},
		"arg":     {Command: "x", Args: []string{"--token", token}},
		"address": {URL: "https://ada:" + token + "@h/"},
		"hidden":  {Command: "x", Env: map[string]config.Secret{"NOTE": token}},
	}
	for _, to := range connect.Targets() {
		out, err := connect.Export(to, servers, "", "")
		if err != nil {
			t.Fatal(err)
		}
		all := string(out.Document) + strings.Join(out.Needs, "\n") + strings.Join(out.Lost, "\n")
		if strings.Contains(all, token) {
			t.Errorf("%s: the secret is in %s", to, all)
		}
		if !strings.Contains(all, "debug") || len(out.Needs) != 3 || len(out.Lost) != 2 {
			t.Errorf("%s: %s\nneeds %q\nlost %q", to, out.Document, out.Needs, out.Lost)
		}
	}
}

func TestExportSaysWhatIsLost(t *testing.T) {
	prefix := ""
	servers := map[string]config.MCPServer{
		"a": {Command: "x", Tools: []string{"t"}, Timeout: 5, StartTimeout: 6, Prefix: &prefix, TrustAnnotations: true, Sandbox: &config.Sandbox{Enabled: true}},
		"b": {Command: "x", Disabled: true},
		"c": {Type: "builtin"},
		"d": {Command: "x", Args: []string{"$$HOME"}},
		"e": {Command: "${workspaceFolder}/x"},
	}
	tests := map[string][]string{
		"copilot": {"a: prefix", "a: sandbox", "a: startTimeout", "a: trustAnnotations", "b: it is disabled", "c: it comes", "d: a text holds $HOME", "e: Copilot has nothing like ${workspaceFolder}"},
		"vscode":  {"a: prefix", "a: sandbox", "a: startTimeout", "a: timeout", "a: tools", "a: trustAnnotations", "b: it is disabled", "c: it comes"},
	}
	for to, want := range tests {
		out, err := connect.Export(to, servers, "", "")
		if err != nil || !slices.EqualFunc(want, out.Lost, func(want, got string) bool { return strings.HasPrefix(got, want) }) {
			t.Errorf("%s: %v, lost %q, want %q", to, err, out.Lost, want)
		}
	}
	if _, err := connect.Export("emacs", nil, "", ""); err == nil {
		t.Error("exported to a program that is not known")
	}
}

func TestExportDeclaresInputs(t *testing.T) {
	out, err := connect.Export("vscode", map[string]config.MCPServer{"s": {Command: "x", Env: map[string]config.Secret{"T": "keychain:tok"}}}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Inputs []struct {
			Type, ID string
			Password bool
		}
		Servers map[string]struct{ Env map[string]string }
	}
	if err := json.Unmarshal(out.Document, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Inputs) != 1 || doc.Inputs[0].ID != "tok" || !doc.Inputs[0].Password || doc.Servers["s"].Env["T"] != "${input:tok}" {
		t.Errorf("got %s", out.Document)
	}
}
