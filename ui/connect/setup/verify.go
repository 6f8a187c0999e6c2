package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// Check is one thing that was tried, as the program would do it.
type Check struct {
	Part  string `json:"part"`
	What  string `json:"what"` // what was tried
	OK    bool   `json:"ok"`
	Words string `json:"words"` // what came of it
	Fix   string `json:"fix"`   // what to do when it has failed, or ""
}

// Environment is the part of a program whose models come from variables.
const Environment = "environment"

// patience bounds each thing that is tried.
const patience = time.Minute

// ErrNotSet says that a program is not set up at all.
var ErrNotSet = errors.New("it is not set up; apply it first")

// Verify tries what the program would do with what its files say: asks the
// endpoint with the key that it has, starts the MCP server by the command that is
// written, runs the hook. It costs a short answer of a model. parts chooses what is
// tried; without any it is all that is set up.
func (s *Setup) Verify(ctx context.Context, name string, parts ...string) ([]Check, error) {
	c, err := s.client(name)
	if err != nil {
		return nil, err
	}
	if c.snippet != "" && slices.Equal(parts, []string{Environment}) {
		return []Check{s.verifyEnvironment(ctx)}, nil
	}
	if len(parts) == 0 {
		for _, p := range c.parts {
			if s.status(p).State != Absent {
				parts = append(parts, p.name)
			}
		}
		if len(c.parts) > 0 && len(parts) == 0 {
			return nil, fmt.Errorf("verifying %s: %w", c.title, ErrNotSet)
		}
	}
	var checks []Check
	if len(c.parts) > 0 {
		chosen, err := c.chosen(parts)
		if err != nil {
			return nil, err
		}
		for _, p := range chosen {
			checks = append(checks, s.verify(ctx, c, p))
		}
	}
	if c.snippet != "" && !slices.Contains(parts, Models) {
		checks = append(checks, s.verifyEnvironment(ctx))
	}
	return checks, nil
}

// verify tries one part.
func (s *Setup) verify(ctx context.Context, c client, p part) Check {
	check := Check{Part: p.name, What: p.path}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, err := readState(p.path)
	if err == nil {
		var state string
		switch state, err = p.state(now); {
		case err != nil:
		case state == Absent:
			err = ErrNotSet
		default:
			check.What, check.Words, err = s.try(ctx, c, p, now.text)
		}
	}
	if err != nil {
		check.Words, check.Fix = err.Error(), s.remedy(c, p, err)
		return check
	}
	check.OK = true
	return check
}

// try does what the program would do with a part.
func (s *Setup) try(ctx context.Context, c client, p part, text []byte) (what, words string, err error) {
	switch {
	case p.name == MCP:
		return s.tryServer(ctx, c, p, text)
	case p.name == Hooks:
		return s.tryHook(ctx, text)
	case c.name == "copilot":
		return s.tryProviders(ctx, text)
	default:
		return s.tryGroup(ctx, text)
	}
}

// remedy says what to do about a failure.
func (s *Setup) remedy(c client, p part, err error) string {
	var refused *refusedError
	var gone *unreachableError
	again := fmt.Sprintf("pointsman connect apply %s --parts %s", c.name, p.name)
	switch {
	case errors.As(err, &gone):
		return "start Pointsman: pointsman"
	case errors.As(err, &refused) && refused.status == 401 && p.name == Models && c.name != "copilot":
		return p.after
	case errors.As(err, &refused) && refused.status != 401:
		return "see what Pointsman says of its models: pointsman models health"
	}
	return again
}

// verifyEnvironment asks the endpoint as a Copilot with the variables would.
func (s *Setup) verifyEnvironment(ctx context.Context) Check {
	check := Check{Part: Environment}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	e := s.environmentNow()
	check.What = e.address + "/chat/completions"
	key, err := e.apiKey(ctx)
	if err == nil {
		check.Words, err = ask(ctx, e.address, key, e.model)
	}
	if err != nil {
		check.Words, check.Fix = err.Error(), "set the variables as `pointsman connect snippet copilot` prints them"
		var gone *unreachableError
		if errors.As(err, &gone) {
			check.Fix = "start Pointsman: pointsman"
		}
		return check
	}
	check.OK = true
	if !e.set {
		check.Words += "; the lines to copy are not in force in this shell"
	}
	return check
}

// environ is what a Copilot takes from its environment.
type environ struct {
	address, model string
	key, command   string
	set            bool // by the user; else what our lines say
}

func (s *Setup) environmentNow() environ {
	get := s.Machine.Env
	if get("COPILOT_PROVIDER_BASE_URL") == "" {
		e := environ{address: s.Gateway.Endpoint, model: s.Gateway.Default, command: s.keyCommand()}
		if s.Gateway.Open {
			e.command = ""
		}
		return e
	}
	e := environ{address: trimSlash(get("COPILOT_PROVIDER_BASE_URL")), model: get("COPILOT_MODEL"), set: true, key: get("COPILOT_PROVIDER_BEARER_TOKEN")}
	if e.key == "" {
		e.key, e.command = get("COPILOT_PROVIDER_API_KEY"), get("COPILOT_PROVIDER_API_KEY_COMMAND") // the command wins, as it does in Copilot
	}
	return e
}

// apiKey is the key that Copilot would have.
func (e environ) apiKey(ctx context.Context) (string, error) {
	if e.command == "" {
		return e.key, nil
	}
	out, err := shell(ctx, e.command)
	if err != nil {
		return "", fmt.Errorf("running COPILOT_PROVIDER_API_KEY_COMMAND: %w", err)
	}
	return out, nil
}

// shortEnvironment is what Copilot gives to an MCP server. The rest of the
// programs give all that they have.
func (s *Setup) shortEnvironment() []string {
	var env []string
	for _, name := range []string{"PATH", "LANG", "SystemRoot", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "TEMP"} {
		if value := s.Machine.Env(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return append(env, "HOME="+s.Machine.Home)
}

// environmentOf is what a program gives to what it starts.
func (s *Setup) environmentOf(c client) []string {
	if c.name == "copilot" {
		return s.shortEnvironment()
	}
	return os.Environ()
}
