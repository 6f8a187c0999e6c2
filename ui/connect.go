package ui

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/part"
)

// connectScreen says what another program needs to reach us.
type connectScreen struct {
	ui      *UI
	address *copyLine
	key     *copyLine
}

func newConnectScreen(u *UI) screen { return &connectScreen{ui: u} }

func (s *connectScreen) content() fyne.CanvasObject {
	s.address = newCopyLine(s.ui, "Endpoint", "every OpenAI client takes it as its base URL")
	s.key = newCopyLine(s.ui, "API key", "goes with it; it is shown to nobody until you copy it")
	soon := widget.NewButton("Set up VS Code", nil)
	soon.Disable()
	cli := widget.NewButton("Set up the Copilot CLI", nil)
	cli.Disable()
	return scrolled(part.Stack(
		part.Heading("Connect"),
		part.Card(part.Stack(part.Subheading("Any OpenAI client"), s.address.row, s.key.row)),
		part.Card(part.Stack(part.Subheading("GitHub Copilot"),
			part.Words("In VS Code: Chat, Manage Models, Add Models, OpenAI Compatible; paste the endpoint and the key. For the Copilot CLI set COPILOT_PROVIDER_BASE_URL to the endpoint and COPILOT_PROVIDER_API_KEY to the key."),
			part.Row(soon, cli), part.Muted("Setting them up with one click is not built yet."))),
	))
}

func (s *connectScreen) enter(ctx context.Context) {
	background(ctx, s.ui, s.ui.key, s.key.setHidden)
}

// watch shows where the program is reached.
func (s *connectScreen) watch(state model.State, _ control.Settings) { s.address.setEndpoint(state) }
