package model

import (
	"strings"

	"pointsman/gateway/config"
)

// Difference is a field in which two versions of an entry differ, in words.
type Difference struct{ Field, Mine, Theirs string }

// ServerDifferences tells in what a draft differs from the entry that the file
// holds by now; there says whether it holds one.
func ServerDifferences(d ServerDraft, theirs config.MCPServer, there bool) []Difference {
	if !there {
		return []Difference{{"The server", "as in the form", "removed"}}
	}
	mine, other := SavedServer(d.Name, d.Entry), SavedServer(d.Name, theirs)
	return differing(mine.words(), other.words())
}

// ProviderDifferences is ServerDifferences for a provider.
func ProviderDifferences(d ProviderDraft, theirs config.Provider, there bool) []Difference {
	if !there {
		return []Difference{{"The provider", "as in the form", "removed"}}
	}
	return differing(providerWords(d.Entry), providerWords(theirs))
}

// labelled is a field's label and what it says.
type labelled struct{ label, words string }

func differing(mine, theirs []labelled) []Difference {
	var list []Difference
	for i := range mine {
		if mine[i].words != theirs[i].words {
			list = append(list, Difference{mine[i].label, orNothing(mine[i].words), orNothing(theirs[i].words)})
		}
	}
	return list
}

func orNothing(words string) string {
	if words == "" {
		return "(nothing)"
	}
	return words
}

func (f ServerForm) words() []labelled {
	offered := OfferWords()[f.Offer]
	if f.Offer == OfferNamed {
		offered = strings.ReplaceAll(f.Tools, "\n", ", ")
	}
	switched := "on"
	if f.base.Disabled {
		switched = "off"
	}
	return []labelled{
		{"Command", f.Command}, {"Arguments", f.Arguments}, {"Folder", f.Folder}, {"URL", f.URL}, {"Environment", pairWords(f.Env)},
		{"Headers", pairWords(f.Headers)}, {"Time-out", f.Timeout}, {"Tools", offered}, {"Switched", switched},
		{"Sandbox", f.sandboxWords()}, {"Everything else", f.otherWords()},
	}
}

// otherWords are what no field of the form shows.
func (f ServerForm) otherWords() string {
	other := f.base
	other.Command, other.Args, other.Cwd, other.WorkingDirectory, other.URL = "", nil, "", "", ""
	other.Env, other.Headers, other.Timeout, other.Tools, other.Disabled, other.Sandbox = nil, nil, 0, nil, false, nil
	return encoded(other)
}

func (f ServerForm) sandboxWords() string {
	words := []string{SandboxWords()[f.Sandbox]}
	if f.Sandbox != SandboxOn {
		return words[0]
	}
	if f.Network {
		words = append(words, "with network")
	}
	for _, path := range filledLines(f.Write) {
		words = append(words, "may write "+path)
	}
	for _, path := range filledLines(f.Deny) {
		words = append(words, "may not read "+path)
	}
	return strings.Join(words, ", ")
}

func pairWords(rows []Pair) string {
	var lines []string
	for _, row := range rows {
		words := row.Value
		if row.Kept != "" {
			words = row.Kept.String()
		}
		lines = append(lines, row.Key+" = "+words)
	}
	return strings.Join(lines, "\n")
}

func providerWords(p config.Provider) []labelled {
	other := p
	other.BaseURL, other.APIKey, other.Models.Discover = "", "", false
	discover := "no"
	if p.Models.Discover {
		discover = "yes"
	}
	return []labelled{{"Address", p.BaseURL}, {"Key", p.APIKey.String()}, {"Ask for its models", discover}, {"Everything else", encoded(other)}}
}

// encoded is a value as the file has it. The secrets that come from the resident
// are masked there.
func encoded(v any) string {
	text, err := config.Encode(v)
	if err != nil {
		return "it cannot be written: " + err.Error()
	}
	return strings.TrimSpace(text)
}
