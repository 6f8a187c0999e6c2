package setup

import (
	"fmt"
	"strings"

	"pointsman/ui/connect/edit"
)

// groupName is what our models are called together in VS Code.
const groupName = "Pointsman"

// vscode is VS Code or its Insiders. The key of its endpoint is kept by VS Code
// itself: what the file says of one is not read, but for a reference that VS Code
// has put there.
func (s *Setup) vscode(name, title, folder, program string) client {
	user := userFile(s.Machine.AppData(), folder, "User")
	mcp := s.serverPart(edit.JSON{}, "servers", typed("stdio"), userFile(user, "mcp.json"), ".vscode", "mcp.json")
	mcp.after = "VS Code asks whether to trust the server when it first starts it"
	models := part{
		name: Models, path: userFile(user, "chatLanguageModels.json"), format: edit.JSON{}, entries: s.vscodeGroup, ours: at(edit.JSON{}, vscodePlace()),
		after: fmt.Sprintf("give VS Code the key once, which it keeps itself: Chat, the list of models, Manage Models, right click on %q, Update API Key; `pointsman connect key` prints it", groupName),
	}
	if s.Gateway.Open {
		models.after = ""
	}
	if s.Workspace {
		models.path = ""
	}
	return client{name: name, title: title, programs: []string{program}, traces: []string{user}, parts: known(models, mcp)}
}

func vscodePlace() []edit.Step {
	return []edit.Step{{Where: map[string]string{"vendor": "customendpoint", "name": groupName}}}
}

// vscodeModel is a model of VS Code's vendor "customendpoint".
type vscodeModel struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	URL             string `json:"url"`
	ToolCalling     bool   `json:"toolCalling"`
	Vision          bool   `json:"vision"`
	MaxInputTokens  int64  `json:"maxInputTokens"`
	MaxOutputTokens int64  `json:"maxOutputTokens"`
}

// vscodeGroup is the group of our models. VS Code wants the limits of each: one
// whose limits nobody publishes is left out.
func (s *Setup) vscodeGroup(string) ([]edit.Entry, []string, error) {
	models, without := []vscodeModel{}, []string{}
	for _, m := range s.Gateway.Models {
		if m.Context <= m.Output || m.Output <= 0 {
			without = append(without, m.ID)
			continue
		}
		models = append(models, vscodeModel{
			ID: m.ID, Name: m.title(), URL: s.Gateway.Endpoint + "/chat/completions", ToolCalling: true,
			MaxInputTokens: m.Context - m.Output, MaxOutputTokens: m.Output,
		})
	}
	if len(models) == 0 {
		return nil, nil, fmt.Errorf("no model has known limits, which VS Code needs; set context_window and max_output of one under `models` in the configuration")
	}
	var notes []string
	if len(without) > 0 {
		notes = append(notes, "left out, as VS Code needs limits and theirs are not known: "+strings.Join(without, ", "))
	}
	return []edit.Entry{{
		Path: vscodePlace(),
		Value: edit.Object{
			{Key: "name", Value: groupName}, {Key: "vendor", Value: "customendpoint"}, {Key: "apiType", Value: "chat-completions"}, {Key: "models", Value: models},
		},
		Drop: []string{"url"},
	}}, notes, nil
}

// title is what a model is called.
func (m Model) title() string {
	if m.Name != "" {
		return m.Name
	}
	return m.ID
}
