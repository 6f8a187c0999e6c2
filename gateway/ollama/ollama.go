// Package ollama is how Ollama's API looks on the wire: what its clients ask and
// what they are answered, put into OpenAI's shapes and back.
//
// It asks nobody and serves nothing. Shapes follow Ollama's API documentation and
// its official clients as of [Version].
package ollama

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"pointsman/gateway/models"
)

// Version is the version of Ollama whose API this is, which clients ask for:
// VS Code wants 0.6.4 at least, Ollama's extension for it 0.17.6.
const Version = "0.17.6"

// Banner is what Ollama answers at its root, and what clients look for there.
const Banner = "Ollama is running"

// Model describes a model in the list of /api/tags, and in that of /api/ps.
type Model struct {
	Name          string    `json:"name"`
	Model         string    `json:"model"` // what a request names
	RemoteModel   string    `json:"remote_model,omitempty"`
	RemoteHost    string    `json:"remote_host,omitempty"` // not empty: it does not run in Ollama itself
	ModifiedAt    time.Time `json:"modified_at,omitzero"`
	Size          int64     `json:"size"`
	Digest        string    `json:"digest"`
	Details       Details   `json:"details"`
	Capabilities  []string  `json:"capabilities,omitempty"`
	ContextLength int64     `json:"context_length,omitempty"` // tokens
	MaxOutput     int64     `json:"max_output_tokens,omitempty"`
	ExpiresAt     time.Time `json:"expires_at,omitzero"` // of /api/ps alone
	SizeVRAM      *int64    `json:"size_vram,omitempty"` // of /api/ps alone
}

// Details are what Ollama tells of a model's file. Nothing of it is known here
// but the family, which clients group models by.
type Details struct {
	ParentModel       string   `json:"parent_model"`
	Format            string   `json:"format"`
	Family            string   `json:"family"`
	Families          []string `json:"families"`
	ParameterSize     string   `json:"parameter_size"`
	QuantizationLevel string   `json:"quantization_level"`
}

// List is the answer to /api/tags and to /api/ps.
type List struct {
	Models []Model `json:"models"`
}

// Shown is the answer to /api/show.
type Shown struct {
	Modelfile    string         `json:"modelfile"`
	Parameters   string         `json:"parameters"`
	Template     string         `json:"template"`
	Details      Details        `json:"details"`
	ModelInfo    map[string]any `json:"model_info"`
	Capabilities []string       `json:"capabilities"`
	ModifiedAt   time.Time      `json:"modified_at"`
	RemoteModel  string         `json:"remote_model,omitempty"`
	RemoteHost   string         `json:"remote_host,omitempty"`
}

// architecture is what a model's info calls its kind; its keys begin with it.
const architecture = "pointsman"

// Tags lists models for /api/tags. since stands for when they were made.
func Tags(list []models.Info, since time.Time) List {
	tags := List{Models: []Model{}}
	for _, info := range list {
		m := model(info)
		m.ModifiedAt = since.UTC()
		tags.Models = append(tags.Models, m)
	}
	return tags
}

// Running lists the models among list that are being asked now, for /api/ps:
// busy reports whether one is.
func Running(list []models.Info, busy func(id string) bool) List {
	running := List{Models: []Model{}}
	for _, info := range list {
		if busy(info.ID) {
			m := model(info)
			m.ExpiresAt, m.SizeVRAM = time.Now().UTC(), new(int64)
			running.Models = append(running.Models, m)
		}
	}
	return running
}

// Show describes a model for /api/show.
func Show(info models.Info, since time.Time) Shown {
	m := model(info)
	about := map[string]any{"general.architecture": architecture, "general.basename": info.ID}
	if m.ContextLength > 0 {
		about[architecture+".context_length"] = m.ContextLength
	}
	if m.MaxOutput > 0 {
		about[architecture+".max_output_tokens"] = m.MaxOutput
	}
	return Shown{
		Details: m.Details, ModelInfo: about, Capabilities: m.Capabilities, ModifiedAt: since.UTC(),
		RemoteModel: m.RemoteModel, RemoteHost: m.RemoteHost,
	}
}

func model(info models.Info) Model {
	sum := sha256.Sum256([]byte(info.OwnedBy + "/" + info.ID))
	return Model{
		Name: info.ID, Model: info.ID, RemoteModel: info.ID, RemoteHost: info.OwnedBy, Digest: hex.EncodeToString(sum[:]),
		Details:      Details{Family: info.OwnedBy, Families: []string{info.OwnedBy}},
		Capabilities: capabilities(info), ContextLength: number(info.ContextWindow), MaxOutput: number(info.MaxOutput),
	}
}

// capabilities are Ollama's words for what a model can do. Each can call tools:
// the loop sees to that.
func capabilities(info models.Info) []string {
	can := []string{"completion", "tools"}
	if info.Vision {
		can = append(can, "vision")
	}
	if info.ReasoningEffort != "" || len(info.Efforts) > 0 {
		can = append(can, "thinking")
	}
	return can
}

func number(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// ErrorJSON is an error in Ollama's shape.
func ErrorJSON(message string) []byte {
	out, err := json.Marshal(map[string]string{"error": message})
	if err != nil { // a string cannot fail to encode
		return []byte(`{"error":"internal error"}`)
	}
	return out
}
