package gateway_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pointsman/gateway"
	"pointsman/gateway/config"
	"pointsman/gateway/policy"
	"pointsman/gateway/servers"
)

// settled is a policy that a test changes.
type settled struct{ file atomic.Pointer[string] }

func newSettled(t *testing.T, text string) *settled {
	s := &settled{}
	s.set(t, text)
	return s
}

func (s *settled) set(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.file.Store(&file)
}

func (s *settled) current() *policy.Policy { return policy.Read(*s.file.Load()) }

func (s *settled) into(opts *gateway.Options) { opts.Policy = s.current }

func liveOf(d *desk, name string) servers.Live {
	for _, s := range d.Servers() {
		if s.Name == name {
			return s.Live
		}
	}
	return servers.Live{}
}

func TestPolicyKeepsServersFromStarting(t *testing.T) {
	never := "command: sleep, args: ['60'], startTimeout: 200"
	s := newSettled(t, "sandbox: {required: true}\nservers: {allowed: [scratch, open, plain]}\n")
	d := newDesk(t, "mcpServers:\n  plain: {"+never+"}\n  open: {"+never+", sandbox: {enabled: false}}\n  other: {"+never+"}\n", s.into)
	for name, want := range map[string]string{"open": policy.Code, "other": policy.Code, "plain": "`sandbox`"} {
		d.await(t, name+" has failed", func() bool { return liveOf(d, name).Status == servers.Failed })
		if got := liveOf(d, name).Error; !strings.Contains(got, want) {
			t.Errorf("%s says %s", name, got)
		}
	}
	status, err := d.StartServer(t.Context(), "open")
	if err != nil || !strings.Contains(status.Live.Error, policy.Code) {
		t.Errorf("started by hand, it says %+v, %v", status.Live, err)
	}
	trial, err := window(t, d).TestServer(t.Context(), "new", config.MCPServer{Command: "sleep"}, nil)
	if err != nil || !strings.Contains(trial.Error, policy.Code) {
		t.Errorf("a trial says %+v, %v", trial, err)
	}
}

// A policy that has changed is followed with the next start of a server; one that
// says the same as before restarts nothing.
func TestPolicyThatChanges(t *testing.T) {
	s := newSettled(t, "servers: {allowed: [scratch, mine]}\n")
	d := newDesk(t, "mcpServers:\n  mine: {command: /no/such/program}\n", s.into)
	id := liveOf(d, "scratch").ConnectionID
	s.set(t, "# said anew\nservers:\n  allowed: [scratch, mine]\n")
	if _, err := d.RestartServer(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	if got := liveOf(d, "scratch"); got.Status != servers.Connected || got.ConnectionID != id {
		t.Errorf("the same policy has restarted it: %+v", got)
	}
	s.set(t, "servers: {allowed: [mine]}\n")
	if _, err := d.RestartServer(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	d.await(t, "scratch is no longer allowed", func() bool { return strings.Contains(liveOf(d, "scratch").Error, policy.Code) })
	s.set(t, "servers: {allowed: [")
	if _, err := d.RestartServer(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	if got := liveOf(d, "mine").Error; !strings.Contains(got, "cannot be followed") {
		t.Errorf("with a broken policy it says %s", got)
	}
}

func TestPolicyRequiresApprovals(t *testing.T) {
	s := newSettled(t, "approvals: {require: true}\n")
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("approvals: {require: false}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load(config.Options{Path: file, Check: s.current().Check})
	if err == nil || !strings.Contains(err.Error(), policy.Code) || !strings.Contains(err.Error(), file+":1:") {
		t.Errorf("it is loaded: %v", err)
	}
	loose, err := config.Load(config.Options{Path: file}) // by an embedder
	if err != nil {
		t.Fatal(err)
	}
	home := config.Home{Config: t.TempDir(), State: t.TempDir(), Runtime: t.TempDir()}
	if g, err := gateway.New(t.Context(), gateway.Options{Config: loose, Home: home, Policy: s.current}); err == nil || !strings.Contains(err.Error(), policy.Code) {
		t.Errorf("the gateway is made: %v", err)
		_ = g.Close()
	}
}

// A policy that comes to require approvals has them asked for, although what is
// in force has them off.
func TestPolicyComesToRequireApprovals(t *testing.T) {
	s := newSettled(t, "")
	d := newDesk(t, "approvals: {require: false}\nmcpServers:\n  mine: {command: /no/such/program}\n", s.into)
	s.set(t, "approvals: {require: true}\n")
	if _, err := d.RestartServer(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var chats sync.WaitGroup
	defer chats.Wait()
	defer cancel()
	d.await(t, "a risky call asks", func() bool {
		chats.Go(func() { _, _ = d.Chat(ctx, gateway.ChatRequest{Prompt: "go"}) })
		return len(d.Desk().Pending()) > 0
	})
}
