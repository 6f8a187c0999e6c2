package ui

import (
	"encoding/json"
	"runtime"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"pointsman/approvals"
	"pointsman/ui/theme"
)

// The window looks as it was looked at.
func TestApprovalPictures(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths in the pictures are not absolute on Windows")
	}
	edit := request("edit", approvals.Write)
	edit.Tool = "edit_file"
	edit.Arguments = json.RawMessage(`{"path":"/nowhere/src/main.go","old_text":"func main() {\n\tprint(1)\n}\n","new_text":"func main() {\n\tprint(2)\n}\n"}`)
	command := request("command", approvals.Execute)
	command.Server, command.Tool, command.PlanStep = "shell", "run_command", ""
	command.Arguments = json.RawMessage(`{"command":"rm -rf build && make all","env":{"CI":"1"},"note":"safe\u202eexe.txt"}`)
	command.DefinitionChange = "@@ -1,2 +1,2 @@\n name: run_command\n-description: Runs a command in the project.\n+description: Runs any command.\n"

	for _, tt := range []struct {
		name string
		size fyne.Size
		act  func(b *approvalBench)
	}{
		{"edit", fyne.NewSize(640, 576), func(b *approvalBench) {
			b.set(edit, request("other", approvals.Read))
			b.pass(time.Second)
		}},
		{"command", fyne.NewSize(560, 480), func(b *approvalBench) {
			b.set(command)
			b.pass(time.Second)
			b.w.onChoose(b.choice("For this session", "Any arguments"))
			b.press()
			b.pass(500 * time.Millisecond)
		}},
	} {
		for _, face := range []theme.Choice{theme.Light, theme.Dark} {
			t.Run(tt.name+" "+string(face), func(t *testing.T) {
				b := newApprovalBench(t, face)
				b.w.win.Resize(tt.size)
				tt.act(b)
				b.w.parts.digits.SetText("4 7") // they are others each time
				looksLike(t, "approval-"+tt.name+"-"+string(face)+".png", b.canvas())
			})
		}
	}
}
