package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/tidwall/gjson"
)

// job is one request to make through an SDK.
type job struct {
	BaseURL    string            `json:"baseURL"`
	APIKey     string            `json:"apiKey"`
	Body       json.RawMessage   `json:"body"`
	Stream     bool              `json:"stream"`
	Headers    map[string]string `json:"headers,omitempty"`
	AbortAfter int               `json:"abortAfter,omitempty"` // chunks; zero: never
}

// outcome is what an SDK made of the reply.
type outcome struct {
	Message json.RawMessage   `json:"message"`
	Finish  string            `json:"finish"`
	Usage   json.RawMessage   `json:"usage"` // null: none was sent
	Gateway json.RawMessage   `json:"gateway"`
	Chunks  []json.RawMessage `json:"chunks"`
	Error   *sdkError         `json:"error"`
}

type sdkError struct {
	Name       string `json:"name"`
	Status     int    `json:"status"`
	Code       string `json:"code"`
	Message    string `json:"message"`
	RetryAfter string `json:"retryAfter"`
}

// at reads the answer's message.
func (o outcome) at(path string) gjson.Result { return gjson.GetBytes(o.Message, path) }

// gateway reads x_gateway.
func (o outcome) gateway(path string) gjson.Result { return gjson.GetBytes(o.Gateway, path) }

// sdk makes one request through an official SDK. When ctx ends, the client goes.
type sdk func(ctx context.Context, t *testing.T, j job) outcome

// sdks are the official SDKs.
func sdks() map[string]sdk { return map[string]sdk{"node": viaNode, "go": viaGo} }

func viaNode(ctx context.Context, t *testing.T, j job) outcome {
	t.Helper()
	var o outcome
	if !runNode(ctx, t, "openai.mjs", j, &o) {
		return outcome{Error: &sdkError{Name: "gone", Message: ctx.Err().Error()}}
	}
	return o
}

// runNode has a script do a job with the SDK for Node, and reads what it prints. It
// reports whether ctx lasted so long.
func runNode(ctx context.Context, t *testing.T, script string, j job, printed any) bool {
	t.Helper()
	folder := filepath.Dir(filepath.Dir(npm(t, "openai")))
	input, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", filepath.Join("testdata", script), folder)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	reply, err := cmd.Output()
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		t.Fatalf("the SDK for Node: %v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(reply, printed); err != nil {
		t.Fatalf("the SDK for Node printed %q: %v", reply, err)
	}
	return true
}

func viaGo(ctx context.Context, t *testing.T, j job) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	options := []option.RequestOption{option.WithBaseURL(j.BaseURL), option.WithAPIKey(j.APIKey), option.WithMaxRetries(0)}
	for name, value := range j.Headers {
		options = append(options, option.WithHeader(name, value))
	}
	client := openai.NewClient(options...)
	var params openai.ChatCompletionNewParams
	if err := json.Unmarshal(j.Body, &params); err != nil {
		t.Fatal(err)
	}
	others := unknownTo(t, params, j.Body)
	if !j.Stream {
		completion, err := client.Chat.Completions.New(ctx, params, others...)
		return goOutcome(t, completion, nil, err)
	}
	ctx, abort := context.WithCancel(ctx)
	defer abort()
	return goStream(t, j, client.Chat.Completions.NewStreaming(ctx, params, others...), abort)
}

// unknownTo returns options that set the fields of a body which the SDK does
// not know.
func unknownTo(t *testing.T, params openai.ChatCompletionNewParams, body []byte) []option.RequestOption {
	t.Helper()
	known, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	var options []option.RequestOption
	gjson.ParseBytes(body).ForEach(func(name, value gjson.Result) bool {
		if !gjson.GetBytes(known, name.String()).Exists() {
			options = append(options, option.WithJSONSet(name.String(), json.RawMessage(value.Raw)))
		}
		return true
	})
	return options
}

func goStream(t *testing.T, j job, stream *ssestream.Stream[openai.ChatCompletionChunk], abort func()) outcome {
	t.Helper()
	defer stream.Close()
	var whole openai.ChatCompletionAccumulator
	var chunks []json.RawMessage
	for stream.Next() {
		chunk := stream.Current()
		chunks = append(chunks, json.RawMessage(chunk.RawJSON()))
		if !whole.AddChunk(chunk) {
			t.Errorf("the SDK for Go cannot add %s", chunk.RawJSON())
		}
		if len(chunks) == j.AbortAfter {
			abort()
		}
	}
	return goOutcome(t, &whole.ChatCompletion, chunks, stream.Err())
}

// goOutcome tells what a completion, whole or put together from chunks, says.
func goOutcome(t *testing.T, completion *openai.ChatCompletion, chunks []json.RawMessage, err error) outcome {
	t.Helper()
	var refused *openai.Error
	switch {
	case errors.As(err, &refused):
		e := &sdkError{Name: "Error", Status: refused.StatusCode, Code: refused.Code, Message: refused.Message}
		if refused.Response != nil {
			e.RetryAfter = refused.Response.Header.Get("Retry-After")
		}
		return outcome{Error: e}
	case err != nil:
		return outcome{Error: &sdkError{Name: "error", Message: err.Error()}}
	case len(completion.Choices) == 0:
		t.Fatalf("the SDK for Go got no choice: %s", chunks)
	}
	if chunks == nil {
		chunks = []json.RawMessage{json.RawMessage(completion.RawJSON())}
	}
	o := outcome{Finish: completion.Choices[0].FinishReason, Chunks: chunks}
	for _, chunk := range chunks {
		if usage := gjson.GetBytes(chunk, "usage"); usage.IsObject() {
			o.Usage = json.RawMessage(usage.Raw)
		}
		if report := gjson.GetBytes(chunk, "x_gateway"); report.Exists() {
			o.Gateway = json.RawMessage(report.Raw)
		}
	}
	message := completion.Choices[0].Message
	if o.Message, err = json.Marshal(message.ToParam()); err != nil {
		t.Fatal(err)
	}
	return o
}
