package model

import (
	"slices"
	"strings"

	"pointsman/approvals"
	"pointsman/gateway/servers"
)

// ServerLine is a server as a line of a list.
type ServerLine struct {
	Name string
	Word string // its state
	Icon string // a drawing's name
	Tone Tone
	// About is its transport and number of tools; Error why it does not work, or "".
	About, Error string
	Remote       bool // it is reached at an address
}

// serverStates are each state's word, drawing and tone.
var serverStates = map[servers.State]struct {
	word, icon string
	tone       Tone
}{
	servers.Pending:       {"Connecting", "running", Busy},
	servers.Connected:     {"Connected", "done", Good},
	servers.NeedsAuth:     {"Needs sign-in", "key", Asking},
	servers.Failed:        {"Failed", "failed", Bad},
	servers.Stopped:       {"Stopped", "stop", Quiet},
	servers.Disabled:      {"Disabled", "skipped", Quiet},
	servers.NotConfigured: {"Incomplete", "failed", Bad},
}

// ServerStateLook returns the word, the drawing and the tone of a state.
func ServerStateLook(s servers.State) (word, icon string, tone Tone) {
	look, known := serverStates[s]
	if !known {
		return "Unknown", "unknown", Bad
	}
	return look.word, look.icon, look.tone
}

// transports are what the transports are called.
var transports = map[string]string{"stdio": "Command", "http": "HTTP", "sse": "SSE", "builtin": "Built in", "": "No command or URL"}

// ServerLines makes lines of what the servers are, by name.
func ServerLines(list []servers.Status) []ServerLine {
	lines := make([]ServerLine, 0, len(list))
	for _, s := range list {
		lines = append(lines, ServerLineOf(s))
	}
	slices.SortFunc(lines, func(a, b ServerLine) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return lines
}

// ServerLineOf makes a line of what a server is.
func ServerLineOf(s servers.Status) ServerLine {
	line := ServerLine{Name: s.Name, About: aboutServer(s), Error: clip(s.Live.Error, longestText), Remote: s.Transport == "http" || s.Transport == "sse"}
	line.Word, line.Icon, line.Tone = ServerStateLook(s.Live.Status)
	return line
}

func aboutServer(s servers.Status) string {
	transport, known := transports[s.Transport]
	if !known {
		transport = s.Transport
	}
	about := []string{transport}
	if s.Live.Status == servers.Connected {
		about = append(about, CountOf(s.Tools, "tool"))
	}
	if s.Confined {
		about = append(about, "confined")
	}
	if s.ConfigChanged {
		about = append(about, "its changed entry takes effect when its calls have ended")
	}
	if s.Junk > 0 {
		about = append(about, "writes to its output what is no message")
	}
	return strings.Join(about, " · ")
}

// longestText is how many characters of a text are shown where there is one
// line: more than fit.
const longestText = 400

// Quoted is a name in a sentence.
func Quoted(name string) string { return "“" + OneLine(name) + "”" }

// Printed is what a program wrote, in lines, with nothing hidden in it.
func Printed(text string) string { return approvals.VisibleText(text) }
