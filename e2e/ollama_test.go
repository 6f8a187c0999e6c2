package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// ollamaClient does a job through Ollama's official client for Node.
func ollamaClient(t *testing.T, address, chat string) gjson.Result {
	t.Helper()
	folder := filepath.Dir(filepath.Dir(npm(t, "ollama")))
	input, err := json.Marshal(map[string]any{"host": "http://" + address, "chat": json.RawMessage(chat)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", filepath.Join("testdata", "ollama.mjs"), folder)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	reply, err := cmd.Output()
	if err != nil {
		t.Fatalf("Ollama's client: %v\n%s", err, stderr.String())
	}
	return gjson.ParseBytes(reply)
}

// withOllama is a setup with the Ollama-compatible door at an address.
func withOllama(t *testing.T, s setup, address string) setup {
	t.Helper()
	s.extra += fmt.Sprintf("ollama: {enabled: true, listen: %q}\n", address)
	return s
}

// TestOllamaClient: the official client lists our models and chats, with a tool of
// ours that runs here and one of its own that comes back to it; pictures, options
// and a schema reach the provider.
func TestOllamaClient(t *testing.T) {
	npm(t, "ollama")
	address := freeAddress(t)
	p := serve(t, withOllama(t, withFiles(t, ""), address))
	const script = "@say Looking.\n@tool fs__read_text_file {\"path\":\"poem.txt\"}\n@then\n@say done here\n@tool weather {\"city\":\"Rome\"}"
	chat := fmt.Sprintf(`{"model":"scripted/test","messages":[
		{"role":"system","content":"be brief"},
		{"role":"user","content":"see","images":["iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="]},
		{"role":"assistant","content":"","tool_calls":[{"function":{"name":"weather","arguments":{"city":"Oslo"}}}]},
		{"role":"tool","tool_name":"weather","content":"rain"},
		{"role":"user","content":%q}],
		"tools":[{"type":"function","function":{"name":"weather","description":"tells it","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}],
		"options":{"temperature":0.5,"num_predict":77,"num_ctx":4096},"think":"low","format":{"type":"object"}}`,
		strings.ReplaceAll(script, "poem.txt", filepath.Join(p.folder, "poem.txt")))
	got := ollamaClient(t, address, chat)
	if got.Get("version").String() == "" || !got.Get(`names.#(=="scripted/test")`).Exists() || got.Get("shown.capabilities.1").String() != "tools" || !got.Get("running").IsArray() {
		t.Errorf("the client sees %s", got)
	}
	if got.Get("error.status").Int() != 404 || !strings.Contains(got.Get("error.message").String(), "nobody") {
		t.Errorf("a model that nobody has: %s", got.Get("error"))
	}
	var text strings.Builder
	last := got.Get("parts|@reverse|0")
	var calls []gjson.Result
	for _, part := range got.Get("parts").Array() {
		text.WriteString(part.Get("message.content").String())
		calls = append(calls, part.Get("message.tool_calls").Array()...)
	}
	if text.String() != "Looking.done here" || len(calls) != 1 || !last.Get("done").Bool() || last.Get("x_gateway.used_tools.0").String() != "fs__read_text_file" {
		t.Errorf("the stream says %q with %v, ending %s", text.String(), calls, last)
	}
	plain := got.Get("plain")
	for _, call := range append(calls, plain.Get("message.tool_calls.0")) {
		if call.Get("function.name").String() != "weather" || call.Get("function.arguments.city").String() != "Rome" || call.Get("id").String() == "" {
			t.Errorf("the client's own call is %s", call)
		}
	}
	if plain.Get("message.content").String() != "done here" || plain.Get("total_duration").Int() <= 0 || plain.Get("eval_count").Int() == 0 {
		t.Errorf("the plain answer is %s", plain)
	}
	sent := p.about("be brief")[0].body
	for path, want := range map[string]string{
		"temperature": "0.5", "max_tokens": "77", "num_ctx": "", "reasoning_effort": "low", "response_format.type": "json_schema",
		"messages.1.content.0.text": "see", "messages.1.content.1.type": "image_url", "messages.2.tool_calls.0.function.arguments": `{"city":"Oslo"}`, "messages.3.content": "rain",
	} {
		if value := sent.Get(path).String(); value != want {
			t.Errorf("%s reaches the provider as %q, want %q", path, value, want)
		}
	}
	if url := sent.Get("messages.1.content.1.image_url.url").String(); !strings.HasPrefix(url, "data:image/png;base64,iVBOR") {
		t.Errorf("the picture is %.40q", url)
	}
	if call, result := sent.Get("messages.2.tool_calls.0.id").String(), sent.Get("messages.3.tool_call_id").String(); call == "" || call != result {
		t.Errorf("the result of %q is that of %q", call, result)
	}
}
