package desktop

import (
	"context"
	"fmt"

	"pointsman/approvals"
	"pointsman/gateway"
	"pointsman/gateway/control"
	"pointsman/gateway/elicit"
	"pointsman/gateway/servers"
	"pointsman/ui/model"
)

// Source is the gateway that a desktop shows: that of this process, or the
// resident's.
type Source interface {
	// State is what there is to show of the gateway alone.
	State(context.Context) (model.State, error)
	// Pending returns what waits for a person.
	Pending(context.Context) ([]approvals.Request, error)
	// Questions returns what servers ask a person.
	Questions(context.Context) ([]elicit.Question, error)
	// Watch calls changed after each change of the above, until ctx ends or the
	// gateway goes.
	Watch(ctx context.Context, changed func()) error
	Pause(ctx context.Context, paused bool) error
	// Key is the key that clients need, or "".
	Key(context.Context) (string, error)
}

// StateOf is what there is to show of a gateway.
func StateOf(g *gateway.Gateway) model.State {
	s := model.State{
		Serving: g.Address(), Waiting: len(g.Desk().Pending()) + len(g.Questions().Open()), Runs: int(g.Runs()), Paused: g.Paused(),
		OllamaFault: g.Ollama().Error,
	}
	failing := 0
	for _, server := range g.Servers() {
		if !server.Enabled {
			continue
		}
		s.Servers++
		switch server.Live.Status {
		case servers.Connected:
			s.Connected++
		case servers.Failed, servers.NotConfigured, servers.NeedsAuth:
			if failing++; failing == 1 {
				s.Fault = faultOf(server)
			}
		}
	}
	if failing > 1 {
		s.Fault += fmt.Sprintf(", and %d more", failing-1)
	}
	if g.Config().Gateway.Auth == "none" {
		s.NoKey = "none is asked for"
	}
	return s
}

// longestServer is how many columns a server's name is given in a fault: what
// is wrong with it comes after.
const longestServer = 30

func faultOf(server servers.Status) string {
	name := model.Shorten(approvals.Visible(server.Name), longestServer)
	switch server.Live.Status {
	case servers.NeedsAuth:
		return fmt.Sprintf("server %s needs sign-in", name)
	case servers.NotConfigured:
		return fmt.Sprintf("server %s has no command", name)
	}
	return fmt.Sprintf("server %s failed", name)
}

// Own is the gateway of this process.
func Own(g *gateway.Gateway) Source { return own{g} }

type own struct{ gateway *gateway.Gateway }

func (o own) State(context.Context) (model.State, error) { return StateOf(o.gateway), nil }

func (o own) Pending(context.Context) ([]approvals.Request, error) {
	return o.gateway.Desk().Pending(), nil
}

func (o own) Questions(context.Context) ([]elicit.Question, error) {
	return o.gateway.Questions().Open(), nil
}

func (o own) Watch(ctx context.Context, changed func()) error {
	desk, unsubscribe := o.gateway.Desk().Subscribe()
	defer unsubscribe()
	asked, unsubscribeAsked := o.gateway.Questions().Subscribe()
	defer unsubscribeAsked()
	others, unsubscribeOthers := o.gateway.Subscribe()
	defer unsubscribeOthers()
	for {
		changed()
		select {
		case <-desk:
		case <-asked:
		case <-others:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (o own) Pause(_ context.Context, paused bool) error { o.gateway.Pause(paused); return nil }

func (o own) Key(context.Context) (string, error) { return o.gateway.AccessKey() }

// View is the name under which a resident shows its StateOf on its control
// socket.
const View = "state"

// Remote is the resident's gateway. key reads the key that its clients need,
// which a resident does not tell.
func Remote(client *control.Client, key func(context.Context) (string, error)) Source {
	return remote{Client: client, key: key}
}

type remote struct {
	*control.Client
	key func(context.Context) (string, error)
}

func (r remote) State(ctx context.Context) (model.State, error) {
	var s model.State
	err := r.Get(ctx, "/"+View, &s)
	return s, err
}

func (r remote) Watch(ctx context.Context, changed func()) error { return r.Changes(ctx, changed) }

func (r remote) Key(ctx context.Context) (string, error) { return r.key(ctx) }
