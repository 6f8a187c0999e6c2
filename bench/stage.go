package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// accessKey is the key that the gateways are given; providerKey is the provider's.
const (
	accessKey   = "bench-access-key-0123456789"
	providerKey = "bench-provider-key-0123456789"
)

// The targets, in the order they are shown. All but direct are compared with proxy.
const (
	direct  = iota // the mock provider itself
	proxy          // the bare reverse proxy
	gateway        // ours, without tools
	offered        // ours, with an MCP server whose tools are offered
	round          // the same; every request is one round with a call of a tool
	targets        // how many there are
)

// stage is all that runs while we measure.
type stage struct {
	binary    string
	dir       string
	provider  string // its address
	targets   [targets]*target
	processes []*process
}

// startStage starts the provider, the proxy and two gateways. ctx ends them.
func startStage(ctx context.Context, dir, binary string) (*stage, error) {
	s := &stage{binary: binary, dir: dir}
	if err := s.startAll(ctx); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, s.end())
	}
	return s, nil
}

func (s *stage) startAll(ctx context.Context) error {
	p, addr, err := startPart(ctx, "provider")
	if err != nil {
		return err
	}
	s.processes, s.provider = append(s.processes, p), addr
	s.targets[direct] = s.target("direct", addr, p, "")
	if p, addr, err = startPart(ctx, "proxy", addr); err != nil {
		return err
	}
	s.processes = append(s.processes, p)
	s.targets[proxy] = s.target("proxy", addr, p, "")
	if s.targets[gateway], err = s.startGateway(ctx, "gateway", ""); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	mcp := fmt.Sprintf("mcpServers: {%s: {type: local, command: %q, args: [tools]}}\n", serverName, self)
	if s.targets[offered], err = s.startGateway(ctx, "tools offered", mcp); err != nil {
		return err
	}
	again := *s.targets[offered]
	again.name, again.tool = "tool round", true
	s.targets[round] = &again
	return awaitTools(ctx, s.targets[offered], toolCount)
}

func (s *stage) target(name, addr string, p *process, prefix string) *target {
	return &target{name: name, addr: addr, path: "/v1/chat/completions", key: accessKey, model: prefix, pid: p.pid()}
}

// startGateway starts a gateway with a home of its own and waits for it. more is
// added to its configuration.
func (s *stage) startGateway(ctx context.Context, name, more string) (*target, error) {
	addr, err := freePort()
	if err != nil {
		return nil, err
	}
	home := s.home(name)
	if err := s.writeHome(home, more); err != nil {
		return nil, err
	}
	p, err := s.serve(ctx, home, addr)
	if err != nil {
		return nil, err
	}
	s.processes = append(s.processes, p)
	return s.target(name, addr, p, "mock/"), awaitHealth(ctx, addr)
}

// home is the folder of a gateway of that name.
func (s *stage) home(name string) string {
	return filepath.Join(s.dir, strings.ReplaceAll(name, " ", "-"))
}

func (s *stage) writeHome(home, more string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf("gateway: {api_key: os.environ/BENCH_ACCESS_KEY}\nproviders: {mock: {base_url: \"http://%s/v1\", api_key: os.environ/BENCH_PROVIDER_KEY}}\n%s", s.provider, more)
	return os.WriteFile(filepath.Join(home, "config.yaml"), []byte(text), 0o600)
}

// serve starts `pointsman serve` with a home.
func (s *stage) serve(ctx context.Context, home, addr string) (*process, error) {
	return s.pointsman(ctx, home, "serve", "--listen", addr)
}

// pointsman starts the program with a home.
func (s *stage) pointsman(ctx context.Context, home string, args ...string) (*process, error) {
	p, stdout, err := start(ctx, s.env(home), s.binary, args...)
	if err != nil {
		return nil, err
	}
	p.discard(stdout)
	return p, nil
}

// env is what the program needs in its environment, with a home.
func (s *stage) env(home string) []string {
	return []string{"POINTSMAN_HOME=" + home, "BENCH_ACCESS_KEY=" + accessKey, "BENCH_PROVIDER_KEY=" + providerKey}
}

// end ends what was started, and returns what it complained of.
func (s *stage) end() string {
	var said strings.Builder
	for _, p := range slices.Backward(s.processes) {
		said.WriteString(p.end())
	}
	s.processes = nil
	return said.String()
}

// startPatience is how long a start may take.
const startPatience = 20 * time.Second

// awaitHealth asks a gateway until it answers.
func awaitHealth(ctx context.Context, addr string) error {
	return await(ctx, fmt.Sprintf("the gateway at %s to answer", addr), func(ctx context.Context) bool {
		status, _ := get(ctx, "http://"+addr+"/health")
		return status == http.StatusOK
	})
}

// awaitTools waits until a gateway has the tools of its MCP server.
func awaitTools(ctx context.Context, t *target, tools int) error {
	want := fmt.Sprintf(`"tools":%d`, tools)
	return await(ctx, "the tools of the MCP server", func(ctx context.Context) bool {
		_, text := get(ctx, "http://"+t.addr+"/v1/status")
		return strings.Contains(text, want)
	})
}

// await asks done each millisecond until it says so.
func await(ctx context.Context, what string, done func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
	return nil
}

// get asks for a page on a connection of its own; status 0 means no answer.
func get(ctx context.Context, url string) (status int, text string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, ""
	}
	req.Close = true
	req.Header.Set("Authorization", "Bearer "+accessKey)
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		return 0, ""
	}
	return reply.StatusCode, string(body)
}
