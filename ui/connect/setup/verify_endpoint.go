package setup

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/jsonc"
)

// unreachableError says that nothing answers at an address.
type unreachableError struct{ err error }

func (e *unreachableError) Error() string { return e.err.Error() }
func (e *unreachableError) Unwrap() error { return e.err }

// refusedError is an answer that is none.
type refusedError struct {
	status  int
	message string
}

func (e *refusedError) Error() string { return fmt.Sprintf("%s (status %d)", e.message, e.status) }

// maxReply bounds what is read of an answer, in bytes.
const maxReply = 1 << 20

// ask asks a model for a word, as an OpenAI client does, and tells of the answer.
func ask(ctx context.Context, base, key, model string) (string, error) {
	if model == "" {
		return "", errors.New("no model is named")
	}
	body, err := json.Marshal(map[string]any{
		"model": model, "stream": true, "messages": []any{map[string]string{"role": "user", "content": "Answer with one word: ok"}},
	})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("asking %s: %w", withoutUser(base), err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Pointsman-Tools", "off")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	begun := time.Now()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // not through a proxy: the address is this machine's
	response, err := client.Do(req)
	if err != nil {
		return "", &unreachableError{fmt.Errorf("asking the endpoint: %w", err)}
	}
	defer response.Body.Close()
	if err := answered(response); err != nil {
		return "", fmt.Errorf("asking %s of the endpoint: %w", model, err)
	}
	return fmt.Sprintf("%s answered in %s", model, time.Since(begun).Round(10*time.Millisecond)), nil
}

// answered reads an answer to its end.
func answered(response *http.Response) error {
	body := io.LimitReader(response.Body, maxReply)
	if response.StatusCode != http.StatusOK {
		text, err := io.ReadAll(body)
		if err != nil {
			return fmt.Errorf("reading the answer: %w", err)
		}
		message := gjson.GetBytes(text, "error.message").String()
		if message == "" {
			message = http.StatusText(response.StatusCode)
		}
		return &refusedError{response.StatusCode, message}
	}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxReply)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		if message := gjson.Get(data, "error.message"); message.Exists() {
			return &refusedError{response.StatusCode, message.String()}
		}
		if gjson.Get(data, "choices.0.finish_reason").String() != "" {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return &refusedError{response.StatusCode, "the answer ended before it was whole"}
}

func trimSlash(address string) string { return strings.TrimSuffix(address, "/") }

// tryProviders asks as a Copilot with our models in its providers.json does.
func (s *Setup) tryProviders(ctx context.Context, text []byte) (what, words string, err error) {
	f, err := readProviders(text)
	if err != nil {
		return "", "", err
	}
	for _, p := range f.Providers {
		if p.Name != Name {
			continue
		}
		model := ""
		for _, m := range f.Models {
			if m.Provider == Name && (model == "" || m.WireModel == s.Gateway.Default) {
				model = m.WireModel
			}
		}
		what = trimSlash(p.BaseURL) + "/chat/completions"
		words, err = ask(ctx, trimSlash(p.BaseURL), p.APIKey, model)
		return what, words, err
	}
	return "", "", ErrNotSet
}

// tryGroup asks as VS Code does, but for the key: that is VS Code's, so the
// endpoint's own is taken.
func (s *Setup) tryGroup(ctx context.Context, text []byte) (what, words string, err error) {
	group := gjson.ParseBytes(jsonc.ToJSON(text)).Get(fmt.Sprintf(`#(name=="%s")#|#(vendor=="customendpoint")`, groupName))
	model := group.Get("models.0")
	if preferred := group.Get(fmt.Sprintf("models.#(id==%q)", s.Gateway.Default)); preferred.Exists() {
		model = preferred
	}
	what = model.Get("url").String()
	base, ok := strings.CutSuffix(what, "/chat/completions")
	if !ok {
		return what, "", fmt.Errorf("the address of its model %q is not Pointsman's", model.Get("id").String())
	}
	key, err := s.key(ctx)
	if err != nil {
		return what, "", err
	}
	words, err = ask(ctx, base, key, model.Get("id").String())
	if err == nil && !s.Gateway.Open {
		words += "; the key in VS Code cannot be seen from here"
		if !group.Get("apiKey").Exists() {
			words += ", and none seems to have been given to it yet"
		}
	}
	return what, words, err
}
