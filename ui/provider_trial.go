package ui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"pointsman/gateway/config"
	"pointsman/gateway/control"
	"pointsman/ui/model"
	"pointsman/ui/part"
	"pointsman/ui/theme"
)

// tryProvider tries a provider, with a key that is not in the keychain yet.
func tryProvider(s *modelsScreen, t *formTrial, name string, p config.Provider, key string) {
	try(s.ctx, t, "Asking for its models, then one of them for a word …", func(ctx context.Context) (control.ProviderTest, error) {
		return s.ui.client.TestProvider(ctx, name, p, key)
	}, func(result control.ProviderTest, err error) trialResult {
		if err == nil {
			s.answered(name, model.ProviderAnswer{OK: result.OK, Message: result.Message, When: time.Now()})
		}
		return providerResult(result, err)
	})
}

func providerResult(result control.ProviderTest, err error) trialResult {
	if err != nil {
		return notTried(err)
	}
	r := trialResult{"It works", "done", theme.ColorGood, []fyne.CanvasObject{part.Words(model.Sentence(model.Printed(result.Message)))}}
	if !result.OK {
		r.word, r.icon, r.color = "It does not work", "failed", theme.ColorDestructive
		if result.Detail != "" && result.Detail != result.Message {
			r.details = append(r.details, outputBox(result.Detail, 0, 8*theme.Step))
		}
	}
	if n := len(result.Models); n > 0 {
		r.details = append(r.details, part.Muted(fmt.Sprintf("It has %s: %s", model.CountOf(n, "model"), model.Printed(strings.Join(result.Models, ", ")))))
	}
	return r
}
