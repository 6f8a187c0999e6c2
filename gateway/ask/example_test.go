package ask_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"pointsman/gateway/ask"
)

// The providers of these examples are scripted: what each answers stands beside
// its host.

// show puts questions to capabilities whose deployments answer as scripted, and
// prints what of each envelope matters.
func show(answers map[string][]string, questions ...ask.Request) {
	dir, err := os.MkdirTemp("", "ask-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	a, err := newAsker(dir, settings, &script{lines: answers})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range questions {
		e := a.Ask(context.Background(), q)
		switch {
		case e.Error != nil:
			fmt.Println(e.Status, e.Error.Code)
		case e.InsufficientContext:
			fmt.Println(e.Status, "the context does not hold the answer")
		case e.Content != nil:
			fmt.Println(e.Status, *e.Content, "from", *e.ModelUsed, "fallback:", *e.FallbackUsed)
		default:
			fmt.Println(e.Status, string(e.Data), "from", *e.ModelUsed)
		}
	}
}

var question = ask.Request{Capability: "coding", Prompt: "Sort it how?"}

// With a schema the answer is data that conforms to it.
func Example() {
	q := question
	q.ResponseSchema = json.RawMessage(`{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}`)
	show(map[string][]string{"coding": {`{"name": "quicksort"}`}}, q)
	// Output: 200 {"name":"quicksort"} from coding-model
}

// A question with a context is answered from it alone.
func Example_notInTheContext() {
	q := question
	q.Context = "The tower is blue."
	show(map[string][]string{"coding": {"INSUFFICIENT_CONTEXT"}}, q)
	// Output: 200 the context does not hold the answer
}

// coding falls back to fast when its rate limit is reached, and goes there at once
// until that is over.
func Example_fallback() {
	show(map[string][]string{"coding": {"!429 slow down"}, "fast": {"quicksort", "heapsort"}}, question, question)
	// Output:
	// 200 quicksort from fast-model fallback: true
	// 200 heapsort from fast-model fallback: true
}

// A group that keeps failing is left alone: the answer is immediate.
func Example_cooledDown() {
	show(map[string][]string{"coding": {"!500 down"}, "fast": {"!500 down"}}, question, question)
	// Output:
	// 502 upstream_error
	// 503 no_deployment
}

// An answer that was cut off is none.
func Example_truncated() {
	show(map[string][]string{"coding": {"/length quick"}}, question)
	// Output: 502 output_truncated
}

// Nor is one that a filter has withheld.
func Example_filtered() {
	show(map[string][]string{"coding": {"/content_filter "}}, question)
	// Output: 502 content_filtered
}

// A wrong key is told apart from a provider that is down.
func Example_wrongKey() {
	show(map[string][]string{"fast": {"!401 no"}}, ask.Request{Capability: "fast", Prompt: "hello"})
	// Output: 403 auth_failed
}

// What is beyond the limits goes nowhere.
func Example_oversized() {
	show(nil, ask.Request{Capability: "coding", Prompt: "more than the twenty characters of these settings"})
	// Output: 400 invalid_request
}
