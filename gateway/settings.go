package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
)

// Manager is what the gateway lets its windows change and see.
func (g *Gateway) Manager() control.Manager { return manager{g} }

// manager keeps what is only for the windows out of the Go API.
type manager struct{ g *Gateway }

func (m manager) Settings(context.Context) (control.Settings, error) { return m.settings(), nil }

func (m manager) settings() control.Settings {
	g, now := m.g, m.g.store.Snapshot()
	s := control.Settings{
		Path: g.store.Path(), Revision: now.Revision, Config: now.Config, Set: now.Set, Problems: []config.Problem{},
		Held: []string{}, Fault: []string{}, Restart: append([]string{}, needRestart(g.began, now.Config)...), Log: g.opts.LogFile,
	}
	for _, problem := range now.Problems {
		problem.Message = g.redactor.Redact(problem.Message)
		s.Problems = append(s.Problems, problem)
	}
	for _, sentence := range now.Held {
		s.Held = append(s.Held, g.redactor.Redact(sentence))
	}
	for _, fault := range now.Fault {
		s.Fault = append(s.Fault, g.redactor.Redact(fault))
	}
	return s
}

func (m manager) Edit(_ context.Context, revision string, edits []control.Edit) (control.Settings, error) {
	return m.changed(m.g.store.Edit(revision, edits))
}

func (m manager) AcceptHeld(_ context.Context, revision string) (control.Settings, error) {
	return m.changed(m.g.store.AcceptHeld(revision))
}

func (m manager) RefuseHeld(_ context.Context, revision string) (control.Settings, error) {
	return m.changed(m.g.store.RefuseHeld(revision))
}

// changed puts a change of the file in force at once, or tells why there was
// none.
func (m manager) changed(err error) (control.Settings, error) {
	err = m.refusedIfHeld(err)
	var refused *control.RefusedError
	switch {
	case errors.As(err, &refused):
		return control.Settings{}, refused
	case errors.Is(err, config.ErrStale):
		return control.Settings{}, &control.ConflictError{Current: m.settings()}
	case errors.Is(err, config.ErrChanged):
		return control.Settings{}, &control.RefusedError{Status: http.StatusConflict, Message: err.Error()}
	case err != nil:
		return control.Settings{}, m.invalid(err)
	}
	if err := m.g.applyLatest(); err != nil {
		return control.Settings{}, fmt.Errorf("the settings are saved, but not in force: %w", err)
	}
	return m.settings(), nil
}

// invalid makes of an error that joins Problems one that keeps them.
func (m manager) invalid(err error) error {
	problems := config.ProblemsOf(err)
	if len(problems) == 0 {
		return errors.New(m.g.redactor.Redact(err.Error()))
	}
	for i := range problems {
		problems[i].Message = m.g.redactor.Redact(problems[i].Message)
	}
	return &control.InvalidError{Problems: problems, Message: m.g.redactor.Redact(err.Error())}
}
