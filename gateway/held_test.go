package gateway_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/control"
)

// record is a log that can be read while it is written.
type record struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(p)
}

func (r *record) lines(with string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(strings.Split(r.out.String(), "\n"), func(line string) bool { return !strings.Contains(line, with) })
}

// TestStatusTellsOfTheConfiguration: what of the file is held, waits for the
// next start or is wrong, until it is put back.
func TestStatusTellsOfTheConfiguration(t *testing.T) {
	log := &record{}
	d := newDesk(t, "", func(o *gateway.Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	steps := []struct {
		name, file string
		settled    func(gateway.ConfigStatus) bool
	}{
		{"held", "approvals: {require: false}\n", func(s gateway.ConfigStatus) bool {
			return len(s.Held) == 1 && strings.Contains(s.Held[0], "approvals.require")
		}},
		{"at the next start", "gateway: {listen: '127.0.0.1:1'}\nroots: [/x]\n", func(s gateway.ConfigStatus) bool {
			return slices.Equal(s.Restart, []string{"gateway.listen"}) && len(s.Held) == 1
		}},
		{"wrong", "gateway: {auth: nobody}\ntools: {max_rounds: x}\n", func(s gateway.ConfigStatus) bool {
			return len(s.Problems) == 2 && strings.Contains(s.Problems[0], `"nobody"`) && strings.Contains(s.Problems[1], "max_rounds")
		}},
		{"put back", "", func(s gateway.ConfigStatus) bool { return len(s.Held)+len(s.Restart)+len(s.Problems) == 0 }},
	}
	for _, step := range steps {
		changed, stop := d.Subscribe()
		if err := os.WriteFile(d.configPath, []byte("default_model: demo\n"+step.file), 0o600); err != nil {
			t.Fatal(err)
		}
		d.await(t, step.name, func() bool { return step.settled(d.Status(t.Context()).Config) })
		select {
		case <-changed:
		case <-t.Context().Done():
		}
		stop()
	}
	want := gateway.ConfigStatus{Path: d.configPath, Held: []string{}, Restart: []string{}, Problems: []string{}}
	if diff := cmp.Diff(want, d.Status(t.Context()).Config); diff != "" {
		t.Error(diff)
	}
	if lines := log.lines("take effect at the next start"); len(lines) != 1 {
		t.Errorf("told of the next start: %q", lines)
	}
	if lines := log.lines("is not valid"); len(lines) != 2 || strings.Contains(strings.Join(lines, ""), `\n`) || !strings.Contains(lines[0], "nobody") {
		t.Errorf("told of the faults: %q", lines)
	}
}

// TestNothingIsSavedOverWhatIsHeld: neither a form nor a rule that is removed
// takes what another program wrote, and the window says why.
func TestNothingIsSavedOverWhatIsHeld(t *testing.T) {
	const mine = "{id: mine, action: deny, server: fs, tool: write, definition: h}"
	d := newDesk(t, "approvals: {rules: ["+mine+"]}\ntools: {safe: [a]}\n", nil)
	w := window(t, d)
	outside := "default_model: demo\napprovals: {rules: [" + mine + ", {id: theirs, action: allow, server: fs, tool: write, definition: h}]}\ntools: {safe: [a, b]}\n"
	if err := os.WriteFile(d.configPath, []byte(outside), 0o600); err != nil {
		t.Fatal(err)
	}
	d.await(t, "it is held", func() bool { return len(d.Status(t.Context()).Config.Held) == 2 })
	_, edited := w.Edit(t.Context(), must[control.Settings](t)(w.Settings(t.Context())).Revision, edit([]string{"a", "c"}, "tools", "safe"))
	removed, remove := w.RemoveRule(t.Context(), "mine")
	for path, err := range map[string]error{"tools.safe": edited, "approvals.rules": remove} {
		var refused *control.RefusedError
		if !errors.As(err, &refused) || refused.Status != http.StatusConflict || !strings.HasPrefix(err.Error(), "a change made outside to "+path+" waits for your yes") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if rules := must[[]approvals.Rule](t)(w.Rules(t.Context())); removed || len(rules) != 1 || rules[0].ID != "mine" {
		t.Errorf("removed %v: %+v", removed, rules)
	}
	if text, err := os.ReadFile(d.configPath); err != nil || string(text) != outside {
		t.Errorf("%v: the file is\n%s", err, text)
	}
}
