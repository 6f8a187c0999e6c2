package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pointsman/gateway/tools"
)

func tool(t testing.TB, name, description string) tools.Definition {
	t.Helper()
	return parse(t, map[string]any{"name": name, "description": description, "inputSchema": map[string]any{"type": "object"}})
}

func openPins(t testing.TB, path string) *tools.Pins {
	t.Helper()
	p, err := tools.OpenPins(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func save(t testing.TB, p *tools.Pins) {
	t.Helper()
	if err := p.Save(); err != nil {
		t.Fatal(err)
	}
}

func TestPins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "pins.json")
	before, after := tool(t, "x", "Reads a file."), tool(t, "x", "Reads a file and sends it away.")
	p := openPins(t, path)
	if got := p.Check(before); got != (tools.Change{New: true}) {
		t.Errorf("first seen: %+v", got)
	}
	if got := p.Check(before); got != (tools.Change{}) {
		t.Errorf("seen again: %+v", got)
	}
	save(t, p)

	p = openPins(t, path)
	if got := p.Check(before); got != (tools.Change{}) {
		t.Errorf("after a restart: %+v", got)
	}
	for range 2 {
		got := p.Check(after)
		if !got.Changed || got.New || !strings.Contains(got.Diff, "\n-description: Reads a file.\n+description: Reads a file and sends it away.\n") {
			t.Errorf("changed: %+v", got)
		}
	}
	if got := p.Check(before); got.Changed {
		t.Errorf("changed back: %+v", got)
	}
	p.Accept(after)
	save(t, p)
	p = openPins(t, path)
	if got := p.Check(after); got != (tools.Change{}) {
		t.Errorf("accepted: %+v", got)
	}
	if got := p.Check(before); !got.Changed {
		t.Errorf("the old definition is the changed one now: %+v", got)
	}
}

func TestPinsKeepServersApart(t *testing.T) {
	p := openPins(t, filepath.Join(t.TempDir(), "pins.json"))
	p.Check(parseFor(t, "a", map[string]any{"name": "x"}, false))
	if got := p.Check(parseFor(t, "b", map[string]any{"name": "x", "description": "other"}, false)); !got.New {
		t.Errorf("another server's tool of that name: %+v", got)
	}
}

func TestPinsUnreadable(t *testing.T) {
	for name, content := range map[string]string{
		"no JSON":         "{",
		"another version": `{"version":2,"pins":[]}`,
		"empty":           "",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pins.json")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := tools.OpenPins(path)
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Fatalf("got error %v, want one that names the file", err)
			}
			x, y := tool(t, "x", "d"), tool(t, "y", "d")
			if got := p.Check(x); !got.Changed || got.Diff == "" {
				t.Errorf("with nothing known: %+v", got)
			}
			p.Accept(x)
			save(t, p)
			p = openPins(t, path)
			if p.Check(x).Changed {
				t.Error("the accepted tool still counts as changed")
			}
			if !p.Check(y).Changed {
				t.Error("after a restart a tool that nobody accepted is trusted")
			}
			if kept, err := os.ReadFile(path + ".bak"); content != "" && (err != nil || string(kept) != content) {
				t.Errorf("the unreadable file was not kept: %q, %v", kept, err)
			}
		})
	}
}

func TestPinsSaveOnlyChanges(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pins.json")
	p := openPins(t, path)
	save(t, p)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("nothing was pinned, but there is a file: %v", err)
	}
	p.Check(tool(t, "x", "d"))
	save(t, p)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.Check(tool(t, "x", "d"))
	save(t, p)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("an unchanged tool was saved, or a temporary file stayed: %v, %v", left, err)
	}
}

func TestPinsSaveFailureIsTriedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, _ := tools.OpenPins(filepath.Join(dir, "pins.json"))
	p.Accept(tool(t, "x", "d"))
	if err := p.Save(); err == nil {
		t.Fatal("saved into a directory that is a file")
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	save(t, p)
	if openPins(t, filepath.Join(dir, "pins.json")).Check(tool(t, "x", "d")) != (tools.Change{}) {
		t.Error("the pin was lost")
	}
}

func TestPinsConcurrently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.json")
	p := openPins(t, path)
	all := []tools.Definition{tool(t, "a", "1"), tool(t, "b", "1"), tool(t, "c", "1"), tool(t, "d", "1")}
	var wg sync.WaitGroup
	for _, def := range all {
		wg.Go(func() {
			p.Check(def)
			p.Accept(def)
			if err := p.Save(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	again := openPins(t, path)
	for _, def := range all {
		if got := again.Check(def); got != (tools.Change{}) {
			t.Errorf("%s: %+v", def.Name, got)
		}
	}
}

func TestDiffOfSchemas(t *testing.T) {
	schema := func(extra string) tools.Definition {
		properties := map[string]any{}
		for _, name := range strings.Fields("a b c d e f g h i j " + extra) {
			properties[name] = map[string]any{}
		}
		return parse(t, map[string]any{"name": "x", "inputSchema": map[string]any{"properties": properties}})
	}
	p := openPins(t, filepath.Join(t.TempDir(), "pins.json"))
	p.Check(schema(""))
	want := `@@ -10,6 +10,7 @@
     "g": {},
     "h": {},
     "i": {},
-    "j": {}
+    "j": {},
+    "k": {}
   }
 }
`
	if got := p.Check(schema("k")).Diff; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
