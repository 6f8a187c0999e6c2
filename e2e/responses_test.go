package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCopilotResponses has the real Copilot speak the Responses API to a provider
// that has it, too: tools of ours and of Copilot's, its custom tools among them, and
// what the model thought comes back as it was sealed.
func TestCopilotResponses(t *testing.T) {
	t.Parallel()
	copilotProgram(t) // or skip
	setup := withFiles(t, "approvals: {control: true}\n")
	setup.native = true
	p := serve(t, setup)
	tests := []struct {
		name, prompt, says string
		kinds              []string // of the items that follow the prompt, by request
		check              func(t *testing.T)
	}{
		{
			name: "both in one turn", prompt: `@tool fs__list_directory {"path":"%FOLDER%"}` + "\n" + `@tool view {"path":"%FOLDER%/poem.txt"}`, says: "roses are red",
			kinds: []string{"", "reasoning function_call function_call function_call_output function_call_output"},
		},
		{
			name: "custom tool", prompt: `@tool apply_patch *** Begin Patch\n*** Add File: %FOLDER%/new.txt\n+violets\n*** End Patch`, says: "Tools said",
			kinds: []string{"", "reasoning custom_tool_call custom_tool_call_output"},
			check: func(t *testing.T) {
				if text, err := os.ReadFile(filepath.Join(p.folder, "new.txt")); err != nil || strings.TrimSpace(string(text)) != "violets" {
					t.Errorf("the patch made %q, %v", text, err)
				}
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			env := offline(t.TempDir(), "COPILOT_MODEL=scripted/gpt-5.4", "COPILOT_PROVIDER_MODEL_ID=gpt-5.4", "COPILOT_PROVIDER_WIRE_API=responses")
			contains(t, "the answer", askCLI(t, p, env, string(p.fill("mark %MARK%\n"+test.prompt, test.name))), test.says)
			asked := p.about("mark " + test.name)
			expect(t, "requests", len(asked), len(test.kinds))
			for i, rec := range asked {
				var kinds []string
				for _, item := range rec.own.Get("input").Array() {
					if kind := item.Get("type").String(); kind != "message" {
						kinds = append(kinds, kind)
					}
					if item.Get("type").String() == "reasoning" {
						contains(t, "what the model thought", item.Get("encrypted_content").String(), "sealed-")
					}
				}
				expect(t, "items", strings.Join(kinds, " "), test.kinds[i])
				expect(t, "the effort", rec.own.Get("reasoning.effort").String(), "medium")
			}
			if test.check != nil {
				test.check(t)
			}
		})
	}
}
