package ui

import (
	"net"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/theme"
)

// settings returns the settings screen, which is before the user.
func (b *windowBench) settings() *settingsScreen {
	b.open(screenSettings)
	s := b.ui.main.screens[screenSettings].(*settingsScreen)
	b.until("the form is filled", func() bool { return s.form.Field(model.PathListen).Text != "" })
	return s
}

// enter replaces the text of a field, and ends with Enter.
func (b *windowBench) enter(s *settingsScreen, path, text string) {
	b.typeInto(s, path, text)
	s.rows[path].text.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
}

func (b *windowBench) typeInto(s *settingsScreen, path, text string) {
	field := s.rows[path].text
	b.ui.main.window.Canvas().Focus(field)
	field.TypedShortcut(&fyne.ShortcutSelectAll{})
	test.Type(field, text)
}

func TestSettingsAreSavedOneByOne(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{yaml: "# mine\ntools: {max_rounds: 3}\n"})
	s := b.settings()
	rounds := s.form.Field("tools.max_rounds")
	b.enter(s, "tools.max_rounds", "12")
	b.until("the rounds are saved", func() bool { return rounds.Saved })
	if !b.says("✓ Saved") || b.store.Config().Tools.MaxRounds != 12 || !strings.Contains(b.file(), "# mine") {
		t.Errorf("rounds are %d, the file says %q", b.store.Config().Tools.MaxRounds, b.file())
	}

	test.Tap(s.rows["desktop.notify"].check)
	b.until("the switch is saved", func() bool { return s.form.Field("desktop.notify").Saved })
	if b.store.Config().Desktop.Notify {
		t.Error("notifications are still on")
	}

	b.typeInto(s, "approvals.timeout", "90s")
	b.ui.main.window.Canvas().Unfocus() // leaving the field saves it
	b.until("the time-out is saved", func() bool { return s.form.Field("approvals.timeout").Saved })
	if !strings.Contains(b.file(), "1m30s") || s.rows["approvals.timeout"].text.Text != "1m30s" {
		t.Errorf("the field says %q, the file %q", s.rows["approvals.timeout"].text.Text, b.file())
	}
}

func TestSettingsRefuseWhatIsNotValid(t *testing.T) {
	for _, test := range []struct{ name, path, text, want string }{
		{"no number", "tools.max_rounds", "many", "A whole number is needed."},
		{"not above zero", "tools.max_rounds", "0", "Must be above zero"},
		{"no time", "approvals.timeout", "soon", "A time is needed"},
		{"no port", "gateway.listen", "99999", "is not a listen address"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newWindowBench(t, gatewaySetup{})
			s := b.settings()
			field := s.form.Field(test.path)
			b.enter(s, test.path, test.text)
			b.until("it is refused", func() bool { return field.Problem != "" })
			if !strings.Contains(field.Problem, test.want) || !b.says(field.Problem) || b.file() != "" || s.rows[test.path].text.Text != test.text {
				t.Errorf("the field says %q, want %q; the file %q", field.Problem, test.want, b.file())
			}
			s.rows[test.path].text.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
			if field.Problem != "" || s.rows[test.path].text.Text == test.text {
				t.Errorf("Escape leaves %q, %q", s.rows[test.path].text.Text, field.Problem)
			}
		})
	}
}

func TestTakenPortNamesItsHolderAndOffersAnother(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	b := newWindowBench(t, gatewaySetup{})
	s := b.settings()
	field := s.form.Field(model.PathListen)
	b.enter(s, model.PathListen, port)
	b.until("the port is found taken", func() bool { return field.Problem != "" })
	if !strings.Contains(field.Problem, "has the port") || field.Offer == "" || field.Offer == port || b.file() != "" {
		t.Fatalf("the field says %q and offers %q; the file %q", field.Problem, field.Offer, b.file())
	}
	offer := field.Offer
	b.tap("Use " + offer)
	b.until("the offer is saved", func() bool { return field.Saved })
	if !strings.Contains(b.file(), "127.0.0.1:"+offer) || !b.says("Takes effect at the next start") || !b.says("gateway.listen") {
		t.Errorf("the file says %q, the window %q", b.file(), b.words())
	}
}

func TestFileChangedWhileTheFormIsOpen(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{yaml: "tools: {max_rounds: 3}\n"})
	s := b.settings()
	field := s.form.Field("tools.max_rounds")
	b.typeInto(s, "tools.max_rounds", "12")
	b.write("tools: {max_rounds: 5}\nlog: {level: debug}\n")
	b.until("both are shown", func() bool { return field.Conflict })
	if !b.says("The file says “5”") || !b.says("You entered “12”") || s.form.Field("log.level").Text != "debug" {
		t.Fatalf("the window says %q", b.words())
	}
	s.rows["tools.max_rounds"].text.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn}) // decides nothing
	if !field.Conflict || !strings.Contains(b.file(), "max_rounds: 5") {
		t.Fatalf("Enter has overwritten the file: %q", b.file())
	}
	b.tap("Keep mine")
	b.until("mine is saved", func() bool { return field.Saved })
	if !strings.Contains(b.file(), "max_rounds: 12") || !strings.Contains(b.file(), "level: debug") {
		t.Errorf("the file says %q", b.file())
	}

	b.typeInto(s, "tools.max_rounds", "20")
	b.write("tools: {max_rounds: 7}\n")
	b.until("both are shown again", func() bool { return field.Conflict })
	b.tap("Take the file's")
	if field.Conflict || s.rows["tools.max_rounds"].text.Text != "7" || !strings.Contains(b.file(), "max_rounds: 7") {
		t.Errorf("the field says %q, the file %q", s.rows["tools.max_rounds"].text.Text, b.file())
	}
}

// A save from an old revision does not overwrite what the form has not seen yet.
func TestSaveBeforeTheChangeIsSeen(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{yaml: "tools: {max_rounds: 3}\n"})
	s := b.settings()
	b.write("tools: {max_rounds: 5}\n") // nothing that is posted is run before the save
	field := s.form.Field("tools.max_rounds")
	b.enter(s, "tools.max_rounds", "12")
	b.until("both are shown", func() bool { return field.Conflict })
	if !strings.Contains(b.file(), "max_rounds: 5") {
		t.Errorf("the file says %q", b.file())
	}
}

// A change of another field is no reason to ask.
func TestSaveBesideAnotherChange(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{yaml: "tools: {max_rounds: 3}\n"})
	s := b.settings()
	b.write("tools: {max_rounds: 3}\nlog: {level: warn}\n")
	b.enter(s, "tools.max_rounds", "12")
	b.until("it is saved", func() bool { return s.form.Field("tools.max_rounds").Saved })
	if !strings.Contains(b.file(), "max_rounds: 12") || !strings.Contains(b.file(), "level: warn") {
		t.Errorf("the file says %q", b.file())
	}
}

func TestWhatTheEnvironmentSetsIsGreyed(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{env: map[string]string{"MCP_MAX_TOOL_ROUNDS": "4"}})
	s := b.settings()
	if row := s.rows["tools.max_rounds"]; !row.text.Disabled() || row.text.Text != "4" || !strings.Contains(row.hint.Text, "set by the environment") {
		t.Errorf("the field is %q, %q", row.text.Text, row.hint.Text)
	}
	test.Tap(s.rows["tools.loop_detection.enabled"].check)
	b.until("the guard is off", func() bool { return s.form.Field("tools.loop_detection.enabled").Saved })
	if !s.rows["tools.loop_detection.soft"].text.Disabled() {
		t.Error("what does nothing can be entered")
	}
}

func TestThemeIsWornAtOnceAndAtTheStart(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{yaml: "desktop: {theme: dark}\n"})
	if b.ui.face != theme.Dark {
		t.Fatalf("at the start the windows wear %q", b.ui.face)
	}
	s := b.settings()
	s.rows[model.PathTheme].choice.SetSelected("Light")
	b.until("the theme is worn", func() bool { return b.ui.face == theme.Light })
	b.write("desktop: {theme: dark}\n")
	b.until("the file's theme is worn", func() bool { return b.ui.face == theme.Dark })
}

func TestLaunchAtLoginSaysWhatIsWrong(t *testing.T) {
	repaired := make(chan struct{}, 1)
	b := newWindowBench(t, gatewaySetup{control: func(o *control.Options) {
		o.RepairLaunch = func() error { repaired <- struct{}{}; return nil }
	}})
	s := b.settings()
	row := s.rows[model.PathLaunchAtLogin]
	b.setState(func(s *model.State) { s.LaunchFault, s.LaunchOther = "login starts /old/pointsman", true })
	b.until("the other program is told of", func() bool { return b.says("Login starts /old/pointsman.") })
	b.tap("Repair")
	<-repaired
	b.setState(func(s *model.State) { s.NoLaunchAtLogin = "not with --config" })
	b.until("it is greyed", func() bool { return row.check.Disabled() && strings.Contains(row.hint.Text, "not with --config") })
	if row.field.Problem != "" || row.repair.Visible() {
		t.Errorf("the field still says %q", row.field.Problem)
	}
}

func TestNewKeyIsMadeAfterAQuestion(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{})
	old, err := b.gateway.AccessKey()
	if err != nil {
		t.Fatal(err)
	}
	s := b.settings()
	b.until("the key is known", func() bool { return s.key.key == old })
	if b.says(old) {
		t.Error("the key is shown before it is asked for")
	}
	b.tap("Show")
	if !b.says(old) {
		t.Error("the key is not shown")
	}
	b.tap("New key …")
	if !b.says("is refused until you give it the new one") {
		t.Errorf("the question does not say what breaks: %q", b.words())
	}
	b.tap("Cancel")
	b.tap("New key …")
	b.tap("Make a new key")
	b.until("there is a new key", func() bool { return s.key.key != old })
	if now, err := b.gateway.AccessKey(); err != nil || now != s.key.key || b.says(now) {
		t.Errorf("the gateway's key is %q, the screen's %q, %v", now, s.key.key, err)
	}
}

// A panic behind a button is shown, and the screen comes back when it is chosen
// again.
func TestPanicBehindAButton(t *testing.T) {
	b := newWindowBench(t, gatewaySetup{})
	s := b.settings()
	s.rows["tools.max_rounds"].acts.save = nil // whoever calls it panics
	press := b.ui.act("a test", func() { s.rows["tools.max_rounds"].acts.save() })
	for range 2 {
		press()
		if !b.says("This screen has failed") || !b.says("a test") {
			t.Fatalf("the window says %q", b.words())
		}
	}
	b.ui.main.turnTo(screenSettings)
	if b.says("This screen has failed") || !b.says("Endpoint") {
		t.Errorf("the window says %q", b.words())
	}
}
