package ui

import (
	"context"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/connect"
	"pointsman/ui/connect/setup"
	"pointsman/ui/model"
	"pointsman/ui/part"
)

// connectScreen says what another program needs to reach us, and sets programs of
// this machine up.
type connectScreen struct {
	ui      *UI
	ctx     context.Context // while the screen is before the user
	address *copyLine
	key     *copyLine
	fault   *widget.Label
	list    *fyne.Container
	rows    []*connectRow
	setup   *setup.Setup // nil until it is known
	seen    string       // the endpoint for which it was made
}

func newConnectScreen(u *UI) screen { return &connectScreen{ui: u} }

func (s *connectScreen) content() fyne.CanvasObject {
	s.address = newCopyLine(s.ui, "Endpoint", "every OpenAI client takes it as its base URL")
	s.key = newCopyLine(s.ui, "API key", "goes with it; it is shown to nobody until you copy it")
	s.fault, s.list = newNotice(widget.DangerImportance), container.NewVBox(part.Muted("Looking for programs …"))
	s.rows, s.setup, s.seen = nil, nil, ""
	return scrolled(part.Stack(
		part.Heading("Connect"),
		part.Card(part.Stack(part.Subheading("Any OpenAI client"), s.address.row, s.key.row)),
		part.Card(part.Stack(part.Subheading("Programs on this machine"),
			part.Remark("Only Pointsman's own entries in their files change, after you have seen how. What was there is kept, and comes back with Undo."),
			s.fault, s.list)),
	))
}

func (s *connectScreen) enter(ctx context.Context) {
	s.ctx, s.seen = ctx, ""
	background(ctx, s.ui, s.ui.key, s.key.setHidden)
}

// watch shows where the program is reached, and looks at the programs once that
// is known.
func (s *connectScreen) watch(state model.State, now control.Settings) {
	s.address.setEndpoint(state)
	if endpoint := state.Endpoint(); endpoint != "" && endpoint != s.seen && s.ctx != nil && now.Config != nil {
		s.seen = endpoint
		s.look(endpoint, now.Config)
	}
}

// looked is what there is on this machine.
type looked struct {
	setup *setup.Setup
	list  []setup.Status
}

// look finds out which programs there are, and how each is set up.
func (s *connectScreen) look(endpoint string, cfg *config.Config) {
	background(s.ctx, s.ui, func(ctx context.Context) (looked, error) {
		made, err := s.ui.newSetup(ctx, endpoint, cfg)
		if err != nil {
			return looked{}, err
		}
		return looked{made, made.List()}, nil
	}, func(l looked, err error) {
		if err != nil {
			s.seen = ""
			tell(s.fault, inWords(err))
			return
		}
		s.setup = l.setup
		s.show(l.list)
	})
}

// newSetup is the setup of this machine's programs.
func (u *UI) newSetup(ctx context.Context, endpoint string, cfg *config.Config) (*setup.Setup, error) {
	machine, err := connect.ThisMachine(cfg.Workspace(), os.Getenv)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var models []model.CatalogueRow
	if err := u.client.Get(ctx, "/models", &models); err != nil {
		return nil, err
	}
	g := setup.Gateway{
		Endpoint: endpoint, Open: cfg.Gateway.Auth == "none", Key: u.client.Key, Default: cfg.DefaultModel, Program: program, Env: setup.Variables(os.Getenv, ""),
	}
	for _, m := range models {
		g.Models = append(g.Models, setup.Model{ID: m.ID, Name: m.Label, Context: model.Known(m.ContextWindow), Output: model.Known(m.MaxOutput)})
	}
	return &setup.Setup{Machine: machine, Gateway: g, State: filepath.Join(u.opts.Home.State, "connect")}, nil
}

// show shows how the programs are set up: those that are there first.
func (s *connectScreen) show(list []setup.Status) {
	tell(s.fault, "")
	if len(s.rows) == 0 {
		s.list.RemoveAll()
		for _, installed := range []bool{true, false} {
			for _, status := range list {
				if status.Installed == installed {
					row := newConnectRow(s, status.Client)
					s.rows = append(s.rows, row)
					s.list.Add(row.object)
				}
			}
		}
	}
	for _, row := range s.rows {
		for _, status := range list {
			if status.Client == row.client {
				row.set(status)
			}
		}
	}
}

// again looks at the programs once more.
func (s *connectScreen) again() {
	background(s.ctx, s.ui, func(context.Context) ([]setup.Status, error) { return s.setup.List(), nil },
		func(list []setup.Status, _ error) { s.show(list) })
}
