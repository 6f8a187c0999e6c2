package gateway_test

import (
	"bytes"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pointsman/gateway"
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
