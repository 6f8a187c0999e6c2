package main

import (
	"strings"
	"testing"
	"time"

	"pointsman/gateway/servers"
)

// TestEveryServerIsInstalled: servers.json and package.json name the same.
func TestEveryServerIsInstalled(t *testing.T) {
	entries, versions, err := read(".")
	if err != nil {
		t.Fatal(err)
	}
	authors := map[string]bool{}
	for name := range entries {
		if versions[name] == "" {
			t.Errorf("package.json has no %s", name)
		}
		author, _, _ := strings.Cut(name, "/")
		authors[author] = true
	}
	for name := range versions {
		if _, ok := entries[name]; !ok {
			t.Errorf("servers.json has no %s", name)
		}
	}
	if len(authors) < 25 {
		t.Errorf("they are of %d authors, want 25 at least", len(authors))
	}
}

func TestTable(t *testing.T) {
	fine := row{name: "fine", version: "1.0.0", protocol: "2025-11-25", tools: 1, took: time.Second}
	fine.judge([]servers.Tool{{Server: "fine", Name: "read", Raw: []byte(`{"name":"read","inputSchema":{"type":"object"}}`)}})
	broken := row{name: "broken", fault: "it ended | with\nnothing"}
	empty := row{name: "empty"}
	empty.judge(nil)
	odd := row{name: "odd", tools: 1}
	odd.judge([]servers.Tool{{Server: "odd", Name: "x", Raw: []byte(`{"name":"x","description":7}`)}})
	var out strings.Builder
	err := printTable(&out, []row{fine, broken, empty, odd})
	if err == nil || !strings.Contains(err.Error(), "3 of 4") {
		t.Errorf("error: %v", err)
	}
	for _, want := range []string{
		"| fine | 1.0.0 | 2025-11-25 | 1 | 1000 | 0 |  |\n",
		`| it ended \| with nothing |`,
		"| it lists no tools |",
		"| x: set aside: ",
		"4 servers, 2 tools; 3 at fault.",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	if err := printTable(&out, []row{fine}); err != nil {
		t.Errorf("without a fault: %v", err)
	}
}
