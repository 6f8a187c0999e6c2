package e2e

import (
	"testing"
	"time"

	"pointsman/ui/model"
)

// TestQuestionWindow: what a real server asks is answered with a real mouse and
// keyboard.
func TestQuestionWindow(t *testing.T) {
	if !inSession(t) {
		return
	}
	set := setup{extra: "tools: {safe: ['e__*']}\n", door: []string{}, env: sessionEnv(t), servers: map[string]any{
		"e": map[string]any{"command": "node", "args": []string{npm(t, "@modelcontextprotocol/server-everything/dist/index.js"), "stdio"}},
	}}
	p, s := serve(t, set), screen{t}
	title := model.QuestionTitle(1)
	ask := p.fill(`{`+user(`@tool e__trigger-elicitation-request {}`)+`}`, "asks")
	answer := p.sending(t, ask)
	window := s.await(title)
	time.Sleep(arming)
	window.click(300, 172, short) // the first field
	s.do("type", "Ada Lovelace")
	time.Sleep(arming) // the two clicks are not one double click
	s.picture()
	window.click(-41, -33, short) // Send
	contains(t, "the answer", receive(t, "the answer", answer).String(), "Ada Lovelace")
	s.gone(title)

	answer = p.sending(t, ask)
	window = s.await(title)
	window.click(200, 40, short) // gives it the keyboard
	time.Sleep(arming)
	s.do("key", "Escape")
	contains(t, "the answer", receive(t, "the answer", answer).String(), "cancel")
	s.gone(title)
}
