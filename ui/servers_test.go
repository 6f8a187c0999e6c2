package ui

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/secrets"
	"pointsman/gateway/servers"
	"pointsman/ui/model"
)

// hush is a secret that no file and no screen may hold.
const hush = "hush-Zk2mX9vB4n"

// TestServerAdded fills the form by hand.
func TestServerAdded(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: "# mine\ndefault_model: gpt-6-sol\n"})
	s := b.servers()
	b.sees("No servers yet")
	b.tap("Add server")
	if b.window.Canvas().Focused() != b.entry("github") {
		t.Error("the keyboard is not in the first field")
	}
	b.fill("github", "my files")
	b.fill("npx", "sleep")
	b.entry("-y\n@modelcontextprotocol/server-github").SetText("60\n--quiet mode")
	b.tap("Add a variable")
	b.fill("NAME", "API_TOKEN") // its name makes it a secret
	b.fill("Goes to the keychain", hush)
	b.tap("Add a variable")
	b.fill("NAME", "LEVEL")
	b.fill("value", "debug")
	b.fill("60", "1.5")
	if strings.Contains(b.words(), hush) {
		t.Error("the secret is shown while it is typed")
	}
	b.tap("Save")
	b.sees("“my files” is saved.")
	b.wantFile([]string{"# mine", "my files:", "command: sleep", `"60"`, "--quiet mode", "keychain:my-files_API_TOKEN", "LEVEL: debug", "timeout: 1500"}, hush)
	if got := b.secret("my-files_API_TOKEN"); got != hush {
		t.Errorf("the keychain holds %q", got)
	}
	b.until("it is listed", func() bool { return len(s.lines) == 2 })
	s.open("my files")
	b.tap("Edit")
	b.each(func(o fyne.CanvasObject) bool {
		if entry, ok := o.(*widget.Entry); ok && strings.Contains(entry.Text, hush) {
			t.Error("the secret is shown back")
		}
		return false
	})
	if got := b.entry("In the keychain · replace"); got.Text != "" || !got.Password {
		t.Errorf("the kept secret's entry holds %q, masked %v", got.Text, got.Password)
	}
}

// TestServerURLAdded keeps a header's scheme in the file, and the rest out of it.
func TestServerURLAdded(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{})
	b.servers()
	b.tap("Add server")
	b.fill("github", "服务器")
	b.choose(kindURL)
	b.fill("https://example.com/mcp", "http://127.0.0.1:9/mcp")
	b.tap("Add a header")
	b.fill("NAME", "Authorization")
	b.fill("Goes to the keychain", "Bearer "+hush)
	b.choose("None")
	b.tap("Save")
	b.sees("is saved.")
	b.wantFile([]string{"url: http://127.0.0.1:9/mcp", "Bearer ${keychain:服务器_Authorization}", "tools: []"}, hush)
	if got := b.secret("服务器_Authorization"); got != hush {
		t.Errorf("the keychain holds %q", got)
	}
}

func TestServerFormFaults(t *testing.T) {
	for _, test := range []struct {
		name string
		form model.ServerForm
		says string
	}{
		{"no name", model.ServerForm{Command: "x"}, "A server needs a name"},
		{"name that is taken", model.ServerForm{Name: "there", Command: "x"}, "There is a server of this name already"},
		{"no command", model.ServerForm{Name: "a"}, "Has neither command nor url"},
		{"address that is none", model.ServerForm{Name: "a", Remote: true, URL: "nowhere"}, "Not an address such as https://example.com/v1"},
		{"time-out that is no number", model.ServerForm{Name: "a", Command: "x", Timeout: "soon"}, "Not a number of seconds"},
		{"time-out below zero", model.ServerForm{Name: "a", Command: "x", Timeout: "-1"}, "is negative"},
		{"secret without a value", model.ServerForm{Name: "a", Command: "x", Env: []model.Pair{{Key: "K", Secret: true}}}, "Type the secret value"},
		{"value without a name", model.ServerForm{Name: "a", Command: "x", Env: []model.Pair{{Value: "v"}}}, "The value needs a name"},
		{"name that is there twice", model.ServerForm{Name: "a", Command: "x", Env: []model.Pair{{Key: "K", Value: "1"}, {Key: "K", Value: "2"}}}, "This name is there twice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			yaml := "mcpServers:\n  there: {command: \"false\", disabled: true}\n"
			b := newFormsBench(t, gatewaySetup{yaml: yaml})
			b.servers().edit(test.form)
			b.tap("Save")
			if !strings.Contains(b.words(), test.says) {
				t.Errorf("no field says %q; in sight is:\n%s", test.says, b.words())
			}
			b.tap("Test") // it marks, too
			if b.file() != yaml {
				t.Errorf("the file holds:\n%s", b.file())
			}
		})
	}
}

const savedServers = `# by hand
mcpServers:
  github: # work
    command: npx
    disabled: true
    env: {GITHUB_TOKEN: "keychain:shared", OTHER_KEY: "keychain:own", PLAIN: stays-as-it-is}
providers:
  deepseek: {api_key: "keychain:shared"}
`

// TestServerEdited replaces one secret, and leaves everything else alone: a
// keychain entry that something else uses, too, keeps its value.
func TestServerEdited(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: savedServers})
	s := b.servers()
	s.open("github")
	b.tap("Edit")
	rows := s.form.env.rows
	rows[0].value.SetText("new-shared") // GITHUB_TOKEN
	rows[1].value.SetText("new-own")    // OTHER_KEY
	b.fill("npx", "uvx")
	b.tap("Save")
	b.sees("is saved.")
	b.wantFile([]string{"# by hand", "# work", "command: uvx", "github_GITHUB_TOKEN", "keychain:own", "PLAIN: stays-as-it-is", `deepseek: {api_key: "keychain:shared"}`, "disabled: true"}, "new-")
	for name, want := range map[string]string{"github_GITHUB_TOKEN": "new-shared", "own": "new-own", "shared": ""} {
		if got := b.secret(name); got != want {
			t.Errorf("%s is %q in the keychain, want %q", name, got, want)
		}
	}
}

// TestServerRenamed refuses to lose a value that only the file knows.
func TestServerRenamed(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: savedServers})
	s := b.servers()
	s.open("github")
	b.tap("Edit")
	b.fill("github", "work")
	b.tap("Save")
	b.sees("type it again")
	s.form.env.rows[2].value.SetText("typed-again")
	b.tap("Save")
	b.sees("“work” is saved.")
	b.wantFile([]string{"work:", "PLAIN: typed-again", "keychain:shared"}, "github:", "[secret]")
}

func TestServerConflict(t *testing.T) {
	elsewhere := savedServers + "roots: []\n"
	there := strings.Replace(savedServers, "command: npx", "command: npx\n    timeout: 7000", 1)
	for _, test := range []struct {
		name, meanwhile string
		answer          string // "": nothing is asked
		want            []string
		not             string
	}{
		{"elsewhere in the file", elsewhere, "", []string{"command: uvx", "roots: []"}, "command: npx"},
		{"in this entry, mine holds", there, "Save mine", []string{"command: uvx"}, "timeout: 7000"},
		{"in this entry, theirs holds", there, "Take the file's", []string{"command: npx", "timeout: 7000"}, "uvx"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newFormsBench(t, gatewaySetup{yaml: savedServers})
			s := b.servers()
			s.open("github")
			b.tap("Edit")
			b.fill("npx", "uvx")
			b.write(test.meanwhile)
			b.tap("Save")
			if test.answer != "" {
				b.sees("Changed meanwhile")
				if words := b.words(); !strings.Contains(words, "uvx") || !strings.Contains(words, "npx") {
					t.Errorf("it does not show both:\n%s", words)
				}
				b.tap(test.answer)
			}
			if test.answer == "Take the file's" {
				b.until("the form holds the file's", func() bool { return b.entry("npx").Text == "npx" })
			} else {
				b.sees("is saved.")
			}
			b.wantFile(test.want, test.not)
		})
	}
}

// TestServerHeld: saving over what another program wrote says what to do first,
// and saves nothing.
func TestServerHeld(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: savedServers})
	s := b.servers()
	s.open("github")
	b.tap("Edit")
	b.fill("npx", "uvx")
	b.write(strings.Replace(savedServers, "command: npx", "command: evil", 1))
	b.until("it is held", func() bool { return len(b.store.Held()) == 1 })
	b.tap("Save")
	b.sees("A change made outside to mcpServers.github waits for your yes")
	b.arranged("server-held")
	b.wantFile([]string{"command: evil"}, "uvx")
}

func TestServerPasted(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{})
	s := b.servers()
	b.tap("Paste a block")
	b.fill(pasteExample, "no json")
	b.tap("Next")
	b.sees("this is no JSON")
	b.entry(pasteExample).SetText(`{"mcpServers": {"gh": {"command": "sleep", "args": ["60"], "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "` + hush + `", "DEBUG": "1", "DB": "postgres://u:` + hush + `@h/db"}}}}`)
	b.tap("Next")
	if got := b.entry("github").Text; got != "gh" {
		t.Errorf("the form's name is %q", got)
	}
	if strings.Contains(b.words(), hush) {
		t.Errorf("the secret is shown:\n%s", b.words())
	}
	b.tap("Save")
	b.sees("is saved.")
	b.wantFile([]string{"keychain:gh_GITHUB_PERSONAL_ACCESS_TOKEN", "keychain:gh_DB", "DEBUG: \"1\""}, hush)
	if got := b.secret("gh_GITHUB_PERSONAL_ACCESS_TOKEN"); got != hush {
		t.Errorf("the keychain holds %q", got)
	}
	s.onPaste()
	b.entry(pasteExample).SetText(`"servers": {"a": {"command": "sleep", "args": ["60"], "env": {"API_KEY": "` + hush + `"}}, "gh": {"command": "x"}, "b": {"url": "http://127.0.0.1:9/", "headers": {"Authorization": "Bearer ${input:token}"}}, "c": {"command": "sleep"}}`)
	b.tap("Next")
	b.sees("There is a server of this name already")
	b.sees("Authorization: Type the secret value")
	b.tap("Add 2 servers")
	b.sees("Added 2 servers.")
	b.wantFile([]string{"a:", "c:", "keychain:a_API_KEY"}, hush, "127.0.0.1:9")
}

// TestServerRemoved takes a removal back; what stood in the file as text, and the
// form has never seen, comes back with it.
func TestServerRemoved(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: savedServers})
	s := b.servers()
	s.open("github")
	b.tap("Remove")
	b.sees("Removed “github”")
	b.wantFile([]string{"# by hand"}, "github", "npx")
	b.tap("Undo")
	b.sees("“github” is back.")
	b.wantFile([]string{"github", "npx", "keychain:shared", "stays-as-it-is"}, "[secret]")
}

func TestServerTools(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: "mcpServers: {scratch: {type: builtin}}\ntools: {safe: [write_thing_001]}\n", tools: 500})
	s := b.servers()
	s.open("scratch")
	b.until("its tools are there", func() bool { return len(s.page.tools) == 500 })
	if rows := b.rows(); len(rows) > 30 {
		t.Errorf("%d rows are built for what fits a window", len(rows))
	}
	test.Type(s.page.search, "write_thing_001")
	if len(s.page.tools) != 1 || s.page.tools[0].Ask != model.AskNever {
		t.Fatalf("the search finds %+v", s.page.tools)
	}
	row := func() *serverToolRow { return b.rows()[0] }
	if got := b.words(); !strings.Contains(got, "Why: ") || !strings.Contains(got, "1 of 500") {
		t.Errorf("in sight is:\n%s", got)
	}
	row().ask.SetSelectedIndex(int(model.AskAlways))
	b.until("it always asks", func() bool { return s.page.tools[0].Ask == model.AskAlways })
	b.wantFile([]string{"risky: [scratch__write_thing_001]"}, "safe: [write")
	test.Tap(row().on)
	b.until("it is not offered", func() bool { return len(s.page.tools) == 1 && !s.page.tools[0].On && s.page.tools[0].Missing != nil })
	if got := len(s.view.settings.Config.MCPServers["scratch"].Tools); got != 499 {
		t.Errorf("%d tools stay offered, want 499", got)
	}
	test.Tap(row().on)
	b.until("it is offered", func() bool { return s.page.tools[0].On })
	row().ask.SetSelectedIndex(int(model.AskByRisk))
	b.until("it asks by its risk", func() bool { return s.page.tools[0].Ask == model.AskByRisk })
	b.wantFile(nil, "scratch__write_thing")
}

// rows are the rows of tools that are built.
func (b *formsBench) rows() []*serverToolRow {
	var rows []*serverToolRow
	b.each(func(o fyne.CanvasObject) bool {
		if row, ok := o.(*serverToolRow); ok {
			rows = append(rows, row)
		}
		return false
	})
	return rows
}

func TestServerTrial(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{tools: 3})
	s := b.servers()
	b.until("the tools are there", func() bool { return len(s.view.tools) == 3 })
	s.edit(model.ServerForm{Name: "shell", Command: "sh", Arguments: "-c\necho it is broken >&2; exit 3"})
	b.tap("Test")
	if b.button("Save").Disabled() {
		t.Error("the form is blocked while it is tried")
	}
	b.sees("it is broken")
	b.sees("Failed")
	s.edit(model.ServerForm{Name: "slow", Command: "sleep", Arguments: "60"})
	b.tap("Test")
	form := s.form
	tried := form.trial.tried
	test.Tap(cancelOf(form.trial))
	b.until("the trial has ended", func() bool { return tried.Err() != nil && !form.trial.object.Visible() })
	s.open("scratch")
	b.tap("Test")
	b.sees("It works: 3 tools")
	b.sees("read_thing_000")
	b.wantFile(nil, "shell", "slow")
}

// cancelOf is the button beside what is tried.
func cancelOf(trial *formTrial) *widget.Button {
	var found *widget.Button
	walk(trial.object, func(o fyne.CanvasObject) bool {
		button, ok := o.(*widget.Button)
		if ok {
			found = button
		}
		return ok
	})
	return found
}

// TestServerLive shows what happens to a server without anything being asked
// for.
func TestServerLive(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: "mcpServers: {off: {command: \"false\", disabled: true}}\n"})
	s := b.servers()
	s.open("off")
	b.sees("Disabled")
	b.check("Switched on")
	b.sees("Failed")
	b.wantFile([]string{"off:"}, "disabled: true")
	b.write("mcpServers: {}\n") // by another program
	b.until("the list is back", func() bool { return s.page == nil && len(s.lines) == 1 })
}

func TestServerKeychainLocked(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{keychain: failingKeychain{secrets.ErrLocked}})
	s := b.servers()
	s.edit(model.ServerForm{Name: "a", Command: "sleep", Env: []model.Pair{{Key: "TOKEN", Value: hush, Secret: true}}})
	b.tap("Save")
	b.sees("The keychain is locked")
	b.sees("go on working")
	b.wantFile(nil, "sleep", hush)
	if b.button("Save").Disabled() {
		t.Error("it cannot be tried again")
	}
}

func TestServerNames(t *testing.T) {
	for name, server := range map[string]string{
		"300 characters": strings.Repeat("x", 300), "Chinese": strings.Repeat("文件", 30), "Arabic": "خادم الملفات", "emoji": "🙂🗂", "dots": "a.b[0]\"c",
	} {
		t.Run(name, func(t *testing.T) {
			b := newFormsBench(t, gatewaySetup{})
			s := b.servers()
			s.edit(model.ServerForm{Name: server, Command: "false", Env: []model.Pair{{Key: "TOKEN", Value: hush, Secret: true}}})
			b.tap("Save")
			b.sees("is saved.")
			b.wantFile(nil, hush)
			b.until("it has failed", func() bool {
				status, known := s.view.statusOf(server)
				return known && status.Live.Status == servers.Failed
			})
			s.open(server)
			b.tap("Edit")
			b.entry("In the keychain · replace").SetText("again-" + hush)
			b.tap("Save")
			b.until("it is listed again", func() bool { return strings.Contains(b.words(), "is saved.") })
			if refs := s.view.settings.Config.SecretRefs(); !strings.Contains(fmt.Sprint(refs), "keychain:") {
				t.Errorf("the entry refers to %v", refs)
			}
		})
	}
}

// TestServerBuiltin changes a server that comes with the program and has no entry
// of its own.
func TestServerBuiltin(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{tools: 2})
	s := b.servers()
	s.open("scratch")
	b.until("its tools are there", func() bool { return len(s.page.tools) == 2 })
	if !b.button("Remove").Disabled() {
		t.Error("it can be removed")
	}
	test.Tap(b.rows()[0].on)
	b.until("one is not offered", func() bool { return !s.page.tools[0].On })
	b.wantFile([]string{"type: builtin", "- write_thing_001"})
	b.check("Switched on")
	b.sees("Disabled")
	b.tap("Edit")
	b.choose("All")
	b.tap("Save")
	b.sees("is saved.")
	b.wantFile([]string{"type: builtin", "disabled: true"}, "tools:")
}

// TestServerToolsAtOnce changes several tools before the first change is made:
// each of them counts.
func TestServerToolsAtOnce(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{yaml: "mcpServers: {scratch: {type: builtin}}\n", tools: 6})
	s := b.servers()
	s.open("scratch")
	b.until("its tools are there", func() bool { return len(s.page.tools) == 6 })
	for _, row := range b.rows()[:4] {
		row.ask.SetSelectedIndex(int(model.AskAlways))
	}
	b.until("four always ask", func() bool { return len(s.view.settings.Config.Tools.Risky) == 4 })
	if s.bar.object.Visible() {
		t.Errorf("it says:\n%s", b.words())
	}
}

// TestServerStopped stops a server, starts it again, and restarts it.
func TestServerStopped(t *testing.T) {
	b := newFormsBench(t, gatewaySetup{tools: 2})
	s := b.servers()
	s.open("scratch")
	b.sees("Connected")
	b.tap("Stop")
	b.sees("Stopped")
	b.until("it can be started", func() bool { return !b.button("Start").Disabled() && b.button("Restart").Disabled() })
	b.tap("Start")
	b.sees("Connected")
	b.until("it can be restarted", func() bool { return !b.button("Restart").Disabled() })
	b.tap("Restart")
	b.until("its tools are back", func() bool { return len(s.page.tools) == 2 && !b.button("Stop").Disabled() })
	b.check("Switched on")
	b.sees("Disabled")
	b.until("nothing can be started", func() bool { return b.button("Restart").Disabled() })
}
