package model_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pointsman/gateway/config"
	"pointsman/ui/model"
)

// configured is a configuration that differs from the default one as told.
func configured(revision string, edit func(*config.Config)) config.Settings {
	c := config.Default()
	if edit != nil {
		edit(c)
	}
	return config.Settings{Revision: revision, Config: c}
}

func rounds(n int) func(*config.Config) { return func(c *config.Config) { c.Tools.MaxRounds = n } }

func TestSettingsFormSaves(t *testing.T) {
	for _, test := range []struct {
		name, path, text string
		want             any // the edit's value; nil: nothing is to be saved
		problem          string
	}{
		{"a number", "tools.max_rounds", " 12 ", 12, ""},
		{"the same", "tools.max_rounds", "8", nil, ""},
		{"no number", "tools.max_rounds", "a few", nil, "A whole number is needed."},
		{"a time", "approvals.timeout", "1h", config.Duration(time.Hour), ""},
		{"seconds", "approvals.timeout", "90", config.Duration(90 * time.Second), ""},
		{"no time", "approvals.timeout", "later", nil, "A time is needed, such as 5m, 90s or 1h30m."},
		{"a switch", "tools.plan_mode", model.Off, false, ""},
		{"a choice", "desktop.theme", "dark", "dark", ""},
		{"a port", "gateway.listen", "9000", "127.0.0.1:9000", ""},
		{"nonsense for a port, which the configuration refuses", "gateway.listen", "door", "127.0.0.1:door", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			form := model.NewSettingsForm()
			form.Show(configured("r1", nil))
			field := form.Field(test.path)
			field.Enter(test.text)
			revision, edit, ok := form.Edit(field)
			if ok != (test.want != nil) || field.Problem != test.problem {
				t.Fatalf("to save: %v; the field says %q, want %q", ok, field.Problem, test.problem)
			}
			if ok && (edit.Value != test.want || strings.Join(edit.Path, ".") != test.path || revision != "r1") {
				t.Errorf("the edit is %+v of revision %q", edit, revision)
			}
		})
	}
}

func TestSettingsFormBeforeAnythingIsKnown(t *testing.T) {
	form := model.NewSettingsForm()
	field := form.Field("tools.max_rounds")
	field.Enter("3")
	if _, _, ok := form.Edit(field); ok {
		t.Error("something is saved over what is not known")
	}
}

func TestSettingsFormConflicts(t *testing.T) {
	open := func(entered string) (*model.SettingsForm, *model.SettingField) {
		form := model.NewSettingsForm()
		form.Show(configured("r1", rounds(3)))
		field := form.Field("tools.max_rounds")
		if entered != "" {
			field.Enter(entered)
		}
		return form, field
	}
	for _, test := range []struct {
		name     string
		entered  string
		theirs   int
		conflict bool
		text     string
	}{
		{"nothing entered: the file's is shown", "", 5, false, "5"},
		{"both changed", "12", 5, true, "12"},
		{"both changed to the same", "5", 5, false, "5"},
		{"the file changed elsewhere", "12", 3, false, "12"},
	} {
		t.Run(test.name, func(t *testing.T) {
			form, field := open(test.entered)
			form.Show(configured("r2", rounds(test.theirs)))
			if field.Conflict != test.conflict || field.Text != test.text {
				t.Errorf("conflict %v, text %q", field.Conflict, field.Text)
			}
		})
	}
	t.Run("nothing is saved before it is decided", func(t *testing.T) {
		form, field := open("12")
		form.Show(configured("r2", rounds(5)))
		if _, _, ok := form.Edit(field); ok {
			t.Fatal("it is saved")
		}
		field.Keep(true)
		if revision, edit, ok := form.Edit(field); !ok || revision != "r2" || edit.Value != 12 {
			t.Errorf("mine is saved as %+v of %q, %v", edit, revision, ok)
		}
	})
	t.Run("the file's is taken", func(t *testing.T) {
		form, field := open("12")
		form.Show(configured("r2", rounds(5)))
		field.Keep(false)
		if _, _, ok := form.Edit(field); ok || field.Text != "5" || field.Conflict {
			t.Errorf("the field holds %q", field.Text)
		}
	})
	t.Run("Escape takes the file's", func(t *testing.T) {
		form, field := open("12")
		form.Show(configured("r2", rounds(5)))
		field.Revert()
		if field.Text != "5" || field.Conflict {
			t.Errorf("the field holds %q", field.Text)
		}
	})
	t.Run("the other's change is taken back", func(t *testing.T) {
		form, field := open("12")
		form.Show(configured("r2", rounds(5)))
		form.Show(configured("r3", rounds(3)))
		if _, _, ok := form.Edit(field); !ok || field.Conflict {
			t.Error("it is still asked about")
		}
	})
	t.Run("a choice is shown in words", func(t *testing.T) {
		form := model.NewSettingsForm()
		form.Show(configured("r1", nil))
		field := form.Field("desktop.theme")
		field.Enter("dark")
		form.Show(configured("r2", func(c *config.Config) { c.Desktop.Theme = "light" }))
		if field.Theirs != "Light" || field.Mine != "Dark" {
			t.Errorf("they are %q and %q", field.Theirs, field.Mine)
		}
	})
}

func TestSettingsFormDone(t *testing.T) {
	form := model.NewSettingsForm()
	form.Show(configured("r1", rounds(3)))
	field := form.Field("tools.max_rounds")
	field.Enter(" 12 ")
	form.Done(field, " 12 ", configured("r2", rounds(12)))
	if field.Text != "12" || !field.Saved {
		t.Errorf("the field holds %q, saved %v", field.Text, field.Saved)
	}
	field.Enter("13")
	if field.Saved {
		t.Error("what is entered now counts as saved")
	}
	field.Enter("14") // while 13 is on its way
	form.Done(field, "13", configured("r3", rounds(13)))
	if revision, edit, ok := form.Edit(field); !ok || field.Text != "14" || edit.Value != 14 || revision != "r3" {
		t.Errorf("what was entered meanwhile is %q, %+v, %v", field.Text, edit, ok)
	}
}

func TestSettingsFormRefused(t *testing.T) {
	form := model.NewSettingsForm()
	form.Show(configured("r1", nil))
	text, choice := form.Field("tools.max_rounds"), form.Field("desktop.theme")
	text.Enter("0")
	form.Refused(text, []config.Problem{{Path: "other", Message: "elsewhere"}, {Path: "tools.max_rounds", Message: "must be above zero"}}, "all of it")
	if text.Text != "0" || text.Problem != "Must be above zero." {
		t.Errorf("the text is %q with %q", text.Text, text.Problem)
	}
	text.Enter("1")
	if text.Problem != "" {
		t.Errorf("the mended text has %q", text.Problem)
	}
	choice.Enter("dark")
	form.Refused(choice, nil, "the file cannot be written")
	if choice.Text != "system" || choice.Problem != "The file cannot be written." {
		t.Errorf("the choice is %q with %q", choice.Text, choice.Problem)
	}
}

func TestSettingsFormFixedAndRestart(t *testing.T) {
	now := configured("r1", func(c *config.Config) { c.Tools.LoopDetection.Enabled = false })
	now.Set = map[string]string{"tools.plan_mode": "set by the environment", "desktop": "set by a flag of the command line"}
	now.Restart = []string{"gateway.listen", "log"}
	form := model.NewSettingsForm()
	form.Show(now)
	for path, want := range map[string]string{
		"tools.plan_mode": "set by the environment", "desktop.theme": "set by a flag of the command line",
		"tools.max_rounds": "", "tools.loop_detection.soft": "while “Loop guard” is off", "tools.loop_detection.enabled": "",
	} {
		field := form.Field(path)
		if field.Fixed != want {
			t.Errorf("%s is fixed with %q, want %q", path, field.Fixed, want)
		}
		field.Enter("entered")
		if _, _, ok := form.Edit(field); ok && want != "" {
			t.Errorf("%s is saved", path)
		}
	}
	for path, want := range map[string]bool{"gateway.listen": true, "log.level": true, "desktop.theme": false} {
		if form.Field(path).Restart != want {
			t.Errorf("%s takes a restart: %v", path, !want)
		}
	}
}

func TestSettingsFormLaunch(t *testing.T) {
	form := model.NewSettingsForm()
	form.Show(configured("r1", nil))
	field := form.Field(model.PathLaunchAtLogin)
	form.ShowState(model.State{LaunchFault: "the folder is read-only"})
	if field.Problem != "The folder is read-only." {
		t.Errorf("the field says %q", field.Problem)
	}
	form.Show(configured("r2", nil))
	if field.Problem == "" {
		t.Error("the fault is forgotten with a change of the file")
	}
	form.ShowState(model.State{NoLaunchAtLogin: "not with --config"})
	if field.Problem != "" || field.Fixed != "not with --config" {
		t.Errorf("the field says %q and is fixed with %q", field.Problem, field.Fixed)
	}
}

func TestSettingsFormOllama(t *testing.T) {
	form := model.NewSettingsForm()
	form.Show(configured("r1", nil))
	if address := form.Field("ollama.listen"); address.Fixed == "" {
		t.Error("the address can be changed while the door is off")
	}
	form.Show(configured("r2", func(c *config.Config) { c.Ollama.Enabled = true }))
	field := form.Field(model.PathOllama)
	form.ShowState(model.State{OllamaFault: "process 7 (ollama) has the port"})
	if field.Problem != "Process 7 (ollama) has the port." || form.Field("ollama.listen").Fixed != "" {
		t.Errorf("the field says %q, the address is fixed with %q", field.Problem, form.Field("ollama.listen").Fixed)
	}
	form.ShowState(model.State{})
	if field.Problem != "" {
		t.Errorf("the field goes on saying %q", field.Problem)
	}
}

func TestSettingsFormTaken(t *testing.T) {
	form := model.NewSettingsForm()
	form.Show(configured("r1", nil))
	field := form.Field(model.PathListen)
	field.Enter("9000")
	form.Taken(field, errors.New("listening on 127.0.0.1:9000: process 3 (node) has the port"), "127.0.0.1:9001")
	if field.Offer != "9001" || !strings.HasSuffix(field.Problem, "process 3 (node) has the port.") {
		t.Errorf("the field says %q and offers %q", field.Problem, field.Offer)
	}
	form.Taken(field, errors.New("taken"), "")
	if field.Offer != "" {
		t.Errorf("it offers %q", field.Offer)
	}
}

// Every setting of the form can be set in the configuration, and is then read
// back as it was entered.
func TestSettingsAreThoseOfTheConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := config.Load(config.Options{Path: path, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	form := model.NewSettingsForm()
	for _, field := range form.Fields() {
		now := store.Snapshot()
		form.Show(config.Settings{Revision: now.Revision, Config: now.Config})
		other := map[bool]string{true: model.Off, false: model.On}[field.Text == model.On]
		switch {
		case field.Kind == model.ChoiceSetting:
			other = field.Choices[len(field.Choices)-1].Value
		case field.Path == "approvals.timeout":
			other = "9m"
		case field.Path == "ollama.listen":
			other = "127.0.0.1:5"
		case field.Kind == model.TextSetting:
			other = "4"
		}
		if field.Fixed != "" {
			t.Errorf("%s cannot be changed: %s", field.Path, field.Fixed)
			continue
		}
		field.Enter(other)
		revision, edit, ok := form.Edit(field)
		if !ok {
			t.Errorf("%s: %q is nothing to save (%s)", field.Path, other, field.Problem)
			continue
		}
		if err := store.Edit(revision, []config.Edit{edit}); err != nil {
			t.Errorf("%s: %v", field.Path, err)
		}
		now = store.Snapshot()
		form.Done(field, other, config.Settings{Revision: now.Revision, Config: now.Config})
		if field.Text != other || !field.Saved {
			t.Errorf("%s: entered %q, read back %q", field.Path, other, field.Text)
		}
		if strings.HasSuffix(field.Path, "enabled") && other == model.Off { // what is under it is changed, too
			if err := store.Edit(now.Revision, []config.Edit{{Path: edit.Path, Remove: true}}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestFiles(t *testing.T) {
	home := config.Home{State: "/state"}
	files := model.Files(config.Settings{Path: "/etc/p/config.yaml", Log: "/logs/p.log"}, home)
	want := []model.File{{"Configuration", "/etc/p/config.yaml", "/etc/p"}, {"State", "/state", "/state"}, {"Journal", "/state/journal.db", "/state"}, {"Log", "/logs/p.log", "/logs"}}
	for i, file := range files {
		file.Path, file.Folder = filepath.ToSlash(file.Path), filepath.ToSlash(file.Folder)
		if file != want[i] {
			t.Errorf("file %d is %+v, want %+v", i, file, want[i])
		}
	}
	if log := model.Files(config.Settings{}, home)[3]; log.Folder != "" || log.Path == "" {
		t.Errorf("without a log it says %+v", log)
	}
}
