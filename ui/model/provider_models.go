package model

import (
	"slices"
	"strconv"
	"strings"
)

// CatalogueRow is one model that can be asked for, as the resident's view of the
// models has it.
type CatalogueRow struct {
	ID            string   `json:"id"`
	Aliases       []string `json:"aliases"`
	Label         string   `json:"label"`
	Tier          string   `json:"tier"`
	ContextWindow *int64   `json:"context_window"` // tokens; nil when no provider publishes it
	MaxOutput     *int64   `json:"max_output"`     // likewise
	Provider      string   `json:"provider"`
	Capability    bool     `json:"capability"` // a name of model_list rather than a model
	// InputCost and OutputCost are US dollars per token; nil when not published.
	InputCost  *float64 `json:"input_cost_per_token"`
	OutputCost *float64 `json:"output_cost_per_token"`
}

// Context words the size of the context window: "128 k".
func (r CatalogueRow) Context() string {
	switch n := r.ContextWindow; {
	case n == nil:
		return "–"
	case *n >= 1_000_000:
		return strings.TrimSuffix(strconv.FormatFloat(float64(*n)/1e6, 'f', 1, 64), ".0") + " M"
	case *n >= 1000:
		return strconv.FormatInt(*n/1000, 10) + " k"
	default:
		return strconv.FormatInt(*n, 10)
	}
}

// FindModels returns the models that a search finds, all for "".
func FindModels(all []CatalogueRow, search string) []CatalogueRow {
	wanted := strings.Fields(strings.ToLower(search))
	return slices.DeleteFunc(slices.Clone(all), func(r CatalogueRow) bool {
		text := strings.ToLower(strings.Join(append([]string{r.ID, r.Label, r.Tier, r.Provider}, r.Aliases...), "\n"))
		return slices.ContainsFunc(wanted, func(word string) bool { return !strings.Contains(text, word) })
	})
}

// ModelNames are the ids of models, in their order.
func ModelNames(all []CatalogueRow) []string {
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.ID
	}
	return names
}

// Known is a number of tokens; 0 when nobody publishes it.
func Known(tokens *int64) int64 {
	if tokens == nil {
		return 0
	}
	return *tokens
}
