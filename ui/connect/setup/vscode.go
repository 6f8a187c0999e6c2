package setup

import (
	"errors"
	"fmt"
	"slices"
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

// vscodeGroup is the group of our models. VS Code wants the limits of each: one
// whose limits nobody publishes is left out.
func (s *Setup) vscodeGroup(now []byte, _ string) ([]edit.Entry, []string, error) {
	there, err := vscodeModels(now)
	if err != nil {
		return nil, nil, err
	}
	models, without := []edit.Object{}, []string{}
	for _, m := range s.Gateway.Models {
		if m.Context <= m.Output || m.Output <= 0 {
			without = append(without, m.ID)
			continue
		}
		models = append(models, s.vscodeModel(m, there[m.ID]))
	}
	if len(models) == 0 {
		return nil, nil, errors.New("no model has known limits, which VS Code needs; set context_window and max_output of one under `models` in the configuration")
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

// vscodeModel is a model as VS Code has it. Whether it sees pictures nobody tells
// us: no, until the user says otherwise in the file. What else they say there
// stays, too.
func (s *Setup) vscodeModel(m Model, there map[string]any) edit.Object {
	sees, _ := there["vision"].(bool)
	o := edit.Object{
		{Key: "id", Value: m.ID}, {Key: "name", Value: m.title()}, {Key: "url", Value: s.Gateway.Endpoint + "/chat/completions"},
		{Key: "toolCalling", Value: true}, {Key: "vision", Value: sees}, {Key: "maxInputTokens", Value: m.Context - m.Output}, {Key: "maxOutputTokens", Value: m.Output},
	}
	for _, key := range sortedKeys(there) {
		if !slices.ContainsFunc(o, func(f edit.Field) bool { return f.Key == key }) {
			o = append(o, edit.Field{Key: key, Value: there[key]})
		}
	}
	return o
}

// vscodeModels are the models of our group in a text, by their ids.
func vscodeModels(text []byte) (map[string]map[string]any, error) {
	group, _, err := edit.JSON{}.Get(text, edit.Entry{Path: vscodePlace()})
	if err != nil {
		return nil, err
	}
	list, _ := group["models"].([]any)
	models := map[string]map[string]any{}
	for _, v := range list {
		m, _ := v.(map[string]any)
		if id, ok := m["id"].(string); ok {
			models[id] = m
		}
	}
	return models, nil
}

// title is what a model is called.
func (m Model) title() string {
	if m.Name != "" {
		return m.Name
	}
	return m.ID
}
